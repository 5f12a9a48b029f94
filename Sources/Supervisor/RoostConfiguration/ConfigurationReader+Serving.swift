internal import Contracts

// Local relays: checks of where they listen that need more than one value.

extension ConfigurationReader {
  /// Checks each local relay, and that no two listen at the same address.
  mutating func checkServing() {
    var taken: [(address: ListenAddress, worker: String, path: ConfigurationPath)] = []
    for worker in configuration.workers where worker.role == Role.localRelay.name {
      let table = ConfigurationPath("worker", worker.name)
      let isEncrypted = checkCertificate(of: worker, table)
      checkDescriptors(of: worker, table)
      // A list with a fault was not read; the default in its place is not what the file asks for.
      let isRead = !hasProblem { $0.table == table.description && $0.key?.hasPrefix("listen") == true }
      for (index, text) in worker.listenTexts.enumerated() where isRead {
        // Text that is not an address was reported where it was read.
        guard let address = try? ListenAddress(text) else { continue }
        let named = table.appending("listen")
        let path = document.contains(named) ? named.appending(.index(index)) : table
        if let other = taken.first(where: { $0.address.overlaps(address) }) {
          reportTaken(address, at: path, by: other, isDefault: path == table)
        } else {
          taken.append((address, worker.name, path))
        }
        guard !address.isLoopback, !isEncrypted else { continue }
        report(
          "\(address) can be reached by other machines: there a client must show who it is (AUTH), over TLS, which"
            + " takes a certificate; set certificate-file and key-file, or listen at 127.0.0.1 and [::1] only",
          at: path, tableDepth: 2)
      }
    }
  }

  private mutating func reportTaken(
    _ address: ListenAddress, at path: ConfigurationPath,
    by other: (address: ListenAddress, worker: String, path: ConfigurationPath), isDefault: Bool
  ) {
    let line = document.line(of: other.path).map { ", line \($0)" } ?? ""
    let which = other.address == address ? "" : "\(other.address) of "
    report(
      "\(isDefault ? "listen: by default \(address)" : "\(address)") is taken by \(which)[worker.\(other.worker)]\(line);"
        + " one server listens at an address",
      at: path, tableDepth: 2)
  }

  /// Refuses one of the two files without the other. Returns whether both are set.
  mutating func checkCertificate(of worker: WorkerConfiguration, _ table: ConfigurationPath) -> Bool {
    let files = ["certificate-file": worker.text("certificateFile"), "key-file": worker.text("keyFile")]
    for (key, other) in [("certificate-file", "key-file"), ("key-file", "certificate-file")] {
      guard files[key]?.isEmpty == false, files[other]?.isEmpty != false else { continue }
      report(
        "this needs \(other) as well: TLS takes a certificate and its key", at: table.appending(key), tableDepth: 2)
    }
    return files.values.allSatisfy { !$0.isEmpty }
  }

  /// Each connection takes a descriptor: with too few, clients would wait for a connection that is never accepted.
  mutating func checkDescriptors(of worker: WorkerConfiguration, _ table: ConfigurationPath) {
    guard case .integer(let count)? = worker.settings["connectionsMaximum"], let limit = worker.limits.openFiles else {
      return
    }
    let isPush = worker.role == Role.pushRelay.name
    let needed = count + (isPush ? WorkerLimits.pushDescriptorsBesides : WorkerLimits.descriptorsBesides)
    guard limit < needed else { return }
    let named = table.appending("limits").appending("open-files")
    let (path, depth) =
      document.contains(named) ? (named, 3) : (table.appending("connections-maximum"), 2)
    report(
      "\(count) connections need limits.open-files of \(needed) or more; it is \(limit)", at: path, tableDepth: depth)
  }
}

extension WorkerConfiguration {
  /// An entry of the settings that is a list of texts; empty if it is absent.
  func texts(_ entry: String) -> [String] {
    settings[entry].flatMap([String].init(configurationValue:)) ?? []
  }

  /// Where a local relay listens, as written in the file; empty for other roles.
  var listenTexts: [String] {
    role == Role.localRelay.name ? texts("listen") : []
  }

  /// An entry of the settings that is a text; "" if it is absent.
  fileprivate func text(_ entry: String) -> String {
    settings[entry].flatMap(String.init(configurationValue:)) ?? ""
  }
}

extension SupervisorConfiguration {
  /// Where the local relays of this configuration listen, including those that are not enabled: each can be started.
  public var ownAddresses: [String] { workers.flatMap(\.listenTexts) }

  /// The enabled connectors, in the form that the planner and the connectors receive.
  public var configuredConnectors: ConfigurationValue {
    let connectors = workers.filter { $0.role == Role.relayConnector.name && $0.enabled }
    return .array(
      connectors.map { worker in
        .table([
          "name": .string(worker.name), "relays": worker.texts("relays").configurationValue,
          "reads": .boolean(worker.settings["reads"] != .boolean(false)),
          "writes": .boolean(worker.settings["writes"] != .boolean(false)),
          "ephemeral": .boolean(worker.settings["ephemeral"] == .boolean(true)),
        ])
      })
  }

  /// The settings that a worker is sent: the keys of its own table, and what other parts of the file add. A connector
  /// and the planner also get ``ownAddresses`` and ``configuredConnectors``; the planner the mirror's peers, and
  /// whether a signer is enabled; a provider its enabled jobs; a push relay its types of wakes; a mirror what else it
  /// keeps; the signer the accounts that providers act as (`WorkerAccounts`); a local relay the users that
  /// are not strangers, those of `allow-uids` and `allow-groups`.
  public func settingsSent(to worker: WorkerConfiguration) -> ConfigurationValue {
    if worker.role == Role.dvmProvider.name {
      var settings = worker.settings
      settings.set("jobs", to: .array(worker.jobs.filter(\.enabled).map(\.settings)))
      return settings
    }
    if worker.role == Role.pushRelay.name {
      var settings = worker.settings
      settings.set("wakes", to: .array(worker.wakes.map(\.settings)))
      return settings
    }
    if worker.role == Role.mirror.name {
      var settings = worker.settings
      settings.set("keep", to: .array(worker.keeps.map(\.settings)))
      return settings
    }
    if worker.role == Role.signer.name {
      var settings = worker.settings
      let providers = workers.filter { $0.role == Role.dvmProvider.name }
      settings.set(
        WorkerAccounts.entry,
        to: .table(Dictionary(uniqueKeysWithValues: providers.map { ($0.name, .string($0.text("account"))) })))
      return settings
    }
    if worker.role == Role.localRelay.name {
      var settings = worker.settings
      settings.set("allowUids", to: .array(supervisor.admittedUids.map { .integer(Int($0)) }))
      return settings
    }
    guard [Role.relayConnector.name, Role.outboxPlanner.name].contains(worker.role) else { return worker.settings }
    var settings = worker.settings
    settings.set(OwnAddresses.entry, to: ownAddresses.configurationValue)
    settings.set(ConfiguredConnector.entry, to: configuredConnectors)
    if worker.role == Role.outboxPlanner.name {
      let peers = workers.filter { $0.role == Role.mirror.name && $0.enabled }.flatMap { $0.texts("peers") }
      settings.set("peers", to: peers.compactMap { PeerPath.url(of: $0) }.configurationValue)
      settings.set("hasSigner", to: .boolean(workers.contains { $0.role == Role.signer.name && $0.enabled }))
    }
    return settings
  }
}
