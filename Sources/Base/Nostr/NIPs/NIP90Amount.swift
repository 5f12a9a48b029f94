// The price that a provider asks: `["amount", <millisatoshis>, <invoice>]` (NIP-90).
//
// The same stranger writes the number and the invoice, and only one of them is paid. So the invoice is decoded here,
// and the two are compared: the payer checks ``JobAmount/agreement`` first.

/// The price that a provider asks in its tag `amount`.
public struct JobAmount: Hashable, Sendable {
  /// The number in the tag, in millisatoshis; nil if it is missing.
  public let millisatoshis: Int64?
  /// The invoice, with valid checksum and signature; nil if it is missing.
  public let invoice: Invoice?
  /// Another text in the invoice's place: a lightning address, a broken invoice. Never to be trusted.
  public let otherText: String?

  /// The highest possible amount: 21 million bitcoin.
  public static let millisatoshisMaximum: Int64 = 2_100_000_000_000_000_000

  /// An amount.
  public init(millisatoshis: Int64?, invoice: Invoice? = nil, otherText: String? = nil) {
    self.millisatoshis = millisatoshis
    self.invoice = invoice
    self.otherText = otherText
  }

  /// The invoice's text; nil without one.
  public var invoiceText: String? { invoice?.text }

  /// How the number and the invoice's amount relate.
  public enum Agreement: Hashable, Sendable {
    /// Neither an invoice nor a number.
    case nothing
    /// A number without an invoice: it can only be zapped.
    case numberOnly
    /// An invoice with an amount, without a number.
    case invoiceOnly
    /// Both amounts are equal.
    case equal
    /// The payer chooses the invoice's amount.
    case openInvoice
    /// The invoice asks for a thousand times the number, so the number is in satoshis.
    case satoshis
    /// The amounts differ.
    case different
  }

  /// How the number and the invoice's amount relate. Only `equal` may be paid without a question to the customer.
  public var agreement: Agreement {
    guard let invoice else { return millisatoshis == nil ? .nothing : .numberOnly }
    guard let asked = invoice.amountMillisatoshis else { return .openInvoice }
    guard let millisatoshis else { return .invoiceOnly }
    if asked == millisatoshis { return .equal }
    let (thousandfold, overflows) = millisatoshis.multipliedReportingOverflow(by: 1_000)
    return !overflows && asked == thousandfold ? .satoshis : .different
  }

  /// The amount to pay for the invoice, without fees, if it may be paid: the invoice's own amount, if the number does
  /// not contradict it, or the number if the invoice leaves the amount open.
  ///
  /// - Returns: nil without an invoice, without any amount, for an amount of 0, and if the two contradict each other.
  public var payableMillisatoshis: Int64? {
    let amount: Int64? =
      switch agreement {
      case .equal, .invoiceOnly: invoice?.amountMillisatoshis
      case .openInvoice: millisatoshis
      case .nothing, .numberOnly, .satoshis, .different: nil
      }
    return amount.flatMap { $0 > 0 ? $0 : nil }
  }

  /// A whole number of millisatoshis that a person typed: digits only, up to ``millisatoshisMaximum``.
  ///
  /// - Throws: `notAnAmount` or `amountTooLarge`.
  public static func millisatoshis(typed text: String) throws(JobDraftFault) -> Int64 {
    guard let number = plainNumber(text.utf8) else { throw .notAnAmount(String(text.prefix(40))) }
    guard number <= millisatoshisMaximum else { throw .amountTooLarge(millisatoshis: number) }
    return number
  }
}
