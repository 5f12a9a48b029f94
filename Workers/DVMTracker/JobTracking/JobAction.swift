public import Contracts
public import Cryptography
public import Nostr

/// Something that the shell has others do for a job. No task is under way twice at a time. Asked for again after a
/// death, a task does no harm.
public enum JobTask: Sendable, Hashable {
  /// Have the request of an attempt encrypted, if necessary, and signed, then call
  /// ``JobTable/made(_:attempt:event:at:)``.
  case make(JobID, attempt: Int)
  /// Have a request published, or stored here, then call ``JobTable/published(_:_:confirmed:of:isStored:at:)``.
  case publish(JobID, EventID)
  /// Have an answer decrypted, then call ``JobTable/opened(_:_:plaintext:at:)``.
  case open(JobID, EventID)
  /// Have a request deleted (kind 5) where it was published, then call ``JobTable/withdrawn(_:_:at:)``.
  case withdraw(JobID, EventID)
  /// Have the request for a zap of an event signed, then call ``JobTable/zapMade(_:_:event:at:)``.
  case zap(JobID, EventID)
  /// Carry out an intent, then call ``JobTable/settled(_:_:_:at:)``. One ``JobTable`` asks for it at most once.
  case pay(JobID, PaymentIntent)
  /// Find out what became of an intent that an earlier process may have carried out.
  case lookUp(JobID, PaymentIntent)

  /// The job it is for.
  public var job: JobID {
    switch self {
    case .make(let job, _), .publish(let job, _), .open(let job, _), .withdraw(let job, _), .zap(let job, _),
      .pay(let job, _), .lookUp(let job, _):
      job
    }
  }
}

/// What the shell of a ``JobTable`` has to do, in order.
public enum JobAction: Sendable {
  /// Write this in one transaction, then call ``JobTable/written(_:at:)`` or ``JobTable/notWritten(_:at:)``. At most
  /// one write is under way.
  case write(JobBatch)
  /// Perform this task and report its outcome, or call ``JobTable/failed(_:_:isLocked:at:)``.
  case perform(JobTask)
  /// The job has changed: inform its followers.
  case tell(JobID)
  /// Call ``JobTable/timerFired(at:)`` at this time, milliseconds since 1970. This replaces the timer set before.
  case setTimer(Int64)
  /// Observe other events at relays: ``JobTable/interests`` has changed.
  case observe
}

/// The contents of one transaction.
public struct JobBatch: Sendable {
  /// A fact of a job.
  public struct Entry: Sendable, Hashable {
    /// The job.
    public var job: JobID
    /// The fact.
    public var fact: JobFact

    /// A fact of a job.
    public init(job: JobID, fact: JobFact) {
      self.job = job
      self.fact = fact
    }
  }

  /// The state of a job when the batch is written.
  public struct Standing: Sendable, Hashable {
    /// Its state.
    public var state: Job.State
    /// When it ended, milliseconds since 1970.
    public var endedAt: Int64?

    /// The state of a job.
    public init(state: Job.State, endedAt: Int64?) {
      self.state = state
      self.endedAt = endedAt
    }
  }

  /// Counts up; for the machine only.
  public var number: UInt64
  /// New jobs.
  public var accepted: [JobOrder] = []
  /// Facts, each with its job; written in this order.
  public var entries: [Entry] = []
  /// Answers and receipts to delete, because others need their room.
  public var dropped: [(job: JobID, event: EventID)] = []
  /// Approvals that can no longer be paid and count against no limit: ``JobPicture/voidIntents``. They are removed
  /// after the facts are written.
  public var voided: [(job: JobID, intent: PaymentIntent)] = []
  /// Payments that these facts prove; their hashes prove no other payment.
  public var proofs: [(job: JobID, proof: PaymentProof)] = []
  /// The states of the jobs that have these facts.
  public var standings: [JobID: Standing] = [:]
  /// Jobs for which nothing is left to do; a start need not load them.
  public var closed: [JobID] = []
  /// What is now known of providers.
  public var histories: [PublicKey: ProviderHistory] = [:]
  /// All events up to this seq were looked at.
  public var cursor: Int64?

  /// An empty batch.
  public init(number: UInt64) { self.number = number }

  /// ``dropped``, by job.
  var droppedEvents: [JobID: Set<EventID>] {
    dropped.reduce(into: [:]) { $0[$1.job, default: []].insert($1.event) }
  }

  /// Whether there is nothing to write but the cursor.
  public var isEmpty: Bool { accepted.isEmpty && entries.isEmpty && dropped.isEmpty && closed.isEmpty }
}
