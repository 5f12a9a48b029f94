import Testing

@testable import WebSocket

@Suite struct HTTPRequestReaderTests {
  private static let upgrade =
    "GET /inbox%20of%20%F0%9F%90%93?a=b?c HTTP/1.1\r\nHost: Relay.Example:4869\r\nUpgrade: h2c, WebSocket\r\n"
    + "connection:keep-alive , Upgrade\r\nX-Empty:\r\nX-Tab: \ta\tb \t\r\nX-Twice: 1\r\nx-twice: 2\r\n\r\n"

  @Test("A head reads the same at every split, byte by byte, and leaves what stands behind it")
  func splits() throws {
    let bytes = Array(Self.upgrade.utf8)
    let whole = try #require(try read([bytes]))
    #expect(whole.method == "GET" && whole.target == "/inbox%20of%20%F0%9F%90%93?a=b?c")
    #expect(whole.path == "/inbox of 🐓" && whole.query == "a=b?c" && whole.minorVersion == 1)
    #expect(whole.host == "Relay.Example:4869" && whole.hostName == "relay.example" && whole.wantsWebSocket)
    #expect(whole.tokens(of: "connection") == ["keep-alive", "upgrade"])
    #expect(whole.values(of: "x-empty") == [""] && whole.values(of: "x-tab") == ["a\tb"])
    #expect(whole.values(of: "x-twice") == ["1", "2"] && whole.values(of: "x-none").isEmpty)
    for split in 0...bytes.count {
      #expect(try read([Array(bytes[..<split]), bytes[split...] + [1, 2]]) == whole, "split at \(split)")
    }
    #expect(try read(bytes.map { [$0] }) == whole)
    var reader = HTTPRequestReader()
    let (used, head) = try (bytes + Array("GET ".utf8)).withUnsafeBytes { bytes in try reader.receive(bytes) }
    #expect(used == bytes.count && head == whole)
  }

