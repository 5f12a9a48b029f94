public import Addresses
public import Contracts
public import Cryptography
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
  /// The program's own name for the observation, 1 to `StoreObserve.idByteCountMaximum` bytes: a later observation
  /// under the same name continues after the last seq that ``RoostClient/acknowledge(_:upTo:)`` was given. All clients
  /// share these names.
  public var id: String?
  /// How many of the newest events are fetched from each relay for a filter without `since`, from 1; nil: all.
  public var networkLimit: Int?
  /// The keys whose gift wraps may come: others are left out. Nil: as for any client.
  public var recipients: [PublicKey]?

  /// Options; the defaults are those of the store.
  public init(
    policy: ObservePolicy? = nil, maxAgeSeconds: Int64? = nil, relays: [RelayURL] = [], isExclusive: Bool = false,
    id: String? = nil, networkLimit: Int? = nil, recipients: [PublicKey]? = nil
  ) {
    self.policy = policy
    self.maxAgeSeconds = maxAgeSeconds
    self.relays = relays
    self.isExclusive = isExclusive
    self.id = id
    self.networkLimit = networkLimit
    self.recipients = recipients
  }
}

extension StoreObserve {
  init(_ filters: [JSONValue], afterSeq: Int64?, _ options: ObserveOptions) {
    self.init(filters: filters, afterSeq: afterSeq)
    policy = options.policy
    maxAge = options.maxAgeSeconds
    relays = options.relays.isEmpty ? nil : options.relays.map(\.text)
    exclusiveRelays = options.isExclusive ? true : nil
    id = options.id
    networkLimit = options.networkLimit
    recipients = options.recipients?.map { "\($0)" }
  }
}
