import Testing

@testable import RoostConfiguration

@Suite("Where local relays listen")
struct ServingTests {
  private static let two = """
    [worker.local-relay]
    [worker.second]
    role = "local-relay"
    enabled = false
    listen = ["10.0.0.5:4870"]
    certificate-file = "c.pem"
    key-file = "k.pem"
    [worker.home]
    role = "relay-connector"
    [worker.outbox-planner]
    [worker.signer]
    """

  @Test("Whoever dials or plans is sent where all of them listen, and nobody else is")
  func sent() throws {
    let configuration = try parse(Self.two)
    let own = ["127.0.0.1:4869", "[::1]:4869", "10.0.0.5:4870"]
    #expect(configuration.ownAddresses == own)
    for name in ["home", "outbox-planner"] {
      let worker = try #require(configuration.worker(named: name))
      let sent = configuration.settingsSent(to: worker)
      #expect(sent["ownAddresses"] == .array(own.map { .string($0) }))
      #expect(worker.settings["ownAddresses"] == nil)
    }
    let worker = try #require(configuration.worker(named: "local-relay"))
    #expect(configuration.settingsSent(to: worker)["ownAddresses"] == nil)
  }

  @Test("A local relay is told the users who are no strangers")
  func allowedUsers() throws {
    for (text, users) in [("[supervisor]\nallow-uids = [1000, 65534]\n", [1_000, 65_534]), ("", [])] {
      let configuration = try parse(text + "[worker.local-relay]\n[worker.signer]")
      let sent = configuration.settingsSent(to: try #require(configuration.worker(named: "local-relay")))
      #expect(sent["allowUids"] == .array(users.map { .integer($0) }))
      let signer = configuration.settingsSent(to: try #require(configuration.worker(named: "signer")))
      #expect(signer["allowUids"] == nil)
    }
  }

  @Test("Members of allow-groups are let in like allow-uids, and a group that the machine has not is a doubt")
  func allowedGroups() throws {
    let text = """
      [supervisor]
      allow-uids = [7]
      allow-groups = ["roost",
        "rost"]
      [worker.local-relay]
      """
    let verdict = Configuration.check(
      path: "x.conf", surroundings: checkout,
      readFile: { (_: String) throws(FileReading.Failure) -> [UInt8]? in Array(text.utf8) },
      permissionCheck: { _ in nil }, program: { _ in .runnable }, members: { $0 == "roost" ? [1_000, 1_001] : nil })
    let configuration = try verdict.outcome.get()
    #expect(configuration.supervisor.admittedUids == [7, 1_000, 1_001])
    let sent = configuration.settingsSent(to: try #require(configuration.worker(named: "local-relay")))
    #expect(sent["allowUids"] == .array([.integer(7), .integer(1_000), .integer(1_001)]))
    #expect(
      verdict.doubts.map(\.description) == [
        "x.conf:4: [supervisor] allow-groups[1]: this machine has no group 'rost', so no user is let in for it"
      ])
  }

  @Test("The planner and the connectors are sent the connectors that are to run, with their relays")
  func connectors() throws {
    let configuration = try parse(
      """
      [worker.main]
      role = "relay-connector"
      relays = ["wss://a.example"]
      [worker.search]
      role = "relay-connector"
      relays = ["wss://b.example"]
      writes = false
      ephemeral = true
      [worker.off]
      role = "relay-connector"
      relays = ["wss://c.example"]
      enabled = false
      [worker.outbox-planner]
      """)
    let receivers = try ["outbox-planner", "main", "search"].map { try #require(configuration.worker(named: $0)) }
    func table(_ name: String, _ relay: String, writes: Bool, ephemeral: Bool) -> ConfigurationValue {
      .table([
        "name": .string(name), "relays": .array([.string(relay)]), "reads": .boolean(true), "writes": .boolean(writes),
        "ephemeral": .boolean(ephemeral),
      ])
    }
    for receiver in receivers {
      #expect(
        configuration.settingsSent(to: receiver)["connectors"]
          == .array([
            table("main", "wss://a.example", writes: true, ephemeral: false),
            table("search", "wss://b.example", writes: false, ephemeral: true),
          ]))
    }
  }

  @Test("The signer is told as whom each provider acts, those too that are off, and nobody else is")
  func providersAccounts() throws {
    let configuration = try parse(
      """
      [worker.signer]
      [worker.dvm-provider]
      [worker.shop]
      role = "dvm-provider"
      account = "bot"
      enabled = false
      [worker.dvm-tracker]
      """)
    let signer = try #require(configuration.worker(named: "signer"))
    let sent = configuration.settingsSent(to: signer)
    #expect(sent["workerAccounts"] == .table(["dvm-provider": .string(""), "shop": .string("bot")]))
    #expect(sent["ownAddresses"] == nil && signer.settings["workerAccounts"] == nil)
    let tracker = try #require(configuration.worker(named: "dvm-tracker"))
    #expect(configuration.settingsSent(to: tracker)["workerAccounts"] == nil)
  }

  @Test("Without a local relay there is no address that is not dialled")
  func none() throws {
    let configuration = try parse("[worker.relay-connector]\nrelays = [\"ws://localhost:4869\"]")
    let worker = try #require(configuration.worker(named: "relay-connector"))
    #expect(configuration.settingsSent(to: worker)["ownAddresses"] == .array([]))
  }

  @Test("What they listen at is no key of a connector")
  func noKey() {
    #expect(
      complaints(about: "[worker.relay-connector]\nownAddresses = []")
        == ["supervisor.conf:2: [worker.relay-connector] unknown key 'ownAddresses'"])
  }

  @Test("Its limit of descriptors is made for its connections, and gives way to the file's")
  func descriptors() throws {
    let text = "[worker.local-relay]\n"
    #expect(try parse(text).workers[0].limits.openFiles == 16_384)
    #expect(try parse("[worker.signer]").workers[0].limits.openFiles == 1_024)
    let enough = text + "connections-maximum = 20000\nlimits = { open-files = 20128 }"
    #expect(try parse(enough).workers[0].limits.openFiles == 20_128)
    #expect(try parse(text + "connections-maximum = 99999\nlimits = { open-files = \"none\" }").workers.count == 1)
    #expect(
      complaints(about: text + "limits = { open-files = 1024 }") == [
        "supervisor.conf:2: [worker.local-relay.limits] open-files: 10000 connections need limits.open-files of 10128 or"
          + " more; it is 1024"
      ])
  }

