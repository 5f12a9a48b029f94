// What an operator can check when a platform refuses: the platform's own words name the mistake, but seldom the
// setting.

/// What to do about a reason that a platform gave.
public enum PushAdvice {
  /// A question or an instruction, to show after the reason; nil when there is nothing to check.
  ///
  /// - Parameters:
  ///   - reason: the platform's word, or one of ours.
  ///   - platform: the platform that gave it.
  public static func text(_ reason: PushReason, of platform: PushPlatform) -> String? {
    switch platform {
    case .ios: apple[reason.description]
    case .android: google[reason.description]
    case .webPush: nil
    }
  }

  private static let apple = [
    "InvalidProviderToken": "are apns-key-id, apns-team-id and the key in apns-key-file of one team?",
    "ExpiredProviderToken": "the token is new by this machine's clock: is the clock right?",
    "TooManyProviderTokenUpdates": "does another program make tokens with the same key?",
    "BadDeviceToken":
      "are these tokens of the other environment? apps under development have those of apns-environment = \"sandbox\"",
    "DeviceTokenNotForTopic": topic, "BadTopic": topic, "MissingTopic": topic, "TopicDisallowed": topic,
    "UnrelatedKeyIdInToken": key, "BadEnvironmentKeyIdInToken": key,
  ]

  private static let topic = "is apns-topic the bundle identifier of the app, and the app of the key's team?"
  private static let key = "was the key made on Apple's site for this environment and this app?"

  private static let google = [
    "UNAUTHENTICATED": "Google does not take the token that it gave: look at fcm-account-file",
    "THIRD_PARTY_AUTH_ERROR": "the Firebase project lacks what it needs for this kind of device: see its console",
    "invalid_grant": account, "invalid_client": account, "unauthorized_client": account,
    "PERMISSION_DENIED": "may the service account of fcm-account-file send messages in its project?",
    "SENDER_ID_MISMATCH": "these tokens are of another Firebase project than fcm-account-file",
    "NOT_FOUND": "is there such a Firebase project as fcm-account-file names?",
    "INVALID_ARGUMENT": "a device's token is malformed, or the relay made a message that FCM does not take",
  ]

  private static let account = "is fcm-account-file still good, and this machine's clock right?"
}