  @Test(
    "A target may be a path, a whole URL or, for OPTIONS, a star; a Host may be a name or an address, or empty",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "/", "a", "a"), ("HEAD // HTTP/1.1\r\nHost:\r\n\r\n", "//", "", ""),
      ("GET http://b.example HTTP/1.1\r\nHost: a\r\n\r\n", "/", "b.example", "b.example"),
      ("GET WS://b:80/x%2Fy?z HTTP/1.1\r\nHost: a\r\n\r\n", "/x/y", "b:80", "b"),
      ("GET http://b?z HTTP/1.1\r\nHost: a\r\n\r\n", "/", "b", "b"),
      ("OPTIONS * HTTP/1.1\r\nHost: [::1]:4869\r\n\r\n", "*", "[::1]:4869", "::1"),
      ("OPTIONS /x HTTP/1.7\r\nHost: 127.0.0.1\r\n\r\n", "/x", "127.0.0.1", "127.0.0.1"),
      ("GET / HTTP/1.0\r\n\r\n", "/", "", ""), ("\r\nGET / HTTP/1.1\r\nHost: a:\r\n\r\n", "/", "a:", "a"),
      ("GET / HTTP/1.1\r\nContent-Length: 000\r\nHost: a\r\n\r\n", "/", "a", "a"),
    ])
  func good(text: String, path: String, host: String, hostName: String) throws {
    let head = try #require(try read([Array(text.utf8)]))
    #expect(head.path == path && head.host == host && head.hostName == hostName)
  }

  private static let host = "HTTP/1.1\r\nHost: a\r\n"
  private static let bad: [(String, Int)] = [
    ("\u{16}\u{03}\u{01}", 400), ("SSH-2.0-OpenSSH_9.2\r\n", 400), ("[\"REQ\",\"a\",{}]", 400), (" GET", 400),
    ("GET", 0), ("GET /", 0), (String(repeating: "A", count: 33), 400), ("GET\t/", 400), ("\r\n\r\n", 400),
    ("GET /\r\n", 400), ("GET  / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1 \r\n", 400), ("GET / http/1.1\r\n", 400),
    ("GET / HTTP/11\r\n", 400), ("GET / HTTP/1.10\r\n", 400), ("GET / HTTP/2.0\r\n", 505),
    ("PRI * HTTP/2.0\r\n", 505), ("GET / HTTP/0.9\r\n", 505), ("GET a HTTP/1.1\r\n", 400),
    ("GET * HTTP/1.1\r\n", 400), ("CONNECT a:80 HTTP/1.1\r\n", 400), ("GET /#a HTTP/1.1\r\n", 400),
    ("GET /é HTTP/1.1\r\n", 400), ("GET /%0 HTTP/1.1\r\n", 400), ("GET /%zz HTTP/1.1\r\n", 400),
    ("GET /%00 HTTP/1.1\r\n", 400), ("GET /%FF HTTP/1.1\r\n", 400), ("GET /%0a HTTP/1.1\r\n", 400),
    ("GET http:///a HTTP/1.1\r\n", 400), ("GET http://u@a/ HTTP/1.1\r\n", 400), ("GET ftp://a/ HTTP/1.1\r\n", 400),
    ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\rHost", 400), ("GET / \(host)A: b\nC", 400),
    ("GET / \(host)A: b\r\n c\r\n", 400), ("GET / \(host)A : b\r\n", 400), ("GET / \(host): b\r\n", 400),
    ("GET / \(host)A b\r\n", 400), ("GET / \(host)A: b\u{0}", 400), ("GET / \(host)A: b\u{7F}", 400),
    ("GET / \(host)Ä: b\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / \(host)Host: a\r\n\r\n", 400),
    ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a:123456\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: []\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    ("POST / \(host)Content-Length: 1\r\n\r\n", 413),
    ("POST / \(host)Content-Length: 99999999999999999999\r\n\r\n", 413),
    ("POST / \(host)Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400),
    ("POST / \(host)Content-Length: 0, 0\r\n\r\n", 400), ("POST / \(host)Content-Length: -1\r\n\r\n", 400),
    ("POST / \(host)Content-Length:\r\n\r\n", 400), ("POST / \(host)Content-Length: 0x1\r\n\r\n", 400),
    ("POST / \(host)Transfer-Encoding: chunked\r\n\r\n", 411),
    ("POST / \(host)Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / \(host)Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400),
    ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
  ]

  @Test("What is no proper head is refused with its status, in whatever pieces it comes", arguments: bad)
  func refusals(text: String, status: Int) {
    let bytes = Array(text.utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      do throws(HTTPRequestRefusal) {
        let head = try read(pieces)
        #expect(status == 0 && head == nil, "\(text.debugDescription) was taken")
      } catch {
        #expect(error.status == status, "\(text.debugDescription): \(error)")
        #expect(error.description.utf8.allSatisfy { $0 >= 0x20 })
      }
    }
  }

  @Test("A head is bounded: its bytes, its fields, its target; what is at the bound is taken")
  func bounds() throws {
    let start = "GET / HTTP/1.1\r\nHost: a\r\n"
    let field = { (count: Int) in "A: " + String(repeating: "b", count: count - 5) + "\r\n" }
    let room = HTTPRequestReader.headByteCountMaximum - start.utf8.count - 2
    #expect(try read([Array((start + field(room) + "\r\n").utf8)]) != nil)
    #expect(throws: HTTPRequestRefusal.headTooLong) { try read([Array((start + field(room + 1) + "\r\n").utf8)]) }
    let fields = { (count: Int) in start + String(repeating: "A: b\r\n", count: count) + "\r\n" }
    let maximum = HTTPRequestReader.fieldCountMaximum - 1
    #expect(try read([Array(fields(maximum).utf8)])?.fields.count == maximum + 1)
    #expect(throws: HTTPRequestRefusal.tooManyFields) { try read([Array(fields(maximum + 1).utf8)]) }
    let target = { (count: Int) in
      "GET /" + String(repeating: "a", count: count - 1) + " HTTP/1.1\r\nHost: a\r\n\r\n"
    }
    #expect(try read([Array(target(HTTPRequestReader.targetByteCountMaximum).utf8)]) != nil)
    let long = HTTPRequestReader.targetByteCountMaximum + 1
    #expect(throws: HTTPRequestRefusal.targetTooLong) { try read([Array(target(long).utf8)]) }
    let endless = Array("GET /".utf8) + [UInt8](repeating: 0x61, count: 9_000)
    #expect(throws: HTTPRequestRefusal.targetTooLong) { try read([endless]) }
  }

  @Test("An answer has its length and closes; to HEAD it has no body, and no field can make a line")
  func answers() {
    let answer = HTTPAnswer(status: 200, fields: [HTTPField("X", "a\r\nSet-Cookie: b")], body: Array("body".utf8))
    let head = "HTTP/1.1 200 OK\r\nX: a??Set-Cookie: b\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
    #expect(String(decoding: answer.bytes(), as: UTF8.self) == head + "body")
    #expect(String(decoding: answer.bytes(isHead: true), as: UTF8.self) == head)
    let empty = String(decoding: HTTPAnswer(status: 204, body: [1]).bytes(), as: UTF8.self)
    #expect(empty == "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    let upgrade = String(decoding: HTTPAnswer(.noUpgrade).bytes(), as: UTF8.self)
    #expect(upgrade.contains("\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"))
    #expect(upgrade.contains("\r\nConnection: close, Upgrade\r\n"))
  }
}

/// The head that comes of the pieces; nil if it is not whole.
private func read(_ pieces: [[UInt8]]) throws(HTTPRequestRefusal) -> HTTPRequestHead? {
  var reader = HTTPRequestReader()
  for piece in pieces {
    var result: Result<HTTPRequestHead?, HTTPRequestRefusal> = .success(nil)
    piece.withUnsafeBytes { bytes in
      do throws(HTTPRequestRefusal) { result = .success(try reader.receive(bytes).head) } catch {
        result = .failure(error)
      }
    }
    if let head = try result.get() { return head }
  }
  return nil
}
