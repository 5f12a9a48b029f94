public import Contracts
public import Cryptography
public import Nostr

/// Something that others do for a job. There is never a second one of the same beside it; asked for again after a
/// death, it does no harm.
public enum JobTask: Sendable, Hashable {
  /// Have the request of an attempt encrypted, if it is to be, and signed: ``JobTable/made(_:attempt:event:at:)``.
  case make(JobID, attempt: Int)
  /// Have a request published, or stored here: ``JobTable/published(_:_:confirmed:of:isStored:at:)``.
  case publish(JobID, EventID)
  /// Have an answer decrypted: ``JobTable/opened(_:_:plaintext:at:)``.
  case open(JobID, EventID)
  /// Have a request deleted (kind 5) where it was published: ``JobTable/withdrawn(_:_:at:)``.
  case withdraw(JobID, EventID)
  /// Have the request for a zap of an event signed: ``JobTable/zapMade(_:_:event:at:)``.
  case zap(JobID, EventID)
  /// Carry out an intent: ``JobTable/settled(_:_:_:at:)``. Never asked for twice by one ``JobTable``.
  case pay(JobID, PaymentIntent)
  /// Look what has become of an intent that an earlier process may have carried out.
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

/// What the shell of a ``JobTable`` is to do, in order.
public enum JobAction: Sendable {
  /// Write this down in one transaction, and say ``JobTable/written(_:at:)`` or ``JobTable/notWritten(_:at:)``. There
  /// is never a second one under way.
  case write(JobBatch)
  /// Do this, and say what came of it, or ``JobTable/failed(_:_:isLocked:at:)``.
  case perform(JobTask)
  /// The job has changed for whoever follows it.
  case tell(JobID)
  /// Call ``JobTable/timerFired(at:)`` at this time, milliseconds since 1970, and no longer at an earlier one.
  case setTimer(Int64)
  /// Other answers are waited for on the network: ``JobTable/interests``.
  case observe
}

/// What is written down in one transaction.
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

  /// How a job stands when the batch is written.
  public struct Standing: Sendable, Hashable {
    /// How far it is.
    public var state: Job.State
    /// When it ended, milliseconds since 1970.
    public var endedAt: Int64?

    /// A standing.
    public init(state: Job.State, endedAt: Int64?) {
      self.state = state
      self.endedAt = endedAt
    }
  }

  /// Counted up; the machine's own.
  public var number: UInt64
  /// Jobs that are new.
  public var accepted: [JobOrder] = []
  /// Facts, each with its job; written in this order.
  public var entries: [Entry] = []
  /// Answers and receipts that make room for others.
  public var dropped: [(job: JobID, event: EventID)] = []
  /// Approvals that nobody can pay by any more, and that count against no bound: ``JobPicture/voidIntents``. They are
  /// taken out behind the facts.
  public var voided: [(job: JobID, intent: PaymentIntent)] = []
  /// Payments that are proven by these facts: their hashes prove no other.
  public var proofs: [(job: JobID, proof: PaymentProof)] = []
  /// How the jobs of these facts stand with them.
  public var standings: [JobID: Standing] = [:]
  /// Jobs for which nothing is left to do: they need not be loaded any more.
  public var closed: [JobID] = []
  /// What is known of providers now.
  public var histories: [PublicKey: ProviderHistory] = [:]
  /// All events up to this seq have been looked at.
  public var cursor: Int64?

  /// Nothing.
  public init(number: UInt64) { self.number = number }

  /// ``dropped``, by job.
  var droppedEvents: [JobID: Set<EventID>] {
    dropped.reduce(into: [:]) { $0[$1.job, default: []].insert($1.event) }
  }

  /// Whether there is nothing to write but the cursor.
  public var isEmpty: Bool { accepted.isEmpty && entries.isEmpty && dropped.isEmpty && closed.isEmpty }
}
