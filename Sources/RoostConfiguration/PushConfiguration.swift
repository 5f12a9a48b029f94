internal import Contracts

/// `[worker.NAME.wake.TYPE]`: how one type of wake is brought to devices by a push-relay.
public struct WakeConfiguration: Sendable, Hashable {
  /// Whether the person sees something.
  enum PushType: String, Sendable, Hashable, CaseIterable {
    /// A notification; an app may change it before it is shown.
    case alert
    /// Nothing is shown. Apple brings two or three an hour.
    case background
  }
  /// FCM's priorities.
  enum GooglePriority: String, Sendable, Hashable, CaseIterable { case high, normal }
  /// What the person sees.
  enum Shown: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case silent
    /// The title and the body.
    case generic
    /// The same, and the app may change it first.
    case mutable
  }

  /// The wake's type, 1 to 64 characters of `a-z0-9_`; `default` for those that have no table.
  public var type: String
  var pushType = PushType.alert
  /// As APNs counts: 10 at once, 5 when it suits the device.
  public var priority = 10
  var googlePriority = GooglePriority.high
  /// After this a wake is worth nothing.
  public var timeToLive: Duration = .seconds(60)
  /// What wakes have in common of which a device that was away gets the last only; "" for nothing.
  public var collapseID = ""
  var shows = Shown.mutable
  /// What is shown when the app does not change it.
  public var title = "New activity"
  /// The line below the title.
  public var body = "Open the app to see it."

  /// A type of wakes; of some types as their clients expect it.
  public init(type: String) {
    self.type = type
    switch type {
    case "payment_received": title = "Payment received"
    case "payment_request": title = "Payment request"
    case "channel_update", "subscription_due":
      pushType = .background
      priority = 5
      googlePriority = .normal
      collapseID = type
      shows = .silent
      title = ""
      body = ""
    case "noise_connect":
      collapseID = type
      title = "Incoming connection"
      body = "Someone is trying to reach you."
    case "nostr":
      collapseID = type
      timeToLive = .seconds(86_400)
    default: break
    }
  }

  /// What a push-relay knows without the file: what its clients send, what it sends itself, and all other types.
  static let standard = [
    "channel_update", "default", "noise_connect", "nostr", "payment_received", "payment_request", "subscription_due",
  ].map(WakeConfiguration.init)

  /// As the worker is sent it: names in camel case.
  var settings: ConfigurationValue {
    var entries: [String: ConfigurationValue] = [
      "type": .string(type), "pushType": .string(pushType.rawValue), "priority": .integer(priority),
      "fcmPriority": .string(googlePriority.rawValue),
      "timeToLiveSeconds": .integer(TimeSpan.milliseconds(timeToLive) / 1_000), "collapseID": .string(collapseID),
      "shows": .string(shows.rawValue),
    ]
    // What shows nothing has no words.
    if shows != .silent { (entries["title"], entries["body"]) = (.string(title), .string(body)) }
    return .table(entries)
  }
}

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

extension Notation where Value == String {
  /// `https://host`, with a port and a path where there are any; or nothing (`""`).
  static let publicURL = text("a URL such as \"https://push.example\"") { text in
    guard !text.isEmpty else { return nil }
    let rest = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
    guard let rest, !rest.isEmpty, !rest.hasPrefix("/"), !rest.contains(where: { "?#@ ".contains($0) }) else {
      return Complaint(
        message: "\"\(text)\" is no URL such as \"https://push.example\": what clients see before /v1")
    }
    guard !["/v1", "/v1/"].contains(where: rest.hasSuffix) else {
      return Complaint(message: "\"\(text)\" ends in /v1, which the relay puts behind it: write what is before that")
    }
    return nil
  }

  /// `https://host` or `https://host:port`, without a path; or nothing (`""`).
  static let secureURL = text("a URL that begins with https://") { text in
    guard !text.isEmpty else { return nil }
    let rest = text.dropFirst("https://".count)
    guard text.hasPrefix("https://"), !rest.isEmpty, !rest.contains(where: { "/?#@ ".contains($0) }) else {
      return Complaint(message: "\"\(text)\" is no URL such as \"https://push.example:8443\", without a path")
    }
    return nil
  }

  /// An address, or one with the number of its leading bits: `10.0.0.0/8`.
  static let network = text("an address such as \"127.0.0.1\" or \"10.0.0.0/8\"") { text in
    isNetwork(text) ? nil : Complaint(message: "\"\(text)\" is no address such as \"127.0.0.1\" or \"10.0.0.0/8\"")
  }

