import Cryptography
import Frames
import PushDelivery
import PushRequests
import TestSupport
import Testing

/// The requests of `Vectors/requests.json`, as phones send them, and of `Vectors/forged.json`, as nobody should: see
/// `Vectors/make.py` and `Vectors/make_forged.py`, which made and signed them.
struct RequestVector: Decodable, Sendable, CustomTestStringConvertible {
  struct Rules: Decodable {
    var v1: SignatureRules.FirstVersion?
    var prefixed: Bool?
  }

  var name: String
  /// The key that signed it; "" where nobody has one.
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

  static let file = read("requests")
  static let forged = read("forged")

  private static func read(_ name: String) -> File? {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    // What cannot be read is missed by the test that counts.
    return SharedFolder.bytes(ofFile: folder + "/Vectors/\(name).json").flatMap {
      try? JSONPayload.decode(File.self, from: $0)
    }
  }

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
    case .writeContacts: _ = try ContactBook(body())
    default: break
    }
  }
}

@Suite("Requests as phones send them") struct VectorTests {
  @Test("There are as many as were made")
  func count() throws {
    #expect(try #require(RequestVector.file).cases.count == 141)
    #expect(try #require(RequestVector.forged).cases.count == 27)
  }

  @Test("Each is taken, or refused with its word", arguments: RequestVector.file?.cases ?? [])
  func vector(_ vector: RequestVector) throws { #expect(try vector.outcome() == vector.expect) }

  @Test("What libraries disagree about is told as it is here", arguments: RequestVector.forged?.cases ?? [])
  func forged(_ vector: RequestVector) throws { #expect(try vector.outcome() == vector.expect) }
}
