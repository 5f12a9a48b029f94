public import Addresses
public import Contracts
internal import Frames
public import Nostr
internal import NostrContracts

/// Something that relays are to be asked for: what somebody observes, or what the planner wants to know itself.
public struct Interest: Hashable, Sendable {
  /// Its name: the key of an `ActiveObserve`, or one that begins with ``ownPrefix``.
  public let key: String
  /// What is asked; canonical.
  public let filters: [Filter]
  /// Relays named by those who wish it.
  public let named: [RelayURL]
  /// Whether only those are asked.
  public let isExclusive: Bool
  /// Whether it stands after the stored events.
  public let isLive: Bool
  /// Whether what relays have stored counts although it is here already: then no other wish's REQ will do.
  let isFresh: Bool

  /// What the names of the planner's own wishes begin with. No key of an observe does, which is hexadecimal.
  public static let ownPrefix = "own:"

  /// A wish of the planner's own.
  public init(own name: String, _ filters: [Filter], named: [RelayURL] = [], isLive: Bool = true) {
    key = Self.ownPrefix + name
    self.filters = filters.map(\.canonical)
    self.named = named
    isExclusive = false
    self.isLive = isLive
    isFresh = false
  }

  /// What an observe wants of the network; nil when it wants nothing, or cannot be read.
  public init?(_ observe: ActiveObserve) {
    guard observe.needsNetwork, observe.policy != .cacheOnly else { return nil }
    var filters: [Filter] = []
    for value in observe.filters {
      do throws(FilterFault) { filters.append(try Filter(json: JSONPayload.encode(value)).canonical) } catch {
        return nil
      }
    }
    key = observe.key
    self.filters = filters
    named = observe.relays.compactMap { RelayURL(canonical: $0) }
    isExclusive = observe.exclusiveRelays
    isLive = true
    isFresh = observe.policy == .networkOnly
  }

  /// Whether somebody observes it.
  var isObserve: Bool { !key.hasPrefix(Self.ownPrefix) }

  /// What the store is told when all relays have sent what they had; nil when it is not to be told: with exclusive
  /// relays it knows by itself.
  func fetched(at: Int64) -> StoreFetched? {
    guard isObserve, !isExclusive else { return nil }
    return StoreFetched(filters: filters.map { JSONValue(of: $0) }, relays: named.map(\.text), at: at)
  }
}
