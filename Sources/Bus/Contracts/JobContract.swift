public import Frames

// The methods of role `dvm-tracker`, `job.*`: work that providers do for money or for free (NIP-90).
//
//    drafted ─▶ published ─▶ processing ─▶ delivered ─▶ settled
//       │           │    ╲       │  ▲          │
//       │           │     ▶ payment-required   │            failed, expired, cancelled: from anywhere before the end
//     waiting (for the result of another job)
//
// A job is one order of the caller. It may need several requests: to one provider after another, or again when no
// provider answered. Accepted means committed: after the answer of `job.submit`, the job survives the death of every
// process, and its end is reported with a reason.

/// The state of a job.
public struct Job: Codable, Sendable, Hashable {
  /// The state of the job as a whole.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// It waits for the result of another job.
    case waiting
    /// Committed; no request has reached a relay or this machine's store.
    case drafted
    /// A relay or this machine's store has a request.
    case published
    /// A provider works on it.
    case processing
    /// No provider continues before a payment.
    case paymentRequired = "payment-required"
    /// A result has arrived, and its provider asks for payment.
    case delivered
    /// A result has arrived, and no payment is open.
    case settled
    /// It cannot be done; `reason` says why.
    case failed
    /// Something did not happen in time; `reason` says what.
    case expired
    /// The caller cancelled it.
    case cancelled

    /// Whether the state is final and will not change.
    public var isFinal: Bool { [.settled, .failed, .expired, .cancelled].contains(self) }
  }

  /// 16 hexadecimal digits.
  public var id: String
  /// The caller's key for it.
  public var key: String
  /// The account that it belongs to, 64 hexadecimal digits.
  public var account: String
  /// The name of that account at the signer. `dvm-tracker` is the tracker's own account: it owns jobs that name no
  /// account, while the machine has no account of a person. Absent until the signer has answered.
  public var accountName: String?
  /// The kind of its requests.
  public var kind: UInt16
  /// Its state.
  public var state: State
  /// Why it is in this state, as the end of a sentence.
  public var reason: String?
  /// When it was accepted, seconds since 1970.
  public var submittedAt: Int64
  /// When it ended, seconds since 1970.
  public var endedAt: Int64?
  /// When the present phase times out, seconds since 1970.
  public var nextDeadlineAt: Int64?
  /// Its requests, in the order in which they were made.
  public var requests: [JobRequestState]
  /// Providers that answered or were named.
  public var providers: [JobProviderState]
  /// The result that was accepted.
  public var result: JobResultState?
  /// Jobs of this tracker whose results it needs.
  public var dependsOn: [String]
  /// Unusual things in what providers sent, and how many times each.
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
  /// The providers that it addresses, 64 hexadecimal digits each; empty: it is open to all.
  public var providers: [String]
  /// Relays that have it; 0 when the request stays on this machine.
  public var confirmedRelays: Int
  /// Relays that it is for; 0 when the request stays on this machine.
  public var relays: Int
  /// Whether this machine's store has it.
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

/// The state of a job at one provider.
public struct JobProviderState: Codable, Sendable, Hashable {
  /// How far the job is at the provider.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// The provider received the request and has not answered.
    case asked
    /// The provider works on it.
    case processing
    /// The provider has sent a part of the result.
    case partial
    /// The provider wants to be paid before it continues.
    case paymentRequired = "payment-required"
    /// The provider has sent a result.
    case delivered
    /// The provider says that it cannot do the job.
    case error
    /// The provider did not answer in time.
    case silent
  }
  /// 64 hexadecimal digits.
  public var provider: String
  /// The state at this provider.
  public var state: State
  /// The provider's own words.
  public var message: String?
  /// The amount that it asks for, in millisatoshi.
  public var amount: Int64?
  /// Its invoice, if that is valid. Absent when the provider gave none; the payment is then a zap.
  public var invoice: String?
  /// Why the requested payment is not to be made, as the end of a sentence.
  public var invoiceProblem: String?
  /// The state of the payment; absent when the provider asks for none.
  public var payment: PaymentState?
  /// The zap that pays it, once the payment is approved.
  public var zap: JobZapState?
  /// A part or sample of the result.
  public var partial: String?
  /// When the provider last sent something, seconds since 1970.
  public var lastSignAt: Int64?
  /// The number of results it has sent.
  public var results: Int

  /// The state of a payment.
  public enum PaymentState: String, Codable, Sendable, Hashable, CaseIterable {
    /// The provider asks for it, and the caller has not decided.
    case asked
    /// It may be paid; the approval is on the disk.
    case approved
    /// It is paid: the caller showed the preimage, or a receipt arrived that proves it.
    case paid
    /// It must not be paid.
    case denied
  }

  /// A provider.
  public init(provider: String, state: State, results: Int = 0) {
    self.provider = provider
    self.state = state
    self.results = results
  }
}

