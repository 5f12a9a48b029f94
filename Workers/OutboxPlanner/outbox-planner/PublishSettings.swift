import Contracts
import Nostr

extension PlannerSettings {
  /// How long relays have for an ephemeral event: its content is outdated after that.
  private static let ephemeralExpirySeconds: Int64 = 60

  /// Seconds that relays have for an event of this kind.
  func expirySeconds(kind: UInt16) -> Int64 {
    let seconds = max(1, publishExpiryMilliseconds / 1_000)
    return KindClass(kind) == .ephemeral ? min(seconds, Self.ephemeralExpirySeconds) : seconds
  }
}
