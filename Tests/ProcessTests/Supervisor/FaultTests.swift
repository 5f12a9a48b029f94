import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// System calls of roostd fail. It neither dies nor spins, says what is wrong, and serves again when it is over.
  @Suite("Faults of the system")
  struct FaultTests {
    @Test("Without a descriptor for a new connection roostd rests, says so, and takes the connection later")
    func noDescriptorForConnections() throws {
      try Self.withFaults { roost, faults in
        let client = try roost.client("old")
        faults.fail(.accept, with: EMFILE)
        // One that is refused at once for want of descriptors would be as good; this one waits in the kernel.
        let waiting = try BusPeer(socket: roost.socket, hello: nil)
        waiting.send(FrameHeader(type: .hello), JSONPayload.encode(Hello(name: "new", role: "client")))
        try awaitSoon("accept fails") { faults.hits(.accept) > 0 }
        try Self.expectRest(roost)
        #expect(try client.call("example.echo", "still").text == "still", "who is there is served")
        #expect(faults.hits(.accept) < 200, "it tries again now and then")
        try Self.expectFewLines(roost, saying: "accept")
        faults.end()
        try waiting.wait("WELCOME", within: 10) { waiting.welcome != nil }
        #expect(try roost.client().call("example.echo", "new").text == "new")
      }
    }

    @Test("Calls that are interrupted, or would block, cost neither an answer nor the processor")
    func interruptions() throws {
      try Self.withFaults { roost, faults in
        faults.fail(.read, with: EINTR, every: 3)
        faults.fail(.socketWrite, with: EAGAIN, every: 2)
        faults.fail(.waitForEvents, with: EINTR, every: 2)
        let client = try roost.client()
        let ids = try (0..<300).map { try client.ask("example.echo", "\($0)") }
        for (number, id) in ids.enumerated() { #expect(try client.answer(to: id).text == "\(number)") }
        #expect(ids.allSatisfy { client.terminalCounts[$0] == 1 })
        for call in [Faults.Call.read, .socketWrite, .waitForEvents] { #expect(faults.hits(call) > 0) }
        try Self.expectRest(roost)
      }
    }

    @Test(
      "A worker that cannot be started is tried again at its pace, and its mail is answered once",
      arguments: [
        (Faults.Call.fork, EAGAIN), (.pipe, EMFILE), (.socketPair, EMFILE), (.open, EMFILE), (.watch, ENOSPC),
      ])
    func noStart(call: Faults.Call, code: Int32) throws {
      try Self.withFaults { roost, faults in
        let client = try roost.client()
        faults.fail(call, with: code)
        kill(try #require(try roost.worker("example", client).pid), SIGKILL)
        let id = try client.ask("example.echo", "later")
        // A file that cannot be opened keeps no worker from its start; it must only do no harm.
        if call != .open { try awaitSoon("the start fails") { faults.hits(call) > 2 } }
        let descriptors = roost.descriptorCount
        try Self.expectRest(roost)
        if call != .open {
          #expect(
            roost.fewestDescriptors(enough: descriptors) <= descriptors, "a start that fails keeps no descriptors")
          try Self.expectFewLines(roost, saying: "start")
        }
        faults.end()
        #expect(try client.answer(to: id).text == "later")
        #expect(client.terminalCounts[id] == 1)
        try roost.awaitWorker("example", "is ready", client) { $0.state == "ready" }
        #expect(try roost.client().call("example.echo", "new").text == "new")
      }
    }

    @Test("A guardian that cannot be started is told, and costs nobody a descriptor")
    func noGuardian() throws {
      try Self.withFaults { roost, faults in
        let guardian = try #require(
          ProcessTable.children(of: roost.daemon.pid).first { $0.name.hasPrefix("roost-") && $0.state != .ended })
        let descriptors = roost.descriptorCount
        faults.fail(.fork, with: EAGAIN)
        kill(guardian.process, SIGKILL)
        try awaitSoon("roostd tells of it") {
          roost.lines("roostd.out").contains { $0.contains("no guardian can be started") }
        }
        #expect(roost.fewestDescriptors(enough: descriptors) <= descriptors)
      }
    }

    @Test("Logs that cannot be written are told once, and cost neither answers nor the processor")
    func fullDisk() throws {
      try Self.withFaults { roost, faults in
        faults.fail(.fileWrite, with: ENOSPC)
        faults.fail(.fsync, with: EIO)
        let client = try roost.client()
        kill(try #require(try roost.worker("example", client).pid), SIGKILL)
        try awaitSoon("a write fails") { faults.hits(.fileWrite) > 0 }
        try roost.awaitWorker("example", "is ready again", client) { $0.state == "ready" && $0.generation > 1 }
        #expect(try client.call("example.echo", "still").text == "still")
        try Self.expectRest(roost)
        faults.end()
        #expect(try roost.client().call("example.echo", "new").text == "new")
      }
    }

    // MARK: What all of them ask

    /// A roostd with one worker whose restarts are a person's, not a test's: what is tried again is tried once a
    /// second.
    private static func withFaults(_ body: (RunningRoost, Faults) throws -> Void) throws {
      let faults = try Faults()
      var layout = Layout.one(
        [], ["backoff-base": "\"700ms\"", "backoff-ceiling": "\"1s\"", "breaker-window": "\"2h\""])
      layout.environment = faults.environment
      try withRoost(layout) { roost in
        try body(roost, faults)
        faults.end()
        #expect(!roost.daemon.hasEnded())
        #expect(faults.hits(.close) == 0, "no descriptor is closed twice")
      }
    }

    /// Less than 1 % of a processor over three seconds.
    private static func expectRest(_ roost: RunningRoost) throws {
      let start = (Monotonic.seconds, roost.processorSeconds)
      // Time is what is measured here: nothing can be waited for.
      usleep(3_000_000)
      let load = (roost.processorSeconds - start.1) / (Monotonic.seconds - start.0)
      #expect(!roost.daemon.hasEnded(), "roostd said: \(roost.said)")
      #expect(load < 0.01, "\(load * 100) % of a processor")
    }

    private static func expectFewLines(_ roost: RunningRoost, saying word: String) throws {
      let lines = roost.lines("roostd.out").filter { $0.contains(word) }
      #expect(!lines.isEmpty, "roostd says what is wrong: \(roost.said)")
      #expect(lines.count < 40, "and does not fill the log with it")
    }
  }
}
