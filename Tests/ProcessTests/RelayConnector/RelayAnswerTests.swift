import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Relays that answer a REQ with too much, too little, or something else.
  @Suite("Relays that answer badly")
  struct RelayAnswerTests {
    /// Short, for tests in which a relay says nothing.
    private static let impatient = ["request-timeout": "\"500ms\""]

    @Test("What was never asked for is dropped: events, ends and answers for subscriptions and events of nobody")
    func unsolicited() throws {
      let stray: [RelayStep] = [
        .send(#"["EVENT","nobody",\#(RelayStep.eventJSON(1))]"#), .send(#"["EOSE","nobody"]"#),
        .send(#"["CLOSED","nobody","error: x"]"#), .send(#"["EOSE",""]"#),
        .send(#"["OK","\#(String(repeating: "0", count: 64))",false,"error: x"]"#),
        .send(#"["COUNT","nobody",{"count":1}]"#), .send(#"["NEG-MSG","nobody","6100"]"#),
        .send(#"["NEG-ERR","nobody","blocked: x"]"#),
      ]
      let relay = try ScriptedRelay(.accept(), .all(stray), .expect("REQ"), .all(stray), .events(5..<7), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.isResponse && rig.numbers(answer) == [5, 6], "\(answer.text)")
      }
    }

    @Test("An event that the filter does not take is not passed on")
    func notMatching() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .event(RelayStep.eventJSON(1, kind: 7)), .event(RelayStep.eventJSON(2, kind: 1)),
        .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask(#""filters":[{"kinds":[1]}]"#)
        #expect(answer.isResponse)
        #expect(rig.numbers(answer) == [2])
      }
    }

    @Test("Events that were not asked for do not count for the limit, and are told at powers of ten, not one by one")
    func floodOfStrays() throws {
      let strays = RelayStep.all((0..<120).map { .event(RelayStep.eventJSON($0, kind: 7)) })
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), strays, .events(200..<201), strays, .events(201..<205), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask(#""filters":[{"kinds":[1]}],"limit":2"#)
        #expect(answer.isResponse && answer.text.contains(#""isComplete":false"#), "\(answer.text)")
        #expect(rig.numbers(answer) == [200, 201])
        #expect(try rig.logCount(of: "the relay sends events that were not asked for; they are left out") == 3)
      }
    }

    @Test("An event that comes twice is passed on twice: who has seen what is known to the store alone")
    func duplicated() throws {
      let relay = try ScriptedRelay(.accept(), .expect("REQ"), .events(0..<2), .events(0..<2), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.isResponse && rig.numbers(answer) == [0, 1, 0, 1], "\(answer.text)")
      }
    }

    @Test("Without an EOSE the request ends at its deadline, behind the events that came, and the relay is told CLOSE")
    func noEndOfStored() throws {
      let relay = try ScriptedRelay(.accept(), .expect("REQ"), .events(0..<3))
      try withRelay(relay, Self.impatient) { rig in
        let answer = try rig.ask()
        #expect(answer.refusal?.code == "timed-out" && answer.refusal?.outcome == .notStarted, "\(answer.text)")
        #expect(rig.numbers(answer) == [0, 1, 2])
        try relay.awaitVisits("CLOSE") { $0[0].texts("CLOSE").count == 1 }
      }
    }

    @Test("Events behind an early EOSE are late: this request does without them, and the next one is not given them")
    func earlyEndOfStored() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .endOfStored(), .events(0..<3), .expect("REQ"), .events(10..<12), .endOfStored())
      try withRelay(relay) { rig in
        let first = try rig.ask()
        #expect(first.isResponse && first.parts.isEmpty && first.text.contains(#""isComplete":true"#), "\(first.text)")
        let second = try rig.ask()
        #expect(second.isResponse && rig.numbers(second) == [10, 11], "\(second.text)")
      }
    }

    @Test("A relay that goes on for ever after CLOSE is cut off with 1008, and asked again later")
    func unheededClose() throws {
      let flood: [RelayStep] = [.accept(), .expect("REQ"), .endOfStored(), .events(0..<11_000)]
      let relay = try ScriptedRelay(
        scripts: [flood, [.accept(), .forever(.expect("REQ"), .events(0..<2), .endOfStored())]])
      try withRelay(relay) { rig in
        #expect(try rig.ask().isResponse)
        try relay.awaitVisits("the cut") { $0[0].closeCode == 1008 }
        try awaitSoon("an answer on another connection") { try rig.ask().parts.count == 2 }
      }
    }

    @Test("A relay that drips events for ever is given up in the end, though it is never silent")
    func dripping() throws {
      let pause = RelayStep("wait a little") { _ in usleep(20_000) }
      let relay = try ScriptedRelay(.accept(), .expect("REQ"), .forever(.events(0..<1), pause))
      try withRelay(relay, ["request-timeout": "\"200ms\""]) { rig in
        let answer = try rig.ask()
        #expect(answer.refusal?.code == "timed-out" && answer.parts.count > 10, "\(answer.parts.count) events")
      }
    }

    @Test("A second EOSE, and a CLOSED behind it, end nothing else")
    func twoEndsOfStored() throws {
      let relay = try ScriptedRelay(
        .accept(),
        .forever(.expect("REQ"), .events(0..<2), .endOfStored(), .endOfStored(), .closed("error: too late")))
      try withRelay(relay) { rig in
        for _ in 0..<3 {
          let answer = try rig.ask()
          #expect(answer.isResponse && rig.numbers(answer) == [0, 1], "\(answer.text)")
        }
        #expect(relay.visits.count == 1)
      }
    }

    @Test("Every CLOSED ends its request at once with the relay's words, whatever they begin with")
    func closed() throws {
      let words = RelayWords.all
      let relay = try ScriptedRelay(.accept(), .all(words.flatMap { [.expect("REQ"), .closed($0)] }))
      try withRelay(relay) { rig in
        for word in words {
          let refusal = try rig.ask().refusal
          #expect(refusal?.code == "closed-by-relay" && refusal?.outcome == .notStarted, "\(word ?? "no words")")
          let said = word.map { $0.isEmpty ? "" : ": \($0)" } ?? ""
          #expect(refusal?.message == "\(relay.url) closed the subscription\(said)")
        }
        #expect(relay.visits.count == 1)
      }
    }

    @Test("Every OK is the answer to its event, in the relay's words, whatever they begin with")
    func published() throws {
      let words = RelayWords.all
      let relay = try ScriptedRelay(
        .accept(), .all(words.flatMap { [.expect("EVENT"), .ok(false, $0), .expect("EVENT"), .ok(true, $0)] }))
      try withRelay(relay) { rig in
        for (index, word) in words.enumerated() {
          for isAccepted in [false, true] {
            let answer = try rig.publish(index)
            #expect(answer.isResponse && answer.text.contains(#""isAccepted":\#(isAccepted)"#), "\(answer.text)")
            #expect(answer.text.contains(#""message":"\#(word ?? "")""#), "\(answer.text)")
          }
        }
      }
    }

    @Test("Without an OK nobody knows what became of the event, and the caller is told so")
    func noOK() throws {
      let relay = try ScriptedRelay(.accept(), .expect("EVENT"))
      try withRelay(relay, Self.impatient) { rig in
        let refusal = try rig.publish(1).refusal
        #expect(refusal?.code == "timed-out" && refusal?.outcome == .unknown, "\(String(describing: refusal))")
      }
    }

    @Test("An OK that comes too late is nobody's, and not taken for the next event's")
    func lateOK() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("EVENT"), .hold("given up"), .ok(false, "blocked: late"), .expect("EVENT"),
        .ok(true, "in time"))
      try withRelay(relay, Self.impatient) { rig in
        #expect(try rig.publish(1).refusal?.outcome == .unknown)
        relay.release("given up")
        let answer = try rig.publish(2)
        #expect(answer.isResponse && answer.text.contains("in time"), "\(answer.text)")
      }
    }

    @Test("An OK for another event, or for none, is not ours")
    func strangeOK() throws {
      let other = String(repeating: "f", count: 64)
      let relay = try ScriptedRelay(
        .accept(), .expect("EVENT"), .send(#"["OK","\#(other)",true,""]"#), .send(#"["OK","",true,""]"#))
      try withRelay(relay, Self.impatient) { rig in
        let refusal = try rig.publish(1).refusal
        #expect(refusal?.code == "timed-out" && refusal?.outcome == .unknown, "\(String(describing: refusal))")
      }
    }
  }
}

/// What relays give as reasons: the words of NIP-01, NIP-42 and others that are in use, none, and no place for any.
enum RelayWords {
  static let all: [String?] =
    [
      "auth-required", "restricted", "blocked", "rate-limited", "invalid", "error", "pow", "duplicate", "unsupported",
      "deleted", "mute", "payment-required", "no-such-word",
    ].map { "\($0): said the relay" } + ["no word in front", "", nil]
}
