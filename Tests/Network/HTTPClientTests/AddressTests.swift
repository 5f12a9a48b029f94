import Testing
import WebSocket

@testable import HTTPClient

@Suite("Addresses of HTTP, and what may be sent there")
struct AddressTests {
  @Test(
    "are taken apart as libcurl does it",
    arguments: [
      ("https://host.example", true, "host.example", 443), ("http://HOST.example/a?b=c", false, "host.example", 80),
      ("HTTPS://host.example:8443?q", true, "host.example", 8_443),
      ("http://[::1]:81/", false, "::1", 81), ("http://127.0.0.1/", false, "127.0.0.1", 80),
    ] as [(String, Bool, String, Int)])
  func good(text: String, isSecure: Bool, host: String, port: Int) throws {
    let address = try HTTPAddress(text)
    #expect(address.isSecure == isSecure && address.host == host && Int(address.port) == port)
  }

  @Test(
    "that have more than one reading, or lead elsewhere than to a web server, are refused with the reason",
    arguments: [
      ("file:///etc/passwd", "begins with file://"), ("ftp://host.example/", "begins with ftp://"),
      ("host.example", "does not begin with"), ("https://user@host.example/", "user name"),
      ("https://good.example@evil.example/", "user name"), ("https://evil.example\\@good.example/", "backslash"),
      ("https://host.example/#a", "after #"), ("https://host.example /", "white space"), ("https://", "no host"),
      ("https://host.example:0/", "no host with a port"), ("https://host.example:65536", "no host with a port"),
      ("https://host.example:80:81/", "no host with a port"), ("https://[::1/", "no host"),
      ("https://[127.0.0.1]/", "no host"), ("https://h%6Fst/", "no host"), ("https://hôst/", "outside ASCII"),
      ("https://host.example/" + String(repeating: "a", count: 4_096), "more than 4096 bytes"),
    ])
  func bad(text: String, words: String) {
    let fault = #expect(throws: HTTPFault.self) { try HTTPAddress(text) }
    #expect(fault?.code == .badRequest && fault?.detail.contains(words) == true, "\(fault?.detail ?? "")")
  }

  @Test("A request that would break its own head, or is libcurl's business, is refused")
  func requests() {
    let url = "https://host.example/"
    #expect(HTTPRequest(.get, url, fields: [HTTPField("Accept", "a/b; q=1")]).objection == nil)
    for (field, words) in [
      (HTTPField("A", "b\r\nHost: c"), "control character"), (HTTPField("A b", "c"), "no name"),
      (HTTPField("", "c"), "no name"), (HTTPField("A:", "c"), "no name"), (HTTPField("Host", "c"), "not the caller's"),
      (HTTPField("content-length", "1"), "not the caller's"),
    ] {
      let objection = HTTPRequest(.get, url, fields: [field]).objection
      #expect(objection?.contains(words) == true, "\(field)")
    }
    #expect(HTTPRequest(.get, url, body: [1]).objection == "a GET has no body")
    #expect(HTTPRequest(.post, url, body: [1]).objection == nil)
    let large = [UInt8](repeating: 0, count: HTTPRequest.bodyByteCountMaximum + 1)
    #expect(HTTPRequest(.post, url, body: large).objection?.contains("more than") == true)
    let fields = [HTTPField](repeating: HTTPField("A", "b"), count: HTTPRequest.fieldMaximum + 1)
    #expect(HTTPRequest(.get, url, fields: fields).objection?.contains("more than 32") == true)
  }
}

@Suite("The line of requests")
struct TransferQueueTests {
  private var limits: HTTPClientLimits {
    var limits = HTTPClientLimits()
    (limits.requestMaximum, limits.connectionMaximum, limits.connectionPerHostMaximum) = (5, 3, 2)
    return limits
  }

  @Test("lets some run at once, fewer with one host, and passes over a host that is busy")
  func order() {
    var queue = TransferQueue(limits)
    #expect(queue.isEmpty && queue.next() == nil)
    for (key, host) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "b")] { queue.added(UInt64(key), host: host) }
    #expect(!queue.hasRoom)
    #expect([queue.next(), queue.next(), queue.next(), queue.next()] == [1, 2, 4, nil])
    queue.ended(4)
    #expect(queue.hasRoom && queue.next() == 5)
    queue.ended(1)
    #expect(queue.next() == 3 && queue.next() == nil)
  }

  @Test("forgets one that goes while it waits, and one that is gone already")
  func leaving() {
    var queue = TransferQueue(limits)
    for key in 1...3 { queue.added(UInt64(key), host: "a") }
    #expect(queue.next() == 1 && queue.next() == 2)
    queue.ended(3)
    queue.ended(3)
    queue.ended(1)
    #expect(queue.next() == nil && !queue.isEmpty)
    queue.ended(2)
    #expect(queue.isEmpty)
  }
}
