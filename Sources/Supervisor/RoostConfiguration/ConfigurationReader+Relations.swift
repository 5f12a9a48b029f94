import Addresses
import Contracts
import Frames

// Checks that need more than one value: values that contradict each other, names that do not exist, circles.

extension ConfigurationReader {
  /// Runs every check that needs more than one value.
  mutating func checkRelations() {
    checkSocket()
    checkBus()
    for role in configuration.roles {
      checkCallers(of: role)
      checkCalls(of: role)
    }
    checkServedMethods()
    for worker in configuration.workers {
      checkRole(of: worker)
      checkDependencies(of: worker)
      checkRestarts(of: worker)
      checkSigningRules(of: worker)
    }
    checkCircles()
    checkRelays()
    checkServing()
    checkProviders()
    checkPushRelays()
    checkPushAddresses()
  }

  private mutating func checkSocket() {
    let socket = configuration.supervisor.socket
    let byteCount = socket.utf8.count
    let maximum = SupervisorSettings.socketByteCountMaximum
    guard byteCount > maximum else { return }
    let named = ConfigurationPath("supervisor", "socket")
    let derived = ConfigurationPath("supervisor", "run-directory")
    let path = !document.contains(named) && document.contains(derived) ? derived : named
    report(
      "the socket \(socket) is \(byteCount) bytes long, and a Unix socket's path has at most \(maximum);"
        + " set socket or run-directory to something shorter", at: path, tableDepth: 1)
  }

  private mutating func checkBus() {
    let bus = configuration.bus
    let frame = ("frame-limit", bus.frameLimit)
    let reason = "the longest frame could never pass"
    checkOrder(frame, ("window-bytes", bus.windowBytes), reason)
    checkOrder(frame, ("mailbox-bytes", bus.mailboxBytes), reason)
    checkOrder(frame, ("output-limit", bus.outputLimit), reason)
    checkOrder(
      ("mailbox-bytes", bus.mailboxBytes), ("mailbox-pool", bus.mailboxPool), "one mailbox could never be filled")
  }

  /// Refuses a smaller size that exceeds the larger one. The complaint points at whichever of the two is in the file.
  private mutating func checkOrder(
    _ lesser: (key: String, value: Int), _ greater: (key: String, value: Int), _ reason: String
  ) {
    guard lesser.value > greater.value else { return }
    let path = ConfigurationPath("bus", greater.key)
    if document.contains(path) {
      report(
        "\(ByteSize.text(greater.value)) is less than \(lesser.key), \(ByteSize.text(lesser.value)): \(reason)",
        at: path, tableDepth: 1)
    } else {
      report(
        "\(ByteSize.text(lesser.value)) is more than \(greater.key), by default \(ByteSize.text(greater.value)):"
          + " \(reason)",
        at: ConfigurationPath("bus", lesser.key), tableDepth: 1)
    }
  }

  /// The built-in roles and the file's own.
  private var roleNames: [String] { RoleConfiguration.builtIn + configuration.roles.map(\.name) }

  private mutating func checkCallers(of role: RoleConfiguration) {
    let names = [Role.client.name] + roleNames
    for (index, caller) in role.callableBy.enumerated() where !names.contains(caller) {
      let path = ConfigurationPath(steps: [.key("role"), .key(role.name), .key("callable-by"), .index(index)])
      report("there is no role '\(caller)'", at: path, tableDepth: 2, nearest: NearestName.find(caller, among: names))
    }
  }

  /// A right to call a method that no role serves is a mistyped name.
  private mutating func checkCalls(of role: RoleConfiguration) {
    // A `serves` list with a fault was not read, so its methods are not really missing.
    guard !hasProblem(where: { $0.key?.hasPrefix("serves") == true }) else { return }
    let served = AccessTable().all.map(\.name) + configuration.roles.flatMap(\.serves)
    let patterns = served.compactMap(MethodPattern.init)
    for (index, text) in role.mayCall.enumerated() {
      guard let pattern = MethodPattern(text), !patterns.contains(where: pattern.overlaps) else { continue }
      let path = ConfigurationPath(steps: [.key("role"), .key(role.name), .key("may-call"), .index(index)])
      report(
        "no role serves '\(text)'", at: path, tableDepth: 2, nearest: NearestName.find(text, among: served))
    }
  }

  /// A method belongs to one role: no role may serve a method of another role, or one of Roost's own.
  private mutating func checkServedMethods() {
    var seen: [(pattern: MethodPattern, text: String, role: String)] = AccessTable().all.compactMap { entry in
      MethodPattern(entry.name).map { ($0, entry.name, entry.server.name) }
    }
    for role in configuration.roles {
      for (index, text) in role.serves.enumerated() {
        guard let pattern = MethodPattern(text) else { continue }
        if let other = seen.first(where: { $0.pattern.overlaps(pattern) }) {
          let path = ConfigurationPath(steps: [.key("role"), .key(role.name), .key("serves"), .index(index)])
          report(
            "'\(text)' is already served by the role \(other.role), as '\(other.text)'; a method has one role",
            at: path, tableDepth: 2)
        }
        seen.append((pattern, text, role.name))
      }
    }
  }

