public import Contracts
internal import Frames

/// The checks of the push relay's platforms and certificate in `roost doctor`.
public enum PushCheckText {
  /// A check for each platform that is on, and one for a certificate that is not used.
  public static func checks(_ status: PushStatus) -> [DoctorResult.Check] {
    var checks = status.platforms.filter { $0.state != "off" }.map(check)
    if checks.isEmpty {
      checks.append(
        .init(name: "push", isGood: false, text: "no platform is on: set apns-key-file, fcm-account-file or web-push"))
    }
    if let fault = status.certificateFault {
      checks.append(
        .init(
          name: "push certificate", isGood: false,
          text: "the one in the files is not taken, and the old one serves on: \(fault)"))
    }
    if let fault = status.webPushFault {
      checks.append(.init(name: "push Web Push key", isGood: false, text: fault))
    }
    if status.unreadable > 0 {
      checks.append(
        .init(
          name: "push tokens", isGood: false,
          text: "\(Amount.count(status.unreadable, "token")) cannot be opened; their devices must register again"))
    }
    return checks
  }

  private static func check(_ platform: PushStatus.Platform) -> DoctorResult.Check {
    let name = "push " + PushPlatformText.name(platform.name)
    if platform.state == "away" {
      return .init(name: name, isGood: false, text: "is away: \(PushPlatformText.words(of: platform) ?? "")")
    }
    guard let reason = platform.reason else {
      return .init(
        name: name, isGood: true, text: "\(platform.delivered) delivered, \(platform.failed) refused since its start")
    }
    let advice = platform.advice.map { ": " + $0 } ?? ""
    return .init(
      name: name, isGood: platform.delivered > 0, text: "the last push was refused for \(reason)\(advice)")
  }
}
