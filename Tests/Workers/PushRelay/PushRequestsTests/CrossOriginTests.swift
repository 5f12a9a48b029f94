import PushRequests
import Testing

@Suite("Pages of other origins") struct CrossOriginTests {
  @Test(
    "An origin is what a browser sends, letter for letter",
    arguments: [
      ("https://app.example.org", true), ("http://localhost:3000", true), ("https://[2001:db8::1]:8443", true),
      ("https://[::1]", true), ("moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc", true),
      ("http://127.0.0.1:443", true), ("https://app.example.org/", false), ("https://app.example.org/a", false),
      ("app.example.org", false), ("https://", false), ("://a", false), ("https://App.example.org", false),
      ("HTTPS://app.example.org", false), ("https://app.example.org:443", false), ("http://a:80", false),
      ("https://a:0", false), ("https://a:65536", false), ("https://a:01", false), ("https://a:", false),
      ("https://me@a", false), ("https://a b", false), ("https://*.example.org", false), ("null", false), ("", false),
      ("*", false), ("https://[::1", false), ("https://[]", false), ("https://a?b", false),
    ])
  func form(text: String, isOrigin: Bool) { #expect(CrossOrigin.isOrigin(text) == isOrigin) }

  private func request(_ origins: String...) -> [HeaderField] {
    [HeaderField("Host", "push.example")] + origins.map { HeaderField("origin", $0) }
  }

  @Test("A page of the list may see the answer, and no other; where all may, none is named")
  func fields() {
    let (page, other) = ("https://app.example.org", "https://other.example")
    let some = CrossOrigin([page])
    #expect(
      some.fields(for: request(page)) == [
        HeaderField("Access-Control-Allow-Origin", page), HeaderField("Access-Control-Expose-Headers", "Retry-After"),
        HeaderField("Vary", "Origin"),
      ])
    for strange in [request(), request(other), request("null"), request(page, page), request(page + "/")] {
      #expect(some.fields(for: strange).isEmpty && some.preflightFields(for: strange, methods: ["GET"]) == nil)
    }
    let all = CrossOrigin([page, "*"])
    for origin in [page, other, "null"] {
      #expect(all.fields(for: request(origin)).first == HeaderField("Access-Control-Allow-Origin", "*"))
    }
    #expect(all.fields(for: request()).isEmpty)
    #expect(CrossOrigin().fields(for: request(page)).isEmpty)
    #expect(CrossOrigin().preflightFields(for: request(page), methods: ["GET"]) == nil)
  }

  @Test("Who asks before is told the path's methods and the fields of all signatures")
  func preflight() {
    let fields = CrossOrigin(["*"]).preflightFields(for: request("https://a"), methods: ["POST", "DELETE"]) ?? []
    #expect(fields.contains(HeaderField("Access-Control-Allow-Methods", "POST, DELETE")))
    let names = fields.first { $0.isNamed("access-control-allow-headers") }?.value ?? ""
    for name in ["Pubkey", "Timestamp", "Signature", "Version", "Audience"] {
      #expect(names.contains("X-Pubky-" + name))
    }
    #expect(names.contains("Authorization") && names.contains("Content-Type"))
    #expect(fields.contains(HeaderField("Access-Control-Max-Age", "7200")))
  }
}
