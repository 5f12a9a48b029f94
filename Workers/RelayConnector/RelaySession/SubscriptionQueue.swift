// Which subscription is opened next at one relay. A relay allows only some at a time (`RelayPolicy`), and to open more
// can cost the connection and not only the one too many (clients have seen relays that stop answering). So they wait
// here, in three classes, each in the order of its arrival:
//
//     live       interests that stay open: never dropped for others
//     single     single events, and `relay.request`: someone waits for the answer
//     backfill   pages of old events: can wait, and is asked again
//
// A class with nothing open has one place kept free for it, if there are enough places: a page of old events takes
// neither the last place of the live interests nor that of single events. When more wait than the queue holds, the
// newest of the lowest class is dropped for one of a higher class; otherwise the one that comes is refused. Live
// interests are counted apart, so that many of them do not keep out what a caller waits for.

/// What a request is for, the most important first.
public enum RequestClass: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// A subscription that stays open for new events.
  case live
  /// Single events, or stored events that a caller waits for.
  case single
  /// Stored events in pages.
  case backfill

  /// Whether the left is more important.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The requests that wait for a place at one relay, and how many of each class have one.
struct SubscriptionQueue {
  private var waiting: [RequestClass: [RequestKey]] = [:]
  private var open: [RequestClass: Int] = [:]

  /// How many have a place.
  var openCount: Int { open.values.reduce(0, +) }
  /// How many wait.
  var count: Int { waiting.values.reduce(0) { $0 + $1.count } }
  var isEmpty: Bool { waiting.values.allSatisfy(\.isEmpty) }
  /// Those that wait, the next first.
  var order: [RequestKey] { RequestClass.allCases.flatMap { waiting[$0] ?? [] } }
  /// Those of a class that wait, the next first.
  func order(of kind: RequestClass) -> [RequestKey] { waiting[kind] ?? [] }

  /// What happens to a request that comes.
  enum Admission: Equatable {
    case taken
    /// It is taken, and this one is dropped for it.
    case takenFor(RequestKey)
    case refused
  }

  /// A request comes. At most `maximum` live ones wait, and as many others.
  mutating func admit(_ key: RequestKey, _ kind: RequestClass, maximum: Int) -> Admission {
    var admission = Admission.taken
    let liveCount = waiting[.live]?.count ?? 0
    if kind == .live ? liveCount >= maximum : count - liveCount >= maximum {
      let lower = RequestClass.allCases.last { $0 > kind && waiting[$0]?.isEmpty == false }
      guard kind != .live, let lower, let dropped = waiting[lower]?.popLast() else { return .refused }
      admission = .takenFor(dropped)
    }
    waiting[kind, default: []].append(key)
    return admission
  }

  /// Whether one of this class may be opened, of `places` in all.
  func mayOpen(_ kind: RequestClass, places: Int) -> Bool {
    // Of two places, pages of old events may have what live interests leave: each page ends soon, and a single event
    // waits for that. Otherwise no page would ever be sent beside a live interest.
    let keepers: [RequestClass] = kind == .backfill && places == 2 ? [.live] : [.live, .single]
    let kept = keepers.count { $0 != kind && (open[$0] ?? 0) == 0 }
    // With few places, every class may still use the last one.
    return openCount < max(1, places - kept)
  }

  /// One that waited has a place now.
  mutating func opened(_ key: RequestKey, _ kind: RequestClass) {
    waiting[kind]?.removeAll { $0 == key }
    open[kind, default: 0] += 1
  }

  /// One has lost its place: it waits again, behind the others of its class.
  mutating func returned(_ key: RequestKey, _ kind: RequestClass) {
    closed(kind)
    waiting[kind, default: []].append(key)
  }

  /// One has given up its place.
  mutating func closed(_ kind: RequestClass) {
    precondition(open[kind, default: 0] > 0, "a place is given up that was not taken")
    open[kind, default: 0] -= 1
  }

  /// One no longer waits.
  mutating func withdraw(_ key: RequestKey, _ kind: RequestClass) { waiting[kind]?.removeAll { $0 == key } }
}
