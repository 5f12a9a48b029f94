public import Cryptography
internal import Frames
public import Nostr

// The relevant part of what a provider has sent. It is read once, when it comes, so that a start does not read
// thousands of events again.

/// A feedback or a result that has come.
public struct JobAnswerFact: Sendable, Hashable {
  /// Why an answer does not count.
  public enum Objection: UInt8, Sendable, Hashable, CaseIterable {
    /// Its author was not asked, and the request was not open to all.
    case stranger = 0
    /// It names another request than it repeats, or repeats ours in other words.
    case otherRequest = 1
    /// It is a result of another kind than the request asks for.
    case otherKind = 2
    /// It is for another customer.
    case otherCustomer = 3
    /// A result that lacks the form of its kind.
    case badForm = 4
    /// It is encrypted and cannot be decrypted: it is not for us, or was encrypted with another key.
    case unreadable = 5
    /// A result in clear, though the request is encrypted: its author need not have read the request.
    case inClear = 6

    /// The name under which it is counted.
    public var word: String {
      switch self {
      case .stranger: "not-asked"
      case .otherRequest: "of-another-request"
      case .otherKind: "of-another-kind"
      case .otherCustomer: "for-another-customer"
      case .badForm: "not-of-its-kinds-form"
      case .unreadable: "cannot-be-decrypted"
      case .inClear: "in-clear"
      }
    }
  }

  /// The event's id.
  public var event: EventID
  /// The request that it answers.
  public var request: EventID
  /// Its author.
  public var provider: PublicKey
  /// 7000, or the result's kind.
  public var kind: UInt16
  /// Its date, seconds since 1970.
  public var createdAt: Int64
  /// The status of a feedback; nil for a result, and for a feedback with an unknown status.
  public var status: JobStatus?
  /// The content in clear, cut at a limit; nil if there is no content, or it is still encrypted.
  public var content: String?
  /// Whether the content was cut.
  public var isCut = false
  /// The text beside the status, cut at a limit.
  public var remark: String?
  /// The payment that it asks for.
  public var bill: JobBill?
  /// Oddities of it, with their counts.
  public var diagnostics: [String: Int] = [:]
  /// Why it does not count; nil if it does.
  public var objection: Objection?
  /// The event, JSON, while its content is encrypted.
  public var sealed: [UInt8]?
  /// Whether this is the decrypted form of an encrypted answer.
  public var isOpened = false

  /// An answer without content.
  public init(event: EventID, request: EventID, provider: PublicKey, kind: UInt16, createdAt: Int64) {
    self.event = event
    self.request = request
    self.provider = provider
    self.kind = kind
    self.createdAt = createdAt
  }

  /// Whether it is a result.
  public var isResult: Bool { kind != EventKind.jobFeedback }

  /// The approximate number of bytes that a stranger has written.
  var byteCount: Int {
    (content?.utf8.count ?? 0) + (remark?.utf8.count ?? 0) + (bill?.invoice?.utf8.count ?? 0) + (sealed?.count ?? 0)
  }

  /// Whether it counts for the job: it is ours, and can be read.
  public var counts: Bool { objection == nil }

  /// Orders the answers of one provider: by date, then by what they say, then by id, where the lower id is newer.
  static func isOlder(_ left: JobAnswerFact, _ right: JobAnswerFact) -> Bool {
    if left.createdAt != right.createdAt { return left.createdAt < right.createdAt }
    if left.rank != right.rank { return left.rank < right.rank }
    return right.event < left.event
  }

  /// Within one second, the answer that leads further is newer.
  private var rank: Int {
    if isResult { return 6 }
    return switch status {
    case nil: 0
    case .success: 1
    case .processing: 2
    case .partial: 3
    case .paymentRequired: 4
    case .error: 5
    }
  }
}

/// The payment that an answer asks for.
public struct JobBill: Sendable, Hashable {
  /// The amount in its tag, else in its invoice, in millisatoshi.
  public var amount: Int64?
  /// The invoice, if it can be read.
  public var invoice: String?
  /// What paying it costs, in millisatoshi; nil if it must not be paid.
  public var payable: Int64?
  /// The payment hash of the invoice.
  public var paymentHash: Octets32?
  /// When the invoice expires, seconds since 1970.
  public var expiresAt: Int64?
  /// Why it must not be paid in any case; the end of a sentence.
  public var problem: String?

