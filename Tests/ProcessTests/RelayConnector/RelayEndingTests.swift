import Clocks
import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// Relays that leave in the middle, or come and go, or talk without end.
  @Suite("Relays that end badly")
  struct RelayEndingTests {
    /// Half a minute is too long for the tests in which a relay does not answer.
    private static let impatient = ["request-timeout": "\"500ms\""]

    /// A way to leave, and what is said of it.
    struct Leaving: Sendable, CustomTestStringConvertible {
      let testDescription: String
      let step: RelayStep
      /// One of these.
      let words: [String]
      /// Of the close frame that answers.
      var code: UInt16?
    }

    private static let leavings = [
      Leaving(testDescription: "no close frame", step: .hangUp, words: ["the stream ended without a close frame"]),
      Leaving(
        testDescription: "a close code of its own", step: .close(4001, "come back later"),
        words: ["closed by the other side: 4001 (come back later)"], code: 4001),
      // A reset that comes together with bytes is told by libuv as the end of the stream.
      Leaving(
        testDescription: "a reset", step: .reset,
        words: ["connection reset by peer", "the stream ended without a close frame"]),
    ]

    @Test(
      "A relay that leaves in the middle of an answer is told by the way it left; the next connection is served",
      arguments: leavings)
    func leaving(_ leaving: Leaving) throws {
      let relay = try ScriptedRelay(scripts: [
        [.accept(), .expect("REQ"), .events(0..<2), leaving.step],
        [.accept(), .expect("REQ"), .events(0..<3), .endOfStored()],
      ])
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.refusal?.code == "relay-disconnected" && answer.refusal?.outcome == .notStarted)
        let message = answer.refusal?.message ?? ""
        #expect(message.contains(" ended: ") && leaving.words.contains { message.contains($0) }, "\(message)")
        let visit = try #require(try relay.awaitVisits("the end") { $0[0].isOver }.first)
        // The code goes back as it came (RFC 6455, 5.5.1), where one came.
        #expect(visit.closeCode == leaving.code)
        let again = try rig.ask()
        #expect(again.isResponse && again.parts.count == 3, "\(again.text)")
      }
    }

    @Test("An event that was under way when the relay left is unknown, and one that was not sent goes to the next")
    func leavingWithEvent() throws {
      let relay = try ScriptedRelay(scripts: [
        [.accept(), .expect("EVENT"), .reset], [.accept(), .expect("EVENT"), .ok(true, "")],
      ])
      try withRelay(relay) { rig in
        let first = try rig.publish(1).refusal
        #expect(first?.code == "relay-disconnected" && first?.outcome == .unknown, "\(String(describing: first))")
        #expect(try rig.publish(1).isResponse)
      }
    }

    @Test("A relay that is there and says nothing, not even pong, costs each request its deadline and nobody else's")
    func deaf() throws {
      try withRelay(try ScriptedRelay(.accept(), .deaf), Self.impatient) { rig in
        for _ in 0..<2 {
          let refusal = try rig.ask().refusal
          #expect(refusal?.code == "timed-out" && refusal?.outcome == .notStarted, "\(String(describing: refusal))")
        }
      }
    }

    @Test("A relay that accepts and hangs up at once is not dialled in a loop, however often it is asked")
    func flapping() throws {
      let relay = try ScriptedRelay(.accept(), .hangUp)
      try withRelay(relay) { rig in
        try awaitSoon("the third connection") {
          let refusal = try rig.ask().refusal
          #expect(
            refusal?.code == "relay-disconnected" || refusal?.code == "relay-unreachable",
            "\(String(describing: refusal))")
          return relay.visits.count >= 3
        }
        let times = relay.visits.map(\.acceptedAt)
        // Never twice within 250 ms, says the connector; accepting may be late by some of that.
        for (earlier, later) in zip(times, times.dropFirst()) { #expect(later.milliseconds(since: earlier) > 100) }
      }
    }

    @Test("NOTICE without end fills neither the log nor the memory, and the request still ends at its deadline")
    func floodOfNotices() throws {
      let words = String(repeating: "buy our relay ", count: 40)
      let batch = RelayStep.all(Array(repeating: .notice(words), count: 100))
      try withRelay(try ScriptedRelay(.accept(), .expect("REQ"), .forever(batch)), Self.impatient) { rig in
        let refusal = try rig.ask().refusal
        #expect(refusal?.code == "timed-out", "\(String(describing: refusal))")
        #expect(refusal?.message.contains("it said meanwhile: \"buy our relay") == true)
        #expect(refusal.map { $0.message.utf8.count < 1_000 } == true)
        let told = try rig.logCount(of: "the relay says")
        #expect(told <= 10, "\(told) lines")
        // While it goes on.
        try rig.expectSound()
      }
    }

    @Test("Events without end for a subscription of nobody end the connection, and the request with it")
    func floodOfStrayEvents() throws {
      let stray = RelayStep.send(#"["EVENT","nobody",\#(RelayStep.eventJSON(1))]"#)
      let batch = RelayStep.all(Array(repeating: stray, count: 100))
      try withRelay(try ScriptedRelay(.accept(), .expect("REQ"), .forever(batch))) { rig in
        let answer = try rig.ask()
        #expect(answer.refusal?.code == "relay-disconnected" && answer.parts.isEmpty, "\(answer.text)")
        #expect(answer.refusal?.message.contains("of no open subscription") == true, "\(answer.text)")
        try rig.expectSound()
      }
    }

    @Test("Events without end stop at the caller's limit; what goes on behind it costs the others nothing")
    func floodOfEvents() throws {
      try withRelay(try ScriptedRelay(.accept(), .expect("REQ"), .forever(.events(0..<100)))) { rig in
        let answer = try rig.ask(#""limit":1000"#)
        #expect(answer.isResponse && answer.parts.count == 1_000, "\(answer.text)")
        #expect(answer.text.contains(#""isComplete":false"#))
        try rig.expectSound()
      }
    }
  }
}
