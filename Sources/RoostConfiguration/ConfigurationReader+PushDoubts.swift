internal import Contracts

// A push relay among the others, and what its file names: where it listens beside them, whose signatures it takes, and
// what is allowed and hardly meant.

extension ConfigurationReader {
  /// A relay that takes no signature of anybody's.
  mutating func checkSignatures(of worker: WorkerConfiguration, _ table: ConfigurationPath) {
    guard worker.settings["versionOne"] == .string("reject"), isBlank("audience", worker), isBlank("publicURL", worker)
    else { return }
    report(
      "nobody can sign for this relay: version 2 needs a name to sign for; set audience = \"push.example\"",
      at: table.appending("version-1"), tableDepth: 2)
  }

  /// Refuses an address of a push relay at which another server of this file listens.
  mutating func checkPushAddresses() {
    var taken: [(address: ListenAddress, worker: String)] = []
    for worker in configuration.workers where worker.role == Role.localRelay.name {
      // What is no address was told where it was read.
      taken += worker.listenTexts.compactMap { try? ListenAddress($0) }.map { ($0, worker.name) }
    }
    for worker in configuration.workers where worker.role == Role.pushRelay.name {
      let table = ConfigurationPath("worker", worker.name)
      let named = table.appending("listen")
      for (index, text) in worker.texts("listen").enumerated() {
        // What is no address was told where it was read.
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

  /// What is allowed of a push relay and hardly meant.
  ///
  /// - Parameter isThere: whether there is something at a path.
  mutating func doubtPushRelay(_ worker: WorkerConfiguration, isThere: (String) -> Bool) {
    guard worker.role == Role.pushRelay.name else { return }
    let table = ConfigurationPath("worker", worker.name)
    for (key, entry) in Self.pushFiles {
      guard case .string(let path)? = worker.settings[entry], !path.isEmpty, !isThere(path) else { continue }
      report("\(path) is not there", at: table.appending(key), tableDepth: 2)
    }
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
        "without audience nobody can sign version 2, so no new key can register", at: table.appending("version-1"),
        tableDepth: 2)
    }
  }

  private func isBlank(_ entry: String, _ worker: WorkerConfiguration) -> Bool {
    worker.settings[entry] == nil || worker.settings[entry] == .string("")
  }

  private static let pushFiles = [
    ("certificate-file", "certificateFile"), ("key-file", "keyFile"), ("key-ring-file", "keyRingFile"),
    ("apns-key-file", "apnsKeyFile"), ("fcm-account-file", "fcmAccountFile"), ("ca-file", "caFile"),
  ]
}
