public import Frames

/// `plan.want`: has relays asked for what they have stored of these filters, once, as deep as is said. Events go to the
/// store, which is asked for what is missing only. Parts are ``ObserveProgress``, one at once and one at each change.
/// The wish ends when each relay has sent what it has, at a bound, or when the caller cancels.
///
/// Relays are chosen as for `store.observe`, which says nothing of depth and stays open.
public struct PlanWant: FilterArguments {
  /// An example of the arguments.
  public static let example =
    #"{"filters":[{"authors":["…"],"kinds":[1]}],"depth":"all","urgency":"backfill","#
    + #""relays":["wss://relay.example"],"foreignRelays":["wss://other.example"],"exclusiveRelays":false,"#
    + #""eventMaximum":100000,"seconds":3600}"#

  /// How much each relay is asked for.
  public enum Depth: String, Codable, Sendable, Hashable, CaseIterable {
    /// All since each filter's `since`, whatever its limit, even if it names neither ids, authors nor tag values.
    case all
    /// As each filter says: the newest of its `limit`, or all since its `since`.
    case newest
  }

  /// When relays outside the groups are dialled for it.
  public enum Urgency: String, Codable, Sendable, Hashable, CaseIterable {
    /// As for single answers: a caller waits.
    case lookUp = "look-up"
    /// After everything else, two at a time.
    case backfill
  }

  /// NIP-01 filters; at most ``StoreObserve/filterMaximum``.
  public var filters: [JSONValue]
  /// How much each relay is asked for; default: `all`.
  public var depth: Depth?
  /// When relays are dialled for it; default: `look-up`.
  public var urgency: Urgency?
  /// Relays to ask in addition to those that the planner chooses; at most ``StoreObserve/relayMaximum``.
  public var relays: [String]?
  /// Further relays, which only strangers name: they are not asked at private addresses. At most
  /// ``StoreObserve/relayMaximum``.
  public var foreignRelays: [String]?
  /// Whether only `relays` and `foreignRelays` are asked.
  public var exclusiveRelays: Bool?
  /// Ends when relays have sent so many events; what they send within a quarter of a second may exceed it. From 1.
  /// Absent: no bound.
  public var eventMaximum: Int?
  /// Ends after so many seconds, 1 to ``secondsMaximum``; default ``secondsMaximum``.
  public var seconds: Int?

  /// The longest time of a wish, in seconds: a day.
  public static let secondsMaximum = 86_400
  /// The most wishes of all callers at a time.
  public static let countMaximum = 64

  /// A wish.
  public init(filters: [JSONValue], depth: Depth? = nil, urgency: Urgency? = nil) {
    (self.filters, self.depth, self.urgency) = (filters, depth, urgency)
  }

  /// The numbers are at least 1.
  public static var ranges: [FieldRange<Self>] {
    [
      FieldRange("eventMaximum", from: 1) { $0.eventMaximum.map(Int64.init) },
      FieldRange("seconds", from: 1) { $0.seconds.map(Int64.init) },
    ]
  }

  /// Too many relays, `exclusiveRelays` without relays, or too long a time.
  public var objection: String? {
    if let seconds, seconds > Self.secondsMaximum {
      return "'seconds' is \(seconds); \(Self.secondsMaximum) is the most"
    }
    return tooMany(relays) ?? tooMany(foreignRelays, "foreignRelays")
      ?? (exclusiveRelays == true && relays?.isEmpty != false && foreignRelays?.isEmpty != false
        ? "'exclusiveRelays' needs 'relays'" : nil)
  }
}

/// The terminal answer of `plan.want`.
public struct PlanWantResult: Codable, Sendable, Hashable, Payload {
  /// Why a wish ended.
  public enum End: String, Codable, Sendable, Hashable, CaseIterable {
    /// Each relay has sent what it has, or has refused, or cannot be reached: `relays` says which.
    case complete
    /// Relays have sent `eventMaximum` events.
    case events
    /// The time is over.
    case time
  }
  /// Why it ended.
  public var end: End
  /// Events that relays have sent for it.
  public var events: UInt64
  /// Its relays, and how far each is.
  public var relays: [ObserveProgress.Relay]

  /// The end of a wish.
  public init(end: End, relays: [ObserveProgress.Relay]) {
    (self.end, self.relays) = (end, relays)
    events = relays.reduce(0) { $0 + $1.events }
  }
}
