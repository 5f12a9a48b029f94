public import Contracts
public import Cryptography
public import Nostr

// The state of a job: a function of its order and its facts, and of nothing else. It reads no clock; that time has
// passed is a fact as well. So the state is the same before and after a death, and in whatever order facts came.
//
//   what providers said   JobAnswerFact… ─▶ Pair     one for each provider: none of them affects another
//   what was asked        JobRequestFact… ─▶ Attempt
//   both, and what was decided ─▶ the job's state, what it waits for, and what is to be done next
//
// Of several results of one provider the newest counts, by its date. Of several providers' results the one with the
// earliest date is taken; a date before the request counts as the date of the request. Once a provider was paid, its
// result is taken.

/// A job as computed from its facts.
public struct JobPicture: Sendable, Hashable {
  /// One attempt: a request to some providers.
  public struct Attempt: Sendable, Hashable {
    /// An attempt that has not begun.
    public struct Next: Sendable, Hashable {
      /// Its number.
      public var number: Int
      /// The providers that it addresses; empty: any provider.
      public var providers: [PublicKey]
    }
    /// From 0.
    public var number: Int
    /// The providers that it addresses; empty: any provider.
    public var providers: [PublicKey]
    /// When it was decided, milliseconds since 1970.
    public var startedAt: Int64
    /// Its request, once signed.
    public var request: JobRequestFact?
    /// Whether the store of this machine has the request.
    public var isStored = false
    /// Relays that have it.
    public var confirmed = 0
    /// Relays that it is for; nil while they are not known.
    public var relays: Int?
    /// Since when providers can see it, milliseconds since 1970.
    public var visibleAt: Int64?
    /// Why no relay takes it, or why it cannot be made.
    public var problem: String?
    /// Whether it cannot be made at all.
    public var isUndone = false
    /// Whether the publisher has given it up.
    public var isUnpublished = false
    /// Whether no provider could see it in time.
    public var isPublishLapsed = false
    /// Whether the time for a first answer has passed.
    public var isAnswerLapsed = false
    /// Whether it was deleted where it was published.
    public var isWithdrawn = false

    init(number: Int, providers: [PublicKey], startedAt: Int64) {
      self.number = number
      self.providers = providers
      self.startedAt = startedAt
    }
  }

  /// The job at one provider.
  public struct Pair: Sendable, Hashable {
    /// The provider.
    public var provider: PublicKey
    /// Its state.
    public var state = JobProviderState.State.asked
    /// Its last message.
    public var message: String?
    /// When it first and last sent something, milliseconds since 1970 by the clock here.
    public var signs: ClosedRange<Int64>?
    /// Its newest result.
    public var result: JobAnswerFact?
    /// How many results of it count.
    public var resultCount = 0
    /// Its newest partial result.
    public var partial: String?
    /// The payment that it asks for.
    public var bill: JobBill?
    /// When that became known, milliseconds since 1970.
    public var billAt: Int64?
    /// The event that asks for it, which a zap would be for.
    public var billedBy: EventID?
    /// The state of its payment; nil if nothing is open and nothing was decided.
    public var payment: JobProviderState.PaymentState?
    /// What was approved last.
    public var intent: PaymentIntent?
    /// When it was approved, milliseconds since 1970.
    public var intentAt: Int64?
    /// When the payment was proven, milliseconds since 1970.
    public var paidAt: Int64?
    /// How many payments were proven.
    public var paidCount = 0
    /// The sum of the proven payments, in millisatoshi.
    public var paidAmount: Int64 = 0
    /// Why an approved zap cannot be made.
    public var zapProblem: String?
    /// Receipts for our zaps, in the order of their ids.
    public var receipts: [Receipt] = []
    /// Whether it still waits for a payment that was not denied.
    public var owes = false
    /// Why its bill is more than the job allows, even with an approval.
    public var excess: String?
    /// Whether a caller has denied it a payment, and none was approved since.
    public var wasDenied = false
    /// Whether it fell silent, was asked again, and has said nothing since.
    public var isAskedAgain = false
    /// Whether no result is expected of it.
    public var isSpent = false
    /// Whether it was paid, or may have been, and has sent no result in time.
    public var isUndelivered = false

    /// Whether it was not named, and all that it brings is a bill that cannot be approved: the job does not wait for
    /// it.
    public var isBarren = false
    /// Whether its bill cannot be approved: it is not in order, or more than the job allows.
    public var isBeyondApproval: Bool { bill?.isInOrder != true || excess != nil }
    /// Whether it waits for a decision, and what it has shown cannot be approved.
    public var isUnpayable: Bool { payment == .asked && result == nil && isBeyondApproval }

