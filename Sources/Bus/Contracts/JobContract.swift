public import Frames

// The methods of role `dvm-tracker`, `job.*`: work that others do for money or for nothing (NIP-90).
//
//    drafted ─▶ published ─▶ processing ─▶ delivered ─▶ settled
//       │           │    ╲       │  ▲          │
//       │           │     ▶ payment-required   │            failed, expired, cancelled: from anywhere before the end
//     waiting (for the result of another job)
//
// A job is one wish of the caller's. It may need several requests: to one provider after another, or anew when nobody
// has answered. Accepted means committed: from the answer of `job.submit` on, the job outlives the death of every
// process, and its end is told with a reason.

/// How a job is doing.
public struct Job: Codable, Sendable, Hashable {
  /// How far it is.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// It waits for the result of another job.
    case waiting
    /// Committed; no request has reached a relay or the store here.
    case drafted
    /// A request can be seen.
    case published
    /// A provider works on it.
    case processing
    /// Nobody goes on before a payment.
    case paymentRequired = "payment-required"
    /// A result is there, and its provider wants to be paid.
    case delivered
    /// A result is there, and nothing is open.
    case settled
    /// It cannot be done; `reason` says why.
    case failed
    /// Something did not happen in time; `reason` says what.
    case expired
    /// It was called off.
    case cancelled

    /// Whether nothing will change any more by itself.
    public var isFinal: Bool { [.settled, .failed, .expired, .cancelled].contains(self) }
  }

  /// 16 hexadecimal digits.
  public var id: String
  /// The caller's name for it.
  public var key: String
  /// Whose it is, 64 hexadecimal digits.
  public var account: String
  /// The name of that account at the signer; `dvm-tracker` is this machine's own, which has the jobs that nobody is
  /// named for while no person has an account here. Absent while the signer has not told.
  public var accountName: String?
  /// The kind of its requests.
  public var kind: UInt16
  /// How far it is.
  public var state: State
  /// Why it is in this state, as a sentence's end.
  public var reason: String?
  /// When it was accepted, seconds since 1970.
  public var submittedAt: Int64
  /// When it has ended, seconds since 1970.
  public var endedAt: Int64?
  /// When the present phase ends by itself, seconds since 1970.
  public var nextDeadlineAt: Int64?
  /// Its requests, the first one first.
  public var requests: [JobRequestState]
  /// Providers that have answered or were named.
  public var providers: [JobProviderState]
  /// The result that is taken.
  public var result: JobResultState?
  /// Jobs here whose results it needs.
  public var dependsOn: [String]
  /// What was odd about what providers sent, with how often.
  public var diagnostics: [String: Int]

  /// A job.
  public init(
    id: String, key: String, account: String, kind: UInt16, state: State, submittedAt: Int64,
    requests: [JobRequestState] = [], providers: [JobProviderState] = [], dependsOn: [String] = [],
    diagnostics: [String: Int] = [:]
  ) {
    self.id = id
    self.key = key
    self.account = account
    self.kind = kind
    self.state = state
    self.submittedAt = submittedAt
    self.requests = requests
    self.providers = providers
    self.dependsOn = dependsOn
    self.diagnostics = diagnostics
  }
}

/// One request of a job.
public struct JobRequestState: Codable, Sendable, Hashable {
  /// The event's id.
  public var event: String
  /// Whom it addresses, 64 hexadecimal digits each; nobody: it is open to all.
  public var providers: [String]
  /// Relays that have it, and relays that it is for; both 0 when it stays on this machine.
  public var confirmedRelays: Int
  /// Relays that it is for.
  public var relays: Int
  /// Whether the store of this machine has it.
  public var isStored: Bool

  /// A request.
  public init(event: String, providers: [String], confirmedRelays: Int, relays: Int, isStored: Bool) {
    self.event = event
    self.providers = providers
    self.confirmedRelays = confirmedRelays
    self.relays = relays
    self.isStored = isStored
  }
}

