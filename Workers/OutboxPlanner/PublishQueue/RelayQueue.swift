internal import Clocks
internal import HeapModule
internal import Nostr

/// The events that wait for one relay, and the state of that relay. A relay that cannot be reached is tried with one
/// event, however many wait.
struct RelayQueue {
  /// Why nothing is sent to the relay for a while.
  enum HoldReason {
    case unreachable
    case absent
    case limited
    /// The relay's pace sets the time of the next event.
    case paced
  }

  struct Hold {
    var reason: HoldReason
    var end: Instant
    var words: String
  }

  /// A place in the queue: first accepted, first sent.
  struct Place: Comparable {
    var number: Int64
    var id: EventID

    static func < (left: Place, right: Place) -> Bool { left.number < right.number }
  }

  /// Some places may no longer be valid; the caller checks the place it takes.
  var line = Heap<Place>()
  var inFlightCount = 0
  /// How many events may be in flight at present: one after trouble, then one more for each answer.
  var window: Int
  /// Holds in a row.
  var failures = 0
  /// The number of events that the relay has accepted since an instant at most a minute ago; nil before the first.
  private var taken: (since: Instant, count: Int)?
  var hold: Hold?
  /// Whether it is in the ring of lanes that may send.
  var isInRing = false

  init(window: Int) { self.window = window }

  var maySend: Bool { !line.isEmpty && hold == nil && inFlightCount < window }
  var isIdle: Bool { line.isEmpty && inFlightCount == 0 && hold == nil && !isInRing }

  /// The relay has accepted an event.
  mutating func tookEvent(at now: Instant) {
    if let since = taken?.since, now.milliseconds(since: since) < 60_000 {
      taken?.count += 1
    } else {
      taken = (now, 1)
    }
  }

  /// How many events the relay has accepted in the last minute, or in a shorter time.
  func takenCount(at now: Instant) -> Int {
    taken.map { now.milliseconds(since: $0.since) < 60_000 ? $0.count : 0 } ?? 0
  }

  /// The relay has answered, so it can be reached.
  mutating func answered(windowMaximum: Int) {
    failures = 0
    window = min(window + 1, windowMaximum)
  }
}
