internal import Clocks
internal import HeapModule
internal import Nostr

/// What waits for one relay, and how the relay itself is doing: a relay that cannot be reached is tried with one event,
/// whatever number wait for it.
struct RelayQueue {
  /// Why nothing is sent there for a while.
  enum HoldReason {
    case unreachable
    case absent
    case limited
    /// The next event has its time by the relay's pace.
    case paced
  }

  struct Hold {
    var reason: HoldReason
    var end: Instant
    var words: String
  }

  /// A place in the line: first accepted, first sent.
  struct Place: Comparable {
    var number: Int64
    var id: EventID

    static func < (left: Place, right: Place) -> Bool { left.number < right.number }
  }

  /// May have places that are void by now; whoever takes one looks.
  var line = Heap<Place>()
  var inFlightCount = 0
  /// Events that may be in flight at present: one after trouble, then one more for each that is taken.
  var window: Int
  /// Holds in a row.
  var failures = 0
  /// Events taken since an instant that is a minute ago at most; before the first one is taken, since none.
  private var taken: (since: Instant, count: Int)?
  var hold: Hold?
  /// Whether it stands in the ring of lanes that may send.
  var isInRing = false

  init(window: Int) { self.window = window }

  var maySend: Bool { !line.isEmpty && hold == nil && inFlightCount < window }
  var isIdle: Bool { line.isEmpty && inFlightCount == 0 && hold == nil && !isInRing }

  /// The relay has taken an event.
  mutating func tookEvent(at now: Instant) {
    if let since = taken?.since, now.milliseconds(since: since) < 60_000 {
      taken?.count += 1
    } else {
      taken = (now, 1)
    }
  }

  /// How many events the relay has taken within the last minute, or somewhat less.
  func takenCount(at now: Instant) -> Int {
    taken.map { now.milliseconds(since: $0.since) < 60_000 ? $0.count : 0 } ?? 0
  }

  /// A relay has answered: it is there.
  mutating func answered(windowMaximum: Int) {
    failures = 0
    window = min(window + 1, windowMaximum)
  }
}
