import Testing

@testable import RoostConfiguration

@Suite("What a changed file means, and the whole of it written out")
struct ChangeTests {
  private static let rich = """
    [supervisor]
    allow-uids = [1000, 0]
    drain-deadline = "1500ms"
    [bus]
    frame-limit = 70000
    request-ttl = "1m"
    [log]
    levels = { relay = "debug", "a b" = "trace" }
    [worker.store]
    role = "event-store"
    program = "bin/store"
    restart = "never"
    [worker.home]
    role = "relay-connector"
    after = ["store"]
    relays = ["wss://a.example", "wss://b.example/x"]
    request-timeout = "1s"
    limits = { open-files = "none", core-bytes = "1MiB" }
    [worker.mine]
    role = "my-role"
    arguments = ["-v", 'a "b" \\']
    settings = { depth = 3, name = "x", list = [1.5, true, { a = "b" }] }
    [role.my-role]
    serves = ["mine.*"]
    may-call = ["relay.request"]
    callable-by = ["client", "event-store"]
    """

  private func change(
    _ subject: ConfigurationChange.Subject, from old: String, to new: String
  ) throws -> ConfigurationChange {
    try #require(try parse(new).changes(from: parse(old)).first { $0.subject == subject })
  }

  @Test("What effective prints is read as an equal configuration")
  func effective() throws {
    for text in ["", Self.rich, try sourceText(SupervisorConfTests.path)] {
      let configuration = try parse(text)
      #expect(try parse(configuration.effective) == configuration)
    }
  }

  @Test("A worker's settings are JSON with the units in their names")
  func settings() throws {
    let configuration = try parse(Self.rich)
    #expect(
      configuration.worker(named: "home")?.settings
        == .table([
          "relays": .array([.string("wss://a.example"), .string("wss://b.example/x")]), "ephemeral": .boolean(false),
          "requestTimeoutMilliseconds": .integer(1_000), "connectTimeoutMilliseconds": .integer(10_000),
          "authenticate": .string("account"), "connect": .string("always"), "reads": .boolean(true),
          "writes": .boolean(true), "pagesAtOnce": .integer(8),
          "caFile": .string(""), "nameServer": .string(""),
        ]))
    #expect(
      configuration.worker(named: "store")?.settings
        == .table([
          "verification": .string("always"), "sampleRelays": .array([]), "sampleRate": .integer(100),
          "sampleFloor": .integer(10),
          "sizeLimitBytes": .integer(0), "foreignLimitBytes": .integer(1 << 30), "keepAuthors": .array([]),
          "recentEventsBytes": .integer(16 << 20),
        ]))
    #expect(configuration.worker(named: "mine")?.settings["depth"] == .integer(3))
    #expect(configuration.workers.map(\.name) == ["store", "home", "mine"])
  }

  @Test("Nothing changed is told as unchanged, part by part")
  func unchanged() throws {
    let configuration = try parse(Self.rich)
    let changes = configuration.changes(from: configuration)
    #expect(changes.allSatisfy { $0.kind == .unchanged && $0.keys.isEmpty })
    #expect(
      changes.map(\.subject.description) == [
        "supervisor", "bus", "log", "worker.store", "worker.home", "worker.mine", "role.my-role",
      ])
  }

  @Test("Added and removed workers and roles are told as such")
  func addedAndRemoved() throws {
    let (empty, rich) = (try parse(""), try parse(Self.rich))
    #expect(rich.changes(from: empty).filter { $0.kind == .added }.map(\.subject.description).count == 4)
    #expect(empty.changes(from: rich).filter { $0.kind == .removed }.map(\.subject.description).count == 4)
  }

  @Test("Relays are sent to the running worker, its program needs a new one, the state directory a new roostd")
  func effects() throws {
    let worker = "[worker.home]\nrole = \"relay-connector\"\n"
    #expect(
      try change(.worker("home"), from: worker, to: worker + "relays = [\"wss://a.example\"]").kind == .changed(.live))
    let authority = try change(.worker("home"), from: worker, to: worker + "ca-file = \"ca.pem\"")
    #expect(authority.kind == .changed(.restartsWorker), "its sandbox is made before its settings come")
    let both = try change(.worker("home"), from: worker, to: worker + "program = \"x\"\nstuck-after = \"1m\"")
    #expect(both.kind == .changed(.restartsWorker))
    #expect(
      both.description == """
        [worker.home] changed, restarts
          program: "relay-connector" → "x" (by a restart of the worker)
          stuck-after: "30s" → "1m"
        """)
    let directory = try change(.table("supervisor"), from: "", to: "[supervisor]\nstate-directory = \"s\"")
    #expect(directory.kind == .changed(.restartsSupervisor))
    #expect(directory.keys.map(\.name) == ["state-directory"])
    #expect(try change(.table("log"), from: "", to: "[log]\nlevel = \"debug\"").kind == .changed(.live))
  }

  @Test("Inner tables are compared under their names, and a changed role is a change of program")
  func innerTables() throws {
    let limits = try change(
      .worker("event-store"), from: "[worker.event-store]", to: "[worker.event-store.limits]\nopen-files = 99")
    #expect(limits.keys.map(\.name) == ["limits.open-files"])
    let role = try change(
      .worker("w"), from: "[worker.w]\nrole = \"event-store\"", to: "[worker.w]\nrole = \"relay-connector\"")
    #expect(role.keys.map(\.name) == ["role", "program"])
    #expect(role.kind == .changed(.restartsWorker))
  }

  @Test("What a role serves restarts its workers; who may call it does not")
  func roles() throws {
    let old = "[worker.w]\nrole = \"r\"\n[role.r]\nserves = [\"r.*\"]\n"
    let called = old + "callable-by = [\"client\"]\n"
    #expect(try change(.worker("w"), from: old, to: called).kind == .unchanged)
    #expect(try change(.role("r"), from: old, to: called).kind == .changed(.live))
    let served = "[worker.w]\nrole = \"r\"\nsettings = { a = 1 }\n[role.r]\nserves = [\"q.*\"]\n"
    let change = try change(.worker("w"), from: old, to: served)
    #expect(change.keys.map(\.name) == ["settings", "role.r.serves"])
    #expect(change.kind == .changed(.restartsWorker))
  }
}
