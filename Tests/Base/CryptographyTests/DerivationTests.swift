import Cryptography
import TestSupport
import Testing

/// HMAC, HKDF, scrypt and the shared point: what makes keys.
@Suite struct DerivationTests {
  private struct MACGroup: Decodable {
    let tagSize: Int
    let tests: [Case]
    struct Case: Decodable {
      let tcId: Int
      let key, msg, tag: Octets
      let result: String
    }
  }

  private func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: HMACSHA256.byteCount)
    key.withUnsafeBytes { key in
      let hmac = HMACSHA256(key: key)
      // In two pieces, after another message: neither may matter.
      [1, 2, 3].withUnsafeBytes { hmac.update($0) }
      code.withUnsafeMutableBytes { hmac.end(into: $0) }
      hmac.restart()
      message.withUnsafeBytes { message in
        let middle = message.count / 2
        hmac.update(UnsafeRawBufferPointer(rebasing: message[..<middle]))
        hmac.update(UnsafeRawBufferPointer(rebasing: message[middle...]))
      }
      code.withUnsafeMutableBytes { hmac.end(into: $0) }
    }
    return code
  }

  @Test("HMAC gives the codes of RFC 4231 and Wycheproof")
  func hmac() throws {
    let code = code(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(Hexadecimal.text(of: code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    for group in try Wycheproof<MACGroup>.groups("hmac_sha256_test.json") {
      for test in group.tests {
        let right = self.code(of: test.msg.bytes, key: test.key.bytes).prefix(group.tagSize / 8)
        #expect(right.elementsEqual(test.tag.bytes) == (test.result == "valid"), "case \(test.tcId)")
      }
    }
  }

  @Test("A code with any bit changed is not the message's")
  func changedCode() {
    let key = RandomBytes.make(32)
    let message = RandomBytes.make(100)
    var code = code(of: message, key: key)
    func isValid() -> Bool {
      code.withUnsafeBytes { code in
        message.withUnsafeBytes { message in
          key.withUnsafeBytes { HMACSHA256.isValid(code, of: [message], key: $0) }
        }
      }
    }
    #expect(isValid())
    for bit in 0..<256 {
      code[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!isValid(), "bit \(bit)")
      code[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    code.removeLast()
    #expect(!isValid())
  }

  @Test("Codes of many tasks at once are those of one")
  func concurrentCodes() async {
    let right = (0..<8).map { code(of: [UInt8(160 + $0)], key: [UInt8($0)]) }
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          (0..<2_000).allSatisfy { _ in code(of: [UInt8(160 + number)], key: [UInt8(number)]) == right[number] }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  private struct HKDFGroup: Decodable {
    let tests: [Case]
    struct Case: Decodable {
      let tcId: Int
      let ikm, salt, info, okm: Octets
      let size: Int
      let result: String
    }
  }

  private func expanded(_ material: [UInt8], salt: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
    let key = salt.withUnsafeBytes { salt in
      material.withUnsafeBytes { HKDF.extract(salt: salt, keyMaterial: $0) }
    }
    var output = [UInt8](repeating: 0, count: count)
    key.withBytes { key in
      info.withUnsafeBytes { info in output.withUnsafeMutableBytes { HKDF.expand(key, info: info, into: $0) } }
    }
    return output
  }

  @Test("HKDF gives the keys of RFC 5869 and Wycheproof")
  func hkdf() throws {
    let own = expanded(
      [UInt8](repeating: 0x0B, count: 22), salt: Array(0...12), info: Array(0xF0...0xF9), count: 42)
    let right = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    #expect(Hexadecimal.text(of: own) == right)
    for group in try Wycheproof<HKDFGroup>.groups("hkdf_sha256_test.json") {
      // What asks for more than there is has no answer, and asking is the caller's mistake.
      for test in group.tests where test.size <= HKDF.expandedByteCountMaximum {
        let output = expanded(test.ikm.bytes, salt: test.salt.bytes, info: test.info.bytes, count: test.size)
        #expect((output == test.okm.bytes) == (test.result == "valid"), "case \(test.tcId)")
      }
    }
  }

  @Test(
    "scrypt gives the keys of RFC 7914",
    arguments: [
      (
        "", "", 4, 1, 1,
        "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
          + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
      ),
      (
        "password", "NaCl", 10, 8, 16,
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
          + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
      ),
      (
        "pleaseletmein", "SodiumChloride", 14, 8, 1,
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
          + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
      ),
    ])
  func scrypt(passphrase: String, salt: String, logN: Int, blockSize: Int, parallelism: Int, right: String) throws {
    let key = Array(passphrase.utf8).withUnsafeBytes { passphrase in
      Array(salt.utf8).withUnsafeBytes { salt in
        Scrypt.derive(
          passphrase: passphrase, salt: salt, logN: logN, blockSize: blockSize, parallelism: parallelism, byteCount: 64)
      }
    }
    #expect(Hexadecimal.text(of: try #require(key).bytes) == right)
  }

  private struct ECDHGroup: Decodable {
    let tests: [Case]
    struct Case: Decodable {
      let tcId: Int
      let `public`, shared: Octets
      let `private`: String
      let flags: [String]
      let result: String
    }
  }

  @Test("Shared points are those of Wycheproof, found from x alone")
  func sharedPointVectors() throws {
    var count = 0
    for test in try Wycheproof<ECDHGroup>.groups("ecdh_secp256k1_test.json").flatMap(\.tests) {
      // The plain ASN.1 form of an uncompressed point: 23 bytes of names, 04, x, y.
      let form = test.public.bytes
      guard test.result == "valid", form.count == 88, form[23] == 4 else { continue }
      let digits = String(repeating: "0", count: 64) + test.private
      let secret = try #require(SecretKey(Hexadecimal.decode(digits.suffix(64).utf8) ?? []))
      let key = PublicKey(try #require(Octets32(form[24..<56])))
      let shared = try #require(secret.sharedCoordinate(with: key), "case \(test.tcId)")
      #expect(shared.bytes == test.shared.bytes, "case \(test.tcId)")
      count += 1
    }
    #expect(count > 100 || !SharedFolder.has("vectors/wycheproof"))
  }

  @Test("Two keys share one point, found from either side", arguments: seeds(4))
  func sharedPoint(seed: UInt64) throws {
    let one = SecretKey.generate()
    let other = SecretKey.generate()
    let shared = try #require(one.sharedCoordinate(with: other.publicKey))
    #expect(shared.bytes == other.sharedCoordinate(with: one.publicKey)?.bytes)
    #expect(shared.byteCount == 32)
  }

  @Test(
    "With what is no point nothing is shared",
    arguments: [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
      "eb1f7200aecaa86682376fb1c13cd12b732221e774f553b0a0857f88fa20f86d",
    ])
  func noPoint(key: String) throws {
    let key = try #require(PublicKey(key))
    #expect(SecretKey.generate().sharedCoordinate(with: key) == nil)
  }
}
