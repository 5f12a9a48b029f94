internal import Clocks
internal import HeapModule
internal import Nostr

/// What waits for one relay, and how the relay itself is doing: a relay that cannot be reached is tried with one event,
/// whatever number wait for it.
struct RelayLane {
  /// Why nothing is sent there for a while.
  enum HoldReason {
    case unreachable
    case absent
    case limited
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
  var hold: Hold?
  /// Whether it stands in the ring of lanes that may send.
  var isInRing = false

  init(window: Int) { self.window = window }

  var maySend: Bool { !line.isEmpty && hold == nil && inFlightCount < window }
  var isIdle: Bool { line.isEmpty && inFlightCount == 0 && hold == nil && !isInRing }

  /// A relay has answered: it is there.
  mutating func answered(windowMaximum: Int) {
    failures = 0
    window = min(window + 1, windowMaximum)
  }
}
