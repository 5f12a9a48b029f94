public import Contracts
public import Cryptography
public import JobTracking
public import Nostr

/// A job as it stands in the ledger.
public struct LedgerJob: Sendable, Hashable {
  /// What was asked for.
  public var order: JobOrder
  /// What is known of it, in the order of time.
  public var facts: [JobFact]

  /// The job as its facts make it.
  public var picture: JobPicture { JobPicture(order, facts) }
}

/// A job that is kept, and done with.
public struct KeptJob: Sendable, Hashable {
  /// Its name.
  public var id: JobID
  /// Its submitter's name for it.
  public var key: String
  /// Its requests.
  public var requests: [EventID]
}

/// What a ledger has when it is opened.
public struct LedgerContents: Sendable {
  /// All jobs that are not done with, in the order of acceptance.
  public var open: [LedgerJob] = []
  /// All others.
  public var kept: [KeptJob] = []
  /// Payments that were approved within `JobLedger.paymentMilliseconds`, and those of open jobs.
  public var payments: [(job: JobID, at: Int64, intent: PaymentIntent)] = []
  /// Payments that were proven, also of jobs that are forgotten.
  public var proofs: [(job: JobID, proof: PaymentProof)] = []
  /// What is known of providers.
  public var histories: [PublicKey: ProviderHistory] = [:]
  /// All answers up to this seq of the event store were looked at; nil: none ever.
  public var cursor: Int64?
  /// Jobs done with, by state.
  public var counts: [Job.State: Int] = [:]
}

/// What was saved of a damaged ledger.
public struct LedgerRescue: Sendable, Hashable {
  /// Where the damaged file is now.
  public let quarantinePath: String
  /// Jobs in the new one.
  public internal(set) var savedCount = 0
  /// Jobs of which some facts could not be read; they are in the new one without those, unless it stands under
  /// ``lostCount``.
  public internal(set) var damagedCount = 0
  /// Jobs whose order could not be read.
  public internal(set) var lostCount = 0
  /// Why reading ended before the end, if it did.
  public internal(set) var reason: String?

  /// How many jobs are lost, as far as that is known: where reading ended early nobody knows how many stood behind.
  public var lostText: String {
    if reason == nil, savedCount + lostCount > 0 { return "\(lostCount)" }
    return lostCount > 0 ? "unknown, at least \(lostCount)" : "unknown"
  }
}
