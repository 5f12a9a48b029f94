import Cryptography
import Frames
import PushDelivery
import PushRequests
import TestSupport
import Testing

/// The requests of `Vectors/requests.json`, as phones send them: see `Vectors/make.py`, which made and signed them.
struct RequestVector: Decodable, Sendable, CustomTestStringConvertible {
  struct Rules: Decodable {
    var v1: SignatureRules.FirstVersion?
    var prefixed: Bool?
  }

  var name: String
  var seed: String
  var now: Int64
  var method: String
  var target: String
  var fields: [[String]]
  var body: String
  var rules: Rules
  /// `ok`, or the word of the refusal.
  var expect: String

  var testDescription: String { name }

  struct File: Decodable {
    var audience: String
    var cases: [RequestVector]
  }

  static let file: File? = {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    // What cannot be read is missed by the test that counts.
    return SharedFolder.bytes(ofFile: folder + "/Vectors/requests.json").flatMap {
      try? JSONPayload.decode(File.self, from: $0)
    }
  }()

  /// What a shell does with a request, as far as it goes without a ledger.
  func outcome() throws -> String {
    let body = try #require(Base64.decode(self.body))
    let signatureRules = SignatureRules(
      firstVersion: rules.v1 ?? .accept, audiences: [try #require(Self.file).audience])
    do {
      let mount = PushMount(acceptsPrefixedSignatures: rules.prefixed ?? false)
      let target = try PushTarget(method: method, target: self.target, mount: mount)
      if body.count > target.route.bodyByteCountMaximum {
        throw RequestBody.tooLarge(target.route.bodyByteCountMaximum)
      }
      let fields = self.fields.map { HeaderField($0[0], $0[1]) }
      let signed = try SignedRequest(target: target, fields: fields, body: body, rules: signatureRules, now: now)
      let verified = try signed.verified()
      let key = Ed25519SecretKey(seed: try #require(Octets32(seed)))
      #expect(verified.owner.key == key.publicKey.octets && verified.timestamp == signed.timestamp)
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
    case .writeContacts: _ = try ContactBook(body())
    default: break
    }
  }
}

@Suite("Requests as phones send them") struct VectorTests {
  @Test("There are as many as were made")
  func count() throws { #expect(try #require(RequestVector.file).cases.count == 141) }

  @Test("Each is taken, or refused with its word", arguments: RequestVector.file?.cases ?? [])
  func vector(_ vector: RequestVector) throws { #expect(try vector.outcome() == vector.expect) }
}
