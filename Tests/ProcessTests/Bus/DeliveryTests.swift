import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// The kill matrix by place: the worker, or the client, ends at every point of an exchange.
  @Suite("Delivered as marked")
  struct DeliveryTests {
    /// Every byte of a header, and the first of the payload.
    static let offsets = Array(0...(FrameHeader.byteCount + 16))

    @Test(
      "Before HELLO, after HELLO and after READY a death loses nothing",
      arguments: ["start", "hello", "ready"])
    func aroundTheGreeting(place: String) throws {
      try withRoost(.one(["--die-at", place, "--lives", "4"]), awaitsReady: false) { roost in
        let client = try roost.client()
        let once = try client.ask("example.append", Self.order(roost, "once"), flags: .atMostOnce)
        let again = try (0..<5).map { try client.ask("example.append", Self.order(roost, "again-\($0)")) }
        for id in again { #expect(try client.answer(to: id).isResponse) }
        let answer = try client.answer(to: once)
        // After READY the request may be in the dying worker's hand already; never is it done twice.
        #expect(answer.isResponse || (place == "ready" && answer.refusal?.outcome == .unknown), "\(answer.text)")
        let lines = roost.lines("effects")
        #expect(lines.filter { $0 == "once" }.count <= 1)
        for number in 0..<5 { #expect(lines.contains("again-\(number)")) }
        #expect(try roost.worker("example", client).generation >= 5)
      }
    }

    @Test("A death after each byte of the answer: delivered again, or told as unknown when marked so")
    func atEachByteOfTheAnswer() throws {
      try withRoost { roost in
        let client = try roost.client()
        for offset in Self.offsets {
          let order = Self.order(roost, "\(offset)", #","at":\#(offset)"#)
          let answer = try client.call("example.die-in-answer", order)
          #expect(answer.text == order && answer.terminal.header.attempt == 2, "offset \(offset)")
          let once = try client.call("example.die-in-answer", order, flags: .atMostOnce)
          #expect(once.refusal?.code == .workerDied && once.refusal?.outcome == .unknown, "offset \(offset)")
        }
        // Echo answers the second delivery, so the effect of each comes from the first alone.
        let lines = roost.lines("effects")
        for offset in Self.offsets { #expect(lines.filter { $0 == "\(offset)" }.count == 2, "offset \(offset)") }
        // The whole answer is written: it counts, and nothing is delivered again.
        let order = Self.order(roost, "whole", #","at":100000"#)
        let answer = try client.call("example.die-in-answer", order, flags: .atMostOnce)
        #expect(answer.text == order && answer.terminal.header.attempt == 1)
        #expect(client.terminalCounts.values.allSatisfy { $0 == 1 })
      }
    }

    @Test("A death after each byte that the worker reads of a request")
    func atEachByteOfTheRequest() throws {
      try withRoost { roost in
        let client = try roost.client()
        for offset in Self.offsets {
          #expect(try client.call("example.arm", #"{"at":\#(offset)}"#).isResponse)
          let flags: FrameFlags = offset % 2 == 0 ? [] : .atMostOnce
          let answer = try client.call("example.append", Self.order(roost, "\(offset)"), flags: flags)
          let count = roost.lines("effects").filter { $0 == "\(offset)" }.count
          if flags.contains(.atMostOnce), !answer.isResponse {
            #expect(answer.refusal?.outcome == .unknown && count == 0, "offset \(offset): \(answer.text)")
          } else {
            #expect(answer.isResponse && count == 1, "offset \(offset): \(answer.text)")
          }
        }
        #expect(client.terminalCounts.values.allSatisfy { $0 == 1 })
      }
    }

    @Test("A client that leaves after each byte of a request has asked for nothing, and disturbs nobody")
    func atEachByteOfTheClient() throws {
      try withRoost { roost in
        let witness = try roost.client("witness")
        let payload = Array(Self.order(roost, "half").utf8)
        for offset in Self.offsets + [FrameHeader.byteCount + payload.count - 1] {
          let client = try roost.client("leaver")
          client.sendBytes(Array(BusPeer.bytes(try client.request("example.append"), payload).prefix(offset)))
        }
        #expect(try witness.call("example.echo", "here").text == "here")
        #expect(roost.lines("effects").isEmpty)
        let client = try roost.client("leaver")
        client.send(try client.request("example.append"), payload)
        try awaitSoon("the whole one is done") { roost.lines("effects") == ["half"] }
      }
    }

    @Test("After the side effect and before the answer: done again, or told as unknown and done once")
    func afterTheEffect() throws {
      try withRoost { roost in
        let client = try roost.client()
        let again = try client.call("example.die-after-effect", Self.order(roost, "again", #","lives":3"#))
        #expect(again.isResponse && again.terminal.header.attempt == 4)
        #expect(roost.lines("effects").filter { $0 == "again" }.count == 3)
        let once = try client.call(
          "example.die-after-effect", Self.order(roost, "once", #","lives":3"#), flags: .atMostOnce)
        #expect(once.refusal?.outcome == .unknown)
        #expect(roost.lines("effects").filter { $0 == "once" }.count == 1)
      }
    }

    @Test("An answer that was written and not yet read outlives its worker, and is not asked for again")
    func writtenAndUnread() throws {
      try withRoost { roost in
        let client = try roost.client()
        let witness = try roost.client("witness")
        let ids = try (0..<20).map { try client.ask("example.append", Self.order(roost, "\($0)")) }
        try awaitSoon("all is done") { roost.lines("effects").count == 20 }
        #expect(try witness.call("example.echo").isResponse)
        let pid = try #require(try roost.worker("example", witness).pid)
        kill(pid, SIGKILL)
        try roost.awaitWorker("example", "is new", witness) { $0.state == "ready" && $0.generation == 2 }
        for id in ids { #expect(try client.answer(to: id).isResponse) }
        #expect(roost.lines("effects").count == 20)
      }
    }

    @Test("A death during drain, and during a reload that restarts", arguments: ["drain", "reload"])
    func duringDrain(cause: String) throws {
      try withRoost { roost in
        let client = try roost.client()
        let slow = #"{"milliseconds":100000}"#
        let kept = try client.ask("example.who", "{}")
        #expect(try client.answer(to: kept).text.contains("\"generation\":1"))
        let once = try client.ask("example.slow", slow, flags: .atMostOnce)
        let again = try client.ask("example.slow", slow.replacing("100000", with: "1500"))
        try roost.awaitWorker("example", "has both", client) { $0.inHand == 2 }
        let pid = try #require(try roost.worker("example", client).pid)
        if cause == "drain" {
          try client.ask("supervisor.restart", #"{"worker":"example"}"#)
        } else {
          try roost.rewrite { $0.workers[0].arguments = ["--ready-after", "1"] }
          try client.ask("supervisor.reload")
        }
        try roost.awaitWorker("example", "drains", client) { $0.state == "draining" }
        let late = try client.ask("example.echo", "late")
        kill(pid, SIGKILL)
        #expect(try client.answer(to: once).refusal?.outcome == .unknown)
        #expect(try client.answer(to: late).text == "late")
        let answer = try client.answer(to: again)
        #expect(answer.isResponse && answer.terminal.header.attempt == 2, "\(answer.text)")
        try roost.awaitWorker("example", "is new", client) { $0.state == "ready" && $0.generation == 2 }
      }
    }

    @Test("A worker that dies when told to drain, and one that finishes, both leave nothing unanswered")
    func diesOnDrain() throws {
      try withRoost(.one(["--die-at", "drain"])) { roost in
        let client = try roost.client()
        let id = try client.ask("example.slow", #"{"milliseconds":300}"#)
        try roost.awaitWorker("example", "has it", client) { $0.inHand == 1 }
        #expect(try client.call("supervisor.restart", #"{"worker":"example"}"#).isResponse)
        #expect(try client.answer(to: id).isResponse)
      }
    }

    private static func order(_ roost: RunningRoost, _ key: String, _ more: String = "") -> String {
      #"{"path":"\#(roost.path("effects"))","key":"\#(key)"\#(more)}"#
    }
  }
}
