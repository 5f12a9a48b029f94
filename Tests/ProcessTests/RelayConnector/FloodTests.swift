import Contracts
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// A relay that floods, beside others of the same connector.
  @Suite("Flooding relays")
  struct FloodTests {
    /// A relay that floods, for its first REQ, once the test lets it.
    private static func flooding() throws -> ScriptedRelay {
      try ScriptedRelay(
        .accept(), .expect("REQ"), .endOfStored(), .hold("flood"), .forever(.events(0..<1_000)))
    }

    @Test("Beside a relay that floods a store which takes nothing, another is read: its OKs, its EOSE and its pings")
    func others() throws {
      let flood = try Self.flooding()
      let honest = try ScriptedRelay(
        .accept(), .expect("REQ"), .endOfStored(), .expect("EVENT"), .ok(true, ""),
        .sendFrame(WebSocketFrame(opcode: 9, payload: Array("there?".utf8))), .expect("REQ"), .events(0..<3),
        .endOfStored())
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire([flood.url, honest.url], stored: DesiredSubscription.StoredDepth.none)
        for relay in [flood, honest] {
          try rig.await(following, "EOSE") { $0.relay == relay.url && $0.state == .stored }
        }
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"event-store"}"#).isResponse)
        flood.release("flood")
        let held = try Self.awaitHeld(flood, rig)
        let event = #"{"relay":"\#(honest.url)","event":\#(RelayStep.eventJSON(7))}"#
        let published = try rig.client.call("relay.publish", event)
        #expect(published.isResponse, "\(published.text)")
        let answer = try rig.client.call("relay.request", #"{"relay":"\#(honest.url)"}"#)
        #expect(answer.isResponse && answer.parts.count == 3, "\(answer.text)")
        try honest.awaitVisits("a pong") { $0[0].frames.contains { $0.opcode == 10 } }
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"event-store","hold":false}"#).isResponse)
        try awaitSoon("the flood is read again") { try Self.bytes(from: flood, rig) > held + (1 << 20) }
      }
    }

    @Test("A relay that we do not read is not called silent: it owes its answer when it is read again")
    func notRead() throws {
      let flood = try ScriptedRelay(
        .accept(), .expect("REQ"), .endOfStored(), .hold("flood"), .events(0..<6_000), .expect("REQ"), .events(0..<3),
        .endOfStored())
      let silent = try ScriptedRelay(.accept(), .expect("REQ"))
      try WishRig.run(["request-timeout": "\"3s\""]) { rig in
        let following = try rig.follow()
        try rig.desire([flood.url], stored: DesiredSubscription.StoredDepth.none)
        try rig.await(following, "EOSE") { $0.state == .stored }
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"event-store"}"#).isResponse)
        flood.release("flood")
        _ = try Self.awaitHeld(flood, rig)
        let asked = try rig.client.ask("relay.request", #"{"relay":"\#(flood.url)"}"#)
        let late = try rig.client.call("relay.request", #"{"relay":"\#(silent.url)"}"#)
        #expect(late.refusal?.code == "timed-out", "the same time has passed for both")
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"event-store","hold":false}"#).isResponse)
        let answer = try rig.client.answer(to: asked)
        #expect(answer.isResponse && answer.parts.count == 3, "\(answer.text)")
      }
    }

    private static func bytes(from relay: ScriptedRelay, _ rig: WishRig) throws -> UInt64 {
      let answer = try rig.client.call("relay.list")
      let states = try JSONPayload.decode(RelayStates.self, from: answer.terminal.payload)
      return states.relays.first { $0.relay == relay.url }?.bytes ?? 0
    }

    /// Waits until a flooding relay is not read any more, and says how many bytes it has sent by then.
    private static func awaitHeld(_ relay: ScriptedRelay, _ rig: WishRig) throws -> UInt64 {
      var (last, sameCount) = (UInt64(0), 0)
      try awaitSoon("the flood is held back") {
        let bytes = try bytes(from: relay, rig)
        sameCount = bytes == last ? sameCount + 1 : 0
        last = bytes
        return bytes > 400 << 10 && sameCount >= 20
      }
      return last
    }
  }
}
