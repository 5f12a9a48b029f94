public import Contracts
public import Cryptography
public import Nostr

// The state of a job: a function of what was asked for and of the facts, and of nothing else. No clock is read; that
// time has passed is a fact as well. So it is the same before a death and after it, and in whatever order facts came.
//
//   what providers said   JobAnswerFact… ─▶ Pair     one for each provider: nothing of one touches another
//   what was asked        JobRequestFact… ─▶ Attempt
//   both, and what was decided ─▶ the job's state, what it waits for, and what is to be done next
//
// Of several results of one provider the newest counts, by the time it names; of several providers' the one that is
// dated first, and not before its request; once one was paid, that one.

/// A job as its facts make it.
public struct JobPicture: Sendable, Hashable {
  /// One round of asking.
  public struct Attempt: Sendable, Hashable {
    /// One that is not begun.
    public struct Next: Sendable, Hashable {
      /// Its number.
      public var number: Int
      /// Whom it addresses; nobody: whoever likes.
      public var providers: [PublicKey]
    }
    /// From 0.
    public var number: Int
    /// Whom it addresses; nobody: whoever likes.
    public var providers: [PublicKey]
    /// When it was decided, milliseconds since 1970.
    public var startedAt: Int64
    /// Its request, once that is signed.
    public var request: JobRequestFact?
    /// Whether the store of this machine has the request.
    public var isStored = false
    /// Relays that have it.
    public var confirmed = 0
    /// Relays that it is for; nil while that is not known.
    public var relays: Int?
    /// Since when providers can see it, milliseconds since 1970.
    public var visibleAt: Int64?
    /// Why no relay takes it, or why it cannot be made.
    public var problem: String?
    /// Whether it cannot be made at all.
    public var isUndone = false
    /// Whether its publishing was given up by those who do it.
    public var isUnpublished = false
    /// Whether nobody could see it in time.
    public var isPublishLapsed = false
    /// Whether the time for a first sign has passed.
    public var isAnswerLapsed = false
    /// Whether it was taken back where it was published.
    public var isWithdrawn = false

    init(number: Int, providers: [PublicKey], startedAt: Int64) {
      self.number = number
      self.providers = providers
      self.startedAt = startedAt
    }
  }

  /// The job at one provider.
  public struct Pair: Sendable, Hashable {
    /// Who.
    public var provider: PublicKey
    /// How far it is there.
    public var state = JobProviderState.State.asked
    /// Its last words.
    public var message: String?
    /// When it has said something first and last, milliseconds since 1970 by the clock here.
    public var signs: ClosedRange<Int64>?
    /// Its newest result.
    public var result: JobAnswerFact?
    /// How many results of it count.
    public var resultCount = 0
    /// Its newest part.
    public var partial: String?
    /// What it wants.
    public var bill: JobBill?
    /// When that was learnt, milliseconds since 1970.
    public var billAt: Int64?
    /// The event that says so, which is what is zapped.
    public var billedBy: EventID?
    /// How the payment is; nil when nothing is open, and nothing was decided.
    public var payment: JobProviderState.PaymentState?
    /// What was approved last, and when.
    public var intent: PaymentIntent?
    /// When that was, milliseconds since 1970.
    public var intentAt: Int64?
    /// When the payment was proven, milliseconds since 1970.
    public var paidAt: Int64?
    /// How many payments were proven.
    public var paidCount = 0
    /// Millisatoshi of those together.
    public var paidAmount: Int64 = 0
    /// Why a zap that was approved cannot be made.
    public var zapProblem: String?
    /// Receipts for our zaps, in the order of their ids.
    public var receipts: [Receipt] = []
    /// Whether it still wants something that nobody has decided against.
    public var owes = false
    /// Why its bill is more than the job allows, whoever would approve it.
    public var excess: String?
    /// Whether somebody has denied it a payment, and approved none since.
    public var wasDenied = false
    /// Whether it fell silent, was asked once more, and has said nothing since.
    public var isAskedAgain = false
    /// Whether no result is expected of it any more.
    public var isSpent = false
    /// Whether it was paid, or may have been, and has sent nothing in time.
    public var isUndelivered = false

    /// Whether nobody asked it by name, and all it brings is a bill that nobody could approve: nothing waits for it.
    public var isBarren = false
    /// Whether it wants what nobody can approve: its bill is not in order, or more than the job allows.
    public var isBeyondApproval: Bool { bill?.isInOrder != true || excess != nil }
    /// Whether it waits for a decision, and no approval of what it has shown can be one.
    public var isUnpayable: Bool { payment == .asked && result == nil && isBeyondApproval }