  private static func isNetwork(_ text: String) -> Bool {
    // `try?`: what is no address has one complaint, whatever it is instead.
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let address = try? ListenAddress(listening(at: first)) else {
      return false
    }
    guard parts.count == 2 else { return true }
    let most = address.description.hasPrefix("[") ? 128 : 32
    guard let bits = Int(parts[1]), (0...most).contains(bits), "\(bits)" == parts[1] else { return false }
    return true
  }

  private static func listening(at address: Substring) -> String {
    address.contains(":") ? "[\(address)]:1" : "\(address):1"
  }
}

extension ConfigurationReader {
  /// Most types of wakes of one push relay.
  private static let wakeCountMaximum = 64

  /// Reads `[worker.NAME.wake.TYPE]`. What is not named keeps its default.
  mutating func readWakes(
    _ value: ConfigurationValue, at path: ConfigurationPath, into worker: inout WorkerConfiguration
  ) {
    guard case .table(let entries) = value else {
      return report(
        "expected tables by type, [\(path).TYPE], but this is \(value.kind)", at: path, tableDepth: path.steps.count - 1
      )
    }
    guard entries.count <= Self.wakeCountMaximum else {
      return report(
        "\(entries.count) types of wakes; at most \(Self.wakeCountMaximum) are possible", at: path,
        tableDepth: path.steps.count)
    }
    for (type, value) in entries.sorted(by: { $0.key < $1.key }) {
      let inner = path.appending(type)
      guard Self.isWakeType(type) else {
        report("'\(type)' is no type of a wake: 1 to 64 of a-z, 0-9 and _", at: inner, tableDepth: 4)
        continue
      }
      let present = worker.wakes.first { $0.type == type } ?? WakeConfiguration(type: type)
      let wake = read(value, at: inner, Schema.wake, over: present)
      checkWake(wake, value, at: inner)
      worker.wakes.removeAll { $0.type == type }
      worker.wakes.append(wake)
    }
    worker.wakes.sort { $0.type < $1.type }
  }

  private mutating func checkWake(_ wake: WakeConfiguration, _ value: ConfigurationValue, at path: ConfigurationPath) {
    guard wake.priority == 5 || wake.priority == 10 else {
      return report("priority is 10, at once, or 5", at: path.appending("priority"), tableDepth: 4)
    }
    if wake.pushType == .background, wake.priority > 5 {
      report(
        "a background push goes with priority 5: Apple refuses it otherwise",
        at: path.appending(value["priority"] == nil ? "push-type" : "priority"), tableDepth: 4)
    }
    if (wake.pushType == .background) != (wake.shows == .silent) {
      report(
        "a background push shows nothing (shows = \"silent\"), and an alert shows something",
        at: path.appending(value["shows"] == nil ? "push-type" : "shows"), tableDepth: 4)
    }
  }

  private static func isWakeType(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
  }

  /// What no single value shows of a push relay.
  mutating func checkPushRelays() {
    for worker in configuration.workers where worker.role == Role.pushRelay.name {
      let table = ConfigurationPath("worker", worker.name)
      let isEncrypted = checkCertificate(of: worker, table)
      checkDescriptors(of: worker, table)
      checkSignatures(of: worker, table)
      checkTogether(["apns-key-file", "apns-key-id", "apns-team-id", "apns-topic"], of: worker, table)
      for (index, text) in worker.texts("listen").enumerated() {
        // What is no address was told where it was read.
        guard let address = try? ListenAddress(text), !address.isLoopback, !isEncrypted,
          worker.texts("trustedProxies").isEmpty
        else { continue }
        let named = table.appending("listen")
        report(
          "\(address) can be reached by other machines: set certificate-file and key-file, or trusted-proxies for a"
            + " proxy that does TLS, or listen at 127.0.0.1 only",
          at: document.contains(named) ? named.appending(.index(index)) : table, tableDepth: 2)
      }
    }
  }

  private mutating func checkTogether(
    _ names: [String], of worker: WorkerConfiguration, _ table: ConfigurationPath
  ) {
    let settings = Schema.pushRelay.filter { names.contains($0.name) }
    let missing = settings.filter { $0.read(worker) == .string("") }.map(\.name)
    guard !missing.isEmpty, missing.count < names.count,
      let present = names.first(where: { !missing.contains($0) })
    else { return }
    report(
      "this needs \(missing.joined(separator: ", ")) as well: APNs takes them together",
      at: table.appending(present), tableDepth: 2)
  }
}