/// How a job is doing at one provider.
public struct JobProviderState: Codable, Sendable, Hashable {
  /// How far it is there.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// It was asked, and has said nothing.
    case asked
    /// It works on it.
    case processing
    /// It has sent a part.
    case partial
    /// It wants to be paid before it goes on.
    case paymentRequired = "payment-required"
    /// It has sent a result.
    case delivered
    /// It says that it cannot.
    case error
    /// It has said nothing in time.
    case silent
  }
  /// 64 hexadecimal digits.
  public var provider: String
  /// How far it is there.
  public var state: State
  /// Its own words.
  public var message: String?
  /// What it wants, in millisatoshi.
  public var amount: Int64?
  /// Its invoice, when that is in order. Absent where it shows none: then it is paid by a zap.
  public var invoice: String?
  /// Why it is not to be paid what it asks for, as a sentence's end.
  public var invoiceProblem: String?
  /// How the payment is; absent when nothing is asked for.
  public var payment: PaymentState?
  /// The zap by which it is paid, once that is approved.
  public var zap: JobZapState?
  /// A part or sample of the result.
  public var partial: String?
  /// When it has said something last, seconds since 1970.
  public var lastSignAt: Int64?
  /// Results it has sent.
  public var results: Int

  /// How a payment is.
  public enum PaymentState: String, Codable, Sendable, Hashable, CaseIterable {
    /// It is asked for, and nobody has decided.
    case asked
    /// It may be paid; the intent is on the disk.
    case approved
    /// It is paid: the preimage was shown, or a receipt has come that proves it.
    case paid
    /// It is not to be paid.
    case denied
  }

  /// A provider.
  public init(provider: String, state: State, results: Int = 0) {
    self.provider = provider
    self.state = state
    self.results = results
  }
}

/// A zap that a provider is paid by (NIP-57). The payer sends the request to the provider's wallet, which answers
/// with an invoice; when that is paid, the wallet publishes a receipt.
public struct JobZapState: Codable, Sendable, Hashable {
  /// The event that is zapped, which asks for the payment.
  public var target: String
  /// What is paid, in millisatoshi.
  public var amount: Int64
  /// The request (kind 9734), signed, as JSON: what the wallet is sent, to the byte. Absent until it is signed.
  public var request: String?
  /// The page that the request is sent to, as the provider's profile has it: `lnurl1…`. Absent where it has none.
  public var lnurl: String?
  /// The same as an address: `alice@example.com`.
  public var address: String?
  /// Receipts for the request that have come.
  public var receipts: [JobReceiptState]

  /// A zap.
  public init(target: String, amount: Int64, receipts: [JobReceiptState] = []) {
    self.target = target
    self.amount = amount
    self.receipts = receipts
  }
}

/// A receipt for a zap (kind 9735). It holds our request, and an invoice that was made for it, of its amount.
public struct JobReceiptState: Codable, Sendable, Hashable {
  /// By what a receipt proves a payment.
  public enum Proof: String, Codable, Sendable, Hashable, CaseIterable {
    /// It shows the preimage of the invoice.
    case preimage
    /// It is by the wallet that was named to `job.approve`.
    case wallet
  }
  /// The event's id.
  public var event: String
  /// Its author, 64 hexadecimal digits.
  public var author: String
  /// By what it proves that the zap was paid. Absent: anybody may have written it, and it counts for nothing.
  public var proof: Proof?

  /// A receipt.
  public init(event: String, author: String, proof: Proof? = nil) {
    self.event = event
    self.author = author
    self.proof = proof
  }
}

/// A result of a job.
public struct JobResultState: Codable, Sendable, Hashable {
  /// The event's id.
  public var event: String
  /// Who made it, 64 hexadecimal digits.
  public var provider: String
  /// The result, in clear.
  public var content: String
  /// When it was made, as its provider says, seconds since 1970.
  public var createdAt: Int64
  /// Whether the content is too long to be kept whole; the event has it. Absent: no.
  public var isCut: Bool?

