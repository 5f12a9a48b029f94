import Cryptography
import Frames
import PushDelivery
import PushRequests
import TestSupport
import Testing

extension PushVector {
  /// By which name the relay of the vectors is known.
  private static let audience = "push.example"

  /// What a shell does with a request, as far as it goes without a ledger.
  func outcome() throws -> String {
    let body = try #require(Base64.decode(self.body))
    let signatureRules = SignatureRules(
      firstVersion: try rules.v1.map { try #require(SignatureRules.FirstVersion(rawValue: $0)) } ?? .accept,
      audiences: [Self.audience])
    do {
      let mount = PushMount(acceptsPrefixedSignatures: rules.prefixed ?? false)
      let target = try PushTarget(method: method, target: self.target, mount: mount)
      if body.count > target.route.bodyByteCountMaximum {
        throw RequestBody.tooLarge(target.route.bodyByteCountMaximum)
      }
      let fields = self.fields.map { HeaderField($0[0], $0[1]) }
      let signed = try SignedRequest(target: target, fields: fields, body: body, rules: signatureRules, now: now)
      let verified = try signed.verified()
      if !seed.isEmpty {
        let key = Ed25519SecretKey(seed: try #require(Octets32(seed)))
        #expect(verified.owner.key == key.publicKey.octets)
      }
      #expect(verified.timestamp == signed.timestamp)
      try read(body, target, verified.owner, signatureRules)
      return "ok"
    } catch let refusal as PushRefusal {
      #expect(!refusal.message.isEmpty && (400...503).contains(refusal.status))
      return refusal.code.rawValue
    }
  }

  private func read(_ bytes: [UInt8], _ target: PushTarget, _ sender: PushOwner, _ rules: SignatureRules) throws {
    func body() throws -> RequestBody {
      let body = try RequestBody(bytes, byteCountMaximum: target.route.bodyByteCountMaximum)
      try body.checkAudience(rules)
      return body
    }
    switch target.route {
    case .register: _ = try DeviceRegistration(body())
    case .unregister: _ = try DeviceSelection(target: target, body: bytes)
    case .wake: _ = try WakeRequest(body(), sender: sender)
    case .writeContacts: _ = try ContactRules(body())
    default: break
    }
  }
}

@Suite("Requests as phones send them") struct VectorTests {
  @Test("There are as many as were made")
  func count() throws {
    #expect(PushVector.all("requests").count == 141)
    #expect(PushVector.all("forged").count == 27)
  }

  @Test("Each is taken, or refused with its word", arguments: PushVector.all("requests"))
  func vector(_ vector: PushVector) throws { #expect(try vector.outcome() == vector.expect) }

  @Test("What libraries disagree about is told as it is here", arguments: PushVector.all("forged"))
  func forged(_ vector: PushVector) throws { #expect(try vector.outcome() == vector.expect) }
}
