import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Who may come in at the local relay, and what it says before and instead of a WebSocket.
  @Suite("The door of the local relay")
  struct LocalRelayDoorTests {
    private let author = Author()

    private func exchange(_ house: LocalRelayHouse, _ request: String, _ fields: String...) throws -> String {
      let head = ["\(request) HTTP/1.1", "Host: 127.0.0.1:\(house.port)", "Connection: close"]
      return try RelayVisitor.exchange(port: house.port, head + fields)
    }

    @Test("What the relay says of itself is read by pages of all origins (NIP-11)")
    func document() throws {
      try LocalRelayHouse.run(["subscriptions-maximum": "7", "contact": "\"mailto:me@home.example\""]) { house in
        let answer = try exchange(house, "GET /", "Accept: application/nostr+json", "Origin: https://page.example")
        let head = answer.lowercased()
        #expect(
          head.hasPrefix("http/1.1 200 ") && head.contains("\r\ncontent-type: application/nostr+json"), "\(answer)")
        #expect(head.contains("\r\naccess-control-allow-origin: *\r\n"), "\(answer)")
        let body = try #require(answer.firstRange(of: "\r\n\r\n"))
        let document = try JSONPayload.decode(JSONValue.self, from: answer[body.upperBound...].utf8)
        guard case .array(let numbers)? = document["supported_nips"], case .object(let limits)? = document["limitation"]
        else { throw DeadlinePassed(description: answer) }
        for number: Int64 in [1, 9, 11, 40, 42, 45, 50, 62, 70] { #expect(numbers.contains(.integer(number))) }
        #expect(limits["max_subscriptions"] == .integer(7) && limits["max_subid_length"] == .integer(64))
        #expect(limits["max_message_length"] == .integer(512 << 10))
        #expect(limits["max_limit"] == .integer(100_000) && limits["default_limit"] == .integer(100_000))
        #expect(limits["auth_required"] == .bool(true) && limits["restricted_writes"] == .bool(true), "to this page")
        let own = try exchange(house, "GET /", "Accept: application/nostr+json")
        #expect(own.contains("\"auth_required\":false") && own.contains("\"restricted_writes\":false"), "\(own)")
        #expect(document["contact"] == .string("mailto:me@home.example"))
        let preflight = try exchange(
          house, "OPTIONS /", "Origin: https://page.example", "Access-Control-Request-Method: GET",
          "Access-Control-Request-Headers: accept")
        #expect(preflight.hasPrefix("HTTP/1.1 204 "), "\(preflight)")
        #expect(preflight.lowercased().contains("access-control-allow-headers: *"), "\(preflight)")
        let heads = try exchange(house, "HEAD /", "Accept: application/nostr+json")
        #expect(heads.hasPrefix("HTTP/1.1 200 ") && heads.hasSuffix("\r\n\r\n"), "\(heads)")
        #expect(try exchange(house, "POST /").hasPrefix("HTTP/1.1 405 "))
        #expect(try exchange(house, "GET /elsewhere").hasPrefix("HTTP/1.1 404 "))
      }
    }

    @Test("A host that is not this relay's is refused by 421, with and without an upgrade, until it is named")
    func host() throws {
      try LocalRelayHouse.run(["hosts": "[\"relay.home.example\"]"]) { house in
        for host in ["evil.example", "evil.example:\(house.port)", "127.0.0.1.evil.example", "10.0.0.1"] {
          let visitor = try RelayVisitor(port: house.port, host: host)
          #expect(visitor.head.hasPrefix("HTTP/1.1 421 "), "\(host): \(visitor.head)")
          let answer = try RelayVisitor.exchange(
            port: house.port,
            ["GET / HTTP/1.1", "Host: \(host)", "Connection: close", "Accept: application/nostr+json"])
          #expect(answer.hasPrefix("HTTP/1.1 421 "), "\(host): \(answer)")
        }
        for host in ["localhost:\(house.port)", "[::1]:\(house.port)", "Relay.Home.Example", "127.0.0.1"] {
          let visitor = try RelayVisitor(port: house.port, host: host)
          #expect(visitor.isUpgraded, "\(host): \(visitor.head)")
          #expect(try visitor.request("{}").refusal == nil)
        }
      }
    }

    @Test("A page of an unknown origin may do nothing until it is allowed, and nothing again when it is denied")
    func origin() throws {
      try LocalRelayHouse.run { house in
        try house.visitor().put(author.event("here"))
        let page = try house.visitor("Origin: https://page.example")
        try expectNothing(of: page, "pages of https://page.example may do nothing here yet")
        let allowed: LocalRelayOrigins = try house.ask("local.allow", #"{"origin":"https://page.example"}"#)
        #expect(allowed.allowed == ["https://page.example"])
        try page.wait("it is told to come again") { page.closeCode != nil }
        #expect(page.closeCode == 1012)
        let again = try house.visitor("Origin: https://page.example")
        #expect(try again.request("{}").ids.count == 1)
        #expect(try again.publish(author.event("mine")).isAccepted)
        try expectNothing(of: try house.visitor("Origin: https://page.example.evil"), "may do nothing here yet")
        try house.kill("local-relay")
        #expect(
          try house.visitor("Origin: https://PAGE.example:443").request("{}").ids.count == 2, "it is written down")
        let denied: LocalRelayOrigins = try house.ask("local.deny", #"{"origin":"https://page.example"}"#)
        #expect(denied.allowed.isEmpty)
        try expectNothing(of: try house.visitor("Origin: https://page.example"), "may do nothing here yet")
        try expectNothing(of: try house.visitor("Origin: null"), "does not say where it is from")
      }
    }

    private func expectNothing(of page: RelayVisitor, _ words: String) throws {
      for reason in [
        try page.request("{}").refusal, try page.publish(author.event("no")).reason,
        try page.ask("[\"COUNT\",\"c\",{}]", "CLOSED").last.flatMap {
          if case .string(let text) = $0 { text } else { nil }
        },
      ] {
        #expect(reason?.hasPrefix("auth-required: ") == true && reason?.contains(words) == true, "\(reason ?? "")")
      }
      #expect(page.challenge != nil)
    }

    @Test("A page that shows itself as an account may do all, and as a stranger nothing")
    func shown() throws {
      try LocalRelayHouse.run(beside: PlannerRig.layout([])) { house in
        let alice = Author()
        try house.account(of: alice)
        let page = try house.visitor("Origin: https://page.example")
        #expect(try page.request("{}").refusal?.hasPrefix("auth-required: ") == true)
        #expect(try page.authenticate(author, for: house.url).isAccepted)
        #expect(try page.request("{}").refusal?.hasPrefix("restricted: ") == true)
        #expect(try page.authenticate(alice, for: house.url).isAccepted)
        #expect(try page.request("{}").refusal == nil)
        #expect(try page.publish(author.event("mine")).isAccepted)
      }
    }

    @Test("A guest may come in where one has to show oneself")
    func guest() throws {
      try LocalRelayHouse.run(["guests": "[\"\(author.publicKey)\"]"]) { house in
        let page = try house.visitor("Origin: https://page.example")
        _ = try page.request("{}")
        #expect(try page.authenticate(author, for: house.url).isAccepted)
        #expect(try page.request("{}").refusal == nil)
      }
    }

    @Test("Where others reach it, it does not listen without a certificate")
    func certificate() throws {
      let port = try RelayVisitor.freePort()
      #expect(throws: (any Error).self) {
        try withRoost(.localRelay(port: port, ["listen": "[\"0.0.0.0:\(port)\"]"])) { _ in }
      }
    }

    @Test("An answer to the challenge is good for this relay, this connection and this time only")
    func authentication() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        #expect(visitor.challenge == nil, "it is sent when it is of use")
        let refusal = try visitor.request("{\"kinds\":[1059]}").refusal
        #expect(refusal?.hasPrefix("auth-required: ") == true)
        let challenge = try #require(visitor.challenge)
        let good = author.authentication(challenge, for: house.url)
        for (kind, time, relay, text) in [
          (UInt16(1), good.createdAt, house.url, challenge), (22_242, good.createdAt - 3_600, house.url, challenge),
          (22_242, good.createdAt, "wss://relay.example", challenge), (22_242, good.createdAt, house.url, "other"),
        ] {
          let event = author.event(kind: kind, at: time, [["relay", relay], ["challenge", text]])
          visitor.send("[\"AUTH\",\(String(decoding: event.json, as: UTF8.self))]")
          let verdict = try visitor.verdict(on: "\(event.id)")
          #expect(!verdict.isAccepted && verdict.reason.hasPrefix("invalid: "), "\(verdict)")
        }
        #expect(try visitor.request("{\"kinds\":[1059]}").refusal != nil)
        for relay in ["\(house.url)/", "ws://localhost:\(house.port)"] {
          #expect(try visitor.authenticate(Author(), for: relay).isAccepted)
        }
        #expect(try visitor.request("{\"kinds\":[1059]}").refusal == nil)
      }
    }

    @Test("A gift wrap is given to its recipient who has shown himself, stored and live, and to nobody else")
    func giftWraps() throws {
      try LocalRelayHouse.run { house in
        let (alice, bob) = (Author(), Author())
        let wraps = [alice, bob, alice].enumerated().map { index, recipient in
          Author().event("\(index)", kind: EventKind.giftWrap, [["p", "\(recipient.publicKey)"]])
        }
        let (hers, his, nobody) = (try house.visitor(), try house.visitor(), try house.visitor())
        try nobody.put(wraps[0], wraps[1])
        _ = try hers.authenticate(showing: alice, to: house)
        _ = try his.authenticate(showing: bob, to: house)
        #expect(try hers.request("{\"kinds\":[1059]}", name: "live").ids == [wraps[0]].ids)
        #expect(try his.request("{\"kinds\":[1059]}", name: "live").ids == [wraps[1]].ids)
        #expect(try nobody.request("{}", name: "live").ids.isEmpty)
        #expect(try nobody.request("{\"ids\":[\"\(wraps[0].id)\"]}").ids.isEmpty)
        let note = author.event("for all")
        try nobody.put(wraps[2], note)
        try hers.awaitEvent(wraps[2], under: "live")
        try nobody.awaitEvent(note, under: "live")
        #expect(nobody.ids(under: "live") == [note].ids && his.ids(under: "live") == [wraps[1]].ids)
        let count = try hers.ask("[\"COUNT\",\"c\",{\"kinds\":[1059]}]", "COUNT")
        #expect(count.last?["count"] == .integer(2), "\(count)")
      }
    }

    @Test("What is no message is answered so that somebody may read it, and the connection lives")
    func garbage() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        for text in [
          "", "x", "{}", "[]", "null", "[1]", "[\"HELLO\"]", "[\"REQ\"]", "[\"REQ\",1,{}]", "[\"REQ\",\"a\"]",
          "[\"REQ\",\"a\",1]", "[\"REQ\",\"a\",{\"kinds\":1}]", "[\"EVENT\"]", "[\"EVENT\",{}]", "[\"EVENT\",\"x\"]",
          "[\"CLOSE\"]", "[\"AUTH\",\"x\"]", "[\"AUTH\",{}]", "[\"COUNT\",\"a\"]", "[\"REQ\",\"a\",{}", "\u{0}",
          String(repeating: "[", count: 2_000),
        ] {
          let start = visitor.messages.count
          visitor.send(text)
          try visitor.wait("an answer to \(text.prefix(40))") { visitor.messages.count > start }
          let label = visitor.messages[start].first
          #expect(
            [.string("NOTICE"), .string("CLOSED")].contains(label), "\(text.prefix(40)): \(visitor.messages[start])")
        }
        let start = visitor.messages.count
        visitor.send(WebSocketFrame(opcode: 2, payload: [1, 2, 3]))
        try visitor.wait("an answer to a binary message") { visitor.messages.count > start }
        #expect(try visitor.publish(author.event("all the same")).isAccepted)
      }
    }

    @Test(
      "Compression that a client offers works both ways",
      .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"),
      arguments: ["--window=15", "--window=9", "--alone"])
    func compression(flag: String) throws {
      try LocalRelayHouse.run { house in
        let event = author.event(String(repeating: "the same again, ", count: 200))
        let peer = try SpawnedProcess(
          PythonPeer.interpreter,
          [
            SharedFolder.repository + "/Tests/Peers/deflate_client.py", flag, house.url,
            String(decoding: event.json, as: UTF8.self),
          ])
        let output = try peer.readAllOutput()
        #expect(try peer.waitForEnd() == .exited(0), "\(output)")
        #expect(try house.visitor().request("{}").ids == [event].ids)
      }
    }
  }
}
