import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// One instance of each name, and nobody left when the supervisor is killed.
  @Suite("Lives of processes")
  struct LifeTests {
    @Test("After kill -9 of roostd a new one starts no worker while anything of the old one holds its name")
    func oneInstance() throws {
      try withRoost { roost in
        let client = try roost.client()
        let stayer = try Self.pid(try client.call("example.orphan"))
        let old = try #require(try roost.worker("example", client).pid)
        kill(old, SIGSTOP)
        kill(stayer, SIGSTOP)
        try roost.killDaemon()
        try roost.startAgain()
        let again = try roost.client()
        try awaitSoon("the new worker", within: 20) {
          let worker = try roost.worker("example", again)
          let isOldThere = [old, stayer].contains { Self.isAlive($0, roost) }
          if worker.pid != nil { #expect(!isOldThere || !Self.isAlive(worker.pid ?? 0, roost), "two of one name") }
          return worker.state == "ready"
        }
        #expect(!Self.isAlive(old, roost) && !Self.isAlive(stayer, roost))
        #expect(try again.call("example.echo", "new").text == "new")
      }
    }

    @Test("A second roostd on the same directories leaves with 3 and disturbs nobody")
    func oneSupervisor() throws {
      try withRoost { roost in
        let second = try SpawnedProcess(
          SpawnedProcess.builtProgram("roostd"), ["--config", roost.configuration],
          environment: ["PATH=/usr/bin:/bin", "HOME=\(roost.directory.path)"])
        #expect(try second.waitForEnd() == .exited(3))
        #expect(try roost.client().call("example.echo", "still").text == "still")
      }
    }

    @Test("SIGQUIT, as Ctrl-\\ sends it, is a wish to stop like SIGTERM, the first time")
    func quit() throws {
      try withRoost { roost in
        let client = try roost.client()
        #expect(try client.call("example.echo", "here").isResponse)
        roost.daemon.send(SIGQUIT)
        #expect(try roost.daemon.waitForEnd() == .exited(0))
        #expect(roost.livingProcesses.isEmpty && access(roost.socket, F_OK) != 0)
      }
    }

    @Test("A critical worker that has failed ends the supervisor with 1, also when it never ran")
    func criticalWithoutProgram() throws {
      let keys = [
        "program": "\"/nonexistent\"", "critical": "true", "breaker-restarts": "3", "backoff-base": "\"200ms\"",
        "backoff-ceiling": "\"400ms\"",
      ]
      try withRoost(.one([], keys), awaitsReady: false) { roost in
        let end = try roost.daemon.waitForEnd()
        #expect(end == .exited(1))
        #expect(roost.said.contains("example is critical and has failed"))
      }
    }

    @Test(
      "Five seconds after kill -9 of roostd nothing of its workers is left, stopped, deaf and grandchildren included"
    )
    func noOrphans() throws {
      var layout = Layout(workers: [])
      for name in ["good", "deaf", "stopped", "spinning", "dropped"] {
        layout.workers.append(Layout.Worker(name: name, arguments: name == "deaf" ? ["--ignore-term"] : []))
      }
      try withRoost(layout) { roost in
        let client = try roost.client()
        let members = try #require(client.welcome?.registry.members)
        func endpoint(_ name: String) throws -> Endpoint {
          Endpoint(rawValue: try #require(members.first { $0.name == name }).endpoint)
        }
        for _ in 0..<3 { _ = try client.call("example.orphan", to: try endpoint("good")) }
        _ = try client.call("example.orphan", to: try endpoint("deaf"))
        try client.ask("example.deaf", to: try endpoint("deaf"))
        try client.ask("example.spin", to: try endpoint("spinning"))
        try client.ask("example.drop-bus", to: try endpoint("dropped"))
        kill(try #require(try roost.worker("stopped", client).pid), SIGSTOP)
        #expect(roost.livingProcesses.count >= 8)
        let guardians = ProcessTable.children(of: roost.daemon.pid).filter { $0.name.hasPrefix("roost-") }.map(
          \.process)
        try roost.killDaemon()
        let start = Monotonic.seconds
        try awaitSoon("the end of all", within: 30) { roost.livingProcesses.isEmpty }
        let seconds = Monotonic.seconds - start
        #expect(seconds < 5, "it took \(seconds) s")
        try awaitSoon("the end of the guardian", within: 10) {
          guardians.allSatisfy { (ProcessTable.entry(of: $0)?.state ?? .ended) == .ended }
        }
      }
    }

    @Test("A stop ends in order at whatever moment of a start that fails it comes")
    func stopWhileFailing() throws {
      let layout = Layout.one([], ["program": "\"/nonexistent/program\"", "breaker-restarts": "1000"])
      for round in 0..<6 {
        try withRoost(layout, awaitsReady: false) { roost in
          let client = try roost.client()
          try roost.awaitWorker("example", "has failed to start some times", within: 30, client) {
            $0.restarts > 5 + round
          }
          // `finish` tells it to stop, and waits for that.
        }
      }
    }

    @Test("A killed guardian is replaced, and the new one knows its work")
    func guardianKilled() throws {
      try withRoost { roost in
        func guardians() -> [ProcessEntry] {
          ProcessTable.children(of: roost.daemon.pid).filter { $0.name.hasPrefix("roost-") && $0.state != .ended }
        }
        let client = try roost.client()
        for _ in 0..<2 { _ = try client.call("example.orphan") }
        let first = try #require(guardians().first).process
        kill(first, SIGKILL)
        try awaitSoon("another guardian") { guardians().first.map { $0.process != first } ?? false }
        try roost.killDaemon()
        try awaitSoon("the end of all", within: 10) { roost.livingProcesses.isEmpty }
      }
    }

    @Test("An orderly stop takes grandchildren along, and a worker that ignores TERM")
    func orderlyStop() throws {
      try withRoost(.one(["--ignore-term"])) { roost in
        let client = try roost.client()
        let stayer = try Self.pid(try client.call("example.orphan"))
        // Until its exec is over, a process shows no environment to know it by.
        try awaitSoon("the grandchild is seen") { Self.isAlive(stayer, roost) }
        #expect(try client.call("supervisor.stop", #"{"worker":"example"}"#).isResponse)
        #expect(roost.livingProcesses.isEmpty)
        #expect(try client.call("supervisor.start", #"{"worker":"example"}"#).isResponse)
        let second = try Self.pid(try client.call("example.orphan"))
        try awaitSoon("the second grandchild is seen") { Self.isAlive(second, roost) }
      }
    }

    @Test("A worker that forks a grandchild and dies is started again, without it")
    func grandchildOfTheDead() throws {
      try withRoost { roost in
        let client = try roost.client()
        let answer = try client.call("example.orphan-and-die", #"{"path":"\#(roost.path("pids"))"}"#)
        #expect(answer.isResponse)
        let stayer = try #require(roost.lines("pids").first.flatMap { Int32($0) })
        #expect(!Self.isAlive(stayer, roost))
        #expect(roost.livingProcesses.count == 1)
        #expect(roost.zombieCount == 0)
      }
    }

    @Test("A worker has the descriptors it was given, and no other")
    func descriptors() throws {
      try withRoost { roost in
        let pid = try #require(try roost.worker().pid)
        #expect(ProcessTable.openDescriptorCount(of: pid) == 5, "0 1 2, the bus, the lock")
      }
    }

    @Test("EXTEND moves the deadline of a slow start; without it the start is cut short")
    func slowStart() throws {
      let deadline = ["start-deadline": "\"1500ms\""]
      let layout = Layout(workers: [
        Layout.Worker(name: "asks", arguments: ["--ready-after", "3000", "--extend", "30000"], keys: deadline),
        Layout.Worker(name: "mute", arguments: ["--never-ready", "--lives", "1"], keys: deadline),
        Layout.Worker(name: "silent", arguments: ["--never-greet"], keys: deadline),
      ])
      try withRoost(layout, awaitsReady: false) { roost in
        let client = try roost.client()
        for name in ["mute", "silent"] {
          let worker = try roost.awaitWorker(name, "is given up", client) { $0.lastExit != nil }
          #expect(worker.lastExit?.contains("1.5 s") == true, "\(worker.lastExit ?? "")")
        }
        let asks = try roost.awaitWorker("asks", "is ready", client) { $0.state == "ready" }
        #expect(asks.generation == 1)
      }
    }

    private static func pid(_ answer: BusPeer.Answer) throws -> Int32 {
      try #require(answer.text.split { !$0.isNumber }.first.flatMap { Int32($0) })
    }

    /// Whether a process of these workers is alive; a stranger with the same number is not it.
    private static func isAlive(_ pid: Int32, _ roost: RunningRoost) -> Bool {
      roost.livingProcesses.contains { $0.process == pid }
    }
  }
}
