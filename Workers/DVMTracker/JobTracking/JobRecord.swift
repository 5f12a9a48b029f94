internal import Cryptography
internal import Nostr

/// A job in memory.
struct JobRecord: Sendable {
  /// How something stands that others do.
  struct TaskState: Sendable {
    /// Until when it waits, milliseconds since 1970; nil: it is being done.
    var due: Int64?
    /// How often it could not be done.
    var failures = 0
  }

  let order: JobOrder
  /// What is written down.
  var facts: [JobFact]
  var picture: JobPicture
  /// Whether the order is written down.
  var isCommitted: Bool
  /// Facts that are not written down yet.
  var pendingCount = 0
  /// The time of the last fact: no two have the same.
  var lastStamp: Int64
  var tasks: [JobTask: TaskState] = [:]
  /// Keys of intents that were handed to the rail by this process.
  var begun: Set<Octets32> = []
  /// Answers and receipts that are known, written down or not.
  var known: Set<EventID>
  /// When the machine looks at it again by itself, milliseconds since 1970.
  var wakeAt: Int64?
  /// Answers that were not kept.
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

  /// A time for a fact that none has yet.
  mutating func stamp(_ now: Int64) -> Int64 {
    lastStamp = max(now, lastStamp + 1)
    return lastStamp
  }

  /// Whether a rail has an intent of it in its hands: what comes of that is waited for, also behind the job's end.
  var isBeingPaid: Bool {
    tasks.keys.contains { task in
      switch task {
      case .pay, .lookUp: true
      default: false
      }
    }
  }

  /// Answers in no order, of one event the one that counts.
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