  /// A bill of which nothing is known.
  public init() {}

  /// Ledgers contain this text, so it must not change.
  static let noInvoice = "there is no invoice"

  /// Whether it has an amount and nothing else: then it is paid by a zap.
  public var isForZap: Bool { invoice == nil && problem == Self.noInvoice && zappable != nil }

  /// Whether it can be approved as it was shown: by its invoice, or, without an invoice, by a zap.
  public var isInOrder: Bool {
    isForZap || (problem == nil && payable != nil && paymentHash != nil && invoice != nil)
  }

  /// What a zap costs in place of the invoice, in millisatoshi; nil if it is not known.
  public var zappable: Int64? {
    let wanted = invoice == nil ? amount : payable
    return wanted.flatMap { (1...JobAmount.millisatoshisMaximum).contains($0) ? $0 : nil }
  }

  /// Reads what a provider asks for. The amount and the invoice come from the same stranger, and only one of them is
  /// paid. If they differ, or the amount is not a number, neither is paid.
  public init(_ asked: JobAmount, isNumber: Bool = true, network: Invoice.Network = .bitcoin) {
    amount = asked.millisatoshis ?? asked.invoice?.amountMillisatoshis
    defer {
      if !isNumber { (payable, problem) = (nil, "what it asks for is no number of millisatoshi") }
    }
    guard let invoice = asked.invoice else {
      problem = Self.absence(asked)
      return
    }
    self.invoice = invoice.text
    paymentHash = invoice.paymentHash
    expiresAt = invoice.expiresAt
    if let obstacle = invoice.obstacle(on: network, at: invoice.createdAt) {
      problem = "\(obstacle)"
    } else if let payable = asked.payableMillisatoshis {
      self.payable = payable
    } else {
      problem = Self.disagreement(asked)
    }
  }

  /// Why there is no invoice, or none that can be read.
  private static func absence(_ asked: JobAmount) -> String {
    let most = Amount.satoshis(JobAmount.millisatoshisMaximum)
    if let text = asked.otherText {
      guard Invoice.isSuggested(by: text) else {
        return "what is in the invoice's place is not an invoice: an address is not paid"
      }
      var fault: InvoiceFault?
      do throws(InvoiceFault) { _ = try Invoice(text) } catch { fault = error }
      if fault == .amountTooLarge { return "the invoice is of more than the \(most) that there will ever be" }
      return "what is in the invoice's place cannot be read as an invoice" + (fault.map { ": \($0)" } ?? "")
    }
    guard let amount = asked.millisatoshis else { return noInvoice }
    if amount > JobAmount.millisatoshisMaximum {
      return "it asks for \(Amount.satoshis(amount)), which is more than the \(most) that there will ever be"
    }
    return amount > 0 ? noInvoice : "it asks for \(Amount.satoshis(amount)), which cannot be paid"
  }

  private static func disagreement(_ asked: JobAmount) -> String {
    let said = Amount.satoshis(asked.millisatoshis ?? 0)
    guard let amount = asked.invoice?.amountMillisatoshis else {
      return asked.millisatoshis == nil
        ? "neither the invoice nor the provider says an amount"
        : "the invoice is of no amount, and the provider asks for \(said)"
    }
    let invoiced = Amount.satoshis(amount)
    return switch asked.agreement {
    case .satoshis:
      "the invoice is of \(invoiced), a thousand times the \(said) beside it: satoshi stand where millisatoshi belong"
    case .different: "the invoice is of \(invoiced), and beside it stand \(said)"
    default: "the invoice is of \(invoiced), which cannot be paid"
    }
  }

  /// Whether it asks for the same payment as another one: by an invoice with the same payment hash, or, without an
  /// invoice, by the same amount.
  func isSame(_ other: JobBill) -> Bool {
    paymentHash.map { $0 == other.paymentHash } ?? (amount == other.amount)
  }
}
