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