  @Test("Another place to listen restarts it, and other bounds do not")
  func effects() throws {
    func kind(_ line: String) throws -> ConfigurationChange.Kind? {
      let change = try parse("[worker.local-relay]\n" + line).changes(from: parse("[worker.local-relay]"))
      return change.first { $0.subject == .worker("local-relay") }?.kind
    }
    #expect(try kind("listen = [\"127.0.0.1:4870\"]") == .changed(.restartsWorker))
    #expect(try kind("certificate-file = \"c.pem\"\nkey-file = \"k.pem\"") == .changed(.restartsWorker))
    #expect(try kind("connections-maximum = 5") == .changed(.restartsWorker))
    #expect(try kind("message-bytes = \"64KiB\"") == .changed(.restartsWorker))
    #expect(try kind("fetch = true\nsubscriptions-maximum = 5\nslow-client = \"1m\"") == .changed(.live))
  }

  @Test("Its settings are the worker's JSON: names in lower case, paths absolute, durations in milliseconds")
  func settings() throws {
    let text = """
      [worker.local-relay]
      hosts = ["Relay.Home.Arpa"]
      certificate-file = "c.pem"
      key-file = "/k.pem"
      slow-client = "1m"
      """
    let settings = try parse(text).workers[0].settings
    #expect(settings["hosts"] == .array([.string("relay.home.arpa")]))
    #expect(settings["certificateFile"] == .string("/home/ada/roost/c.pem"))
    #expect(settings["keyFile"] == .string("/k.pem"))
    #expect(settings["slowClientMilliseconds"] == .integer(60_000))
    #expect(settings["messageBytes"] == .integer(524_288))
  }
}
