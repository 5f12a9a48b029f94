public import Addresses
public import Contracts
internal import Frames
internal import Nostr

/// What an observation wants beside its filters.
public struct ObserveOptions: Sendable, Hashable {
  /// Where events come from; nil: the store's own rule, `cache-with-network`.
  public var policy: ObservePolicy?
  /// Seconds for which an answer of relays to the same filters is fresh enough, so that they are not asked again; nil:
  /// they are always asked.
  public var maxAgeSeconds: Int64?
  /// Relays to be asked besides those that are planned.
  public var relays: [RelayURL]
  /// Whether only `relays` are asked, and only what was seen there counts.
  public var isExclusive: Bool

  /// Options; by themselves, what the store does unless told otherwise.
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