/// A zap that pays a provider (NIP-57). The payer sends the zap request to the provider's wallet, which answers with an
/// invoice; when the invoice is paid, the wallet publishes a receipt.
public struct JobZapState: Codable, Sendable, Hashable {
  /// The zapped event, which is the event that asks for the payment.
  public var target: String
  /// The amount to pay, in millisatoshi.
  public var amount: Int64
  /// The signed zap request (kind 9734) as JSON: the exact bytes to send to the wallet. Absent until it is signed.
  public var request: String?
  /// The page to send the request to, as the provider's profile names it: `lnurl1…`. Absent when the profile has none.
  public var lnurl: String?
  /// The same page as an address: `alice@example.com`.
  public var address: String?
  /// Receipts for the request that have arrived.
  public var receipts: [JobReceiptState]

  /// A zap.
  public init(target: String, amount: Int64, receipts: [JobReceiptState] = []) {
    self.target = target
    self.amount = amount
    self.receipts = receipts
  }
}

/// A zap receipt (kind 9735). It holds our zap request, and an invoice for that request and its amount.
public struct JobReceiptState: Codable, Sendable, Hashable {
  /// How a receipt proves a payment.
  public enum Proof: String, Codable, Sendable, Hashable, CaseIterable {
    /// It contains the preimage of the invoice.
    case preimage
    /// Its author is the wallet that the caller named in `job.approve`.
    case wallet
  }
  /// The event's id.
  public var event: String
  /// Its author, 64 hexadecimal digits.
  public var author: String
  /// How it proves that the zap was paid. Absent: anyone may have written it, and it proves nothing.
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
  /// The provider that made it, 64 hexadecimal digits.
  public var provider: String
  /// The result in plaintext.
  public var content: String
  /// Its `created_at`: when the provider says that it made the result, seconds since 1970.
  public var createdAt: Int64
  /// Whether the content was cut because it is too long; the event has all of it. Absent: no.
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
  /// An example of the arguments.
  public static let example = #"{"states":["published","payment-required"],"limit":20}"#

  /// Only jobs in one of these states; all jobs when absent.
  public var states: [Job.State]?
  /// The maximum number of jobs, from 0.
  public var limit: Int?

  /// A request.
  public init(states: [Job.State]? = nil, limit: Int? = nil) {
    self.states = states
    self.limit = limit
  }

  /// The limit is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// `job.show`, `job.follow`, `job.cancel`, `job.approve`, `job.deny`: one job. Refused as `no-such-job` when the
/// tracker has no such job, or has forgotten it because it ended long ago.
///
/// - `job.show`: answered with the ``Job``.
/// - `job.follow`: a ``Job`` immediately and at each change, until its state is final or the caller cancels.
/// - `job.cancel`: ends the job. A deletion (kind 5) goes where the requests went, and nothing more is paid. Answered
///   with the ``Job``. Refused as `job-over` when the job has already ended in another way.
/// - `job.approve`: approves the payment that a provider asks for. With `preimage`, the payment was made elsewhere and
///   this is the proof, which is also accepted after the job has ended. Answered with the ``Job``, which holds the
///   invoice to pay. Without an invoice, or with `zap`, the payment is a zap: the ``Job`` holds the zap request as soon
///   as that is signed. A repeated call may name the `wallet` whose receipts are believed; the proof of a zap is the
///   `preimage` with the `invoice` that the wallet made.
/// - `job.deny`: denies the payment; the tracker no longer waits for the provider.
///
/// `job.approve` and `job.deny` are refused as `nothing-to-pay` when no provider asks for a payment, as
/// `provider-needed` when several do and the caller names none, as `invoice-refused`, with the reason, when the invoice
/// is invalid or above a bound, and as `no-relays` when the payment would be a zap and no relay for the receipt is
/// known. A refused call does not change the job.
public struct JobReference: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"job":"0123456789abcdef","provider":"npub1…","preimage":"64 hexadecimal digits","zap":false,"#
    + #""wallet":"npub1…","invoice":"lnbc1…"}"#

  /// Names that callers write by mistake for ``job``.
  public static let misnomers = ["id": "job", "key": "job", "event": "job", "request": "job"]

  /// Its `id`, its `key`, or the id of one of its request events.
  public var job: String
  /// The provider that the call is about.
  public var provider: String?
  /// The proof of a payment, 64 hexadecimal digits.
  public var preimage: String?
  /// Whether a zap is used although there is an invoice; default: no.
  public var zap: Bool?
  /// The author of the receipts of the provider's wallet: `nostrPubkey` of its lnurl page. The payment is then a zap.
  public var wallet: String?
  /// The invoice that the provider's wallet made for the zap request; only together with `preimage`.
  public var invoice: String?

