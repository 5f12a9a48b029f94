/// Something that a relay has said or done of which its owner may want to know: that it refuses, wants to know who
/// asks, says something to people, or gives no more than so much. In `relay.list` only.
public struct RelayRemark: Codable, Sendable, Hashable {
  /// What it is.
  public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
    /// It has closed a subscription, with a reason (CLOSED).
    case refusedRequest = "refused-request"
    /// It has not taken an event (OK), for another reason than that it has it.
    case refusedEvent = "refused-event"
    /// It wants to know who asks (NIP-42), and nobody was named who could tell.
    case authWall = "auth-wall"
    /// Its answers end at a number of events, which seems to be the most that it gives.
    case capped
    /// It has said something to people (NOTICE).
    case notice
  }

  /// What it is.
  public var kind: Kind
  /// The relay's own words, the latest, without control characters, at most ``textLengthMaximum``; empty where it gave
  /// none. Nothing of it is proven.
  public var text: String
  /// How often, since the connector began to speak with it.
  public var count: UInt64
  /// When last, seconds since 1970.
  public var at: Int64
  /// With `capped`: at how many events.
  public var limit: Int?

  /// Most characters of ``text``.
  public static let textLengthMaximum = 120
  /// Relays of one answer that bring their remarks: those that made one last. So the answer stays small.
  public static let relayMaximum = 32

  /// A remark.
  public init(kind: Kind, text: String, count: UInt64, at: Int64, limit: Int? = nil) {
    self.kind = kind
    self.text = text
    self.count = count
    self.at = at
    self.limit = limit
  }
}
