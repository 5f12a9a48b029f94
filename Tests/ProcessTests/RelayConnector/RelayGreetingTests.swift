import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// Relays that answer the upgrade to a WebSocket slowly, wrongly or not at all.
  @Suite("Relays that greet badly")
  struct RelayGreetingTests {
    @Test("A challenge in the same write as the 101 is heard, and the request goes on")
    func challengeWithUpgrade() throws {
      let relay = try ScriptedRelay(
        .accept(with: #"["AUTH","early"]"#), .expect("REQ"), .events(0..<2), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.isResponse && rig.numbers(answer) == [0, 1], "\(answer.text)")
        #expect(try rig.logCount(of: "the relay wants AUTH") == 1)
      }
    }

    @Test("A 101 that comes byte by byte is a 101")
    func byteByByte() throws {
      let relay = try ScriptedRelay(
        .accept(with: #"["NOTICE","hello"]"#, pieceByteCount: 1), .expect("REQ"), .events(0..<2), .endOfStored())
      try withRelay(relay) { rig in
        let answer = try rig.ask()
        #expect(answer.isResponse && answer.parts.count == 2, "\(answer.text)")
      }
    }

    @Test("An upgrade that is never answered costs connect-timeout, and is told as that")
    func neverAnswered() throws {
      let relay = try ScriptedRelay()
      try withRelay(relay, ["connect-timeout": "\"500ms\""]) { rig in
        try Self.expectUnreachable(rig, "no answer to the upgrade within 500 ms")
      }
    }

    @Test("A 101 with the wrong accept key is of a cache or another protocol, and refused")
    func wrongKey() throws {
      try withRelay(try ScriptedRelay(.accept(key: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))) { rig in
        try Self.expectUnreachable(rig, "the server's Sec-WebSocket-Accept does not answer our key")
      }
    }

    @Test("A 101 with an extension that was not offered is refused before it can send a frame that nobody can read")
    func extensionNotOffered() throws {
      let relay = try ScriptedRelay(.accept(fields: "Sec-WebSocket-Extensions: x-unheard-of\r\n"))
      try withRelay(relay) { rig in
        try Self.expectUnreachable(rig, "the server uses \"x-unheard-of\", which was not offered")
      }
    }

    @Test("A web page in place of a relay is told by its status")
    func page() throws {
      let page = "<html>It works!</html>"
      let relay = try ScriptedRelay(.answer("HTTP/1.1 200 OK\r\nContent-Length: \(page.count)\r\n\r\n\(page)"))
      try withRelay(relay) { rig in try Self.expectUnreachable(rig, "the server answered 200 (OK)") }
    }

    @Test("A redirect is not followed, and says where it would have led")
    func redirect() throws {
      let elsewhere = try ScriptedRelay(.accept(), .forever(.expect("REQ"), .events(0..<1), .endOfStored()))
      let relay = try ScriptedRelay(
        .answer("HTTP/1.1 301 Moved Permanently\r\nLocation: \(elsewhere.url)\r\nContent-Length: 0\r\n\r\n"))
      try withRelay(relay) { rig in
        try Self.expectUnreachable(rig, "the server answered 301 and points to \"\(elsewhere.url)\"")
      }
      #expect(elsewhere.visits.isEmpty)
    }

    @Test("A server that hangs up in place of an answer is told as that")
    func hangUp() throws {
      try withRelay(try ScriptedRelay(.hangUp)) { rig in
        try Self.expectUnreachable(rig, "the other side closed the connection without answering the upgrade")
      }
    }

    @Test("A head without end is cut at its bound")
    func endlessHead() throws {
      let field = Array("X-Filler: \(String(repeating: "x", count: 1_000))\r\n".utf8)
      let relay = try ScriptedRelay(.answer("HTTP/1.1 101 Switching Protocols\r\n"), .forever(.sendBytes(field)))
      try withRelay(relay) { rig in
        try Self.expectUnreachable(rig, "the server's answer has more than 16384 bytes of fields")
      }
    }

    /// That a request is refused with this reason, and the connection that earned it is closed.
    private static func expectUnreachable(
      _ rig: RelayRig, _ reason: String, _ location: SourceLocation = #_sourceLocation
    ) throws {
      let refusal = try rig.ask().refusal
      #expect(
        refusal?.code == "relay-unreachable" && refusal?.outcome == .notStarted, "\(String(describing: refusal))",
        sourceLocation: location)
      let message = refusal?.message ?? ""
      #expect(
        message.hasPrefix("\(rig.relay.url) cannot be reached: \(reason)"), "\(message)", sourceLocation: location)
      try rig.relay.awaitVisits("the first connection is closed") { $0.first?.isOver == true }
    }
  }
}
