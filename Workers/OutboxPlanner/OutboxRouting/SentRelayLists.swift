public import Cryptography
internal import DequeModule
public import Nostr

/// Which relays have been sent which version of an account's relay list (kind 10002). NIP-65 has the list follow events
/// to all their relays; a relay that has the version is not sent it again for a day. In memory: after a start each
/// relay is sent it once more, which does no harm.
public struct SentRelayLists: Sendable {
  /// An account's list at a relay.
  public struct Place: Hashable, Sendable {
    /// The account.
    public let author: PublicKey
    /// The relay's canonical URL.
    public let relay: String

    /// An account's list at a relay.
    public init(author: PublicKey, relay: String) { (self.author, self.relay) = (author, relay) }
  }

  private var known: [Place: (list: EventID, at: Int64)] = [:]
  private var order: Deque<Place> = []

  /// After how many seconds a relay is sent the same version again.
  public static let againSeconds: Int64 = 86_400
  /// After how many seconds, at the earliest, a relay that has not taken it is sent it again.
  public static let retrySeconds: Int64 = 600
  /// Places that are remembered; when there is one more, the one known longest is forgotten.
  public static let maximum = 4_096

  /// Empty.
  public init() {}

  /// Whether a relay is to be sent this version. `wall` is in seconds since 1970.
  public func isDue(_ list: EventID, at place: Place, _ wall: Int64) -> Bool {
    guard let sent = known[place], sent.list == list else { return true }
    return wall - sent.at >= Self.againSeconds || sent.at > wall
  }

  /// A relay is sent this version, or has it.
  public mutating func sent(_ list: EventID, to place: Place, at wall: Int64) {
    if known.updateValue((list, wall), forKey: place) == nil { order.append(place) }
    if order.count > Self.maximum, let oldest = order.popFirst() { known[oldest] = nil }
  }

  /// A relay has not taken it.
  public mutating func failed(_ place: Place, at wall: Int64) {
    known[place]?.at = wall - Self.againSeconds + Self.retrySeconds
  }
}
