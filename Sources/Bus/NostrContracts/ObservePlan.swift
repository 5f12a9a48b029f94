public import Contracts
public import Nostr

/// An observation in its canonical form: for two observers with the same plan the network is queried once.
public struct ObservePlan: Hashable, Sendable {
  /// The filters, canonical and sorted, each once.
  public let filters: [Filter]
  /// Where events come from.
  public let policy: ObservePolicy
  /// Relays that the observer named, canonical and sorted.
  public let relays: [String]
  /// Whether only these relays count.
  public let isExclusive: Bool
  /// Events to fetch of each relay for a filter without `since`; nil: all.
  public let networkLimit: Int?
  /// The plan's key.
  public let key: FilterKey
  /// The key under which an observer's position is kept: the plan's, unless the observer may receive gift wraps of some
  /// recipients only. With other recipients it starts again, because events that were left out before may be for them.
  public let placeKey: FilterKey
  /// The key of the network query: plans that differ only in their policy have the same.
  public let fetchKey: FilterKey

  /// A plan.
  ///
  /// - Parameters:
  ///   - filters: in any order.
  ///   - policy: where events come from.
  ///   - relays: canonical URLs, in any order.
  ///   - isExclusive: whether only these relays count.
  ///   - networkLimit: events to fetch of each relay for a filter without `since`; nil: all.
  ///   - recipients: the key of the recipients whose gift wraps are sent; nil: all recipients.
  public init(
    _ filters: [Filter], policy: ObservePolicy = .cacheWithNetwork, relays: [String] = [], isExclusive: Bool = false,
    networkLimit: Int? = nil, recipients: String? = nil
  ) {
    var known = Set<[UInt8]>()
    let forms = filters.map { (filter: $0.canonical, json: $0.canonical.json) }.filter {
      known.insert($0.json).inserted
    }
    let sorted = forms.sorted { $0.json.lexicographicallyPrecedes($1.json) }.map(\.filter)
    let names = Set(relays).sorted()
    let depth = networkLimit.map { ["limit:\($0)"] } ?? []
    let words = names + depth + ["policy:\(policy.rawValue)"] + (isExclusive ? ["exclusive"] : [])
    self.filters = sorted
    self.policy = policy
    self.relays = names
    self.isExclusive = isExclusive
    self.networkLimit = networkLimit
    fetchKey = FilterKey(sorted, names + depth)
    key = FilterKey(sorted, words)
    placeKey = recipients.map { FilterKey(sorted, words + ["recipients:\($0)"]) } ?? key
  }

  /// Whether events that were stored before count when a relay sends them now.
  public var watchesSightings: Bool { policy == .networkOnly || isExclusive }

  /// Whether stored events are sent.
  public var readsStored: Bool { policy != .networkOnly }

  /// Whether the network is to be queried.
  ///
  /// - Parameters:
  ///   - maxAge: seconds since the last query within which none is needed; 0 or less: it is always needed.
  ///   - fetchedAt: the time of the last query, seconds since 1970; nil for never.
  ///   - now: seconds since 1970. A `fetchedAt` in the future comes from a wrong clock, and does not count.
  public func needsNetwork(maxAge: Int64, fetchedAt: Int64?, now: Int64) -> Bool {
    switch policy {
    case .cacheOnly: return false
    case .networkOnly: return true
    case .cacheWithNetwork:
      guard maxAge > 0, let fetchedAt, fetchedAt <= now else { return true }
      return now - fetchedAt > maxAge
    }
  }
}
