import Contracts
import Testing

@testable import RoostConfiguration

@Suite("The shipped supervisor.conf")
struct SupervisorConfTests {
  static let path = FilePaths.normalized(testFolder + "/../../../supervisor.conf")

  /// The shipped file with every setting that is commented out in force.
  static func uncommented() throws -> String {
    try sourceText(path).split(separator: "\n", omittingEmptySubsequences: false)
      .map { isCommentedSetting($0) ? $0.dropFirst() : $0 }.joined(separator: "\n")
  }

  private static func isCommentedSetting(_ line: Substring) -> Bool {
    guard line.first == "#", let second = line.dropFirst().first else { return false }
    return second.isLetter || second == "["
  }

  /// Each setting of the file, commented out or not, with the table it stands in.
  private static func settings() throws -> [String] {
    var table = ""
    return try uncommented().split(separator: "\n").compactMap { line in
      if line.hasPrefix("[") { table = String(line.dropFirst().prefix { $0 != "]" }) }
      guard line.first?.isLetter == true else { return nil }
      return table + " " + line.prefix { $0 != " " }
    }
  }

  @Test(
    "It is accepted: four relays and, apart from them, what callers name, a signer, a store, a planner, a local relay, jobs, a push relay that is off"
  )
  func accepted() throws {
    let configuration = try parse(sourceText(Self.path))
    var connector = WorkerConfiguration(name: "relay-connector", role: "relay-connector")
    let relays = ["relay.damus.io", "nos.lol", "relay.primal.net", "relay.snort.social"]
    connector.settings.set("relays", to: .array(relays.map { .string("wss://\($0)") }))
    connector.settings.set("connect", to: .string("on-demand"))
    var others = WorkerConfiguration(name: "ephemeral-connector", role: "relay-connector")
    others.settings.set("ephemeral", to: .boolean(true))
    var signer = WorkerConfiguration(name: "signer", role: "signer")
    signer.environment = ["LANG", "CREDENTIALS_DIRECTORY"]
    var store = WorkerConfiguration(name: "event-store", role: "event-store")
    store.startDeadline = .seconds(60)
    var planner = WorkerConfiguration(name: "outbox-planner", role: "outbox-planner")
    planner.settings.set(
      "indexers", to: .array(["wss://purplepag.es", "wss://indexer.coracle.social"].map { .string($0) }))
    let relay = WorkerConfiguration(name: "local-relay", role: "local-relay")
    let tracker = WorkerConfiguration(name: "dvm-tracker", role: "dvm-tracker")
    let provider = WorkerConfiguration(name: "dvm-provider", role: "dvm-provider")
    var push = WorkerConfiguration(name: "push-relay", role: "push-relay")
    push.enabled = false
    let mirror = WorkerConfiguration(name: "mirror", role: "mirror")
    var backup = WorkerConfiguration(name: "backup", role: "backup")
    backup.enabled = false
    let people = WorkerConfiguration(name: "people", role: "people")
    var links = WorkerConfiguration(name: "link-feed", role: "link-feed")
    links.settings.set("relays", to: .array(LinkFeedSettings().relays.map { .string($0) }))
    let page = WorkerConfiguration(name: "link-page", role: "link-page")
    let workers = [
      backup, provider, tracker, others, store, links, page, relay, mirror, planner, people, push, connector, signer,
    ]
    #expect(configuration.workers.sorted { $0.name < $1.name } == workers)
    var example = RoleConfiguration(name: "example")
    example.serves = ["example.*"]
    example.callableBy = ["client"]
    #expect(configuration.roles == [example])
  }

  @Test("Its enabled settings leave everything else at the defaults")
  func defaults() throws {
    let configuration = try parse(sourceText(Self.path))
    let directories = StandardDirectories(file: configuration.file, surroundings: checkout)
    #expect(configuration.supervisor == SupervisorSettings(directories: directories))
    #expect(configuration.bus == BusSettings())
    #expect(configuration.log == LogSettings())
  }

  @Test("Every setting it shows commented out is shown at its default")
  func commentedSettings() throws {
    #expect(try parse(Self.uncommented()) == parse(sourceText(Self.path)))
  }

  @Test("It shows every key of the schema once, and in the schema's order")
  func completeness() throws {
    func keys<Root>(_ table: String, _ settings: [Setting<Root>]) -> [String] {
      settings.map { table + " " + $0.name }
    }
    let backup = ["worker.backup enabled"] + keys("worker.backup", Schema.settings(ofRole: "backup"))
    let mirror = keys("worker.mirror", Schema.settings(ofRole: "mirror"))
    let people = keys("worker.people", Schema.settings(ofRole: "people"))
    let links =
      keys("worker.link-feed", Schema.settings(ofRole: "link-feed"))
      + keys("worker.link-page", Schema.settings(ofRole: "link-page"))
    let expected =
      keys("supervisor", Schema.supervisor) + keys("bus", Schema.bus) + keys("log", Schema.log)
      + keys("worker.relay-connector", Schema.worker + Schema.settings(ofRole: "relay-connector"))
      + keys("worker.relay-connector.limits", Schema.limits)
      + ["worker.ephemeral-connector role", "worker.ephemeral-connector ephemeral"]
      + ["worker.signer environment", "worker.signer sign-kinds", "worker.event-store start-deadline"]
      + keys("worker.event-store", Schema.settings(ofRole: "event-store"))
      + keys("worker.outbox-planner", Schema.settings(ofRole: "outbox-planner"))
      + keys("worker.local-relay", Schema.settings(ofRole: "local-relay"))
      + ["worker.local-relay.limits open-files"]
      + keys("worker.dvm-tracker", Schema.settings(ofRole: "dvm-tracker"))
      + keys("worker.dvm-provider", Schema.settings(ofRole: "dvm-provider"))
      + keys("worker.dvm-provider.job.5302", Schema.job) + ["worker.dvm-provider.job.5400 builtin"]
      + backup + mirror + people + links + ["worker.push-relay enabled"]
      + keys("worker.push-relay", Schema.settings(ofRole: "push-relay"))
      + ["worker.push-relay.limits open-files"]
      + keys("worker.push-relay.wake.noise_connect", Schema.wake)
      + keys("role.example", Schema.role)
    #expect(try Self.settings() == expected)
  }

  @Test("No key has two homes that a hint could confuse, and no role takes a common key's name")
  func uniqueness() {
    for (role, settings) in Schema.byRole {
      #expect(RoleConfiguration.builtIn.contains(role))
      #expect(
        Set(settings.map(\.name)).isDisjoint(with: Schema.worker.map(\.name) + ["limits", "settings", "job", "wake"]))
    }
  }

  @Test("No line is longer than 120 columns, and a remark stands above each setting")
  func readability() throws {
    let lines = try sourceText(Self.path).split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      #expect(line.count <= 120, "line \(index + 1)")
      if Self.isCommentedSetting(line) { #expect(lines[index - 1].hasPrefix("# "), "line \(index + 1)") }
    }
  }
}
