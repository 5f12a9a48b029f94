public import Frames

// What is observed: the arguments of `store.observe`, and what the planner is told of them.
//
//    observer ─ store.observe ─▶ event-store ─ topic store.observes ─▶ outbox-planner ─▶ relays
//                                     ▲                                     │
//                                     └──────────── store.fetched ──────────┘
//
// The topic carries changes. Whoever starts subscribes first and then asks for `store.observes.list`; changes with a
// version up to that of the list are in it already. A version left out, a GAP, or another generation: ask for the list
// again.

/// Where an observer's events come from.
public enum ObservePolicy: String, Codable, Sendable, Hashable, CaseIterable {
  /// What is stored at once, and the network is asked as well (NDKSwift: `cacheWithNetwork`).
  case cacheWithNetwork = "cache-with-network"
  /// What is stored, and what others cause to come; the network is not asked (`cacheOnly`).
  case cacheOnly = "cache-only"
  /// What comes from relays from now on; nothing that is stored is sent (`networkOnly`).
  case networkOnly = "network-only"

  /// Reads a policy's word; of another one it says which there are, and the nearest.
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

/// `store.observe`: what is stored, and then what comes, until the caller cancels.
///
/// Parts are `{"seq":n,"event":{…}}`, or with `pages` an ``EventPage``, RAW; and once, when all that was stored is
/// sent, ``StoredEnd``, JSON. Without `afterSeq` stored events come as `store.query` gives them; with it those
/// committed after that seq, in that order, so that whoever lost the connection goes on where he was. Live events come
/// in the order of their seq, apart from those that were stored before and count only now, under `network-only` or
/// `exclusiveRelays`, because a relay has sent them. Ephemeral ones have no `seq`, and are the only ones that a caller
/// who does not keep up will miss.
public struct StoreObserve: FilterArguments {
  /// How it is asked.
  public static let example =
    #"{"filters":[{"kinds":[1]}],"afterSeq":0,"policy":"cache-with-network","maxAge":300,"#
    + #""relays":["wss://relay.example"],"exclusiveRelays":false,"id":"home","pages":false,"#
    + #""recipients":["82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"]}"#

  /// NIP-01 filters; at most ``filterMaximum``.
  public var filters: [JSONValue]
  /// The last seq that the caller has.
  public var afterSeq: Int64?
  /// Where events come from; `cache-with-network` unless said.
  public var policy: ObservePolicy?
  /// Seconds: the network is not asked if it was for the same filters no longer ago. 0 unless said: it is always asked.
  /// Counts with `cache-with-network`.
  public var maxAge: Int64?
  /// Relays to be asked besides those that are planned; at most ``relayMaximum``.
  public var relays: [String]?
  /// Only `relays` are asked, and only events count that were seen there.
  public var exclusiveRelays: Bool?
  /// The caller's own name for this observation, 1 to ``idByteCountMaximum`` bytes. Observed again under the same name
  /// it goes on after the seq that was last told by `store.acknowledge` or as `afterSeq`.
  public var id: String?
  /// Whether events come in pages.
  public var pages: Bool?
  /// Whose gift wraps may be given: see ``RecipientList``.
  public var recipients: [String]?

  /// Most filters of one request.
  public static let filterMaximum = 64
  /// Most relays of one request.
  public static let relayMaximum = 32
  /// Longest `id`.
  public static let idByteCountMaximum = 64

  /// What to observe.
  public init(filters: [JSONValue], afterSeq: Int64? = nil) {
    self.filters = filters
    self.afterSeq = afterSeq
  }

  /// Both from 0.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("afterSeq", \.afterSeq), FieldRange("maxAge", \.maxAge)]
  }

  /// An id of the wrong length, too many relays, none when only those count, or recipients that are no keys.
  public var objection: String? {
    wrongID(id) ?? tooMany(relays)
      ?? (exclusiveRelays == true && relays?.isEmpty != false ? "'exclusiveRelays' needs 'relays'" : nil)
      ?? RecipientList.objection(to: recipients)
  }
}

/// What is wrong with the name of an observation.
private func wrongID(_ id: String?) -> String? {
  guard let id, !(1...StoreObserve.idByteCountMaximum).contains(id.utf8.count) else { return nil }
  return "'id' has \(id.utf8.count) bytes; 1 to \(StoreObserve.idByteCountMaximum) are taken"
}

