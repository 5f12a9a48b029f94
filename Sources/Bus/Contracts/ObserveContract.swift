public import Frames

// Observations: the arguments of `store.observe`, and what the store reports about them to the planner.
//
//    observer ─ store.observe ─▶ event-store ─ topic store.observes ─▶ outbox-planner ─▶ relays
//                                     ▲                                     │
//                                     └──────────── store.fetched ──────────┘
//
// The topic carries changes. A planner that starts subscribes first and then calls `store.observes.list`; the list
// already includes changes with a version up to its own. After a skipped version, a GAP, or a change of generation, the
// planner calls the list again.

/// Where the events of an observation come from.
public enum ObservePolicy: String, Codable, Sendable, Hashable, CaseIterable {
  /// Stored events at once, and the network is queried too (NDKSwift: `cacheWithNetwork`).
  case cacheWithNetwork = "cache-with-network"
  /// Stored events, and events that arrive for other reasons; the network is not queried (`cacheOnly`).
  case cacheOnly = "cache-only"
  /// Events that relays send from now on; no stored events (`networkOnly`).
  case networkOnly = "network-only"

  /// Reads a policy's word. For an unknown word the error lists the policies and names the nearest one.
  public init(from decoder: any Decoder) throws {
    let word = try decoder.singleValueContainer().decode(String.self)
    guard let policy = ObservePolicy(rawValue: word) else {
      let words = Self.allCases.map(\.rawValue)
      throw Refusal(
        .badRequest,
        "'policy' is '\(word)'; there are \(words.joined(separator: ", "))\(NearestName.hint(word, among: words))",
        outcome: .notStarted)
    }
    self = policy
  }
}

/// `store.observe`: stored events, and then new ones, until the caller cancels.
///
/// Parts are `{"seq":n,"event":{…}}`, or with `pages` an ``EventPage``, RAW; and once, after the last stored event,
/// ``StoredEnd``, JSON. Without `afterSeq` stored events come in the order of `store.query`. With it, events committed
/// after that seq come in the order of commits, so that a caller that lost its connection continues where it was. Live
/// events come in the order of their seq, with one exception: under `network-only` or `exclusiveRelays`, an event that
/// was stored before counts only once a relay has sent it, and then comes with its old seq. Ephemeral events have no
/// `seq`, and are the only events that a caller misses when it does not keep up.
public struct StoreObserve: FilterArguments {
  /// An example of the arguments.
  public static let example =
    #"{"filters":[{"kinds":[1]}],"afterSeq":0,"policy":"cache-with-network","maxAge":300,"#
    + #""relays":["wss://relay.example"],"exclusiveRelays":false,"networkLimit":500,"id":"home","pages":false,"superseded":false,"#
    + #""recipients":["82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"]}"#

  /// NIP-01 filters; at most ``filterMaximum``.
  public var filters: [JSONValue]
  /// The last seq that the caller has received.
  public var afterSeq: Int64?
  /// Where events come from; default: `cache-with-network`.
  public var policy: ObservePolicy?
  /// In seconds: the network is not queried if it was queried for the same filters within this time. Default 0: it is
  /// always queried. Has an effect only with `cache-with-network`.
  public var maxAge: Int64?
  /// Relays to query in addition to those that the planner chooses; at most ``relayMaximum``.
  public var relays: [String]?
  /// Only `relays` are queried, and only events count that were seen there.
  public var exclusiveRelays: Bool?
  /// How many of the newest events are fetched from each relay for a filter without `since`; from 1. Absent: all that
  /// the filter matches.
  public var networkLimit: Int?
  /// The caller's own name for this observation, 1 to ``idByteCountMaximum`` bytes. A later observation under the same
  /// name continues after the last seq that the caller gave with `store.acknowledge` or as `afterSeq`.
  public var id: String?
  /// Whether events come in pages.
  public var pages: Bool?
  /// Whether events that come now and are older than the stored version of the same list are sent too, as ephemeral
  /// ones are: without a seq, and not stored. Then the part of each version of a list that comes now names the `relay`
  /// that sent it, and each further relay's copy is sent again in this way; not in pages. Absent: no.
  public var superseded: Bool?
  /// The keys whose gift wraps the store may send: see ``RecipientList``.
  public var recipients: [String]?

  /// The maximum number of filters of one request.
  public static let filterMaximum = 64
  /// The maximum number of relays of one request.
  public static let relayMaximum = 32
  /// The longest `id`, in bytes.
  public static let idByteCountMaximum = 64

  /// An observation.
  public init(filters: [JSONValue], afterSeq: Int64? = nil) {
    self.filters = filters
    self.afterSeq = afterSeq
  }

  /// The numbers are at least 0; `networkLimit` is at least 1.
  public static var ranges: [FieldRange<Self>] {
    [
      FieldRange("afterSeq", \.afterSeq), FieldRange("maxAge", \.maxAge),
      FieldRange("networkLimit", from: 1) { $0.networkLimit.map(Int64.init) },
    ]
  }

  /// An id of the wrong length, too many relays, `exclusiveRelays` without relays, or recipients that are not keys.
  public var objection: String? {
    wrongID(id) ?? tooMany(relays)
      ?? (exclusiveRelays == true && relays?.isEmpty != false ? "'exclusiveRelays' needs 'relays'" : nil)
      ?? RecipientList.objection(to: recipients)
  }
}

/// What is wrong with the name of an observation; nil: nothing.
private func wrongID(_ id: String?) -> String? {
  guard let id, !(1...StoreObserve.idByteCountMaximum).contains(id.utf8.count) else { return nil }
  return "'id' has \(id.utf8.count) bytes; 1 to \(StoreObserve.idByteCountMaximum) are taken"
}

