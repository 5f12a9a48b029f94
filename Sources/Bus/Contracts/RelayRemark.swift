/// Something that a relay said or did and its user may want to know: it refuses, it requires authentication, it has a
/// message for people, or it returns only a limited number of events. In `relay.list` only.
public struct RelayRemark: Codable, Sendable, Hashable {
  /// What the relay said or did.
  public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
    /// It closed a subscription with a reason (CLOSED).
    case refusedRequest = "refused-request"
    /// It did not accept an event (OK), for another reason than that it has the event.
    case refusedEvent = "refused-event"
    /// It requires authentication (NIP-42), and it was shown no account.
    case authWall = "auth-wall"
    /// Its answers stop at a certain number of events, which seems to be its maximum.
    case capped
    /// It sent a message for people (NOTICE).
    case notice
  }

  /// The kind of the remark.
  public var kind: Kind
  /// The relay's own latest words, without control characters, at most ``textLengthMaximum`` characters; empty when it
  /// gave none. None of it is proven.
  public var text: String
  /// The number of times, since the connector first connected to it.
  public var count: UInt64
  /// The last time, seconds since 1970.
  public var at: Int64
  /// With `capped`: the number of events.
  public var limit: Int?
  /// With a refusal: what it is about, as in `refusalsByClass` of `relay.list`: `authentication`, `restricted` (to
  /// members, or to those who pay). Absent: not a refusal, or an answer of an earlier version.
  public var about: String?

  /// The maximum number of characters of ``text``.
  public static let textLengthMaximum = 120
  /// The maximum number of relays with remarks in one answer: those with the latest remarks. So the answer stays small.
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