    /// Whether its payment is approved or made, and its result still to come. Until then the job's own rule approves no
    /// other payment.
    var holdsTurn: Bool { (payment == .approved || payment == .paid) && result == nil && !isUndelivered }

    /// Until when its payment can be made, milliseconds since 1970; nil if it was made, or has no known end.
    var payableUntil: Int64? {
      guard payment == .approved, intent?.zapTarget == nil, let expiresAt = bill?.expiresAt else { return nil }
      let (end, overflows) = expiresAt.multipliedReportingOverflow(by: 1_000)
      return overflows ? nil : end
    }

    init(_ provider: PublicKey) { self.provider = provider }
  }

  /// A receipt for one of our zaps.
  public struct Receipt: Sendable, Hashable {
    /// How a receipt proves the payment.
    public enum Proof: Sendable, Hashable {
      /// It shows the preimage of its invoice, which was made for our request.
      case preimage
      /// Its author is the wallet that a caller has named.
      case wallet
    }
    /// The event's id.
    public var event: EventID
    /// Its author.
    public var wallet: PublicKey
    /// How it proves the payment; nil if it does not: anyone may have written it.
    public var proof: Proof?
  }

  /// A deadline.
  public struct Deadline: Sendable, Hashable {
    /// The phase that ends.
    public var phase: JobPhase
    /// The attempt that it is for.
    public var attempt: Int?
    /// The provider that it is for.
    public var provider: PublicKey?
    /// When, milliseconds since 1970.
    public var at: Int64
  }

  /// Its state.
  public internal(set) var state = Job.State.drafted
  /// Why, as the end of a sentence.
  public internal(set) var reason: String?
  /// When its end was written down, milliseconds since 1970; nil also if it has ended and the end is not on disk yet.
  public internal(set) var endedAt: Int64?
  /// The attempts, in order.
  public internal(set) var attempts: [Attempt] = []
  /// Providers that were named or have answered.
  public internal(set) var pairs: [PublicKey: Pair] = [:]
  /// The result that is taken.
  public internal(set) var taken: JobAnswerFact?
  /// The results of other jobs, as inputs.
  public internal(set) var feeds: [JobID: JobFeed] = [:]
  /// The proofs of payments, the earliest first; one for each payment hash.
  public internal(set) var proofs: [PaymentProof] = []
  /// The signed requests for zaps, the earliest first; one for each zapped event.
  public internal(set) var zaps: [ZapRequestFact] = []
  /// The next deadline.
  public internal(set) var deadline: Deadline?
  /// The attempt to begin now, and the providers that it addresses.
  public internal(set) var nextAttempt: Attempt.Next?
  /// Whether offers are still collected.
  public internal(set) var isCollecting = false
  /// Oddities, with their counts.
  public internal(set) var diagnostics: [String: Int] = [:]

  /// A job without facts.
  init() {}

  /// Computes a job from these facts, whatever their order.
  public init(_ order: JobOrder, _ facts: [JobFact]) {
    var folding = JobFolding(order, facts)
    folding.fold()
    self = folding.picture
  }

  /// The request for the zap that carries out an intent, once it is signed.
  public func zap(for intent: PaymentIntent?) -> ZapRequestFact? {
    guard let target = intent?.zapTarget else { return nil }
    return zaps.first { $0.target == target }
  }

  /// Approved zaps that can no longer be paid: their requests were never signed and never will be, because they cannot
  /// be, the approval was taken back, or the job has ended. This is never known of an invoice: anyone who has seen it
  /// may pay it at any time.
  public var voidIntents: [PaymentIntent] {
    pairs.values.compactMap { pair in
      guard let intent = pair.intent, intent.zapTarget != nil, zap(for: intent) == nil, pair.paidAt == nil,
        pair.payment == .denied || endedAt != nil
      else { return nil }
      return intent
    }
  }

  /// The signed requests, the earliest first.
  public var requests: [JobRequestFact] { attempts.compactMap(\.request) }

  /// The word for answers and receipts that came after the end.
  public static let lateWord = "after-the-end"
  /// The word for answers and receipts that were too many to be kept.
  public static let notKeptWord = "not-kept"
  /// The word for receipts whose author is unknown, because no wallet of the payee was named.
  public static let unknownWalletWord = "receipt-of-unknown-wallet"
  /// The word for receipts by another author than the wallet that was named.
  public static let otherWalletWord = "receipt-of-another-wallet"
  /// The word for results that differ from the one that is taken.
  public static let contradictionWord = "differs-from-the-result"
}
