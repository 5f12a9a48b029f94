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
public struct JobLedgerContents: Sendable {
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
