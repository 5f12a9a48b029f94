public import Addresses
public import Contracts
internal import Frames
internal import Nostr

/// Options of an observation, in addition to its filters.
public struct ObserveOptions: Sendable, Hashable {
  /// Where events come from; nil: the store's default, `cache-with-network`.
  public var policy: ObservePolicy?
  /// For how many seconds an earlier answer of relays to the same filters is fresh enough, so that they are not queried
  /// again; nil: they are always queried.
  public var maxAgeSeconds: Int64?
  /// Relays to query in addition to those that the planner chooses.
  public var relays: [RelayURL]
  /// Whether only `relays` are queried, and only events seen there count.
  public var isExclusive: Bool

  /// Options; the defaults are those of the store.
  public init(
    policy: ObservePolicy? = nil, maxAgeSeconds: Int64? = nil, relays: [RelayURL] = [], isExclusive: Bool = false
  ) {
    self.policy = policy
    self.maxAgeSeconds = maxAgeSeconds
    self.relays = relays
    self.isExclusive = isExclusive
  }
}

extension StoreObserve {
  init(_ filters: [JSONValue], afterSeq: Int64?, _ options: ObserveOptions) {
    self.init(filters: filters, afterSeq: afterSeq)
    policy = options.policy
    maxAge = options.maxAgeSeconds
    relays = options.relays.isEmpty ? nil : options.relays.map(\.text)
    exclusiveRelays = options.isExclusive ? true : nil
  }
}
