// What a provider wants to be paid: `["amount", <millisatoshis>, <invoice>]` (NIP-90).
//
// The number and the invoice are said by the same stranger, and only one of them is paid. So the invoice is decoded
// here, and the two are compared: who pays looks at ``JobAmount/agreement`` first.

/// What a provider wants to be paid, as its tag `amount` says.
public struct JobAmount: Hashable, Sendable {
  /// The number beside the tag's name, in millisatoshis; nil when there is none.
  public let millisatoshis: Int64?
  /// The invoice, whose checksum and signature are right; nil without one.
  public let invoice: Invoice?
  /// What else stands in the invoice's place: a lightning address, an invoice that is broken. Never to be trusted.
  public let otherText: String?

  /// Most of it there is: 21 million bitcoin.
  public static let millisatoshisMaximum: Int64 = 2_100_000_000_000_000_000

  /// An amount.
  public init(millisatoshis: Int64?, invoice: Invoice? = nil, otherText: String? = nil) {
    self.millisatoshis = millisatoshis
    self.invoice = invoice
    self.otherText = otherText
  }

  /// The invoice's text; nil without one.
  public var invoiceText: String? { invoice?.text }

  /// How the number and the invoice's amount go together.
  public enum Agreement: Hashable, Sendable {
    /// No invoice, and no number either.
    case nothing
    /// A number, and no invoice: it can only be zapped.
    case numberOnly
    /// An invoice with its amount, and no number.
    case invoiceOnly
    /// Both say the same.
    case equal
    /// The invoice leaves the amount to the payer.
    case openInvoice
    /// The invoice asks for a thousand times the number, which then is in satoshis.
    case satoshis
    /// They say different things.
    case different
  }

  /// How the number and the invoice's amount go together. Only `equal` can be paid without asking anybody.
  public var agreement: Agreement {
    guard let invoice else { return millisatoshis == nil ? .nothing : .numberOnly }
    guard let asked = invoice.amountMillisatoshis else { return .openInvoice }
    guard let millisatoshis else { return .invoiceOnly }
    if asked == millisatoshis { return .equal }
    let (thousandfold, overflows) = millisatoshis.multipliedReportingOverflow(by: 1_000)
    return !overflows && asked == thousandfold ? .satoshis : .different
  }

  /// What paying the invoice costs, without fees, if it may be paid: the invoice's own amount, which the number does
  /// not contradict, or the number if the invoice leaves it open.
  ///
  /// - Returns: nil without an invoice, without any amount, for an amount of 0, and when they contradict each other.
  public var payableMillisatoshis: Int64? {
    let amount: Int64? =
      switch agreement {
      case .equal, .invoiceOnly: invoice?.amountMillisatoshis
      case .openInvoice: millisatoshis
      case .nothing, .numberOnly, .satoshis, .different: nil
      }
    return amount.flatMap { $0 > 0 ? $0 : nil }
  }

  /// A whole number of millisatoshis as somebody typed it: digits only, up to ``millisatoshisMaximum``.
  ///
  /// - Throws: `notAnAmount` or `amountTooLarge`.
  public static func millisatoshis(typed text: String) throws(JobDraftFault) -> Int64 {
    guard let number = plainNumber(text.utf8) else { throw .notAnAmount(String(text.prefix(40))) }
    guard number <= millisatoshisMaximum else { throw .amountTooLarge(millisatoshis: number) }
    return number
  }
}
