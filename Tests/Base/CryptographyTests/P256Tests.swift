import Cryptography
import TestSupport
import Testing

@Suite struct P256Tests {
  private struct SignatureGroup: Decodable {
    let publicKey: Key
    let tests: [Case]
    struct Key: Decodable { let uncompressed: Octets }
    struct Case: Decodable {
      let tcId: Int
      let msg, sig: Octets
      let result: String
    }
  }

  @Test("Every signature of Wycheproof is valid or not as it says")
  func wycheproofSignatures() throws {
    let groups = try Wycheproof<SignatureGroup>.groups("ecdsa_secp256r1_sha256_p1363_test.json")
    for group in groups {
      for test in group.tests {
        let isValid = P256.isValid(test.sig.bytes, of: test.msg.bytes, by: group.publicKey.uncompressed.bytes)
        #expect(isValid == (test.result == "valid"), "case \(test.tcId)")
      }
    }
  }

  private struct SecretGroup: Decodable {
    let encoding: String
    let tests: [Case]
    struct Case: Decodable {
      let tcId: Int
      let comment: String
      let `public`, `private`, shared: Octets
      let result: String
    }
  }

  @Test("Every secret of Wycheproof is shared, and its points off the curve are refused")
  func wycheproofSecrets() throws {
    // A SubjectPublicKeyInfo that names the curve and has the point uncompressed; points come in no other form here.
    let head: Octets = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
    for group in try Wycheproof<SecretGroup>.groups("ecdh_secp256r1_test.json") {
      for test in group.tests where test.public.bytes.starts(with: head.bytes) && test.private.bytes.count <= 33 {
        let point = Array(test.public.bytes[head.bytes.count...])
        let scalar = [UInt8](repeating: 0, count: max(0, 32 - test.private.bytes.count)) + test.private.bytes.suffix(32)
        let key = try #require(P256SecretKey(pem: sec1(scalar)))
        // What the encoding around the point decides is "acceptable", and none of ours.
        guard test.result != "acceptable" else { continue }
        let shared = key.sharedSecret(with: point)?.bytes
        #expect(shared == (test.result == "invalid" ? nil : test.shared.bytes), "case \(test.tcId): \(test.comment)")
      }
    }
  }

  @Test("The signature of RFC 7515, A.3, is valid, and with any part changed it is not")
  func rfc7515() throws {
    let x = try #require(Base64URL.bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
    let y = try #require(Base64URL.bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    let secret = try #require(Base64URL.bytes("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"))
    let signature = try #require(
      Base64URL.bytes("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
    let text =
      "eyJhbGciOiJFUzI1NiJ9."
      + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let message = Array(text.utf8)
    let publicKey = [4] + x + y
    #expect(P256SecretKey(pem: sec1(secret))?.publicKey == publicKey)
    #expect(P256.isValid(signature, of: message, by: publicKey))
    #expect(!P256.isValid(signature, of: message + [0], by: publicKey))
    #expect(!P256.isValid(signature, of: message, by: P256SecretKey.generate().publicKey))
    #expect(!P256.isValid(Array(signature.dropLast()), of: message, by: publicKey))
    #expect(!P256.isValid(signature + [0], of: message, by: publicKey))
    #expect(!P256.isValid([UInt8](repeating: 0, count: 64), of: message, by: publicKey))
    for bit in 0..<512 {
      var changed = signature
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!P256.isValid(changed, of: message, by: publicKey), "bit \(bit)")
    }
  }

  @Test("What is signed is valid, whatever the first bytes of r and s are")
  func roundTrip() {
    let key = P256SecretKey.generate()
    // One in 128 has a number with a zero in front.
    for number in 0..<300 {
      let message = Array("\(number)".utf8)
      let signature = key.sign(message)
      #expect(signature.count == P256.signatureByteCount)
      #expect(P256.isValid(signature, of: message, by: key.publicKey), "\(signature)")
    }
    #expect(key.sign([1]) != key.sign([1]), "two signatures differ by their randomness")
  }

  @Test("Points of the curve are keys in one spelling, and nothing else is")
  func points() {
    let point = P256SecretKey.generate().publicKey
    #expect(point.count == P256.publicKeyByteCount && P256.isPublicKey(point))
    for first in UInt8(0)...7 where first != 4 { #expect(!P256.isPublicKey([first] + point.dropFirst()), "\(first)") }
    #expect(!P256.isPublicKey([2 + (point[64] & 1)] + point[1..<33]), "compressed")
    for bytes in [[], [0], Array(point.dropLast()), point + [0], [4] + [UInt8](repeating: 0, count: 64)] {
      #expect(!P256.isPublicKey(bytes), "\(bytes)")
    }
    for bit in 8..<520 {
      var off = point
      off[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!P256.isPublicKey(off), "bit \(bit)")
      #expect(P256SecretKey.generate().sharedSecret(with: off) == nil)
    }
    // x is the field's prime: 0 in a second spelling.
    let prime: Octets = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    let root: Octets = "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"
    #expect(P256.isPublicKey([4] + [UInt8](repeating: 0, count: 32) + root.bytes))
    #expect(!P256.isPublicKey([4] + prime.bytes + root.bytes))
  }

  @Test("Two keys share one secret, and a third does not")
  func sharedSecret() {
    let keys = (0..<3).map { _ in P256SecretKey.generate() }
    let shared = keys[0].sharedSecret(with: keys[1].publicKey)?.bytes
    #expect(shared?.count == 32 && shared == keys[1].sharedSecret(with: keys[0].publicKey)?.bytes)
    #expect(shared != keys[2].sharedSecret(with: keys[1].publicKey)?.bytes)
    #expect(keys[0].sharedSecret(with: []) == nil)
  }

  @Test("One key signs for many tasks at once")
  func concurrent() async {
    let key = P256SecretKey.generate()
    await withTaskGroup(of: Bool.self) { group in
      for number in UInt8(0)..<8 {
        group.addTask {
          (UInt8(0)..<20).allSatisfy { P256.isValid(key.sign([number, $0]), of: [number, $0], by: key.publicKey) }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

/// A key on P-256 in PEM, of SEC 1, of its 32 bytes; its public half is left out, or another one.
func sec1(_ scalar: [UInt8], publicKey: [UInt8] = []) -> String {
  let curve: Octets = "a00a06082a8648ce3d030107"
  var body: [UInt8] = [2, 1, 1, 4, UInt8(scalar.count)] + scalar + curve.bytes
  if !publicKey.isEmpty {
    body += [0xA1, UInt8(publicKey.count + 3), 3, UInt8(publicKey.count + 1), 0] + publicKey
  }
  let der = [0x30, UInt8(body.count)] + body
  return "-----BEGIN EC PRIVATE KEY-----\n\(wrapped(Base64.encode(der)))-----END EC PRIVATE KEY-----\n"
}

/// Lines of 64 letters.
func wrapped(_ text: String) -> String {
  var lines = ""
  var rest = Substring(text)
  while !rest.isEmpty {
    lines += rest.prefix(64) + "\n"
    rest = rest.dropFirst(64)
  }
  return lines
}
