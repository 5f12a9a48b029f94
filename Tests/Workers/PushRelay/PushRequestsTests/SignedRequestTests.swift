import Clocks
import Cryptography
import PushDelivery
import PushRequests
import TestSupport
import Testing

@Suite("Signed requests") struct SignedRequestTests {
  private let body = Array(#"{"a":1}"#.utf8)

  private func request(
    _ fields: [HeaderField], target: String = "/v1/wake", body: [UInt8], rules: SignatureRules = SignatureRules(),
    now: Int64 = Sample.now
  ) throws -> SignedRequest {
    let target = try PushTarget(method: "POST", target: target)
    return try SignedRequest(target: target, fields: fields, body: body, rules: rules, now: now)
  }

  @Test("What was signed names the request: the same message has the same digest, whatever the signature")
  func digest() throws {
    let fields = Sample.fields(Sample.alice, body: body)
    let verified = try request(fields, body: body).verified()
    let message = "POST:/wake:\(Sample.now):\(SHA256.hash(body))"
    #expect(verified.digest == SHA256.hash(Array(message.utf8)))
    #expect(verified.owner == Sample.owner(Sample.alice) && !verified.needsRegistration)
  }

  @Test("One bit changed anywhere in the signature or the body is found (case 15)", arguments: seeds(5))
  func flipped(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fields = Sample.fields(Sample.alice, body: body)
    for _ in 0..<30 {
      var changed = body
      changed[Int.random(in: 0..<body.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      let signed = try request(fields, body: changed)
      #expect(Sample.refusal { _ = try signed.verified() }?.code == .invalidSignature)
      var signature = try #require(Hexadecimal.decode(fields[0].value.utf8))
      signature[Int.random(in: 0..<64, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      let forged = [HeaderField(fields[0].name, Hexadecimal.text(of: signature))] + fields[1...]
      let other = try request(forged, body: body)
      #expect(Sample.refusal { _ = try other.verified() }?.code == .invalidSignature)
    }
  }

  @Test("A time beyond the window is told with the relay's own, also where the signature is wrong (case 16)")
  func time() {
    let fields = Sample.fields(Sample.alice, body: body)
    let late = Sample.refusal { _ = try request(fields, body: [], now: Sample.now + 301) }
    #expect(late?.code == .expiredTimestamp && late?.serverTime == Sample.now + 301)
    #expect(late?.message.contains("301 seconds ago") == true)
    let early = Sample.refusal { _ = try request(fields, body: [], now: Sample.now - 400) }
    #expect(early?.code == .expiredTimestamp && early?.message.contains("400 seconds in the future") == true)
    let malformed = [fields[0], HeaderField("X-Pubky-Timestamp", "1760000000000"), fields[2]]
    let refusal = Sample.refusal { _ = try request(malformed, body: body) }
    #expect(refusal?.code == .invalidSignature && refusal?.serverTime == Sample.now)
  }

  @Test("Form comes before time, and time before the signature")
  func order() {
    let fields = Sample.fields(Sample.alice, body: body)
    let noKey = [fields[0], fields[1]]
    #expect(Sample.refusal { _ = try request(noKey, body: body, now: 0) }?.code == .invalidSignature)
    #expect(Sample.refusal { _ = try request(fields, body: [1], now: 0) }?.code == .expiredTimestamp)
  }

  @Test("Where version 1 is for registered keys only, the ledger is told to look")
  func registeredOnly() throws {
    let rules = SignatureRules(firstVersion: .registeredOnly, audiences: ["push.example"])
    let verified = try request(Sample.fields(Sample.alice, body: body), body: body, rules: rules).verified()
    #expect(verified.needsRegistration && VerifiedRequest.registrationNeeded.status == 401)
  }

  @Test("Where version 1 is refused, the refusal says how version 2 is made, and for whom")
  func rejected() {
    let rules = SignatureRules(firstVersion: .reject, audiences: ["push.example"])
    let refusal = Sample.refusal { _ = try request(Sample.fields(Sample.alice, body: body), body: body, rules: rules) }
    #expect(refusal?.code == .invalidSignature)
    for words in ["X-Pubky-Version: 2", "pubky-push/2:audience:METHOD:path:timestamp:", "push.example"] {
      #expect(refusal?.message.contains(words) == true, "\(words)")
    }
  }

  @Test("A signature for one audience is none for another, nor for version 1 (case 10)")
  func audience() throws {
    let rules = SignatureRules(audiences: ["push.example", "push-staging.example"])
    let message = "pubky-push/2:push.example:POST:/wake:\(Sample.now):\(SHA256.hash(body))"
    let signature = Hexadecimal.text(of: Sample.alice.sign(Array(message.utf8)))
    func fields(_ audience: String?) -> [HeaderField] {
      let plain = [HeaderField("X-Pubky-Signature", signature)] + Sample.fields(Sample.alice, body: body)[1...]
      guard let audience else { return plain }
      return plain + [HeaderField("X-Pubky-Version", "2"), HeaderField("X-Pubky-Audience", audience)]
    }
    #expect(try request(fields("push.example"), body: body, rules: rules).verified().owner.realm == .pubky)
    for audience in [nil, "push-staging.example"] {
      let signed = try request(fields(audience), body: body, rules: rules)
      #expect(Sample.refusal { _ = try signed.verified() }?.code == .invalidSignature)
    }
    #expect(Sample.refusal { _ = try request(fields("push.example"), body: body) }?.code == .invalidSignature)
  }

  @Test("A body that names no relay of ours is refused, and one that names none is not (case 10)")
  func bodyAudience() throws {
    let rules = SignatureRules(audiences: ["push.example"])
    try Sample.body(#"{"audience":"push.example"}"#).checkAudience(rules)
    try Sample.body("{}").checkAudience(rules)
    let other = try Sample.body(#"{"audience":"Push.example"}"#)
    #expect(Sample.refusal { try other.checkAudience(rules) }?.code == .invalidSignature)
    #expect(Sample.refusal { try other.checkAudience(SignatureRules()) }?.code == .invalidSignature)
    let number = try Sample.body(#"{"audience":1}"#)
    #expect(Sample.refusal { try number.checkAudience(rules) }?.code == .invalidRequest)
  }

  @Test("Any bytes in the fields are refused and do no harm", arguments: seeds(5))
  func garbage(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let names = ["X-Pubky-Signature", "X-Pubky-Timestamp", "X-Pubky-Pubkey", "X-Pubky-Version", "X-Pubky-Audience"]
    for _ in 0..<300 {
      let fields = names.map { name in
        let count = Int.random(in: 0...260, using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return HeaderField(name, String(decoding: bytes, as: UTF8.self))
      }
      #expect(Sample.refusal { _ = try request(fields, body: []) }?.status == 401)
    }
  }
}