  /// A result.
  public init(event: String, provider: String, content: String, createdAt: Int64) {
    self.event = event
    self.provider = provider
    self.content = content
    self.createdAt = createdAt
  }
}

/// `job.list`: jobs, the latest first. Parts are ``Job``s, the terminal answer a ``StoreCount``.
public struct JobList: MethodArguments {
  /// How it is asked.
  public static let example = #"{"states":["published","payment-required"],"limit":20}"#

  /// In one of these states; in any when absent.
  public var states: [Job.State]?
  /// Most jobs wanted, from 0.
  public var limit: Int?

  /// A question.
  public init(states: [Job.State]? = nil, limit: Int? = nil) {
    self.states = states
    self.limit = limit
  }

  /// A limit from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// `job.show`, `job.follow`, `job.cancel`, `job.approve`, `job.deny`: one job. Refused as `no-such-job` when it is not
/// there, or ended so long ago that it is forgotten.
///
/// - `job.show`: answered with the ``Job``.
/// - `job.follow`: a ``Job`` at once and at each change, until its state is final or the caller cancels.
/// - `job.cancel`: called off: a deletion (kind 5) goes where the requests went, and nothing is paid any more; answered
///   with the ``Job``. Refused as `job-over` when it has ended otherwise.
/// - `job.approve`: what a provider asks for may be paid; with `preimage`, it was paid elsewhere, and this is the
///   proof, which is also taken when the job has ended. Answered with the ``Job``, whose invoice is to be paid. Where
///   there is no invoice, or with `zap`, it is paid by a zap: the ``Job`` has its request as soon as that is signed.
///   Said again it may name the `wallet` whose receipts are believed; a zap's proof is the `preimage` with the
///   `invoice` that the wallet has made.
/// - `job.deny`: it is not to be paid; the provider is not waited for any more.
///
/// `job.approve` and `job.deny` are refused as `nothing-to-pay` when nobody asks for a payment, `provider-needed` when
/// several do and none is named, `invoice-refused` when the invoice is not in order or beyond a bound, with the reason,
/// and `no-relays` when it would be paid by a zap and nobody knows a relay for the receipt. What is refused changes
/// nothing of the job.
public struct JobReference: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"job":"0123456789abcdef","provider":"npub1…","preimage":"64 hexadecimal digits","zap":false,"#
    + #""wallet":"npub1…","invoice":"lnbc1…"}"#

  /// What callers write for ``job``.
  public static let misnomers = ["id": "job", "key": "job", "event": "job", "request": "job"]

  /// Its `id`, its `key`, or the id of one of its request events.
  public var job: String
  /// The provider it is about.
  public var provider: String?
  /// Proof of a payment, 64 hexadecimal digits.
  public var preimage: String?
  /// Whether it is paid by a zap though there is an invoice; no unless said.
  public var zap: Bool?
  /// Who writes the receipts of the provider's wallet: `nostrPubkey` of its lnurl page. It is then paid by a zap.
  public var wallet: String?
  /// The invoice that the provider's wallet has made for the zap's request; goes with `preimage`.
  public var invoice: String?

  /// A job.
  public init(job: String, provider: String? = nil, preimage: String? = nil) {
    self.job = job
    self.provider = provider
    self.preimage = preimage
  }

  /// An invoice that proves nothing by itself.
  public var objection: String? {
    invoice != nil && preimage == nil ? "'invoice' goes with 'preimage', which proves that it was paid" : nil
  }
}

/// `job.providers`: who serves kinds of jobs, as announced (NIP-89), and what this machine knows of them. Parts are
/// ``JobProvider``s, the terminal answer a ``StoreCount``.
public struct JobProviders: MethodArguments {
  /// How it is asked.
  public static let example = #"{"kind":5302,"fetches":true,"limit":20}"#

