public import Contracts
public import Cryptography
public import Nostr

// What is known of a job, apart from its order. A fact is written down before anything follows from it, and never
// changes. ``JobPicture`` computes the state of a job from its facts, in whatever order they are given: each has the
// time at which it became known, and no two facts of a job have the same time.

/// Something that is known of a job.
public struct JobFact: Sendable, Hashable {
  /// The kinds of facts.
  public enum What: Sendable, Hashable {
    /// It was decided to ask these providers; empty: any provider. Attempts are counted from 0.
    case attempted(Int, [PublicKey])
    /// The result of another job is there, as an input.
    case fed(JobFeed)
    /// The request of an attempt was signed.
    case requested(JobRequestFact)
    /// The store of this machine has a request.
    case stored(EventID)
    /// How many relays have a request, and how many it is for. A later fact of this kind knows more, never less.
    case relayed(EventID, confirmed: Int, of: Int)
    /// No relay takes a request, and no attempt will follow; why.
    case unpublished(EventID, String)
    /// The request of an attempt cannot be made, because it cannot be encrypted or signed; why.
    case undone(Int, String)
    /// A provider has sent an answer.
    case answered(JobAnswerFact)
    /// A payment is approved: the intent, which is written down before it can be paid.
    case approved(PaymentIntent)
    /// The request for a zap that was approved is signed.
    case zapRequested(ZapRequestFact)
    /// The zap of an event that asks for a payment cannot be made; why.
    case unzapped(EventID, String)
    /// The key that writes the receipts of a provider's wallet, according to a caller that has read its lnurl page.
    case walletNamed(PublicKey, wallet: PublicKey)
    /// A receipt for a zap has come.
    case receipted(ZapReceiptFact)
    /// A receipt that is kept proves nothing after all, although its content would.
    case objected(EventID, ZapReceiptFact.Objection)
    /// The payment was made. The payment hash is the hash of this preimage (32 bytes).
    case paid(PublicKey, paymentHash: Octets32, preimage: Octets32)
    /// This provider is not paid; and whether the job's own rule decided that.
    case denied(PublicKey, isAutomatic: Bool)
    /// A deadline has passed: of the job, of an attempt, or of a provider.
    case lapsed(JobPhase, attempt: Int?, provider: PublicKey?)
    /// The deletion of a request (kind 5) is where the request was.
    case withdrawn(EventID)
    /// The job has ended: what comes later is kept, and does not count.
    case ended(Job.State, String?)
  }

  /// When it became known here, milliseconds since 1970. No two facts of a job have the same.
  public var at: Int64
  /// What it is.
  public var what: What

  /// A fact.
  public init(at: Int64, _ what: What) {
    self.at = at
    self.what = what
  }

  /// Whether it is a receipt or an answer, as it came or decrypted, that is one of these events.
  func isEvent(among events: Set<EventID>) -> Bool {
    switch what {
    case .answered(let answer): events.contains(answer.event)
    case .receipted(let receipt): events.contains(receipt.event)
    default: false
    }
  }
}

/// A request that was signed.
public struct JobRequestFact: Sendable, Hashable {
  /// The number of its attempt.
  public var attempt: Int
  /// The event's id.
  public var id: EventID
  /// Its date, seconds since 1970.
  public var createdAt: Int64
  /// The event, JSON. If the request is encrypted, nothing of it is in clear.
  public var json: [UInt8]

  /// A request.
  public init(attempt: Int, id: EventID, createdAt: Int64, json: [UInt8]) {
    self.attempt = attempt
    self.id = id
    self.createdAt = createdAt
    self.json = json
  }
}

/// A payment that may be made once: for a job, to a provider, by its ``key``.
public struct PaymentIntent: Sendable, Hashable {
  /// How a provider is paid.
  public enum Way: Sendable, Hashable {
    /// By this invoice, with its payment hash.
    case invoice(String, paymentHash: Octets32)
    /// By a zap of the event that asks for the payment: the payee's wallet makes an invoice for our request (NIP-57).
    case zap(EventID)
  }

  /// The provider that is paid.
  public var provider: PublicKey
  /// How it is paid.
  public var way: Way
  /// The amount in millisatoshi.
  public var amount: Int64
  /// Whether the job's own rule has approved it, without a caller.
  public var isAutomatic: Bool

  /// An intent.
  public init(provider: PublicKey, way: Way, amount: Int64, isAutomatic: Bool) {
    self.provider = provider
    self.way = way
    self.amount = amount
    self.isAutomatic = isAutomatic
  }

  /// What tells it apart from other payments: the payment hash of the invoice, or the id of the zapped event. No event
  /// asks for two payments.
  public var key: Octets32 {
    switch way {
    case .invoice(_, let paymentHash): paymentHash
    case .zap(let target): target.octets
    }
  }

  /// The zapped event; nil if it is paid by an invoice.
  public var zapTarget: EventID? { if case .zap(let target) = way { target } else { nil } }

  /// Whether it pays what this answer asks for. Invoices are compared by their text, because another one with the same
  /// payment hash can have any amount.
  func pays(_ answer: JobAnswerFact) -> Bool {
    switch way {
    case .invoice(let invoice, _): answer.bill?.invoice == invoice
    case .zap(let target): answer.event == target
    }
  }
}
