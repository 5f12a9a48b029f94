public import Contracts
internal import Frames

/// Texts about a platform of the push relay: its name, and what it lacks.
public enum PushPlatformText {
  /// The name for people of a platform: `APNs` for `ios`.
  public static func name(_ platform: String) -> String {
    switch platform {
    case "ios": "APNs"
    case "android": "FCM"
    default: "Web Push"
    }
  }

  /// What to check, and when the platform is retried; nil when there is neither.
  public static func words(of platform: PushStatus.Platform) -> String? {
    guard platform.state != "off" else { return nil }
    let again: String? =
      platform.state != "away"
      ? nil
      : platform.againSeconds.map { "tried again in \(Amount.duration(milliseconds: UInt64(clamping: $0) * 1_000))" }
        ?? "tried again with the next wake"
    guard platform.advice != nil || again != nil else { return nil }
    return [platform.reason, platform.advice, again].compactMap(\.self).joined(separator: "; ")
  }
}
