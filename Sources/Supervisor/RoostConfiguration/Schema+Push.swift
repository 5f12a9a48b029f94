internal import Contracts

// The tables of a push relay.

extension Schema {
  /// `[worker.NAME.wake.TYPE]`
  static let wake: [Setting<WakeConfiguration>] = [
    Setting("push-type", \.pushType, .choice(WakeConfiguration.PushType.self), .restartsWorker),
    Setting("priority", \.priority, .integer(5...10), .restartsWorker),
    Setting("fcm-priority", \.googlePriority, .choice(WakeConfiguration.GooglePriority.self), .restartsWorker),
    Setting("time-to-live", \.timeToLive, .duration(.seconds(1) ... .seconds(28 * 86_400)), .restartsWorker),
    Setting("collapse-id", \.collapseID, .text("a text"), .restartsWorker),
    Setting("shows", \.shows, .choice(WakeConfiguration.Shown.self), .restartsWorker),
    Setting("title", \.title, .text("a text"), .restartsWorker),
    Setting("body", \.body, .text("a text"), .restartsWorker),
  ]

  /// `[worker.NAME]` of a push relay. Every change restarts it; what it has accepted is in its ledger.
  static let pushRelay: [Setting<WorkerConfiguration>] = pushDoor + pushRules + pushEvents + pushPlatforms

  private static let pushDoor: [Setting<WorkerConfiguration>] = [
    Setting(
      "listen", entry: "listen", of: PushSettings.self,
      .list(of: .listenAddress, "addresses with their ports", count: 1...64), .restartsWorker),
    Setting("certificate-file", entry: "certificateFile", of: PushSettings.self, .optionalPath, .restartsWorker),
    Setting("key-file", entry: "keyFile", of: PushSettings.self, .optionalPath, .restartsWorker),
    Setting(
      "trusted-proxies", entry: "trustedProxies", of: PushSettings.self, .list(of: .network, "addresses"),
      .restartsWorker),
    Setting("origins", entry: "origins", of: PushSettings.self, .list(of: .webOrigin, "origins"), .restartsWorker),
    Setting(
      "connections-maximum", entry: "connectionsMaximum", of: PushSettings.self, .integer(1...100_000), .restartsWorker),
    Setting("audience", entry: "audience", of: PushSettings.self, .audience, .restartsWorker),
    Setting(
      "version-1", entry: "versionOne", of: PushSettings.self,
      .choice(PushSettings.OldSignatures.self), .restartsWorker),
    Setting("prefixed-paths", entry: "prefixedPaths", of: PushSettings.self, .flag, .restartsWorker),
    Setting("key-ring-file", entry: "keyRingFile", of: PushSettings.self, .optionalPath, .restartsWorker),
  ]

  private static let pushRules: [Setting<WorkerConfiguration>] = [
    Setting(
      "disclosure", entry: "disclosure", of: PushSettings.self,
      .choice(PushSettings.Disclosure.self), .restartsWorker),
    Setting(
      "admission", entry: "admission", of: PushSettings.self, .choice(PushSettings.Admission.self),
      .restartsWorker),
    Setting("devices-maximum", entry: "devicesMaximum", of: PushSettings.self, .integer(1...100), .restartsWorker),
    Setting("sender-minute", entry: "senderMinute", of: PushSettings.self, .integer(1...1_000_000), .restartsWorker),
    Setting("sender-hour", entry: "senderHour", of: PushSettings.self, .integer(1...1_000_000), .restartsWorker),
    Setting("recipient-hour", entry: "recipientHour", of: PushSettings.self, .integer(1...1_000_000), .restartsWorker),
    Setting("strangers-hour", entry: "strangersHour", of: PushSettings.self, .integer(0...1_000_000), .restartsWorker),
    Setting(
      "registrations-hour", entry: "registrationsHour", of: PushSettings.self, .integer(1...1_000_000), .restartsWorker),
    Setting(
      "address-registrations-hour", entry: "addressRegistrationsHour", of: PushSettings.self, .integer(1...1_000_000),
      .restartsWorker),
    Setting("prefix-minute", entry: "prefixMinute", of: PushSettings.self, .integer(1...10_000_000), .restartsWorker),
    Setting("global-minute", entry: "globalMinute", of: PushSettings.self, .integer(1...10_000_000), .restartsWorker),
  ]

  private static let pushEvents: [Setting<WorkerConfiguration>] = [
    Setting("public-url", entry: "publicURL", of: PushSettings.self, .publicURL, .restartsWorker),
    Setting(
      "nostr-registration", entry: "nostrRegistration", of: PushSettings.self,
      .choice(PushSettings.NostrRegistration.self), .restartsWorker),
    Setting(
      "nostr-owners", entry: "nostrOwners", of: PushSettings.self, .list(of: .publicKey, "public keys"), .restartsWorker
    ),
    Setting(
      "nostr-keys-maximum", entry: "nostrKeysMaximum", of: PushSettings.self, .integer(1...2_000), .restartsWorker),
    Setting("nostr-relays", entry: "nostrRelays", of: PushSettings.self, .flag, .restartsWorker),
    Setting(
      "nostr-age", entry: "nostrAgeMilliseconds", of: PushSettings.self,
      .milliseconds(.seconds(60) ... .seconds(2 * 86_400)), .restartsWorker),
    Setting(
      "nostr-pause", entry: "nostrPauseMilliseconds", of: PushSettings.self,
      .milliseconds(.seconds(0) ... .seconds(86_400)),
      .restartsWorker),
  ]

  private static let pushPlatforms: [Setting<WorkerConfiguration>] = [
    Setting(
      "content", entry: "content", of: PushSettings.self, .choice(PushSettings.Content.self), .restartsWorker),
    Setting("apns-key-file", entry: "apnsKeyFile", of: PushSettings.self, .optionalPath, .restartsWorker),
    Setting("apns-key-id", entry: "apnsKeyID", of: PushSettings.self, .appleIdentifier, .restartsWorker),
    Setting("apns-team-id", entry: "apnsTeamID", of: PushSettings.self, .appleIdentifier, .restartsWorker),
    Setting("apns-topic", entry: "apnsTopic", of: PushSettings.self, .bundleIdentifier, .restartsWorker),
    Setting(
      "apns-environment", entry: "apnsEnvironment", of: PushSettings.self,
      .choice(PushSettings.AppleEnvironment.self), .restartsWorker),
    Setting("apns-url", entry: "apnsURL", of: PushSettings.self, .secureURL, .restartsWorker),
    Setting("fcm-account-file", entry: "fcmAccountFile", of: PushSettings.self, .optionalPath, .restartsWorker),
    Setting("fcm-url", entry: "fcmURL", of: PushSettings.self, .secureURL, .restartsWorker),
    Setting("web-push", entry: "webPush", of: PushSettings.self, .flag, .restartsWorker),
    Setting(
      "web-push-contact", entry: "webPushContact", of: PushSettings.self, .pushContact, .restartsWorker),
    Setting("web-push-neighbours", entry: "webPushNeighbours", of: PushSettings.self, .flag, .restartsWorker),
    Setting("ca-file", entry: "caFile", of: PushSettings.self, .optionalPath, .restartsWorker),
  ]
}
