internal import Contracts

// Push relays: addresses that other servers of this file use, signatures that no client can make, and doubts.

extension ConfigurationReader {
  /// Refuses settings with which a push relay accepts no signature at all.
  mutating func checkSignatures(of worker: WorkerConfiguration, _ table: ConfigurationPath) {
    guard worker.settings["versionOne"] == .string("reject"), isBlank("audience", worker), isBlank("publicURL", worker)
    else { return }
    report(
      "no client can sign for this relay: version 2 needs a name to sign for; set audience = \"push.example\"",
      at: table.appending("version-1"), tableDepth: 2)
  }

  /// Refuses an address of a push relay at which another server of this file listens.
  mutating func checkPushAddresses() {
    var taken: [(address: ListenAddress, worker: String)] = []
    for worker in configuration.workers where worker.role == Role.localRelay.name {
      // Text that is not an address was reported where it was read.
      taken += worker.listenTexts.compactMap { try? ListenAddress($0) }.map { ($0, worker.name) }
    }
    for worker in configuration.workers where worker.role == Role.pushRelay.name {
      let table = ConfigurationPath("worker", worker.name)
      let named = table.appending("listen")
      for (index, text) in worker.texts("listen").enumerated() {
        // Text that is not an address was reported where it was read.
        guard let address = try? ListenAddress(text) else { continue }
        if let other = taken.first(where: { $0.address.overlaps(address) }) {
          report(
            "\(address) is taken by [worker.\(other.worker)]; one server listens at an address",
            at: document.contains(named) ? named.appending(.index(index)) : table, tableDepth: 2)
        } else {
          taken.append((address, worker.name))
        }
      }
    }
  }

  /// Reports what is allowed for a push relay but probably not intended.
  ///
  /// - Parameters:
  ///   - isThere: whether something exists at a path.
  ///   - file: returns what is at a path; nil if it was not examined.
  mutating func doubtPushRelay(
    _ worker: WorkerConfiguration, isThere: (String) -> Bool, file: (String) -> SecretFileFinding?
  ) {
    guard worker.role == Role.pushRelay.name else { return }
    let table = ConfigurationPath("worker", worker.name)
    for (key, entry, kind) in Self.pushFiles {
      guard case .string(let path)? = worker.settings[entry], !path.isEmpty else { continue }
      if !isThere(path) {
        report("\(path) is not there", at: table.appending(key), tableDepth: 2)
      } else if let complaint = file(path)?.complaint(at: path, wanted: kind) {
        report(complaint, at: table.appending(key), tableDepth: 2)
      }
    }
    if worker.enabled { doubtPlatforms(of: worker, table) }
    if case .integer(let strangers)? = worker.settings["strangersHour"],
      case .integer(let all)? = worker.settings["recipientHour"], strangers > all,
      document.contains(table.appending("strangers-hour"))
    {
      report(
        "\(strangers) is above recipient-hour, \(all), which holds for strangers too",
        at: table.appending("strangers-hour"), tableDepth: 2)
    }
    if worker.settings["versionOne"] == .string("registered-only"), isBlank("audience", worker) {
      report(
        "without audience no client can sign version 2, so no new key can register", at: table.appending("version-1"),
        tableDepth: 2)
    }
  }

  /// Reports what an enabled push relay lacks for sending pushes.
  private mutating func doubtPlatforms(of worker: WorkerConfiguration, _ table: ConfigurationPath) {
    let isWebPushOn = worker.settings["webPush"] != .boolean(false)
    if isWebPushOn, !isWritten("web-push-contact", table) {
      report(
        "Web Push is on without web-push-contact, and Apple's service refuses pushes without a contact: set"
          + " web-push-contact = \"mailto:you@example.org\", or web-push = false",
        at: table, tableDepth: 2)
    }
    if !isWebPushOn, !["apns-key-file", "fcm-account-file"].contains(where: { isWritten($0, table) }) {
      report(
        "no platform is on, so no device can be woken: set apns-key-file, fcm-account-file or web-push = true",
        at: table.appending("web-push"), tableDepth: 2)
    }
    if isWritten("nostr-owners", table), !isWritten("public-url", table) {
      report(
        "without public-url no Nostr key can register: they sign the address",
        at: table.appending("nostr-owners"), tableDepth: 2)
    }
  }

  /// Whether the file sets this key and the value is not blank. The value may be wrong: that has its own complaint.
  private func isWritten(_ key: String, _ table: ConfigurationPath) -> Bool {
    var value: ConfigurationValue? = .table(document.tree)
    for step in table.appending(key).steps {
      guard case .key(let name) = step else { return false }
      value = value?[name]
    }
    return value != nil && value != .string("") && value != .array([])
  }

  private func isBlank(_ entry: String, _ worker: WorkerConfiguration) -> Bool {
    worker.settings[entry] == nil || worker.settings[entry] == .string("")
  }

  private static let pushFiles: [(key: String, entry: String, kind: SecretFileFinding.Wanted)] = [
    ("certificate-file", "certificateFile", .certificate), ("key-file", "keyFile", .serverKey),
    ("key-ring-file", "keyRingFile", .keyRing), ("apns-key-file", "apnsKeyFile", .key),
    ("fcm-account-file", "fcmAccountFile", .account), ("ca-file", "caFile", .certificate),
  ]
}