  /// Those that serve this kind of request; all when absent.
  public var kind: UInt16?
  /// Whether relays are asked as well; only the store unless said.
  public var fetches: Bool?
  /// Most providers wanted, from 0.
  public var limit: Int?

  /// A question.
  public init(kind: UInt16? = nil, fetches: Bool? = nil, limit: Int? = nil) {
    self.kind = kind
    self.fetches = fetches
    self.limit = limit
  }

  /// A limit from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// A provider of jobs.
public struct JobProvider: Codable, Sendable, Hashable {
  /// 64 hexadecimal digits.
  public var provider: String
  /// As announced.
  public var name: String?
  /// As announced.
  public var about: String?
  /// Kinds of requests that it serves, as announced; of the provider of this machine, as it says itself.
  public var kinds: [UInt16]
  /// Whether it is the provider of this machine. Absent: no.
  public var isHere: Bool?
  /// When it has announced itself last, seconds since 1970.
  public var announcedAt: Int64?
  /// Requests that this machine has addressed to it.
  public var asked: Int
  /// Those that it has answered with a result.
  public var answered: Int
  /// Half of its results came faster, in milliseconds.
  public var medianMilliseconds: Int64?
  /// Its results that were not paid.
  public var unpaid: Int
  /// Payments for which no result came.
  public var undelivered: Int
  /// Jobs in which it asked for money by a bill that nobody could approve: no invoice, or one of another amount or
  /// network than it said.
  public var contradictions: Int

  /// A provider of whom nothing is known.
  public init(provider: String, kinds: [UInt16] = []) {
    self.provider = provider
    self.kinds = kinds
    asked = 0
    answered = 0
    unpaid = 0
    undelivered = 0
    contradictions = 0
  }
}

/// Several payments.
public struct JobPayments: Codable, Sendable, Hashable {
  /// How many.
  public var count: UInt64
  /// Millisatoshi together, as far as they have said.
  public var amount: Int64

  /// So many.
  public init(count: UInt64 = 0, amount: Int64 = 0) {
    self.count = count
    self.amount = amount
  }
}

/// The answer of `job.status`.
public struct TrackingStatus: Codable, Sendable, Hashable {
  /// Jobs by state.
  public var jobs: [String: Int] = [:]
  /// Up to this seq the store's events were looked at.
  public var seq: Int64 = 0
  /// Events that were answers to open jobs, since the start.
  public var answers: UInt64 = 0
  /// Results among them that count, since the start.
  public var results: UInt64 = 0
  /// What was odd about answers, and why they do not count, by word, with how often since the start.
  public var diagnostics: [String: UInt64] = [:]
  /// Payments by the state that they have come to since the start (``JobProviderState/PaymentState``).
  public var payments: [String: JobPayments] = [:]
  /// Payments that are asked for now, and that nobody has decided about.
  public var openPayments = JobPayments()
  /// Payments of open jobs that are approved, and of which nobody has shown that they are paid.
  public var unpaid = JobPayments()
  /// Open jobs that are for relays, and of which no relay has a request: none is known for it.
  public var unseen = 0
  /// Millisatoshi approved in the last 24 hours.
  public var approvedToday: Int64 = 0
  /// Why nothing can be accepted at present, if so.
  public var fault: String?

  /// Nothing yet.
  public init() {}
}

extension RefusalCode {
  /// No job of this id, key or event.
  public static let noSuchJob: RefusalCode = "no-such-job"
  /// The job has ended, and cannot be called off.
  public static let jobOver: RefusalCode = "job-over"
  /// Nobody asks for a payment.
  public static let nothingToPay: RefusalCode = "nothing-to-pay"
  /// Several providers ask for a payment; one is to be named.
  public static let providerNeeded: RefusalCode = "provider-needed"
  /// The invoice is not in order, or beyond a bound.
  public static let invoiceRefused: RefusalCode = "invoice-refused"
}
