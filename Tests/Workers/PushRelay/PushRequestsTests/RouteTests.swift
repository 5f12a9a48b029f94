import PushRequests
import Testing

@Suite("Routes") struct RouteTests {
  @Test(
    "Each target has one route",
    arguments: [
      ("POST", "/v1/register", PushRoute.register), ("DELETE", "/v1/register", .unregister),
      ("POST", "/v1/unregister", .unregister), ("POST", "/v1/wake", .wake), ("GET", "/v1/contacts", .readContacts),
      ("PUT", "/v1/contacts", .writeContacts), ("GET", "/v1/info", .info), ("GET", "/v1/health", .health),
      ("GET", "/v1/ready", .ready), ("GET", "/v1/openapi.json", .openAPI), ("GET", "/v1/rules", .readRules),
      ("PUT", "/v1/rules", .writeRules),
      ("GET", "/v1/wake/000102030405060708090a0b0c0d0e0f", .wakeStatus(id: Array(0..<16))),
    ])
  func routes(method: String, target: String, route: PushRoute) throws {
    let found = try PushTarget(method: method, target: target)
    #expect(found.route == route && found.signedPaths == [String(target.dropFirst(3))] && found.query == nil)
  }

  @Test("A query is signed with its path, and belongs to DELETE alone (case 8)")
  func query() throws {
    let target = try PushTarget(method: "DELETE", target: "/v1/register?device_id=a%20b")
    #expect(target.query == "device_id=a%20b" && target.signedPaths == ["/register?device_id=a%20b"])
    #expect(Sample.refusal { _ = try PushTarget(method: "POST", target: "/v1/register?device_id=a") }?.status == 404)
    #expect(Sample.refusal { _ = try PushTarget(method: "GET", target: "/v1/health?") }?.status == 404)
  }

  @Test("A mount may be elsewhere or nowhere, and its prefix may be signed (case 17)")
  func mount() throws {
    let both = PushMount(prefix: "/push/v1", acceptsPrefixedSignatures: true)
    #expect(
      try PushTarget(method: "POST", target: "/push/v1/wake", mount: both).signedPaths == ["/wake", "/push/v1/wake"])
    let none = PushMount(prefix: "", acceptsPrefixedSignatures: true)
    #expect(try PushTarget(method: "POST", target: "/wake", mount: none).signedPaths == ["/wake"])
    #expect(Sample.refusal { _ = try PushTarget(method: "POST", target: "/v1/wake", mount: none) }?.code == .notFound)
  }

  @Test("Another method is told which there are; a path that is none is another word than no recipient (case 25)")
  func refusals() throws {
    let refusal = try #require(Sample.refusal { _ = try PushTarget(method: "PATCH", target: "/v1/register") })
    #expect(refusal.status == 405 && refusal.fields == [HeaderField("Allow", "POST, DELETE")])
    for target in [
      "/v1", "/v1/", "/v1/wake/00", "/v1/wake/" + String(repeating: "A", count: 32), "/v1/wäke", "v1/wake",
    ] {
      let refusal = Sample.refusal { _ = try PushTarget(method: "GET", target: target) }
      #expect(refusal?.code == .notFound && refusal?.code != .recipientNotFound, "\(target)")
    }
    let lists = try #require(Sample.refusal { _ = try PushTarget(method: "POST", target: "/v1/contacts") })
    #expect(lists.fields == [HeaderField("Allow", "GET, HEAD, PUT")])
    let long = "/v1/register?device_id=" + String(repeating: "a", count: 600)
    #expect(Sample.refusal { _ = try PushTarget(method: "DELETE", target: long) }?.code == .notFound)
  }

  @Test("What takes GET takes HEAD, and HEAD is what is signed")
  func heads() throws {
    let paths = ["/info", "/health", "/ready", "/openapi.json", "/contacts", "/rules", "/wake/" + Self.wake]
    for path in paths {
      let head = try PushTarget(method: "HEAD", target: "/v1" + path)
      #expect(head.route == (try PushTarget(method: "GET", target: "/v1" + path)).route && head.method == "HEAD")
    }
    for path in ["/register", "/unregister", "/wake"] {
      let refusal = Sample.refusal { _ = try PushTarget(method: "HEAD", target: "/v1" + path) }
      #expect(refusal?.code == .methodNotAllowed, "\(path)")
    }
  }

  private static let wake = String(repeating: "0a", count: 16)

  @Test("A request has one Host field, which may be empty, and in which nothing else of a URL stands")
  func hosts() {
    func refusal(_ hosts: String...) -> PushRefusal? {
      Sample.refusal { try HostField.check([HeaderField("X", "y")] + hosts.map { HeaderField("hOsT", $0) }) }
    }
    for host in ["push.example.org", "push.example.org:4870", "127.0.0.1:80", "[::1]:4870", ""] {
      #expect(refusal(host) == nil, "\(host)")
    }
    #expect(refusal()?.code == .invalidRequest && refusal("a", "a")?.message.contains("2 Host fields") == true)
    for host in ["a b", "a/b", "u@a", "a?", "a#b", "http://a", "a\u{E9}"] {
      #expect(refusal(host)?.status == 400, "\(host)")
    }
  }
}
