import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Workers started by hand, and how they take and give back a place.
  @Suite("Attached workers")
  struct AttachTests {
    private static func hello(_ roost: RunningRoost, _ client: BusPeer, _ name: String = "example") throws -> Hello {
      let answer = try client.call("supervisor.attach", #"{"role":"example","name":"\#(name)"}"#)
      var hello = Hello(name: name, role: "example")
      hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
      hello.methods = ["example.echo"]
      return hello
    }

    @Test("A command line is printed for a program that is there; for one that is not, it is said what is missing")
    func commandLine() throws {
      func grant(_ roost: RunningRoost, _ role: String) throws -> AttachGrant {
        let answer = try roost.client().call("supervisor.attach", #"{"role":"\#(role)"}"#)
        return try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload)
      }
      try withRoost { roost in
        let signer = try grant(roost, "signer")
        #expect(signer.command.contains("/signer --attach \(roost.socket) --name signer") && signer.remark == nil)
      }
      let empty = try TemporaryDirectory()
      var layout = Layout.one()
      layout.supervisor["program-directories"] = "[\"\(empty.path)\"]"
      try withRoost(layout) { roost in
        let pusher = try grant(roost, "push-relay")
        #expect(pusher.command.hasSuffix("ROOST_WORKER=push-relay YOUR-PROGRAM"))
        #expect(pusher.remark?.contains("/push-relay. Put one of yours") == true)
      }
    }

    @Test("To the doctor a held worker is no failure")
    func heldIsWell() throws {
      try withRoost { roost in
        let client = try roost.client()
        #expect(try client.call("supervisor.hold", #"{"worker":"example"}"#).isResponse)
        let answer = try client.call("supervisor.doctor")
        let result = try JSONPayload.decode(DoctorResult.self, from: answer.terminal.payload)
        let check = try #require(result.checks.first { $0.name == "worker example" })
        #expect(check.isGood && check.isPending == true && check.text.hasPrefix("is held"))
      }
    }

    @Test("A worker that is not enabled and failed when it was started by hand is told by the doctor")
    func startedByHand() throws {
      var layout = Layout.one()
      layout.workers[0].keys = ["enabled": "false", "program": "\"/nowhere/example\""]
      try withRoost(layout, awaitsReady: false) { roost in
        let client = try roost.client()
        func check() throws -> DoctorResult.Check? {
          let answer = try client.call("supervisor.doctor")
          let result = try JSONPayload.decode(DoctorResult.self, from: answer.terminal.payload)
          return result.checks.first { $0.name == "worker example" }
        }
        #expect(try check() == nil)
        _ = try client.call("supervisor.start", #"{"worker":"example"}"#)
        try awaitSoon("the doctor tells of it") { try check()?.isGood == false }
      }
    }

    @Test("A log category that nobody knows is set, and doubted; one that somebody logs in is not")
    func logCategory() throws {
      try withRoost { roost in
        let client = try roost.client()
        func remark(_ category: String) throws -> String? {
          let answer = try client.call("supervisor.log-level", #"{"category":"\#(category)","level":"debug"}"#)
          return try JSONPayload.decode(LogLevelResult.self, from: answer.terminal.payload).remark
        }
        #expect(try remark("supervision") == nil && remark("*") == nil)
        #expect(try remark("relya")?.contains("Did you mean 'relay'? Known: audit, backup, bus") == true)
      }
    }

    @Test("A worker started by hand takes the place of a running one, and what it sent with HELLO is read then")
    func overRunning() throws {
      try withRoost { roost in
        let client = try roost.client()
        let visitor = try BusPeer(socket: roost.socket, hello: nil)
        let hello = JSONPayload.encode(try Self.hello(roost, client))
        visitor.sendBytes(
          BusPeer.bytes(FrameHeader(type: .hello), hello) + BusPeer.bytes(FrameHeader(type: .ready), []))
        try visitor.wait("WELCOME") { visitor.welcome != nil }
        try roost.awaitWorker("example", "is attached", within: 30, client) { $0.state == "attached" }
        try client.wait("its READY to count") {
          client.welcome?.registry.members.contains { $0.endpoint == visitor.welcome?.endpoint && $0.isReady } == true
        }
        let second = try BusPeer(socket: roost.socket, hello: nil)
        second.send(FrameHeader(type: .hello), JSONPayload.encode(try Self.hello(roost, client)))
        try awaitSoon("the end of the second") {
          second.receive(withinMilliseconds: 20)
          return second.isEnded
        }
        #expect(second.fatal?.code == .nameTaken)
        visitor.send(FrameHeader(type: .goodbye))
        visitor.sendBytes([0, 0, 0, 0])
        try roost.awaitWorker("example", "runs again", within: 30, client) { $0.state == "ready" }
        #expect(try client.call("example.echo", "back").text == "back")
      }
    }

    @Test("A guest that joins and leaves is told of in events and in the log, and answered for while it is here")
    func guest() throws {
      try withRoost { roost in
        let client = try roost.client()
        let watcher = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["events", "--json"],
          environment: ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(roost.socket)"])
        defer { watcher.send(SIGKILL) }
        try awaitSoon("the watcher") { try roost.status(client).clients.contains { $0.name == "roost" } }
        // Its SUBSCRIBE is behind its HELLO: what is asked after this restart is seen is seen.
        #expect(try client.call("supervisor.restart", #"{"worker":"example"}"#).isResponse)
        _ = try watcher.readLine { $0.contains(#""to":"ready""#) }
        let guest = try BusPeer(socket: roost.socket, hello: try Self.hello(roost, client, "guest"))
        let joined = try watcher.readLine { $0.contains(#""worker":"guest""#) }
        #expect(joined.contains(#""to":"attached""#))
        #expect(joined.contains("role example, pid \(getpid()), started by hand"), "\(joined)")
        let why = try JSONPayload.decode(
          WhyResult.self, from: try client.call("supervisor.why", #"{"worker":"guest"}"#).terminal.payload)
        #expect(why.state == "attached" && why.sentences[0].contains("pid \(getpid()), started by hand"))
        let logs = try client.call("supervisor.logs", #"{"worker":"guest"}"#)
        #expect(logs.refusal?.message.contains("its log goes to where it was started") == true)
        guest.sendBytes([0, 0, 0, 0])
        let left = try watcher.readLine { $0.contains(#""worker":"guest""#) && $0.contains(#""to":"absent""#) }
        #expect(left.contains("has left: "), "\(left)")
        let lines = try client.call("supervisor.logs", #"{"worker":"roostd","lines":50}"#).text
        #expect(lines.contains("guest has joined: ") && lines.contains("guest has left: "), "\(lines)")
      }
    }

    @Test("A call to a held worker says that it waits, and is answered when the hold ends")
    func callOfHeld() throws {
      try withRoost { roost in
        let client = try roost.client()
        #expect(try client.call("supervisor.hold", #"{"worker":"example"}"#).isResponse)
        let call = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["call", "example.echo", #"{"patience":1}"#],
          environment: ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(roost.socket)"])
        let line = try call.readLine { $0.hasPrefix("roost: ") }
        let advice = "'roost hold --release example' lets it run"
        #expect(line == "roost: example is held: the call waits in the mailbox; \(advice)")
        #expect(try client.call("supervisor.hold", #"{"worker":"example","hold":false}"#).isResponse)
        #expect(try call.readAllOutput().contains("patience"))
        #expect(try call.waitForEnd() == .exited(0))
      }
    }

    @Test("What cannot be restarted is refused at once: a worker started by hand, and one that is held")
    func notRestarted() throws {
      try withRoost { roost in
        let client = try roost.client()
        let visitor = try BusPeer(socket: roost.socket, hello: try Self.hello(roost, client))
        try roost.awaitWorker("example", "is attached", within: 30, client) { $0.state == "attached" }
        let order = #"{"worker":"example","restart":true,"path":"\#(roost.path("a.recording"))"}"#
        for (method, arguments) in [("supervisor.record", order), ("supervisor.restart", #"{"worker":"example"}"#)] {
          let refusal = try client.call(method, arguments).refusal
          #expect(refusal?.code == .badRequest && refusal?.message.contains("end it where it was started") == true)
        }
        #expect(try client.call("supervisor.hold", #"{"worker":"example"}"#).isResponse)
        visitor.send(FrameHeader(type: .goodbye))
        visitor.sendBytes([0, 0, 0, 0])
        try roost.awaitWorker("example", "is held", within: 30, client) { $0.state == "held" }
        let refusal = try client.call("supervisor.restart", #"{"worker":"example"}"#).refusal
        #expect(refusal?.message.contains("hold --release") == true)
      }
    }
  }
}
