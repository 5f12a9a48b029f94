internal import Contracts

// The parts of a push relay's table that are more than single values.

extension ConfigurationReader {
  /// The maximum number of wake types of one push relay.
  private static let wakeCountMaximum = 64

  /// Reads `[worker.NAME.wake.TYPE]`. Types and keys that the file does not name keep their defaults.
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
      guard WakeType.isName(type) else {
        report(
          "'\(type)' is no type of a wake: 1 to \(WakeType.nameByteCountMaximum) of a-z, 0-9 and _", at: inner,
          tableDepth: 4)
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

  /// Checks of a push relay that need more than one value.
  mutating func checkPushRelays() {
    for worker in configuration.workers where worker.role == Role.pushRelay.name {
      let table = ConfigurationPath("worker", worker.name)
      let isEncrypted = checkCertificate(of: worker, table)
      checkDescriptors(of: worker, table)
      checkSignatures(of: worker, table)
      checkTogether(["apns-key-file", "apns-key-id", "apns-team-id", "apns-topic"], of: worker, table)
      for (index, text) in worker.texts("listen").enumerated() {
        // Text that is not an address was reported where it was read.
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
    // A value that is present but wrong was reported where it was read.
    let wrong = names.filter { name in hasProblem { $0.table == table.description && $0.key == name } }
    let missing = settings.filter { $0.read(worker) == .string("") }.map(\.name).filter { !wrong.contains($0) }
    guard !missing.isEmpty, missing.count < names.count,
      let present = names.first(where: { !missing.contains($0) })
    else { return }
    report(
      "this needs \(missing.joined(separator: ", ")) as well: APNs takes them together",
      at: table.appending(present), tableDepth: 2)
  }
}
