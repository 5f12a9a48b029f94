import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// Relays whose frames are odd, or break RFC 6455.
  @Suite("Relays that frame badly")
  struct RelayFramingTests {
    @Test("An event in fragments of one byte, with a ping after each, is one event; each ping has its pong")
    func fragments() throws {
      let event = #"["EVENT","$sub",\#(RelayStep.eventJSON(7))]"#
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .send(event, .fragments(of: 1, pinging: true)), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.isResponse && answer.parts.map(\.text) == [RelayStep.eventJSON(7)], "\(answer.text)")
        let count = RelayStep.eventJSON(7).utf8.count + 15
        let visit = try #require(
          try relay.awaitVisits("the pongs") { ($0[0].frames.count { $0.opcode == 10 }) >= count }.first)
        let pongs = visit.frames.filter { $0.opcode == 10 }.map(\.text)
        #expect(pongs == pongs.indices.map { "\($0)" })
      }
    }

    /// What breaks RFC 6455, and the code of the close that answers it (7.4.1).
    struct Violation: Sendable, CustomTestStringConvertible {
      let testDescription: String
      let step: RelayStep
      let code: UInt16
    }

    private static let violations = [
      Violation(testDescription: "a masked frame", step: .send(#"["NOTICE","x"]"#, .masked), code: 1002),
      Violation(testDescription: "a reserved bit", step: .send(#"["NOTICE","x"]"#, .reserved(4)), code: 1002),
      Violation(
        testDescription: "a length of 2^62", step: .sendBytes([0x81, 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x5B]),
        code: 1009),
      Violation(
        testDescription: "text that is not UTF-8",
        step: .sendFrame(WebSocketFrame(opcode: 1, payload: Array(#"["NOTICE",""#.utf8) + [0xFF])), code: 1007),
    ]

    @Test(
      "A frame that breaks RFC 6455 ends its connection with the code that says so; the next one is served",
      arguments: violations)
    func violation(_ violation: Violation) throws {
      let relay = try ScriptedRelay(scripts: [
        [.accept(), .expect("REQ"), violation.step], [.accept(), .expect("REQ"), .events(0..<2), .endOfStored()],
      ])
      try withRelay(relay) { rig in
        let refusal = try rig.ask().refusal
        #expect(refusal?.code == "relay-disconnected" && refusal?.outcome == .notStarted)
        #expect(refusal?.message.contains("cut by us: ") == true, "\(refusal?.message ?? "")")
        let visit = try #require(try relay.awaitVisits("the end") { $0[0].isOver }.first)
        #expect(visit.closeCode == violation.code)
        let again = try rig.ask()
        #expect(again.isResponse && again.parts.count == 2, "\(again.text)")
      }
    }

    @Test("A message of 10 MB is not held: it ends the connection with 1009 at its header")
    func tooLong() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .notice(String(repeating: "x", count: 10_000_000)), .endOfStored())
      try withRelay(relay) { rig in
        let refusal = try rig.ask().refusal
        #expect(refusal?.code == "relay-disconnected", "\(refusal?.message ?? "")")
        #expect(refusal?.message.contains("a message over the limit") == true, "\(refusal?.message ?? "")")
        let visit = try #require(try relay.awaitVisits("the end") { $0[0].isOver }.first)
        #expect(visit.closeCode == 1009)
      }
    }

    @Test("A binary message is none of Nostr's: what it holds is not believed, and the connection goes on")
    func binary() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .send(#"["EVENT","$sub",\#(RelayStep.eventJSON(1))]"#, .binary),
        .send(#"["CLOSED","$sub","error: in binary"]"#, .binary), .events(2..<3), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.isResponse && rig.numbers(answer) == [2], "\(answer.text)")
      }
    }

    @Test("A relay that goes on with what is not Nostr's is left with 1008")
    func garbage() throws {
      let nonsense = (0..<60).flatMap { _ in [RelayStep.send("not JSON"), .send(#"["HELLO"]"#)] }
      let relay = try ScriptedRelay(.accept(), .expect("REQ"), .all(nonsense))
      try withRelay(relay) { rig in
        let refusal = try rig.ask().refusal
        #expect(refusal?.code == "relay-disconnected", "\(refusal?.message ?? "")")
        #expect(refusal?.message.contains("100 messages that are not Nostr's") == true, "\(refusal?.message ?? "")")
        let visit = try #require(try relay.awaitVisits("the end") { $0[0].isOver }.first)
        #expect(visit.closeCode == 1008)
      }
    }
  }
}
