public import Contracts
internal import Frames

/// A platform of the push relay: what it is called, and how it is said what it lacks.
public enum PushPlatformText {
  /// What people call the platform of this name: `APNs` for `ios`.
  public static func name(_ platform: String) -> String {
    switch platform {
    case "ios": "APNs"
    case "android": "FCM"
    default: "Web Push"
    }
  }

  /// What to look at, and when it is tried again; nil when that is nothing.
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
