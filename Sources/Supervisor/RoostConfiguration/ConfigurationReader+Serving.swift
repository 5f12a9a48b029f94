internal import Contracts

// Where local relays listen: what one value cannot show of it.

extension ConfigurationReader {
  /// Checks each local relay, and that no two want the same address.
  mutating func checkServing() {
    var taken: [(address: ListenAddress, worker: String, path: ConfigurationPath)] = []
    for worker in configuration.workers where worker.role == Role.localRelay.name {
      let table = ConfigurationPath("worker", worker.name)
      let isEncrypted = checkCertificate(of: worker, table)
      checkDescriptors(of: worker, table)
      // A list with a fault in it was not read, and the default in its place is nobody's wish.
      let isRead = !hasProblem { $0.table == table.description && $0.key?.hasPrefix("listen") == true }
      for (index, text) in worker.listenTexts.enumerated() where isRead {
        // What is no address was told where it was read.
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

  /// One of the two files is of no use without the other. Whether it has both.
  mutating func checkCertificate(of worker: WorkerConfiguration, _ table: ConfigurationPath) -> Bool {
    let files = ["certificate-file": worker.text("certificateFile"), "key-file": worker.text("keyFile")]
    for (key, other) in [("certificate-file", "key-file"), ("key-file", "certificate-file")] {
      guard files[key]?.isEmpty == false, files[other]?.isEmpty != false else { continue }
      report(
        "this needs \(other) as well: TLS takes a certificate and its key", at: table.appending(key), tableDepth: 2)
    }
    return files.values.allSatisfy { !$0.isEmpty }
  }

  /// Each connection takes a descriptor: without one, clients would wait at a door that is not opened.
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
  /// An entry of the settings that is a list of texts.
  func texts(_ entry: String) -> [String] {
    settings[entry].flatMap([String].init(configurationValue:)) ?? []
  }

  /// Where a local relay listens, as it is written; empty for other roles.
  var listenTexts: [String] {
    role == Role.localRelay.name ? texts("listen") : []
  }

  /// An entry of the settings that is a text; "" for none.
  fileprivate func text(_ entry: String) -> String {
    settings[entry].flatMap(String.init(configurationValue:)) ?? ""
  }
}

extension SupervisorConfiguration {
  /// Where the local relays of this configuration listen, those too that are not enabled: each can be started.
  public var ownAddresses: [String] { workers.flatMap(\.listenTexts) }

  /// The connectors that are to run, as the planner is told of them.
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

  /// What a worker is sent as its settings: its keys, and, if it dials or plans, ``ownAddresses``, which no key of its
  /// own says. The planner gets ``configuredConnectors`` and whether a signer is to run, a provider of jobs those, a
  /// push relay its types of wakes, the signer the accounts that providers act as (`WorkerAccounts`), a local relay the
  /// users who are no strangers, `allow-uids`.
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
      settings.set("allowUids", to: .array(supervisor.allowUids.map { .integer(Int($0)) }))
      return settings
    }
    guard [Role.relayConnector.name, Role.outboxPlanner.name].contains(worker.role) else { return worker.settings }
    var settings = worker.settings
    settings.set(OwnAddresses.entry, to: ownAddresses.configurationValue)
    if worker.role == Role.outboxPlanner.name {
      settings.set(ConfiguredConnector.entry, to: configuredConnectors)
      settings.set("hasSigner", to: .boolean(workers.contains { $0.role == Role.signer.name && $0.enabled }))
    }
    return settings
  }
}
