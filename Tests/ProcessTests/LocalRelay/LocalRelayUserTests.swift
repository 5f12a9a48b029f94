import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Other users of the machine, and proxies on it, at the local relay's port of the loopback.
  @Suite("The local relay and the users of its machine")
  struct LocalRelayUserTests {
    private static let somebody = 65_534

    /// What a program of another user is answered: the status line and the body.
    private static func asOther(
      _ house: LocalRelayHouse, _ request: String, _ fields: String..., host: String = "127.0.0.1",
      connection: String? = "Connection: close", then bytes: String = "", _ reading: String = "cat <&3"
    ) throws -> String {
      let lines = ["\(request) HTTP/1.1", "Host: \(host)"] + (connection.map { [$0] } ?? []) + fields
      let text = lines.map { $0 + "\\r\\n" }.joined() + "\\r\\n" + bytes
      let script = "exec 3<>/dev/tcp/\(host)/\(house.port); printf '\(text)' >&3; \(reading)"
      let process = try SpawnedProcess(
        "/usr/bin/setpriv", ["--reuid=\(somebody)", "--clear-groups", "/bin/bash", "-c", script])
      return try process.readAllOutput()
    }

    /// What a WebSocket client of another user is sent to a REQ, up to its end: text among the bytes of frames.
    private static func requestAsOther(_ house: LocalRelayHouse) throws -> String {
      let request = #"["REQ","other",{"limit":1}]"#
      // Masked with zeros, so that the text is what it is.
      let head = "\\x81\\x\(Hexadecimal.text(of: [0x80 | UInt8(request.utf8.count)]))\\0\\0\\0\\0"
      let reading = """
        while IFS= read -t 30 -r -d ']' text <&3; do printf '%s]' "$text"
        case $text in *EOSE*|*CLOSED*) break;; esac; done
        """
      return try asOther(
        house, "GET /", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13", connection: nil, then: head + request, reading)
    }

    private static var canBeOthers: Bool { getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0 }

    private static let document = "Accept: application/nostr+json"

    @Test(
      "Another user of the machine is shown no page and no figures, and reads nothing before it has shown itself",
      .enabled(if: canBeOthers, "only root can be another user"))
    func otherUser() throws {
      try LocalRelayHouse.run { house in
        for path in ["/", "/metrics"] {
          let answer = try Self.asOther(house, "GET \(path)")
          #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.contains("uid \(Self.somebody)"), "\(answer)")
          let own = try RelayVisitor.exchange(
            port: house.port, ["GET \(path) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"])
          #expect(own.hasPrefix("HTTP/1.1 200 "), "\(own)")
        }
        #expect(try Self.asOther(house, "GET /", Self.document).contains("\"auth_required\":true"))
        let told = try Self.requestAsOther(house)
        #expect(told.contains(#"["CLOSED","other","auth-required:"#) && !told.contains("EOSE"), "\(told)")
        #expect(try house.visitor().subscribe().refusal == nil)
        let status = try house.status()
        #expect(status.knowsUsers == true)
        #expect(status.outsideUsers == 3 && status.outsideUnknown == 0 && status.outsideProxied == 0, "\(status)")
        #expect(status.outsiders == [LocalRelayOutsider(uid: UInt32(Self.somebody), count: 3)], "\(status)")
        let page = try RelayVisitor.exchange(
          port: house.port, ["GET / HTTP/1.1", "Host: 127.0.0.1", "Connection: close"])
        let doctor = try house.roost.tool(["doctor"]).output
        for text in [page, doctor] {
          #expect(text.contains("uid \(Self.somebody) 3 times") && text.contains("allow-uids"), "\(text)")
        }
      }
    }

    @Test(
      "A user of allow-uids is no stranger", .enabled(if: canBeOthers, "only root can be another user"))
    func allowedUser() throws {
      var layout = Layout.store
      layout.supervisor["allow-uids"] = "[\(Self.somebody)]"
      try LocalRelayHouse.run(beside: layout) { house in
        let figures = try Self.asOther(house, "GET /metrics")
        let document = try Self.asOther(house, "GET /", Self.document)
        #expect(figures.hasPrefix("HTTP/1.1 200 "), "\(figures)")
        #expect(document.contains("\"auth_required\":false"), "\(document)")
        let told = try Self.requestAsOther(house)
        #expect(told.contains(#"["EOSE","other""#) && !told.contains("CLOSED"), "\(told)")
      }
    }

    @Test("A proxy's field is known by its name, by how it begins or by how it ends; a browser's fields are no proxy's")
    func proxyFields() throws {
      try LocalRelayHouse.run { house in
        func status(_ field: String) throws -> String {
          let lines = ["GET / HTTP/1.1", "Host: 127.0.0.1", "Connection: close", field]
          return String(try RelayVisitor.exchange(port: house.port, lines).dropFirst(9).prefix(3))
        }
        let names = [
          "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Server", "X-Forwarded",
          "X-Forwarded-Port", "X-Forwarded-Ssl", "X-Forwarded-By", "Forwarded-For", "X-Original-Forwarded-For",
          "X-Real-IP", "X-Client-IP", "Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "Fly-Client-IP",
          "Fastly-Client-IP", "CF-Connecting-IP", "CF-Ray", "CDN-Loop", "X-Envoy-External-Address",
          "Tailscale-User-Login",
        ]
        for name in names {
          let answer = try status("\(name): x")
          #expect(answer == "403", "\(name)")
        }
        let others = ["Upgrade-Insecure-Requests", "Max-Forwards", "X-Requested-With", "Sec-Fetch-Site", "DNT"]
        for name in others {
          let answer = try status("\(name): x")
          #expect(answer == "200", "\(name)")
        }
      }
    }

    @Test(
      "A reload of allow-uids counts for connections that are open: who may come in, and who may no longer",
      .enabled(if: canBeOthers, "only root can be another user"))
    func reload() throws {
      try LocalRelayHouse.run { house in
        func reload(_ uids: String) throws {
          try house.roost.rewrite { $0.supervisor["allow-uids"] = uids }
          #expect(try house.client.call("supervisor.reload").isResponse)
        }
        let own = try house.visitor()
        let outside = try OtherVisitor(house, Self.somebody)
        #expect(try outside.ask().contains("auth-required:"))
        try reload("[\(Self.somebody)]")
        #expect(try outside.end().contains("you may come in now"))
        let inside = try OtherVisitor(house, Self.somebody)
        #expect(try inside.ask().contains("EOSE"))
        try reload("[1]")
        #expect(try inside.end().contains("allow-uids"))
        #expect(try OtherVisitor(house, Self.somebody).ask().contains("auth-required:"))
        #expect(try own.subscribe().refusal == nil)
      }
    }

    /// A WebSocket of another user, which asks when it is told to and prints what comes.
    private struct OtherVisitor {
      private let process: SpawnedProcess

      private static let script = """
        import os, socket, struct, sys
        os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        s.sendall(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
          b"Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
        f = s.makefile("rb")
        while f.readline().strip(): pass
        q = b'["REQ","a",{"limit":1}]'
        s.sendall(bytes([0x81, 0x80 | len(q), 0, 0, 0, 0]) + q)
        while True:
          head = f.read(2)
          if len(head) < 2: break
          size = head[1] & 0x7F
          if size == 126: size = struct.unpack(">H", f.read(2))[0]
          print(f.read(size)[2 if head[0] & 15 == 8 else 0:].decode(errors="replace"), flush=True)
          if head[0] & 15 == 8: break
        """

      init(_ house: LocalRelayHouse, _ user: Int) throws {
        process = try SpawnedProcess("/usr/bin/python3", ["-c", Self.script, "\(house.port)", "\(user)"])
      }

      /// What its question is answered.
      func ask() throws -> String {
        try process.readLine { $0.contains("EOSE") || $0.contains("CLOSED") }
      }

      /// What it is sent until its connection ends.
      func end() throws -> String { try process.readAllOutput() }
    }

    @Test(
      "Who comes by a proxy of this machine has to show himself, whatever the proxy calls itself",
      arguments: [
        "X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9", "Via: 1.1 proxy", "X-Real-IP: 203.0.113.9",
        "x-forwarded-proto: https", "CF-Connecting-IP: 203.0.113.9",
      ])
    func proxy(field: String) throws {
      try LocalRelayHouse.run { house in
        func exchange(_ request: String, _ more: [String] = []) throws -> String {
          try RelayVisitor.exchange(
            port: house.port, ["\(request) HTTP/1.1", "Host: 127.0.0.1", "Connection: close", field] + more)
        }
        for path in ["/", "/metrics"] {
          let answer = try exchange("GET \(path)")
          #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.contains("proxy"), "\(answer)")
        }
        #expect(try exchange("GET /", [Self.document]).contains("\"auth_required\":true"))
        let refusal = try house.visitor(field).subscribe().refusal
        #expect(refusal?.hasPrefix("auth-required:") == true, "\(refusal as Any)")
        #expect(try house.status().outsideProxied == 3)
      }
    }
  }
}

extension LocalRelayHouse {
  fileprivate func status() throws -> LocalRelayStatus {
    let answer = try client.call("local.status", "{}")
    return try JSONPayload.decode(LocalRelayStatus.self, from: answer.terminal.payload)
  }
}

extension RelayVisitor {
  /// What a REQ for everything finds.
  fileprivate func subscribe() throws -> Found { try request(#"{"limit":1}"#) }
}
