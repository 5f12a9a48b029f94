// The tables of a push relay.

/// Words that settings of a push-relay may have.
enum PushWords {
  enum Disclosure: String, CaseIterable, SettingsEntry { case contacts, open, never }
  enum Admission: String, CaseIterable, SettingsEntry {
    case open, contacts
    case blockStrangers = "block-strangers"
  }
  enum OldSignatures: String, CaseIterable, SettingsEntry {
    case accept
    case registeredOnly = "registered-only"
    case reject
  }
  enum AppleEnvironment: String, CaseIterable, SettingsEntry { case production, sandbox }
  enum NostrRegistration: String, CaseIterable, SettingsEntry { case known, anybody }
  enum Content: String, CaseIterable, SettingsEntry { case clear, none }
}

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

  /// `[worker.NAME]` of a push relay. A change restarts it: what is accepted is in its ledger.
  static let pushRelay: [Setting<WorkerConfiguration>] = pushDoor + pushRules + pushEvents + pushPlatforms

  private static let pushDoor: [Setting<WorkerConfiguration>] = [
    Setting(
      "listen", entry: "listen", standard: ["127.0.0.1:4870"],
      .list(of: .listenAddress, "addresses with their ports", count: 1...64), .restartsWorker),
    Setting("certificate-file", entry: "certificateFile", standard: "", .optionalPath, .restartsWorker),
    Setting("key-file", entry: "keyFile", standard: "", .optionalPath, .restartsWorker),
    Setting(
      "trusted-proxies", entry: "trustedProxies", standard: [], .list(of: .network, "addresses"), .restartsWorker),
    Setting("origins", entry: "origins", standard: [], .list(of: .webOrigin, "origins"), .restartsWorker),
    Setting(
      "connections-maximum", entry: "connectionsMaximum", standard: 1_000, .integer(1...100_000), .restartsWorker),
    Setting("audience", entry: "audience", standard: "", .audience, .restartsWorker),
    Setting(
      "version-1", entry: "versionOne", standard: PushWords.OldSignatures.accept,
      .choice(PushWords.OldSignatures.self), .restartsWorker),
    Setting("prefixed-paths", entry: "prefixedPaths", standard: false, .flag, .restartsWorker),
    Setting("key-ring-file", entry: "keyRingFile", standard: "", .optionalPath, .restartsWorker),
  ]

  private static let pushRules: [Setting<WorkerConfiguration>] = [
    Setting(
      "disclosure", entry: "disclosure", standard: PushWords.Disclosure.contacts,
      .choice(PushWords.Disclosure.self), .restartsWorker),
    Setting(
      "admission", entry: "admission", standard: PushWords.Admission.open, .choice(PushWords.Admission.self),
      .restartsWorker),
    Setting("devices-maximum", entry: "devicesMaximum", standard: 10, .integer(1...100), .restartsWorker),
    Setting("sender-minute", entry: "senderMinute", standard: 10, .integer(1...1_000_000), .restartsWorker),
    Setting("sender-hour", entry: "senderHour", standard: 100, .integer(1...1_000_000), .restartsWorker),
    Setting("recipient-hour", entry: "recipientHour", standard: 100, .integer(1...1_000_000), .restartsWorker),
    Setting("strangers-hour", entry: "strangersHour", standard: 20, .integer(0...1_000_000), .restartsWorker),
    Setting("registrations-hour", entry: "registrationsHour", standard: 30, .integer(1...1_000_000), .restartsWorker),
    Setting(
      "address-registrations-hour", entry: "addressRegistrationsHour", standard: 120, .integer(1...1_000_000),
      .restartsWorker),
    Setting("prefix-minute", entry: "prefixMinute", standard: 600, .integer(1...10_000_000), .restartsWorker),
    Setting("global-minute", entry: "globalMinute", standard: 6_000, .integer(1...10_000_000), .restartsWorker),
  ]

  private static let pushEvents: [Setting<WorkerConfiguration>] = [
    Setting("public-url", entry: "publicURL", standard: "", .publicURL, .restartsWorker),
    Setting(
      "nostr-registration", entry: "nostrRegistration", standard: PushWords.NostrRegistration.known,
      .choice(PushWords.NostrRegistration.self), .restartsWorker),
    Setting(
      "nostr-owners", entry: "nostrOwners", standard: [], .list(of: .publicKey, "public keys"), .restartsWorker),
    Setting("nostr-keys-maximum", entry: "nostrKeysMaximum", standard: 1_000, .integer(1...2_000), .restartsWorker),
    Setting("nostr-relays", entry: "nostrRelays", standard: true, .flag, .restartsWorker),
    Setting(
      "nostr-age", entry: "nostrAgeMilliseconds", standard: 600_000,
      .milliseconds(.seconds(60) ... .seconds(2 * 86_400)), .restartsWorker),
    Setting(
      "nostr-pause", entry: "nostrPauseMilliseconds", standard: 30_000, .milliseconds(.seconds(0) ... .seconds(86_400)),
      .restartsWorker),
  ]

  private static let pushPlatforms: [Setting<WorkerConfiguration>] = [
    Setting(
      "content", entry: "content", standard: PushWords.Content.clear, .choice(PushWords.Content.self), .restartsWorker),
    Setting("apns-key-file", entry: "apnsKeyFile", standard: "", .optionalPath, .restartsWorker),
    Setting("apns-key-id", entry: "apnsKeyID", standard: "", .appleIdentifier, .restartsWorker),
    Setting("apns-team-id", entry: "apnsTeamID", standard: "", .appleIdentifier, .restartsWorker),
    Setting("apns-topic", entry: "apnsTopic", standard: "", .bundleIdentifier, .restartsWorker),
    Setting(
      "apns-environment", entry: "apnsEnvironment", standard: PushWords.AppleEnvironment.production,
      .choice(PushWords.AppleEnvironment.self), .restartsWorker),
    Setting("apns-url", entry: "apnsURL", standard: "", .secureURL, .restartsWorker),
    Setting("fcm-account-file", entry: "fcmAccountFile", standard: "", .optionalPath, .restartsWorker),
    Setting("fcm-url", entry: "fcmURL", standard: "", .secureURL, .restartsWorker),
    Setting("web-push", entry: "webPush", standard: true, .flag, .restartsWorker),
    Setting(
      "web-push-contact", entry: "webPushContact", standard: "", .pushContact, .restartsWorker),
    Setting("web-push-neighbours", entry: "webPushNeighbours", standard: false, .flag, .restartsWorker),
    Setting("ca-file", entry: "caFile", standard: "", .optionalPath, .restartsWorker),
  ]
}