    /// Whether its payment is approved or made, and its result still to come: before that no other one is approved by
    /// rule.
    var holdsTurn: Bool { (payment == .approved || payment == .paid) && result == nil && !isUndelivered }

    /// Until when its payment can be made, milliseconds since 1970; nil: it was, or has no end that is known.
    var payableUntil: Int64? {
      guard payment == .approved, intent?.zapTarget == nil, let expiresAt = bill?.expiresAt else { return nil }
      let (end, overflows) = expiresAt.multipliedReportingOverflow(by: 1_000)
      return overflows ? nil : end
    }

    init(_ provider: PublicKey) { self.provider = provider }
  }

  /// A receipt for one of our zaps.
  public struct Receipt: Sendable, Hashable {
    /// By what a receipt proves that it was paid.
    public enum Proof: Sendable, Hashable {
      /// It shows the preimage of its invoice, which was made for our request.
      case preimage
      /// Its author is the wallet that somebody has named.
      case wallet
    }
    /// The event's id.
    public var event: EventID
    /// Its author.
    public var wallet: PublicKey
    /// By what it proves that it was paid; nil: anybody may have written it.
    public var proof: Proof?
  }

  /// When something is over by itself.
  public struct Deadline: Sendable, Hashable {
    /// What is.
    public var phase: JobPhase
    /// Of which attempt.
    public var attempt: Int?
    /// Of which provider.
    public var provider: PublicKey?
    /// When, milliseconds since 1970.
    public var at: Int64
  }

  /// How far it is.
  public internal(set) var state = Job.State.drafted
  /// Why, as a sentence's end.
  public internal(set) var reason: String?
  /// When its end was written down, milliseconds since 1970; nil: it may have come to one that is not written down yet.
  public internal(set) var endedAt: Int64?
  /// The rounds, the first one first.
  public internal(set) var attempts: [Attempt] = []
  /// Providers that were named or have answered.
  public internal(set) var pairs: [PublicKey: Pair] = [:]
  /// The result that is taken.
  public internal(set) var taken: JobAnswerFact?
  /// What the results of other jobs have come to.
  public internal(set) var feeds: [JobID: JobFeed] = [:]
  /// What has proven a payment, the first one first; of each payment hash one.
  public internal(set) var proofs: [PaymentProof] = []
  /// Requests for zaps that were signed, the first one first; one for each event that is zapped.
  public internal(set) var zaps: [ZapRequestFact] = []
  /// What is over next by itself.
  public internal(set) var deadline: Deadline?
  /// The attempt that is to be begun now, and whom it addresses.
  public internal(set) var nextAttempt: Attempt.Next?
  /// Whether offers are still collected.
  public internal(set) var isCollecting = false
  /// What was odd, with how often.
  public internal(set) var diagnostics: [String: Int] = [:]

  /// What is known of a job before anything is.
  init() {}

  /// The job as these facts make it, in whatever order they stand.
  public init(_ order: JobOrder, _ facts: [JobFact]) {
    var folding = JobFolding(order, facts)
    folding.fold()
    self = folding.picture
  }

  /// The zap that an intent is carried out by, once its request is signed.
  public func zap(for intent: PaymentIntent?) -> ZapRequestFact? {
    guard let target = intent?.zapTarget else { return nil }
    return zaps.first { $0.target == target }
  }

  /// Zaps that were approved and that nobody can pay any more: their requests were never signed, and never will be,
  /// because they cannot be, the approval was taken back, or the job has ended. Of an invoice nobody knows as much:
  /// whoever was shown it may pay it at any time.
  public var voidIntents: [PaymentIntent] {
    pairs.values.compactMap { pair in
      guard let intent = pair.intent, intent.zapTarget != nil, zap(for: intent) == nil, pair.paidAt == nil,
        pair.payment == .denied || endedAt != nil
      else { return nil }
      return intent
    }
  }

  /// Requests that were signed, the first one first.
  public var requests: [JobRequestFact] { attempts.compactMap(\.request) }

  /// Where an answer that came after the end is counted.
  public static let lateWord = "after-the-end"
  /// Where answers and receipts are counted that were too many to be kept.
  public static let notKeptWord = "not-kept"
  /// Where receipts are counted of which nobody knows whether the payee's wallet wrote them.
  public static let unknownWalletWord = "receipt-of-unknown-wallet"
  /// Where receipts are counted that somebody else wrote than the wallet that was named.
  public static let otherWalletWord = "receipt-of-another-wallet"
  /// Where results are counted that differ from the one that is taken.
  public static let contradictionWord = "differs-from-the-result"
}
