public import Contracts
public import Cryptography
public import JobTracking
public import Nostr

/// A job as the ledger has it.
public struct LedgerJob: Sendable, Hashable {
  /// The job as it was submitted.
  public var order: JobOrder
  /// What is known of it, in the order of time.
  public var facts: [JobFact]

  /// The job as computed from its facts.
  public var picture: JobPicture { JobPicture(order, facts) }
}

/// A closed job that is kept.
public struct KeptJob: Sendable, Hashable {
  /// Its id.
  public var id: JobID
  /// Its submitter's name for it.
  public var key: String
  /// Its requests.
  public var requests: [EventID]
}

/// What a ledger contains when it is opened.
public struct JobLedgerContents: Sendable {
  /// The open jobs, in the order of acceptance.
  public var open: [LedgerJob] = []
  /// The closed jobs.
  public var kept: [KeptJob] = []
  /// Approvals of the last `JobLedger.paymentMilliseconds`, and those for open jobs.
  public var payments: [(job: JobID, at: Int64, intent: PaymentIntent)] = []
  /// Payments that were proven, also for forgotten jobs.
  public var proofs: [(job: JobID, proof: PaymentProof)] = []
  /// What is known of providers.
  public var histories: [PublicKey: ProviderHistory] = [:]
  /// All answers up to this seq of the event store were looked at; nil if none were.
  public var cursor: Int64?
  /// Closed jobs, by state.
  public var counts: [Job.State: Int] = [:]
}
