import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The page of links, by hand: what a browser sends, and what pages of others and other users try.
  @Suite("The page of links", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkPageTests {
    /// A Roost with a page, and a browser without hands.
    private struct House {
      let alice: LinkRig
      let port: UInt16
      var origin: String { "http://127.0.0.1:\(port)" }

      func get(_ path: String, _ fields: String..., method: String = "GET", host: String? = nil) throws -> String {
        try RelayVisitor.exchange(
          port: port, ["\(method) \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"] + fields)
      }

      func address(_ arguments: String = "{}") throws -> PageAddress {
        try JSONPayload.decode(PageAddress.self, from: try alice.client.call("page.enter", arguments).terminal.payload)
      }

      /// Comes in with a new address, and returns the line with the cookie.
      func enter() throws -> String {
        let answer = try get(String(try address().address.dropFirst(origin.utf8.count)))
        let start = try #require(answer.firstRange(of: "Set-Cookie: "), "\(answer)")
        return "Cookie: \(answer[start.upperBound...].prefix { $0 != ";" })"
      }

      func live(_ fields: String...) throws -> RelayVisitor {
        try RelayVisitor(port: port, path: "/live", fields: fields)
      }
    }

    private static func run(_ body: (House) throws -> Void) throws {
      let port = try RelayVisitor.freePort()
      let relay = try RealRelay()
      try LinkRig.run("alice", [relay.url], page: ["listen": "\"127.0.0.1:\(port)\""]) { alice in
        try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
        try body(House(alice: alice, port: port))
      }
    }

    @Test("An address lets one browser in, once; who has no cookie sees how to come in")
    func door() throws {
      try Self.run { house in
        let address = try house.address().address
        #expect(address.hasPrefix("\(house.origin)/enter/"))
        let path = String(address.dropFirst(house.origin.utf8.count))
        let closed = try house.get("/")
        #expect(closed.hasPrefix("HTTP/1.1 403 ") && closed.contains("roost links open"), "\(closed)")
        #expect(try house.get("/links.js").hasPrefix("HTTP/1.1 403 "))
        #expect(try house.get(path, method: "HEAD").hasPrefix("HTTP/1.1 405 "))
        #expect(try house.get(path, "Sec-Purpose: prefetch").hasPrefix("HTTP/1.1 405 "), "what only looks ahead")
        let opened = try house.get(path)
        #expect(opened.hasPrefix("HTTP/1.1 303 ") && opened.contains("; HttpOnly; SameSite=Strict"), "\(opened)")
        #expect(try house.get(path).hasPrefix("HTTP/1.1 403 "), "a stolen address that was used")
        let cookie = try house.enter()
        let page = try house.get("/", cookie)
        #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("Content-Security-Policy: default-src 'none'"))
        #expect(try house.get("/links.js", cookie).hasPrefix("HTTP/1.1 200 "))
        #expect(try house.get("/../etc/passwd", cookie).hasPrefix("HTTP/1.1 404 "))
        #expect(try house.get("/", cookie, method: "POST").hasPrefix("HTTP/1.1 405 "))
        #expect(try house.get("/", cookie, host: "rebound.example:\(house.port)").hasPrefix("HTTP/1.1 421 "))
        #expect(try house.get("/", cookie, host: "localhost:\(house.port)").hasPrefix("HTTP/1.1 421 "))
        #expect(try house.get("/", cookie, "X-Forwarded-For: 1.2.3.4").hasPrefix("HTTP/1.1 403 "))
        // A link of linkstr's is behind the #, which a browser keeps.
        let link = try house.address(#"{"link":"linkstr://open?p=\#(Self.deepLink)"}"#).address
        #expect(link.hasSuffix("#open=\(Self.deepLink)"), "\(link)")
        let refused = try house.alice.client.call("page.enter", #"{"link":"linkstr://open?p=e30"}"#)
        #expect(refused.refusal?.code == .badRequest)
      }
    }

    /// `{"url":"https://example.com/","timestamp":1,"messageGUID":"a"}`
    private static let deepLink = Base64URL.text(
      of: Array(#"{"url":"https://example.com/","timestamp":1,"messageGUID":"a"}"#.utf8))

    @Test("Only the page itself connects, by its origin and its cookie, and only for what it needs")
    func live() throws {
      try Self.run { house in
        let cookie = try house.enter()
        let origin = "Origin: \(house.origin)"
        #expect(try house.live(origin).head.hasPrefix("HTTP/1.1 403 "))
        #expect(try house.live(cookie).head.hasPrefix("HTTP/1.1 403 "), "no browser's page")
        for other in ["https://evil.example", "http://127.0.0.1:\(house.port - 1)", "null"] {
          #expect(try house.live(cookie, "Origin: \(other)").head.hasPrefix("HTTP/1.1 403 "), "\(other)")
        }
        #expect(
          try RelayVisitor(port: house.port, path: "/", fields: [cookie, origin]).head.hasPrefix("HTTP/1.1 404 "))
        // A second cookie of that name, as another server of this machine can give, locks no browser out.
        #expect(try house.get("/", "Cookie: roost-links-\(house.port)=x; \(cookie.dropFirst(8))").contains(" 200 "))
        let page = try house.live(cookie, origin)
        #expect(page.isUpgraded, "\(page.head)")
        var id = 0
        func ask(_ method: String, _ arguments: String) throws -> JSONValue {
          id += 1
          let start = page.messages.count
          var found: JSONValue?
          page.send(#"{"id":\#(id),"method":"\#(method)","arguments":\#(arguments)}"#)
          try page.wait("an answer to \(method)") {
            found = page.messages[start...].lazy.compactMap(Self.object).first { $0["id"] == .integer(Int64(id)) }
            return found != nil
          }
          return found ?? .null
        }
        let bob = SecretKey.generate().publicKey
        let added = try ask("links.contact", #"{"account":"alice","publicKey":"\#(bob.npub)","name":"Bob"}"#)
        #expect(added["result"]?["name"] == .string("Bob"), "\(added)")
        guard case .array(let contacts)? = try ask("links.contacts", #"{"account":"alice"}"#)["parts"] else {
          throw DeadlinePassed(description: "no contacts")
        }
        #expect(contacts.count == 1 && contacts[0]["publicKey"] == .string("\(bob)"))
        try page.wait("the change comes") {
          page.messages.contains { Self.object($0)?["change"]?["account"] == .string("\(house.alice.publicKey)") }
        }
        try page.wait("the status comes") { page.messages.contains { Self.object($0)?["status"] != nil } }
        let refused = try ask("links.post", #"{"account":"alice","to":"Bob","url":"https://example.com/"}"#)
        #expect(refused["error"]?["code"] == .string("no-relays"), "\(refused)")
        let link = try ask("page.link", #"{"url":"https://x.com/a/status/1/video/1"}"#)
        #expect(link["result"]?["label"] == .string("Video"))
        #expect(try ask("page.link", #"{"url":"javascript:alert(1)"}"#)["error"]?["code"] == .string("bad-request"))
        #expect(try ask("page.key", #"{"text":" \#(bob.npub) "}"#)["result"]?["publicKey"] == .string("\(bob)"))
        let share = try ask("page.share", #"{"account":"alice"}"#)["result"]
        #expect(share?["npub"] == .string(house.alice.publicKey.npub))
        guard case .array(let rows)? = share?["rows"] else { throw DeadlinePassed(description: "no code") }
        #expect(rows.count >= 21)
        let linked = try ask("page.open", #"{"p":"\#(Self.deepLink)"}"#)["result"]
        #expect(linked?["url"] == .string("https://example.com/"))
        let frame = try ask("page.play", #"{"url":"https://youtu.be/dQw4w9WgXcQ"}"#)["result"]
        #expect(frame?["frame"] == .string("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"))
        #expect(try ask("page.play", #"{"url":"https://example.com/"}"#)["result"]?["way"] == .string("page"))
        #expect(try ask("page.relays", "{}")["result"]?["relays"] != nil)
        for method in ["signer.accounts", "signer.sign", "store.query", "account.forget", "page.enter", ""] {
          #expect(try ask(method, "{}")["error"]?["code"] == .string("denied"), "\(method)")
        }
        page.send("[1]")
        try page.wait("it is closed") { page.closeCode == 1_007 }
      }
    }

    private static func object(_ message: [JSONValue]) -> JSONValue? {
      guard message.count == 1, case .string(let text) = message[0] else { return nil }
      // What is no JSON is found missing.
      return try? JSONPayload.decode(JSONValue.self, from: Array(text.utf8))
    }

    @Test("While another program has its port the worker says so, and listens when that is gone")
    func portTaken() throws {
      let port = try RelayVisitor.freePort()
      var taken: SpawnedProcess? = try SpawnedProcess(
        PythonPeer.interpreter, ["-u", "-m", "http.server", "\(port)", "--bind", "127.0.0.1"])
      _ = try taken?.readLine(within: 60) { $0.contains("Serving") }
      let relay = try RealRelay()
      try LinkRig.run("alice", [relay.url], page: ["listen": "\"127.0.0.1:\(port)\""]) { alice in
        try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
        let refusal = try #require(try alice.client.call("page.enter", "{}").refusal)
        #expect(refusal.code.rawValue == "not-listening" && refusal.message.contains("address already in use"))
        taken = nil
        try awaitSoon("the page is there", within: 60, every: 200) {
          try alice.client.call("page.enter", "{}").isResponse
        }
      }
    }

    @Test("Another user of this machine gets nothing, with the cookie too", .enabled(if: geteuid() == 0, "not root"))
    func otherUser() throws {
      try Self.run { house in
        let cookie = try house.enter().dropFirst("Cookie: ".utf8.count)
        let script = """
          import encodings.idna, http.client, os, socket
          os.setgroups([]); os.setgid(65534); os.setuid(65534)
          c = http.client.HTTPConnection("127.0.0.1", \(house.port))
          c.request("GET", "/", headers={"Cookie": "\(cookie)"})
          a = c.getresponse()
          print(a.status, a.read().decode().strip(), flush=True)
          """
        let process = try SpawnedProcess(PythonPeer.interpreter, ["-c", script])
        let line = try process.readLine(within: 60) { !$0.isEmpty }
        #expect(line.hasPrefix("403 ") && line.contains("this program is of uid 65534"), "\(line)")
      }
    }
  }
}
