import Contracts
import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// Workers started by hand, and how they take and give back a place.
  @Suite("Attached workers")
  struct AttachTests {
    private static func hello(_ roost: RunningRoost, _ client: BusPeer) throws -> Hello {
      let answer = try client.call("supervisor.attach", #"{"role":"example","name":"example"}"#)
      var hello = Hello(name: "example", role: "example")
      hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
      hello.methods = ["example.echo"]
      return hello
    }

    @Test("A command line is printed for a program that is there; for one that is not, it is said what is missing")
    func commandLine() throws {
      try withRoost { roost in
        let client = try roost.client()
        func grant(_ role: String) throws -> AttachGrant {
          let answer = try client.call("supervisor.attach", #"{"role":"\#(role)"}"#)
          return try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload)
        }
        let signer = try grant("signer")
        #expect(signer.command.contains("/signer --attach \(roost.socket) --name signer") && signer.remark == nil)
        let planner = try grant("outbox-planner")
        #expect(planner.command.hasSuffix("ROOST_WORKER=outbox-planner YOUR-PROGRAM"))
        #expect(planner.remark?.contains("/outbox-planner. Put one of yours") == true)
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

    @Test("A log category that nobody knows is set, and doubted; one that somebody logs in is not")
    func logCategory() throws {
      try withRoost { roost in
        let client = try roost.client()
        func remark(_ category: String) throws -> String? {
          let answer = try client.call("supervisor.log-level", #"{"category":"\#(category)","level":"debug"}"#)
          return try JSONPayload.decode(LogLevelResult.self, from: answer.terminal.payload).remark
        }
        #expect(try remark("supervision") == nil && remark("*") == nil)
        #expect(try remark("relya")?.contains("Did you mean 'relay'? Known: audit, bus, door") == true)
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
  }
}
