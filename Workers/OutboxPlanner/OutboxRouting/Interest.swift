public import Addresses
public import Contracts
public import Cryptography
internal import Frames
public import Nostr
internal import NostrContracts

/// What an application observes, or what the planner itself wants to know, from relays.
public struct Interest: Hashable, Sendable {
  /// Its name: the key of an `ActiveObserve`, or a name that begins with ``ownPrefix``.
  public let key: String
  /// The filters; canonical.
  public let filters: [Filter]
  /// Relays that the observers name.
  public let named: [RelayURL]
  /// Relays that only others name: they are not used at private addresses.
  public let foreign: [RelayURL]
  /// Whether only the named relays are used.
  public let isExclusive: Bool
  /// Whether the subscription stays open after EOSE.
  public let isLive: Bool
  /// Whether only the newest events of each relay are wanted.
  let isShallow: Bool
  /// How relays are asked for it.
  public let manner: FetchManner

  /// The prefix of the names of the planner's own interests. The key of an observe is hexadecimal, so it never has this
  /// prefix.
  public static let ownPrefix = "own:"

  /// An interest of the planner itself. With `isExclusive`, only the named and the foreign relays are asked.
  public init(
    own name: String, _ filters: [Filter], named: [RelayURL] = [], foreign: [RelayURL] = [], isExclusive: Bool = false,
    isLive: Bool = true, manner: FetchManner = .standard
  ) {
    key = Self.ownPrefix + name
    self.filters = filters.map(\.canonical)
    self.named = named
    self.foreign = foreign
    self.isExclusive = isExclusive
    self.isLive = isLive
    isShallow = false
    self.manner = manner
  }

  /// The network part of an observe; nil when it needs no network, or its filters are invalid.
  public init?(_ observe: ActiveObserve) {
    guard observe.needsNetwork, observe.policy != .cacheOnly else { return nil }
    var filters: [Filter] = []
    for value in observe.filters {
      var filter: Filter
      do throws(FilterFault) { filter = try Filter(json: JSONPayload.encode(value)) } catch { return nil }
      if let limit = observe.networkLimit, filter.since == nil { filter.limit = min(filter.limit ?? limit, limit) }
      // What is here of a filter with a limit is known for exactly this filter only: one author more, and all would be
      // asked for again.
      if filter.since != nil, filter.limit ?? 0 >= Self.wholeCount { filter.limit = nil }
      filters.append(filter.canonical)
    }
    key = observe.key
    self.filters = filters
    named = observe.relays.compactMap { RelayURL(canonical: $0) }
    foreign = []
    isExclusive = observe.exclusiveRelays
    isLive = true
    isShallow = observe.networkLimit != nil
    manner = FetchManner(isFresh: observe.policy == .networkOnly)
  }

  /// The people whose relays decide where it is asked: authors, or those whom a filter without authors mentions.
  public static func people(_ filters: [Filter]) -> Set<PublicKey> {
    Set(filters.flatMap { RelayDirectory.subjects(of: $0).map(\.person) })
  }

  /// A limit from which on everything since a date is wanted.
  private static let wholeCount = 100_000

  /// Whether it belongs to an observe.
  var isObserve: Bool { !key.hasPrefix(Self.ownPrefix) }

  /// The report to the store when all relays have sent their stored events. Nil when the store needs no report: for an
  /// observe with exclusive relays or of the newest events only, and for an interest of the planner.
  func fetched(at: Int64) -> StoreFetched? {
    guard isObserve, !isExclusive, !isShallow else { return nil }
    return StoreFetched(filters: filters.map { JSONValue(of: $0) }, relays: named.map(\.text), at: at)
  }
}