/// What is wrong with a list of relays.
func tooMany(_ relays: [String]?, _ name: String = "relays") -> String? {
  guard let relays, relays.count > StoreObserve.relayMaximum else { return nil }
  return "'\(name)' has \(relays.count) relays; \(StoreObserve.relayMaximum) are taken at most"
}

/// The part of a `store.observe` answer behind the stored events.
public struct StoredEnd: Codable, Sendable, Hashable {
  /// Always true: tells this part from an event.
  public var isStoredEnd = true
  /// All up to this seq has been sent. Whoever comes back says it as `afterSeq`.
  public var seq: Int64
  /// Whether all that is stored and matches was sent; false when a limit cut it off and there is more. Absent when that
  /// is not known without looking further, and to whoever resumes.
  public var isComplete: Bool?
  /// With a search among the filters: how many of the last seqs it has not looked at; absent when none. What comes from
  /// now on is not missed.
  public var unsearched: Int64?

  /// The end of what was stored.
  public init(seq: Int64, isComplete: Bool? = nil, unsearched: Int64? = nil) {
    self.seq = seq
    self.isComplete = isComplete
    self.unsearched = unsearched
  }
}

/// `store.acknowledge`: the caller has dealt with all up to a seq of the observation with this id. Answered when that
/// is committed.
///
/// Refused as `no-such-observe` when nothing was observed under this id.
public struct StoreAcknowledge: MethodArguments {
  /// How it is asked.
  public static let example = #"{"id":"home","seq":7178}"#

  /// The caller's name for the observation.
  public var id: String
  /// The last seq that the caller has dealt with; one lower than before changes nothing.
  public var seq: Int64

  /// An acknowledgement.
  public init(id: String, seq: Int64) {
    self.id = id
    self.seq = seq
  }

  /// A seq from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("seq", \.seq)] }

  /// An id of the wrong length.
  public var objection: String? { wrongID(id) }
}

/// `store.fetched`, said by the planner: these filters were asked of all the relays that are planned for them, and
/// those have sent what they had. It is what `maxAge` is measured from. Answered when it is committed.
public struct StoreFetched: FilterArguments {
  /// How it is asked.
  public static let example = #"{"filters":[{"kinds":[1]}],"relays":["wss://relay.example"],"at":1700000000}"#

  /// The filters of an ``ActiveObserve``.
  public var filters: [JSONValue]
  /// Its relays.
  public var relays: [String]?
  /// When they were asked, seconds since 1970; now unless said.
  public var at: Int64?

  /// What was fetched.
  public init(filters: [JSONValue], relays: [String]? = nil, at: Int64? = nil) {
    self.filters = filters
    self.relays = relays
    self.at = at
  }

  /// A time from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("at", \.at)] }

  /// Too many relays.
  public var objection: String? { tooMany(relays) }
}

/// One thing that is observed, by however many observers.
public struct ActiveObserve: Codable, Sendable, Hashable {
  /// The same for the same filters, policy and relays, always: 64 hexadecimal digits.
  public var key: String
  /// The filters, in canonical form.
  public var filters: [JSONValue]
  /// Where events come from.
  public var policy: ObservePolicy
  /// Relays named by the observers, canonical and sorted.
  public var relays: [String]
  /// Whether only those are to be asked.
  public var exclusiveRelays: Bool
  /// The least age in seconds that an observer takes; 0 wants the network always.
  public var maxAge: Int64
  /// Whether the network is to be asked now for any of the observers.
  public var needsNetwork: Bool
  /// How many observe it; never 0.
  public var observers: Int

  /// One thing that is observed.
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
  /// The life of the store that counts these versions.
  public var generation: Int64
  /// One more than the version before.
  public var version: Int64
  /// Entries that are new or other than before, whole.
  public var changed: [ActiveObserve]
  /// Keys of entries that nobody observes any more.
  public var removed: [String]

  /// Some changes.
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
  /// Changes up to this version are in the list.
  public var version: Int64
  /// How many entries the list has.
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
  /// The same caller observes under the same id anew.
  public static let replaced: RefusalCode = "replaced"
  /// More came than was kept for this observer; observing anew begins with what is stored.
  public static let missed: RefusalCode = "missed"
}
