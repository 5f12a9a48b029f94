import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Hostile clients of the local relay: bounded, answered in the protocol's terms, and no matter to anybody else. The
  /// same at full size is `make hostile`.
  @Suite("The local relay and clients that mean no good")
  struct LocalRelayHostileTests {
    @Test("What is no protocol is refused by its status or close code, and an honest client gets every answer")
    func noProtocol() throws {
      try LocalRelayHouse.run { house in
        let siege = try Siege(house)
        try siege.withstand("bytes that are no HTTP", expecting: ["400", "431", "414", "505", "421"]) { port in
          let heads = [
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "SSH-2.0-OpenSSH_9.2", "GET / HTTP/1.1\nHost: a\n", "PRI * HTTP/2.0",
            "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 60_000),
            "GET /" + String(repeating: "y", count: 20_000), "GET / HTTP/1.1\r\nHost: evil.example",
          ]
          return try (0..<70).reduce(into: []) { answers, number in
            let answer = try RelayVisitor.exchange(port: port, [heads[number % heads.count]])
            answers.insert(String(answer.dropFirst(9).prefix(3)))
          }
        }
        let frames: [(WebSocketFrame, String)] = [
          (WebSocketFrame(opcode: 1, payload: Array("[]".utf8), reserved: 2), "close 1002"),
          (WebSocketFrame(opcode: 3, payload: []), "close 1002"),
          (WebSocketFrame(opcode: 9, payload: [UInt8](repeating: 0, count: 200)), "close 1002"),
          (.close(1005), "close 1002"), (WebSocketFrame(opcode: 0, payload: []), "close 1002"),
          (WebSocketFrame(opcode: 1, payload: [0xFF, 0xFE]), "close 1007"),
          (WebSocketFrame(opcode: 1, payload: [UInt8](repeating: 0x5B, count: 600_000)), "close 1009"),
        ]
        try siege.withstand("frames that are wrong", expecting: ["close 1002", "close 1007", "close 1009"]) { port in
          try (0..<28).reduce(into: []) { answers, number in
            let (visitor, (frame, expected)) = (try RelayVisitor(port: port), frames[number % frames.count])
            visitor.send(frame)
            try visitor.awaitEnd()
            if !visitor.answers.contains(expected) { answers.insert("\(number): \(visitor.answers)") }
            answers.formUnion(visitor.answers)
          }
        }
      }
    }

    @Test("Floods of tiny frames, pings and bombs are answered and bounded, and an honest client gets every answer")
    func frames() throws {
      try LocalRelayHouse.run(["slow-client": "\"1s\""]) { house in
        let siege = try Siege(house)
        try siege.withstand("messages in pieces of one byte", expecting: ["EOSE"]) { port in
          let visitors = try (0..<4).map { _ in try RelayVisitor(port: port) }
          let text = Array("[\"REQ\",\"a\",{\"limit\":1}]".utf8)
          for visitor in visitors {
            for _ in 0..<200 {
              visitor.send(WebSocketFrame(opcode: 1, payload: [], isFinal: false))
              for byte in text { visitor.send(WebSocketFrame(opcode: 0, payload: [byte], isFinal: false)) }
              visitor.send(WebSocketFrame(opcode: 0, payload: []))
            }
            try visitor.wait("EOSE") { visitor.messages.contains { $0.first == .string("EOSE") } }
          }
          return visitors.reduce(into: []) { $0.formUnion($1.answers) }
        }
        try siege.withstand("pings whose pongs nobody reads", expecting: ["cut"]) { port in
          let visitor = try RelayVisitor(port: port)
          var ping = WebSocketFrame(opcode: 9, payload: [UInt8](repeating: 0x70, count: 125))
          ping.mask = [1, 2, 3, 4]
          let flood = Array(repeatElement(ping.bytes, count: 100).joined())
          // A send that nobody takes ends when the relay cuts.
          for _ in 0..<3_000 where !visitor.isCut { visitor.send(bytes: flood) }
          return visitor.answers
        }
        try siege.withstand("two megabytes in two kilobytes", expecting: ["close 1009"]) { port in
          let start: [UInt8] = [0xEC, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 0x0C, 0x1F, 0xA0]
          let bomb = start + [UInt8](repeating: 0, count: 2_032) + [0xBE, 0x06]
          return try (0..<20).reduce(into: []) { answers, _ in
            let visitor = try RelayVisitor(port: port, fields: ["Sec-WebSocket-Extensions: permessage-deflate"])
            visitor.send(WebSocketFrame(opcode: 1, payload: bomb, reserved: 4))
            try visitor.awaitEnd()
            answers.formUnion(visitor.answers)
          }
        }
      }
    }

    @Test("Floods of requests and events are refused beyond their rates, and an honest client gets every answer")
    func floods() throws {
      try LocalRelayHouse.run(["requests-per-second": "100", "events-per-second": "100"]) { house in
        let siege = try Siege(house)
        try siege.withstand("requests", expecting: ["CLOSED rate-limited"]) { port in
          try Self.flood(port, 2, 1_200, ["CLOSED rate-limited"]) {
            "[\"REQ\",\"\($0 % 100)\",{\"limit\":50},{\"kinds\":[1,\($0)]}]"
          }
        }
        try siege.withstand("counts", expecting: ["CLOSED rate-limited", "COUNT"]) { port in
          try Self.flood(port, 4, 300, ["CLOSED rate-limited", "COUNT"]) {
            "[\"COUNT\",\"\($0)\",{},{\"search\":\"honest\"}]"
          }
        }
        try siege.withstand("reconciliations", expecting: ["NEG-ERR blocked", "NEG-MSG"]) { port in
          try Self.flood(port, 2, 60, ["NEG-ERR blocked", "NEG-MSG"]) { "[\"NEG-OPEN\",\"\($0)\",{},\"6100000200\"]" }
        }
        let stranger = Author()
        let texts = (0..<400).map { Self.message(of: stranger.event("\($0)", at: 1_600_000_000 + Int64($0))) }
        try siege.withstand("events", expecting: ["OK true", "OK false rate-limited"]) { port in
          try Self.flood(port, 3, 400, ["OK true", "OK false rate-limited"]) { texts[$0] }
        }
        let signature = try #require(Signature(String(repeating: "1", count: 128)))
        let forged = (0..<150).map { number in
          let event = UnsignedEvent(
            pubkey: stranger.publicKey, createdAt: 1_650_000_000 + Int64(number), kind: 1, tags: [], content: "")
          return Self.message(of: Event(event, signature: signature))
        }
        try siege.withstand("forgeries", expecting: ["OK false invalid"]) { port in
          try Self.flood(port, 2, 150, ["OK false invalid"]) { forged[$0] }
        }
        try siege.withstand("AUTH that is none", expecting: ["OK false invalid", "close 1008"]) { port in
          try Self.flood(port, 2, 120, ["close 1008"]) { "[\"AUTH\"" + texts[$0].dropFirst(8) }
        }
      }
    }

    @Test("Subscriptions beyond what there may be are taken from whoever has the most, and given to who has none")
    func subscriptions() throws {
      try LocalRelayHouse.run { house in
        let siege = try Siege(house)
        try siege.withstand("the largest subscriptions", expecting: ["EOSE", "CLOSED rate-limited"]) { port in
          let visitors = try (0..<13).map { _ in try RelayVisitor(port: port) }
          for (number, visitor) in visitors.enumerated() {
            let values = (0..<9_999).map { "\"\(number)x\($0)\"" }.joined(separator: ",")
            for name in 0..<5 {
              visitor.send("[\"REQ\",\"\(name)\",{\"#t\":[\(values)],\"limit\":1}]")
              try visitor.awaitEnd(orMessages: name + 1)
            }
          }
          // Behind what each was told meanwhile.
          for visitor in visitors { _ = try visitor.ask("[\"CLOSE\"]", "NOTICE") }
          return visitors.reduce(into: []) { $0.formUnion($1.answers) }
        }
        let late = try house.visitor()
        #expect(try late.request("{\"limit\":1}", name: "late").refusal == nil)
      }
    }

    private static func message(of event: Event) -> String {
      "[\"EVENT\",\(String(decoding: event.json, as: UTF8.self))]"
    }

    private static func flood(
      _ port: UInt16, _ visitorCount: Int, _ count: Int, _ expected: Siege.Answers, _ make: (Int) -> String
    ) throws -> Siege.Answers {
      let visitors = try (0..<visitorCount).map { _ in try RelayVisitor(port: port) }
      for visitor in visitors { visitor.send(count, make) }
      for visitor in visitors { try visitor.wait("\(expected)") { visitor.answers.isSuperset(of: expected) } }
      return visitors.reduce(into: []) { $0.formUnion($1.answers) }
    }
  }
}