/// What is wrong with a list of relays; nil: nothing.
func tooMany(_ relays: [String]?, _ name: String = "relays") -> String? {
  guard let relays, relays.count > StoreObserve.relayMaximum else { return nil }
  return "'\(name)' has \(relays.count) relays; \(StoreObserve.relayMaximum) are taken at most"
}

/// The part of a `store.observe` answer after the stored events.
public struct StoredEnd: Codable, Sendable, Hashable {
  /// Always true: it distinguishes this part from an event.
  public var isStoredEnd = true
  /// All events up to this seq have been sent. A caller that reconnects passes it as `afterSeq`.
  public var seq: Int64
  /// Whether all stored events that match were sent; false when a limit cut them off and there are more. Absent when
  /// the store would have to search further to know, and when the observation was resumed.
  public var isComplete: Bool?
  /// With a search among the filters: how many of the newest seqs were not searched, because they are not indexed yet;
  /// absent when none. Events that arrive from now on are not missed.
  public var unsearched: Int64?

  /// The end of the stored events.
  public init(seq: Int64, isComplete: Bool? = nil, unsearched: Int64? = nil) {
    self.seq = seq
    self.isComplete = isComplete
    self.unsearched = unsearched
  }
}

/// `store.acknowledge`: the caller has handled all events up to a seq of the observation with this id. Answered when
/// that is committed.
///
/// Refused as `no-such-observe` when nothing was observed under this id.
public struct StoreAcknowledge: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"id":"home","seq":7178}"#

  /// The caller's name for the observation.
  public var id: String
  /// The last seq that the caller has handled; a lower one than before changes nothing.
  public var seq: Int64

  /// An acknowledgement.
  public init(id: String, seq: Int64) {
    self.id = id
    self.seq = seq
  }

  /// The seq is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("seq", \.seq)] }

  /// An id of the wrong length.
  public var objection: String? { wrongID(id) }
}

/// `store.fetched`: the planner reports that all relays that are planned for these filters were queried and have sent
/// what they had. `maxAge` is measured from it. Answered when it is committed.
public struct StoreFetched: FilterArguments {
  /// An example of the arguments.
  public static let example = #"{"filters":[{"kinds":[1]}],"relays":["wss://relay.example"],"at":1700000000}"#

  /// The filters of an ``ActiveObserve``.
  public var filters: [JSONValue]
  /// Its relays.
  public var relays: [String]?
  /// When the relays were queried, seconds since 1970; default: now.
  public var at: Int64?

  /// The filters and relays that were queried.
  public init(filters: [JSONValue], relays: [String]? = nil, at: Int64? = nil) {
    self.filters = filters
    self.relays = relays
    self.at = at
  }

  /// The time is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("at", \.at)] }

  /// The list has too many relays.
  public var objection: String? { tooMany(relays) }
}

/// One observed set of filters, with any number of observers.
public struct ActiveObserve: Codable, Sendable, Hashable {
  /// Always the same for the same filters, policy and relays: 64 hexadecimal digits.
  public var key: String
  /// The filters, in canonical form.
  public var filters: [JSONValue]
  /// Where events come from.
  public var policy: ObservePolicy
  /// Relays that the observers named, canonical and sorted.
  public var relays: [String]
  /// Whether only these relays are to be queried.
  public var exclusiveRelays: Bool
  /// The observers' `networkLimit`; absent: none.
  public var networkLimit: Int?
  /// The least `maxAge` of the observers, in seconds; with 0 the network is always queried.
  public var maxAge: Int64
  /// Whether the network is to be queried now for any of the observers.
  public var needsNetwork: Bool
  /// The number of observers; never 0.
  public var observers: Int
  /// The trace of the newest observer's request; absent: it has none.
  public var trace: String?

  /// An observed set of filters.
  public init(
    key: String, filters: [JSONValue], policy: ObservePolicy, relays: [String], exclusiveRelays: Bool, maxAge: Int64,
    needsNetwork: Bool, observers: Int
  ) {
    self.key = key
    self.filters = filters
    self.policy = policy
    self.relays = relays
    self.exclusiveRelays = exclusiveRelays
    self.maxAge = maxAge
    self.needsNetwork = needsNetwork
    self.observers = observers
  }
}

/// An event of the topic `store.observes`.
public struct ObserveChanges: Codable, Sendable, Hashable {
  /// The generation of the store that counts these versions.
  public var generation: Int64
  /// One more than the version before.
  public var version: Int64
  /// New and changed entries, each complete.
  public var changed: [ActiveObserve]
  /// Keys of entries that no longer have an observer.
  public var removed: [String]

  /// A set of changes.
  public init(generation: Int64, version: Int64, changed: [ActiveObserve] = [], removed: [String] = []) {
    self.generation = generation
    self.version = version
    self.changed = changed
    self.removed = removed
  }
}

/// The terminal answer of `store.observes.list`, whose parts are one ``ActiveObserve`` each.
public struct ObserveListEnd: Codable, Sendable, Hashable {
  /// As in ``ObserveChanges``.
  public var generation: Int64
  /// The list includes changes up to this version.
  public var version: Int64
  /// The number of entries in the list.
  public var count: Int

  /// The end of a list.
  public init(generation: Int64, version: Int64, count: Int) {
    self.generation = generation
    self.version = version
    self.count = count
  }
}

extension RefusalCode {
  /// Nothing was observed under this id.
  public static let noSuchObserve: RefusalCode = "no-such-observe"
  /// The same caller has opened a new observation under the same id.
  public static let replaced: RefusalCode = "replaced"
  /// More events arrived than the store keeps for this observer. A new observation starts with the stored events.
  public static let missed: RefusalCode = "missed"
}
