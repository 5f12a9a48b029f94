import Cryptography
import Nostr
import PushDelivery
import PushRequests
import Testing

@Suite("Requests of Nostr keys (NIP-98)") struct NostrRequestTests {
  private let key = SecretKey.generate()
  private let requests = NostrRequests(publicURL: "https://push.example/")
  private let body = Array(#"{"platform":"ios"}"#.utf8)

  private func header(
    _ method: String = "POST", url: String = "https://push.example/v1/register", body: [UInt8]?, age: Int64 = 0
  ) -> String {
    let event = HTTPAuthorization.template(
      method: method, url: url, bodyHash: body.map { SHA256.hash($0) }, by: key.publicKey, createdAt: Sample.now - age)
    return HTTPAuthorization.header(of: event.signed(by: key))
  }

  private func verified(
    _ header: String, _ method: String = "POST", target: String = "/v1/register", route: PushRoute = .register,
    body: [UInt8]? = nil, by requests: NostrRequests? = nil
  ) throws(PushRefusal) -> VerifiedRequest {
    try (requests ?? self.requests).verified(
      header: header, method: method, target: target, route: route, body: body ?? self.body, now: Sample.now)
  }

  @Test("Who signs a request is its owner, in the realm of Nostr; the event's id names it")
  func valid() throws {
    let first = try verified(header(body: body))
    #expect(first.owner == PushOwner(.nostr, key.publicKey.octets) && first.timestamp == Sample.now)
    #expect(!first.needsRegistration)
    #expect(try verified(header(body: body)).digest == first.digest)
    #expect(try verified(header(body: body, age: 1)).digest != first.digest)
    let query = "/v1/register?device_id=a"
    let removal = header("DELETE", url: "https://push.example" + query, body: nil)
    #expect(try verified(removal, "DELETE", target: query, route: .unregister, body: []).owner == first.owner)
  }

  @Test("Another address, method or body, and another time, are refused with what is wrong")
  func refusals() throws {
    func refusal(_ work: () throws -> Void) -> PushRefusal? { Sample.refusal(work) }
    let good = header(body: body)
    for url in [
      "https://other.example/v1/register", "http://push.example/v1/register", "https://push.example/register",
      "https://push.example/v1/register/", "https://push.example/v1/register?",
    ] {
      let refusal = refusal { _ = try verified(header(url: url, body: body)) }
      #expect(refusal?.code == .invalidSignature && refusal?.status == 401, "\(url)")
      #expect(refusal?.message.contains("https://push.example/v1/register") == true)
    }
    #expect(refusal { _ = try verified(header("PUT", body: body)) }?.code == .invalidSignature)
    #expect(refusal { _ = try verified(good, body: body + [0x20]) }?.code == .invalidSignature)
    #expect(refusal { _ = try verified(header(body: nil)) }?.code == .invalidSignature)
    #expect(refusal { _ = try verified("Nostr AAAA") }?.code == .invalidSignature)
    for age in [61, -61] as [Int64] {
      let late = refusal { _ = try verified(header(body: body, age: age)) }
      #expect(late?.code == .expiredTimestamp && late?.serverTime == Sample.now)
    }
    #expect(try verified(header(body: body, age: 60)).timestamp == Sample.now - 60)
  }

  @Test("Nobody is woken with a Nostr key, and without an address of its own the relay takes none")
  func unavailable() {
    let wake = header(url: "https://push.example/v1/wake", body: body)
    #expect(Sample.refusal { _ = try verified(wake, target: "/v1/wake", route: .wake) }?.code == .invalidSignature)
    let refusal = Sample.refusal { _ = try verified(header(body: body), by: NostrRequests(publicURL: "")) }
    #expect(refusal?.message.contains("public-url") == true && refusal?.status == 401)
  }

  @Test("The address may be written with its mount, and a request may not be signed twice")
  func forms() throws {
    for url in ["https://push.example", "https://push.example/", "https://push.example/v1", "https://push.example/v1/"]
    {
      #expect(NostrRequests(publicURL: url).publicURL == "https://push.example")
    }
    #expect(NostrRequests(publicURL: "https://a.example/push").publicURL == "https://a.example/push")
    let nostr = HeaderField("authorization", "nostr x")
    #expect(try NostrRequests.header(in: [nostr]) == "nostr x")
    #expect(try NostrRequests.header(in: [HeaderField("Authorization", "Basic x")]) == nil)
    for other in [nostr, HeaderField("X-Pubky-Signature", "00")] {
      #expect(Sample.refusal { _ = try NostrRequests.header(in: [nostr, other]) }?.code == .invalidSignature)
    }
  }
}
