internal import Frames
public import Nostr

/// Where the events of an observation come from.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable, Codable {
  /// What is stored at once, and relays are asked as well.
  case cacheWithNetwork = "cache-with-network"
  /// What is stored, and what others cause to come; no relay is asked.
  case cacheOnly = "cache-only"
  /// What relays send from now on; nothing that is stored is given for that alone.
  case networkOnly = "network-only"
}

/// What an observation wants beside its filters.
public struct ObserveOptions: Sendable, Hashable {
  /// Where events come from; nil: the store's own rule, ``CachePolicy/cacheWithNetwork``.
  public var policy: CachePolicy?
  /// Seconds for which an answer of relays to the same filters is fresh enough, so that they are not asked again; nil: they are
  /// always asked.
  public var maxAgeSeconds: Int64?
  /// Relays to be asked besides those that are planned.
  public var relays: [RelayURL]
  /// Whether only `relays` are asked, and only what was seen there counts.
  public var isExclusive: Bool

  /// Options; by themselves, what the store does unless told otherwise.
  public init(
    policy: CachePolicy? = nil, maxAgeSeconds: Int64? = nil, relays: [RelayURL] = [], isExclusive: Bool = false
  ) {
    self.policy = policy
    self.maxAgeSeconds = maxAgeSeconds
    self.relays = relays
    self.isExclusive = isExclusive
  }
}

/// The arguments of `store.observe`. What is not wanted is left out, so that a store that knows fewer of them is asked in the words
/// it knows.
struct ObserveArguments: Encodable {
  let filters: [JSONValue]
  let afterSeq: Int64?
  let policy: CachePolicy?
  let maxAge: Int64?
  let relays: [RelayURL]?
  let exclusiveRelays: Bool?

  init(_ filters: [JSONValue], afterSeq: Int64?, _ options: ObserveOptions) {
    self.filters = filters
    self.afterSeq = afterSeq
    policy = options.policy
    maxAge = options.maxAgeSeconds
    relays = options.relays.isEmpty ? nil : options.relays
    exclusiveRelays = options.isExclusive ? true : nil
  }
}
