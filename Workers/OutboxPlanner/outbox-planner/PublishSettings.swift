import Nostr

/// The settings of the publish queue in `supervisor.conf`.
struct PublishSettings: Decodable, Sendable {
  /// After how long relays that have not taken an event are given up.
  var publishExpiryMilliseconds: Int64?

  /// Three days: a weekend without a network.
  static let standardExpirySeconds: Int64 = 72 * 3_600
  /// The same of events that nobody keeps: what they say is over by then.
  static let ephemeralExpirySeconds: Int64 = 60

  /// Seconds that an event of this kind has.
  func expirySeconds(kind: UInt16) -> Int64 {
    let seconds = publishExpiryMilliseconds.map { max(1, $0 / 1_000) } ?? Self.standardExpirySeconds
    return KindClass(kind) == .ephemeral ? min(seconds, Self.ephemeralExpirySeconds) : seconds
  }
}
