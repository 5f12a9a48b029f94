public import Contracts
public import Nostr

/// What somebody observes, in the one form in which it is compared: of two observers with the same plan the network is
/// asked once.
public struct ObservePlan: Hashable, Sendable {
  /// The filters, canonical and sorted, each once.
  public let filters: [Filter]
  /// Where events come from.
  public let policy: ObservePolicy
  /// Relays named besides, canonical and sorted.
  public let relays: [String]
  /// Whether only those count.
  public let isExclusive: Bool
  /// The plan's name.
  public let key: FilterKey
  /// The name under which an observer's place is kept: that of the plan, unless gift wraps are given to some only. With
  /// others he begins again, since what he passed over before may be for them.
  public let placeKey: FilterKey
  /// The name of what is asked of the network: plans that differ in their policy only have the same.
  public let fetchKey: FilterKey

  /// A plan.
  ///
  /// - Parameters:
  ///   - filters: in any order.
  ///   - policy: where events come from.
  ///   - relays: canonical URLs, in any order.
  ///   - isExclusive: whether only those count.
  ///   - recipients: the name of those whose gift wraps are given; nil: all are.
  public init(
    _ filters: [Filter], policy: ObservePolicy = .cacheWithNetwork, relays: [String] = [], isExclusive: Bool = false,
    recipients: String? = nil
  ) {
    var known = Set<[UInt8]>()
    let forms = filters.map { (filter: $0.canonical, json: $0.canonical.json) }.filter {
      known.insert($0.json).inserted
    }
    let sorted = forms.sorted { $0.json.lexicographicallyPrecedes($1.json) }.map(\.filter)
    let names = Set(relays).sorted()
    let words = names + ["policy:\(policy.rawValue)"] + (isExclusive ? ["exclusive"] : [])
    self.filters = sorted
    self.policy = policy
    self.relays = names
    self.isExclusive = isExclusive
    fetchKey = FilterKey(sorted, names)
    key = FilterKey(sorted, words)
    placeKey = recipients.map { FilterKey(sorted, words + ["recipients:\($0)"]) } ?? key
  }

  /// Whether events count that were stored before, when a relay sends them now.
  public var watchesSightings: Bool { policy == .networkOnly || isExclusive }

  /// Whether stored events are sent.
  public var readsStored: Bool { policy != .networkOnly }

  /// Whether the network is to be asked.
  ///
  /// - Parameters:
  ///   - maxAge: seconds that may have gone by since the last time; 0 or less: always.
  ///   - fetchedAt: when that was, seconds since 1970; nil for never.
  ///   - now: seconds since 1970. A time of fetching that lies ahead was read from a wrong clock, and does not count.
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