  private mutating func checkRole(of worker: WorkerConfiguration) {
    guard !isBuiltIn(worker.role), !isOwn(worker.role), Names.complaint(about: worker.role) == nil else { return }
    let path = ConfigurationPath("worker", worker.name, "role")
    // A role that is not even a string was already reported.
    guard !hasProblem(where: { $0.table == path.parent.description && $0.key == "role" }) else { return }
    guard document.contains(path) else {
      return report(
        "no role is given, and '\(worker.role)' is not one; add role = \"…\"", at: path.parent, tableDepth: 2,
        nearest: NearestName.find(worker.role, among: roleNames))
    }
    report(
      "there is no role '\(worker.role)'; a role of your own needs a table [role.\(worker.role)]",
      at: path, tableDepth: 2, nearest: NearestName.find(worker.role, among: roleNames))
  }

  private mutating func checkDependencies(of worker: WorkerConfiguration) {
    let names = configuration.workers.map(\.name)
    for (index, name) in worker.after.enumerated() where !names.contains(name) {
      let path = ConfigurationPath(steps: [.key("worker"), .key(worker.name), .key("after"), .index(index)])
      report("there is no worker '\(name)'", at: path, tableDepth: 2, nearest: NearestName.find(name, among: names))
    }
  }

  private mutating func checkRestarts(of worker: WorkerConfiguration) {
    let table = ConfigurationPath("worker", worker.name)
    guard worker.backoffBase <= worker.backoffCeiling else {
      let named = table.appending("backoff-base")
      return report(
        "\(TimeSpan.text(worker.backoffBase)) is above backoff-ceiling, \(TimeSpan.text(worker.backoffCeiling))",
        at: !document.contains(named) ? table.appending("backoff-ceiling") : named, tableDepth: 2)
    }
    guard worker.restart != .never, let arithmetic = BreakerArithmetic(worker).refusal else { return }
    let keys = ["breaker-window", "breaker-restarts", "backoff-base", "backoff-ceiling"]
    let key = keys.first { document.contains(table.appending($0)) } ?? "breaker-window"
    report(arithmetic, at: table.appending(key), tableDepth: 2)
  }

  /// A signing rule for a role that does not exist is a mistyped name.
  private mutating func checkSigningRules(of worker: WorkerConfiguration) {
    guard worker.role == Role.signer.name else { return }
    let rules = worker.settings["signKinds"].flatMap([String].init(configurationValue:)) ?? []
    let names = configuration.roles.map(\.name)
    for (index, rule) in rules.compactMap(SigningRule.init).enumerated() where !names.contains(rule.role) {
      report(
        "there is no role '\(rule.role)' of your own; it needs a table [role.\(rule.role)]",
        at: ConfigurationPath("worker", worker.name, "sign-kinds").appending(.index(index)), tableDepth: 2,
        nearest: NearestName.find(rule.role, among: names))
    }
  }

  /// Reports each circle of `after` once, with all its members.
  private mutating func checkCircles() {
    let after = Dictionary(configuration.workers.map { ($0.name, $0.after) }, uniquingKeysWith: { first, _ in first })
    var finished: Set<String> = []
    for worker in configuration.workers {
      var chain: [String] = []
      var circles: [[String]] = []
      func walk(_ name: String) {
        if let start = chain.firstIndex(of: name) { return circles.append(chain[start...] + [name]) }
        guard !finished.contains(name), let next = after[name] else { return }
        chain.append(name)
        for name in next { walk(name) }
        chain.removeLast()
        finished.insert(name)
      }
      walk(worker.name)
      for circle in circles {
        report(
          circle.count == 2
            ? "\(circle[0]) waits for itself and cannot start"
            : "each waits for the next and none can start: " + circle.joined(separator: " → "),
          at: ConfigurationPath("worker", circle[0], "after"), tableDepth: 2)
      }
    }
  }

  /// A relay belongs to one worker, and only one worker dials the relays that callers name.
  private mutating func checkRelays() {
    var owners: [RelayURL: (worker: String, path: ConfigurationPath)] = [:]
    var dialler: String?
    let own = OwnAddresses(configuration.ownAddresses)
    for worker in configuration.workers {
      let table = ConfigurationPath("worker", worker.name)
      for (index, url) in (worker.settings["relays"].flatMap([String].init(configurationValue:)) ?? []).enumerated()
      where worker.role == "relay-connector" {
        // Text that is not an address was reported where it was read.
        guard let address = try? RelayURL(url) else { continue }
        let path = table.appending("relays").appending(.index(index))
        if own.includes(host: address.host, port: address.port) {
          report("\"\(url)\": \(OwnAddresses.reason), which is not dialled from here", at: path, tableDepth: 2)
        } else if let owner = owners[address] {
          let line = document.line(of: owner.path).map { ", line \($0)" } ?? ""
          report(
            "\"\(url)\" is already a relay of [worker.\(owner.worker)]\(line); a relay belongs to one worker, once",
            at: path, tableDepth: 2)
        } else {
          owners[address] = (worker.name, path)
        }
      }
      for (index, peer) in worker.texts("peers").enumerated() where worker.role == Role.mirror.name {
        // `try?`: text that is not an address was reported where it was read.
        guard let address = try? RelayURL(peer), own.includes(host: address.host, port: address.port) else { continue }
        report(
          "\"\(peer)\": \(OwnAddresses.reason), not another Roost",
          at: table.appending("peers").appending(.index(index)), tableDepth: 2)
      }
      guard worker.settings["ephemeral"] == .boolean(true), worker.role == "relay-connector" else { continue }
      if let dialler {
        report(
          "[worker.\(dialler)] already dials the relays that callers name; one worker does",
          at: table.appending("ephemeral"), tableDepth: 2)
      }
      dialler = dialler ?? worker.name
    }
  }
}
