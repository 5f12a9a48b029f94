internal import Cryptography
internal import Nostr

/// A job in memory.
struct JobRecord: Sendable {
  /// The state of a task that others perform.
  struct TaskState: Sendable {
    /// When it is tried again, milliseconds since 1970; nil while it is under way.
    var due: Int64?
    /// How often it has failed.
    var failures = 0
  }

  let order: JobOrder
  /// The facts on disk.
  var facts: [JobFact]
  var picture: JobPicture
  /// Whether the order is on disk.
  var isCommitted: Bool
  /// Facts that are not on disk yet.
  var pendingCount = 0
  /// The time of the last fact: no two have the same.
  var lastStamp: Int64
  var tasks: [JobTask: TaskState] = [:]
  /// Keys of intents that this process has given to the rail.
  var begun: Set<Octets32> = []
  /// Answers and receipts that are known, on disk or not.
  var known: Set<EventID>
  /// When the table looks at it without another input, milliseconds since 1970.
  var wakeAt: Int64?
  /// Answers and receipts that were not kept.
  var droppedCount = 0
  var isClosing = false

  init(_ order: JobOrder, _ facts: [JobFact], isCommitted: Bool) {
    self.order = order
    self.facts = facts
    self.isCommitted = isCommitted
    picture = JobPicture(order, facts)
    lastStamp = max(order.submittedAt, facts.map(\.at).max() ?? 0)
    known = []
    for fact in facts { note(fact) }
  }

  mutating func note(_ fact: JobFact) {
    switch fact.what {
    case .answered(let answer): known.insert(answer.event)
    case .receipted(let receipt): known.insert(receipt.event)
    default: break
    }
  }

  /// A time for a new fact that no other fact has.
  mutating func stamp(_ now: Int64) -> Int64 {
    lastStamp = max(now, lastStamp + 1)
    return lastStamp
  }

  /// Whether a rail is carrying out one of its intents. The outcome is awaited even after the job's end.
  var isBeingPaid: Bool {
    tasks.keys.contains { task in
      switch task {
      case .pay, .lookUp: true
      default: false
      }
    }
  }

  /// The answers, in no order; for each event the fact that counts.
  var answers: [JobAnswerFact] {
    var found: [EventID: JobAnswerFact] = [:]
    for case .answered(let answer) in facts.map(\.what) where found[answer.event]?.isOpened != true {
      found[answer.event] = answer
    }
    return Array(found.values)
  }

  /// The request with this id, as it was published.
  func request(_ id: EventID) -> JobRequest? {
    guard let json = picture.requests.first(where: { $0.id == id })?.json, let event = try? Event(json: json) else {
      return nil
    }
    return try? JobRequest(event)
  }
}
