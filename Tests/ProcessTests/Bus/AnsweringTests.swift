import Contracts
import Frames
import TestSupport
import Testing

/// A way to go wrong in the middle of a request, and what must come of it.
struct Misdeed: CustomTestStringConvertible, Sendable {
  var method: String
  var order = "{}"
  /// Whether the worker lives through it.
  var isSurvived = false

  var testDescription: String { method }

  static let all: [Misdeed] = [
    Misdeed(method: "echo", isSurvived: true),
    Misdeed(method: "slow", order: #"{"milliseconds":50}"#, isSurvived: true),
    Misdeed(method: "answer-twice", isSurvived: true), Misdeed(method: "answer-stranger", isSurvived: true),
    Misdeed(method: "stale-attempt", isSurvived: true), Misdeed(method: "shout", isSurvived: true),
    Misdeed(method: "extend", isSurvived: true), Misdeed(method: "forge-source"), Misdeed(method: "no-credit"),
    Misdeed(method: "late-hello"), Misdeed(method: "only-hub"), Misdeed(method: "oversize"),
    Misdeed(method: "undersize"), Misdeed(method: "garbage"), Misdeed(method: "bad-version"),
    Misdeed(method: "bad-type"), Misdeed(method: "half-frame"), Misdeed(method: "half-frame", order: #"{"at":51}"#),
    Misdeed(method: "die"), Misdeed(method: "die", order: #"{"code":0}"#),
    Misdeed(method: "die", order: #"{"code":1}"#),
    Misdeed(method: "die", order: #"{"signal":11}"#), Misdeed(method: "die", order: #"{"signal":6}"#),
    Misdeed(method: "die-after-effect"), Misdeed(method: "leave-after-answer"), Misdeed(method: "deaf"),
    Misdeed(method: "spin"), Misdeed(method: "drop-bus"), Misdeed(method: "orphan-and-die"),
  ]
}

extension ProcessTests {
  @Suite("Accepted means answered")
  struct AnsweringTests {
    @Test("Whatever a worker does with a request, it gets exactly one terminal answer, and so does the next")
    func exactlyOneAnswer() throws {
      let layout = Layout(
        workers: [Layout.Worker(keys: ["stuck-after": "\"1s\"", "restart": "\"always\""])],
        bus: ["partial-frame-deadline": "\"300ms\""])
      try withRoost(layout) { roost in
        let client = try roost.client()
        var ids: [UInt64] = []
        for misdeed in Misdeed.all {
          for flags in [[], .atMostOnce] as [FrameFlags] {
            let id = try client.ask("example.\(misdeed.method)", misdeed.order, flags: flags)
            ids.append(id)
            let answer = try client.answer(to: id)
            check(answer, misdeed, flags)
            // Also so that the next one does not reach a worker that is dying of this one.
            #expect(try client.call("example.echo", "again").text == "again", "after \(misdeed.method)")
          }
        }
        #expect(client.fatal == nil)
        for id in ids { #expect(client.terminalCounts[id] == 1, "request \(id)") }
        #expect(try roost.status(client).keptBytes == 0)
      }
    }

    private func check(_ answer: BusPeer.Answer, _ misdeed: Misdeed, _ flags: FrameFlags) {
      if misdeed.isSurvived || misdeed.method == "leave-after-answer" {
        #expect(answer.isResponse, "\(misdeed.method): \(answer.text)")
      } else if flags.contains(.atMostOnce) {
        #expect(answer.refusal?.code == .workerDied, "\(misdeed.method): \(answer.text)")
        #expect(answer.refusal?.outcome == .unknown, "\(misdeed.method)")
      } else {
        #expect(answer.text == misdeed.order, "\(misdeed.method)")
        #expect(answer.terminal.header.attempt == 2, "\(misdeed.method)")
      }
    }

    @Test("Many requests in hand at a death are all answered, once each, by the next life")
    func manyInHand() throws {
      try withRoost { roost in
        let client = try roost.client()
        let slow = try (0..<40).map { try client.ask("example.slow", #"{"milliseconds":50,"key":"\#($0)"}"#) }
        try client.ask("example.die")
        for (number, id) in slow.enumerated() {
          #expect(try client.answer(to: id).text.contains("\"\(number)\""))
          #expect(client.terminalCounts[id] == 1)
        }
      }
    }

    @Test("An answer whose first part is out is not begun anew: worker-died, outcome unknown")
    func partsAreNotRepeated() throws {
      try withRoost { roost in
        let client = try roost.client()
        let answer = try client.call("example.part-then-die", "{}")
        #expect(answer.parts.count == 1)
        #expect(answer.refusal?.code == .workerDied)
        #expect(answer.refusal?.outcome == .unknown)
        let stream = try client.call("example.parts", #"{"parts":500,"bytes":9000}"#)
        #expect(stream.parts.count == 500)
        #expect(stream.parts.allSatisfy { $0.payload.count == 9_000 })
      }
    }

    @Test("A request that kills each worker that takes it is quarantined at the third, and the others go on")
    func poison() throws {
      try withRoost(Layout(bus: ["deliveries-maximum": "3"])) { roost in
        let client = try roost.client()
        let poison = try client.ask("example.die", #"{"lives":99}"#)
        let good = try (0..<10).map { try client.ask("example.echo", "\($0)") }
        #expect(try client.answer(to: poison).refusal?.code == .quarantined)
        for (number, id) in good.enumerated() { #expect(try client.answer(to: id).text == "\(number)") }
        try awaitSoon("its letter is on the disk") { (try? roost.status(client).deadLetters) == 1 }
        let latest = try #require(try roost.status(client).latestDeadLetters)
        #expect(latest.count == 1 && latest[0].worker == "example" && latest[0].payload.isEmpty)
        try roost.awaitWorker("example", "is ready, and nothing is held against it", client) {
          $0.state == "ready" && $0.restarts == 0 && $0.generation == 4
        }
        let sentences = try roost.explanation(of: "example", client)
        let told = "Its last 3 deaths were charged to one message, example.die, now dead letter "
        #expect(sentences.contains { $0.hasPrefix(told) && $0.hasSuffix(" (roost dead-letters).") }, "\(sentences)")
      }
    }

    @Test("A dead letter that is tried again and kills is the same letter; answered, it is gone and the answer shown")
    func retriedLetter() throws {
      try withRoost(Layout(bus: ["deliveries-maximum": "3"])) { roost in
        let client = try roost.client("the-sender")
        func letters(_ action: String) throws -> DeadLettersResult {
          let answer = try client.call("supervisor.dead-letters", action)
          return try JSONPayload.decode(DeadLettersResult.self, from: answer.terminal.payload)
        }
        let order = #"{"lives":4,"key":"again"}"#
        #expect(try client.call("example.die", order).refusal?.code == .quarantined)
        try awaitSoon("the letter") { try roost.status(client).deadLetters == 1 }
        let none = try client.call("supervisor.dead-letters", #"{"action":"drop","id":"zzz"}"#).refusal
        #expect(none?.message == "there is no dead letter 'zzz'" && none?.outcome == .notStarted)
        let list = try client.call("supervisor.dead-letters", #"{"action":"list"}"#)
        #expect(!list.text.contains("payload"), "\(list.text)")
        let first = try #require(try letters(#"{"action":"list"}"#).letters.first)
        let retry = #"{"action":"retry","id":"\#(first.id)"}"#
        #expect(try client.call("supervisor.dead-letters", retry).refusal?.code == .quarantined)
        let second = try letters(#"{"action":"show","id":"\#(first.id)"}"#).letters[0]
        #expect(second.sender == "the-sender" && first.deliveries == 3 && second.deliveries == 4)
        #expect(second.time > first.time && second.payload == order)
        #expect(try letters(#"{"action":"list"}"#).letters.map(\.id) == [first.id])
        #expect(try letters(retry).answer == order)
        #expect(try letters(#"{"action":"list"}"#).letters.isEmpty)
        let worker = try roost.worker("example", client)
        #expect(worker.restarts == 0 && worker.generation == 5)
      }
    }

    @Test("Cancelled, expired, or sent to a stopped worker: the hub answers for it")
    func hubAnswers() throws {
      try withRoost { roost in
        let client = try roost.client()
        let expired = try client.call("example.slow", #"{"milliseconds":60000}"#, ttlMilliseconds: 200)
        #expect(expired.refusal?.code == .expired)
        #expect(expired.refusal?.outcome == .unknown)
        let cancelled = try client.ask("example.slow", #"{"milliseconds":60000}"#)
        client.send(FrameHeader(type: .cancel, re: cancelled))
        #expect(try client.answer(to: cancelled).refusal?.code == .cancelled)
        #expect(try client.call("supervisor.stop", #"{"worker":"example"}"#).isResponse)
        let refused = try client.call("example.echo")
        #expect(refused.refusal?.code == .unavailable)
        #expect(refused.refusal?.outcome == .notStarted)
        #expect(try client.call("supervisor.start", #"{"worker":"example"}"#).isResponse)
        #expect(try client.call("example.echo", "back").text == "back")
      }
    }

    @Test("An event that wants to be acknowledged is, through a death and a refusal for now")
    func events() throws {
      try withRoost { roost in
        let client = try roost.client()
        let path = roost.path("events")
        for (number, order) in [#""lives":0"#, #""lives":1,"milliseconds":50"#, #""lives":1,"signal":9"#].enumerated() {
          let id = try client.ask(
            "example.notice", #"{\#(order),"path":"\#(path)","key":"\#(number)"}"#, flags: .needsAck, type: .event)
          try client.wait("the acknowledgement") { client.acknowledgements[id] != nil }
          #expect(client.acknowledgements[id]?.header.type == .ack)
        }
        #expect(roost.lines("events") == ["0", "1", "2"])
        // No delay means never.
        let id = try client.ask("example.notice", #"{"lives":1}"#, flags: .needsAck, type: .event)
        try client.wait("the refusal") { client.acknowledgements[id] != nil }
        #expect(client.acknowledgements[id]?.header.type == .nack)
        let topic = try client.number(of: "relay.states")
        #expect(try client.call("example.publish", #"{"topic":\#(topic)}"#).text.contains("denied"))
      }
    }
  }
}