  /// A job.
  public init(job: String, provider: String? = nil, preimage: String? = nil) {
    self.job = job
    self.provider = provider
    self.preimage = preimage
  }

  /// An invoice without the preimage that would prove its payment.
  public var objection: String? {
    invoice != nil && preimage == nil ? "'invoice' goes with 'preimage', which proves that it was paid" : nil
  }
}

/// `job.providers`: the providers that announced that they serve kinds of jobs (NIP-89), and what this machine knows of
/// them. Parts are ``JobProvider``s, the terminal answer a ``StoreCount``.
public struct JobProviders: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"kind":5302,"fetches":true,"limit":20}"#

  /// Only providers that serve this kind of request; all when absent.
  public var kind: UInt16?
  /// Whether relays are queried too; default: only the store.
  public var fetches: Bool?
  /// The maximum number of providers, from 0.
  public var limit: Int?

  /// A request.
  public init(kind: UInt16? = nil, fetches: Bool? = nil, limit: Int? = nil) {
    self.kind = kind
    self.fetches = fetches
    self.limit = limit
  }

  /// The limit is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// A provider of jobs.
public struct JobProvider: Codable, Sendable, Hashable {
  /// 64 hexadecimal digits.
  public var provider: String
  /// Its name, as announced.
  public var name: String?
  /// Its description, as announced.
  public var about: String?
  /// Kinds of requests that it serves, as announced; for this machine's own provider, as that worker reports.
  public var kinds: [UInt16]
  /// Whether it is this machine's own provider. Absent: no.
  public var isHere: Bool?
  /// When it last announced itself, seconds since 1970.
  public var announcedAt: Int64?
  /// Requests that this machine has addressed to it.
  public var asked: Int
  /// The number of these that it answered with a result.
  public var answered: Int
  /// The median time to its results, in milliseconds.
  public var medianMilliseconds: Int64?
  /// Results of it that were not paid.
  public var unpaid: Int
  /// Payments to it for which no result arrived.
  public var undelivered: Int
  /// Jobs in which it asked for a payment that could not be approved: without an invoice, or with an invoice for
  /// another amount or network than it stated.
  public var contradictions: Int

  /// A provider without any history.
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

/// A number of payments and their sum.
public struct JobPayments: Codable, Sendable, Hashable {
  /// The number of payments.
  public var count: UInt64
  /// The sum in millisatoshi; a payment without a stated amount adds nothing.
  public var amount: Int64

  /// A number of payments and their sum.
  public init(count: UInt64 = 0, amount: Int64 = 0) {
    self.count = count
    self.amount = amount
  }
}

/// The answer of `job.status`.
public struct TrackingStatus: Codable, Sendable, Hashable {
  /// Jobs by state.
  public var jobs: [String: Int] = [:]
  /// The seq up to which the tracker has read the store's events.
  public var seq: Int64 = 0
  /// Events that answered open jobs, since the start.
  public var answers: UInt64 = 0
  /// The number of these that were results that count, since the start.
  public var results: UInt64 = 0
  /// Unusual things in answers, and reasons why answers do not count: a word, and how many times since the start.
  public var diagnostics: [String: UInt64] = [:]
  /// Payments by the state that they reached since the start (``JobProviderState/PaymentState``).
  public var payments: [String: JobPayments] = [:]
  /// Payments that providers ask for now, and about which the caller has not decided.
  public var openPayments = JobPayments()
  /// Approved payments of open jobs that are not yet proven to be paid.
  public var unpaid = JobPayments()
  /// Open jobs meant for relays whose requests no relay has, because no relay is known for them.
  public var unseen = 0
  /// Millisatoshi approved in the last 24 hours.
  public var approvedToday: Int64 = 0
  /// Why no job can be accepted at present; absent when jobs can be accepted.
  public var fault: String?

  /// All counts are 0.
  public init() {}
}

extension RefusalCode {
  /// No job of this id, key or event.
  public static let noSuchJob: RefusalCode = "no-such-job"
  /// The job has ended and cannot be cancelled.
  public static let jobOver: RefusalCode = "job-over"
  /// No provider asks for a payment.
  public static let nothingToPay: RefusalCode = "nothing-to-pay"
  /// Several providers ask for a payment; the caller must name one.
  public static let providerNeeded: RefusalCode = "provider-needed"
  /// The invoice is invalid or above a bound.
  public static let invoiceRefused: RefusalCode = "invoice-refused"
}
