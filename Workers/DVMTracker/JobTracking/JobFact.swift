public import Contracts
public import Cryptography
public import Nostr

// What is known of a job, besides what was asked for. A fact is written down before anything follows from it, and never
// changed. The state of a job is what ``JobPicture`` makes of its facts, whatever order they stand in: each has the
// time at which it became known, and no two facts of a job have the same.

/// Something that is known of a job.
public struct JobFact: Sendable, Hashable {
  /// What it is.
  public enum What: Sendable, Hashable {
    /// It was decided to ask these providers; nobody: whoever likes. Attempts are counted from 0.
    case attempted(Int, [PublicKey])
    /// The result of another job is there as an input.
    case fed(JobFeed)
    /// The request of an attempt was signed.
    case requested(JobRequestFact)
    /// The store of this machine has a request.
    case stored(EventID)
    /// A request is published: relays that have it, and relays that it is for. More is known with each fact of this
    /// kind, never less.
    case relayed(EventID, confirmed: Int, of: Int)
    /// No relay takes a request, and none is tried any more; why.
    case unpublished(EventID, String)
    /// An attempt comes to nothing here: it cannot be encrypted or signed; why.
    case undone(Int, String)
    /// A provider has said something.
    case answered(JobAnswerFact)
    /// It may be paid. Written down before it is: the intent.
    case approved(PaymentIntent)
    /// The request for a zap that was approved is signed.
    case zapRequested(ZapRequestFact)
    /// The zap of an event that asks for a payment cannot be made; why.
    case unzapped(EventID, String)
    /// Who writes the receipts of a provider's wallet, as somebody says who has seen its lnurl page.
    case walletNamed(PublicKey, wallet: PublicKey)
    /// A receipt for a zap has come.
    case receipted(ZapReceiptFact)
    /// A receipt that is there proves nothing after all, though it would by what stands in it.
    case objected(EventID, ZapReceiptFact.Objection)
    /// It was paid: the preimage whose hash is the payment's, 32 bytes.
    case paid(PublicKey, paymentHash: Octets32, preimage: Octets32)
    /// This provider is not paid; whether by the job's own rule.
    case denied(PublicKey, isAutomatic: Bool)
    /// The time for something has passed: of an attempt, or of a provider.
    case lapsed(JobPhase, attempt: Int?, provider: PublicKey?)
    /// Its customer's deletion of a request (kind 5) is where the request was.
    case withdrawn(EventID)
    /// It has ended: what comes later is kept, and counts for nothing.
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

  /// Whether it is an answer by one of these events, as it came or decrypted, or a receipt.
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
  /// Which attempt it is of.
  public var attempt: Int
  /// The event's id.
  public var id: EventID
  /// When it says it was made, seconds since 1970.
  public var createdAt: Int64
  /// The event, JSON. Of an encrypted request nothing is in clear.
  public var json: [UInt8]

  /// A request.
  public init(attempt: Int, id: EventID, createdAt: Int64, json: [UInt8]) {
    self.attempt = attempt
    self.id = id
    self.createdAt = createdAt
    self.json = json
  }
}

/// A payment that may be made, once: of a job, to a provider, by its ``key``.
public struct PaymentIntent: Sendable, Hashable {
  /// How somebody is paid.
  public enum Way: Sendable, Hashable {
    /// By the invoice, whose hash this is.
    case invoice(String, paymentHash: Octets32)
    /// By a zap of the event that asks for the payment: the payee's wallet makes an invoice for our request (NIP-57).
    case zap(EventID)
  }

  /// Who is paid.
  public var provider: PublicKey
  /// How.
  public var way: Way
  /// Millisatoshi.
  public var amount: Int64
  /// Whether the job's own rule has approved it, and nobody was asked.
  public var isAutomatic: Bool

  /// An intent.
  public init(provider: PublicKey, way: Way, amount: Int64, isAutomatic: Bool) {
    self.provider = provider
    self.way = way
    self.amount = amount
    self.isAutomatic = isAutomatic
  }

  /// What tells it from other payments: the invoice's hash, or the id of what is zapped. No event asks twice.
  public var key: Octets32 {
    switch way {
    case .invoice(_, let paymentHash): paymentHash
    case .zap(let target): target.octets
    }
  }

  /// The event that is zapped; nil: it is paid by an invoice.
  public var zapTarget: EventID? { if case .zap(let target) = way { target } else { nil } }

  /// Whether it pays what this answer asks for. Of an invoice its text says so: another one with the same payment hash
  /// can be of any amount.
  func pays(_ answer: JobAnswerFact) -> Bool {
    switch way {
    case .invoice(let invoice, _): answer.bill?.invoice == invoice
    case .zap(let target): answer.event == target
    }
  }
}
