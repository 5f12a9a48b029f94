import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// Connections that mean no good, over which an honest client is answered all the time.
  @Suite("A push relay's door")
  struct PushAbuseDoorTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    /// One honest request by a connection of its own.
    private func ask(_ rig: PushRig, from address: UInt16 = 1) throws {
      let line = try PushLine(port: rig.port, from: address)
      line.send(PushRig.health)
      #expect(try line.answer()?.status == 200)
    }

    @Test("has no more of whoever sends a byte now and then than of whoever sends none: both are cut (case 37)")
    func slowly() throws {
      try PushRig.run(["connections-maximum": "40"]) { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        let head = Array(
          "GET /v1/health HTTP/1.1\r\nHost: push.example\r\nX-Slow: \(String(repeating: "x", count: 900))".utf8)
        let body = PushRig.request("POST", "/wake", fields: ["Content-Type: application/json", "Content-Length: 900"])
        let chunked = PushRig.request(
          "POST", "/wake", fields: ["Content-Type: application/json", "Transfer-Encoding: chunked"])
        let lines = try (0..<12).map { _ in try PushLine(port: rig.port, from: 7) }
        for (number, line) in lines.enumerated() where number % 4 != 3 {
          line.send([Array(head.prefix(40)), body, chunked][number % 4])
        }
        var rounds = 0
        // A byte every twentieth of a second: with a limit on silence alone this would go on for ever.
        try awaitSoon("all of them are cut", within: 60) {
          for (number, line) in lines.enumerated() where number % 4 != 3 && line.isOpen {
            line.send(number % 4 == 0 ? Array("y".utf8) : number % 4 == 1 ? [0x20] : Array("1\r\n \r\n".utf8))
          }
          rounds += 1
          if rounds % 20 == 1 {
            try ask(rig)
            #expect(try rig.wake(phone, by: friend, type: "t\(rounds / 20 % 8)").status < 500)
          }
          usleep(50_000)
          return lines.allSatisfy { !$0.isOpen }
        }
        try ask(rig, from: 7)
      }
    }

    @Test("holds as many connections as it may, and lets an honest client in whatever they are (case 37)")
    func idle() throws {
      // Each end of a connection is a descriptor, and both processes need some besides.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let wanted = min(10_000, Int(clamping: limit.rlim_max) - 1_000)
      let maximum = wanted / 10
      let keys = ["connections-maximum": "\(maximum)", "prefix-minute": "60000", "global-minute": "60000"]
      try PushRig.run(keys) { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        let pid = try rig.worker()
        let before = PushRig.descriptorCount(of: pid)
        var (lines, most): ([PushLine], Int) = ([], 0)
        for number in 0..<wanted {
          // From twenty addresses, and every second of them has asked once, to be let wait for a minute.
          let line = try PushLine(port: rig.port, from: UInt16(256 + number % 20))
          if number.isMultiple(of: 2) { line.send(PushRig.health) }
          lines.append(line)
          guard number % 500 == 499 else { continue }
          try ask(rig)
          most = max(most, PushRig.descriptorCount(of: pid) - before)
        }
        let open = lines.count(where: \.isOpen)
        print("push: of \(wanted) connections at most \(most) were held, \(rig.roost.memory(of: pid) >> 20) MiB")
        // Those that were told to go may be there for a moment, and the ledger and APNs have their own.
        #expect(most <= maximum + 100 && open <= wanted)
        #expect(most >= maximum / 2, "it holds what it may")
        #expect(rig.roost.memory(peak: true, of: pid) < 400 << 20)
        #expect(try rig.wake(phone, by: friend).status == 200)
        try rig.await(1, at: .apns)
        // One address alone has a quarter, and the others get in beside it.
        lines = []
        try awaitSoon("they are gone", within: 60) { PushRig.descriptorCount(of: pid) - before < 50 }
        for number in 0..<maximum {
          lines.append(try PushLine(port: rig.port, from: 99))
          if number % 200 == 199 { try ask(rig) }
        }
        try ask(rig, from: 99)
        try awaitSoon("a quarter is left") { lines.count(where: \.isOpen) <= maximum / 4 }
        #expect(PushRig.descriptorCount(of: pid) - before <= maximum / 4 + 100)
        #expect(try rig.worker() == pid)
      }
    }

    @Test("refuses what is no HTTP/1.1 in its own words, closes, and goes on (case 37)")
    func garbage() throws {
      try PushRig.run(["prefix-minute": "60000"]) { rig in
        let start = "POST /v1/wake HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        let long = String(repeating: "y", count: 9_000)
        let fields = (0..<200).map { "X-\($0): y\r\n" }.joined()
        let cases: [(String, String, Set<Int>)] = [
          ("a handshake of TLS", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}", [400]),
          ("another protocol", "SSH-2.0-OpenSSH_9.2\r\n", [400]),
          (
            "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}",
            [400, 505]
          ),
          ("a later version", "GET /v1/health HTTP/2.0\r\nHost: a\r\n\r\n", [400, 505]),
          ("an unknown method", "BREW /v1/wake HTTP/1.1\r\nHost: a\r\n\r\n", [400, 405]),
          ("a field over 8 KiB", "GET /v1/health HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", [431]),
          (
            "fields over 8 KiB together",
            "GET /v1/health HTTP/1.1\r\nHost: a\r\nX: \(long.prefix(5_000))\r\nY: \(long.prefix(5_000))\r\n\r\n", [431]
          ),
          ("too many fields", "GET /v1/health HTTP/1.1\r\nHost: a\r\n\(fields)\r\n", [431]),
          ("a head without end", "GET /v1/health HTTP/1.1\r\nX: \(long)\(long)\(long)", [431]),
          ("a target over 8 KiB", "GET /v1/\(long)\(long) HTTP/1.1\r\nHost: a\r\n\r\n", [400, 404, 414, 431]),
          ("two lengths", start + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345", [400]),
          ("a negative length", start + "Content-Length: -5\r\n\r\n12345", [400]),
          ("a length that is none", start + "Content-Length: 99999999999999999999999\r\n\r\n", [400]),
          ("length and chunks", start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400]),
          ("another coding behind chunks", start + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", [400]),
          ("a chunk that is none", start + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", [400]),
          ("a chunk without end", start + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", [400]),
          ("a field without a name", "GET /v1/health HTTP/1.1\r\n: a\r\n\r\n", [400]),
          ("a NUL in a field", "GET /v1/health HTTP/1.1\r\nHost: a\u{0}b\r\n\r\n", [400]),
        ]
        for (name, text, statuses) in cases {
          let line = try PushLine(port: rig.port)
          line.send(text)
          let answer = try #require(try line.answer(), "\(name) is not answered")
          #expect(statuses.contains(answer.status), "\(name): \(answer.head) \(answer.text)")
          // What is no request has an answer of the kind that requests have.
          if answer.status == 431 || answer.status == 505 { #expect(answer["error"] == "invalid_request", "\(name)") }
          print("push: \(name): \(answer.status) \(answer["message"])")
          try line.awaitEnd()
          try ask(rig)
        }
      }
    }

    @Test("answers what is pipelined in its order, and the nonsense behind it last (case 37)")
    func pipelined() throws {
      try PushRig.run(["prefix-minute": "60000"]) { rig in
        let line = try PushLine(port: rig.port)
        let one = PushRig.request("GET", "/info")
        let other = PushRig.request("GET", "/nothing")
        for _ in 0..<250 { line.send(one + other) }
        line.send("nonsense\r\n\r\nGET /v1/health HTTP/1.1\r\n\r\n")
        for _ in 0..<250 {
          #expect(try line.answer()?.status == 200)
          #expect(try line.answer()?.status == 404)
        }
        #expect(try line.answer()?.status == 400)
        #expect(try line.answer() == nil, "nothing is read behind nonsense")
        // Whoever asks and never reads is held by what he has asked for, and is no matter to others.
        let silent = try (0..<8).map { _ in try PushLine(port: rig.port, from: 3) }
        for line in silent { line.send((0..<500).flatMap { _ in PushRig.request("GET", "/openapi.json") }) }
        for _ in 0..<10 { try ask(rig) }
        // A body that is announced as larger than any is refused before it comes, and what comes is not kept.
        let large = try PushLine(port: rig.port)
        large.send(PushRig.request("POST", "/wake", fields: ["Content-Length: 100000000"]))
        #expect(try large.answer()?.status == 413)
        large.send([UInt8](repeating: 0x20, count: 1 << 20))
        try large.awaitEnd()
        #expect(rig.roost.memory(peak: true, of: try rig.worker()) < 300 << 20)
      }
    }

    @Test("cuts whoever never ends a handshake of TLS, and offers no HTTP/2 that could be flooded (case 37)")
    func handshakes() throws {
      let certificate = try TestCertificates.path("good")
      // A key file that others can read would be refused.
      chmod(certificate, 0o600)
      let keys = ["certificate-file": "\"\(certificate)\"", "key-file": "\"\(certificate)\""]
      try PushRig.run(keys) { rig in
        let hello: [UInt8] = [0x16, 3, 1, 0, 0xF8, 1, 0, 0, 0xF4, 3, 3]
        let lines = try (0..<30).map { _ in try PushLine(port: rig.port, from: 8) }
        for (number, line) in lines.enumerated() where number % 3 > 0 { line.send(hello) }
        // What is no handshake at all is cut as well.
        let plain = try PushLine(port: rig.port)
        plain.send(PushRig.health)
        try plain.awaitEnd()
        for protocols in ["h2", "h2,http/1.1"] {
          let told = try Self.visit(rig, ["-alpn", protocols], keep: false)
          #expect(!told.contains("ALPN protocol: h2"), "\(told)")
          if protocols == "h2,http/1.1" { #expect(told.contains("ALPN protocol: http/1.1"), "\(told)") }
        }
        let answer = try Self.visit(rig, ["-quiet"], keep: true)
        #expect(answer.contains("HTTP/1.1 200 OK"), "\(answer)")
        var rounds = 0
        try awaitSoon("all of them are cut", within: 60) {
          rounds += 1
          if rounds % 50 == 0 { for (number, line) in lines.enumerated() where number % 3 == 2 { line.send([0]) } }
          usleep(20_000)
          return lines.allSatisfy { !$0.isOpen }
        }
        #expect(try Self.visit(rig, ["-quiet"], keep: true).contains("HTTP/1.1 200 OK"))
      }
    }

    /// What OpenSSL's own client hears; with `keep` the whole answer to one request.
    private static func visit(_ rig: PushRig, _ arguments: [String], keep: Bool) throws -> String {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/request"
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { Descriptors.close(file) }
      try Descriptors.writeAll("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", to: file)
      lseek(file, 0, SEEK_SET)
      let authority = try TestCertificates.path("authority")
      let process = try SpawnedProcess(
        "/usr/bin/openssl",
        ["s_client", "-connect", "127.0.0.1:\(rig.port)", "-CAfile", authority] + arguments
          + (keep ? ["-ign_eof"] : []), descriptors: [0: file])
      _ = try process.waitForEnd()
      return try process.readAllOutput()
    }
  }
}
