import Cryptography
import TestSupport
import Testing

@Suite("Signatures that give their key (ECDSA)") struct RecoverableSignatureTests {
  /// The key and the signature of the first example of BOLT-11.
  private let secret = "e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734"
  private let publicKey = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad"
  private let digest = "6daf4d488be41ce7cbb487cab1ef2975e5efcea879b20d421f0ef86b07cbb987"
  private let signature =
    "8d3ce9e28357337f62da0162d9454df827f83cfe499aeb1c1db349d4d81127425e434ca29929406c23bba1ae8ac6ca32880b38d4bf6ff874"
    + "024cac34ba9625f101"
  /// The order of the curve, whose difference to the low s is the high one.
  private let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"

  private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hexadecimal.decode(hex.utf8)) }

  @Test("are those of BOLT-11's example, made and read")
  func example() throws {
    let key = try #require(try bytes(secret).withUnsafeBytes { SecretKey(bytes: $0) })
    let digest = try #require(Octets32(self.digest))
    let signature = try #require(RecoverableSignature(bytes(self.signature)))
    #expect(key.compressedPublicKey.description == publicKey && key.compressedPublicKey.x == key.publicKey.octets)
    #expect(key.signRecoverably(digest) == signature)
    #expect(try signature.bytes == bytes(self.signature))
    #expect(signature.key(signing: digest) == key.compressedPublicKey)
    #expect(signature.isValid(for: digest, by: key.compressedPublicKey))
  }

  @Test("with the high s give the same key by the other number, and are not valid")
  func highS() throws {
    let low = try bytes(signature)
    var high = Array(low[..<32])
    var borrow = 0
    var s = [UInt8](repeating: 0, count: 32)
    let order = try bytes(self.order)
    for place in (0..<32).reversed() {
      let difference = Int(order[place]) - Int(low[32 + place]) - borrow
      borrow = difference < 0 ? 1 : 0
      s[place] = UInt8(truncatingIfNeeded: difference)
    }
    high += s + [low[64] ^ 1]
    let signature = try #require(RecoverableSignature(high))
    let digest = try #require(Octets32(self.digest))
    let key = try #require(CompressedPublicKey(bytes(publicKey)))
    #expect(signature.key(signing: digest) == key && !signature.isValid(for: digest, by: key))
  }

  @Test("belong to one digest and one key", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    let key = SecretKey.generate()
    let digest = SHA256.hash(withUnsafeBytes(of: seed) { Array($0) })
    let signature = key.signRecoverably(digest)
    #expect(signature.key(signing: digest) == key.compressedPublicKey)
    #expect(signature.isValid(for: digest, by: key.compressedPublicKey))
    #expect(!signature.isValid(for: SHA256.hash([1]), by: key.compressedPublicKey))
    #expect(!signature.isValid(for: digest, by: SecretKey.generate().compressedPublicKey))
    #expect(signature.key(signing: SHA256.hash([1])) != key.compressedPublicKey)
  }

  @Test("are of 65 bytes, and keys of 33 that begin with 2 or 3")
  func forms() throws {
    let good = try bytes(signature)
    #expect(RecoverableSignature(good.dropLast()) == nil && RecoverableSignature(good + [0]) == nil)
    #expect(RecoverableSignature(good.dropLast() + [4]) == nil)
    let zero = try #require(RecoverableSignature([UInt8](repeating: 0, count: 65)))
    #expect(try zero.key(signing: #require(Octets32(digest))) == nil)
    let key = try bytes(publicKey)
    #expect(CompressedPublicKey(key.dropLast()) == nil && CompressedPublicKey([4] + key.dropFirst()) == nil)
    // No point of the curve has this x.
    let none = try #require(CompressedPublicKey([2] + [UInt8](repeating: 0xFF, count: 32)))
    #expect(try !#require(RecoverableSignature(good)).isValid(for: #require(Octets32(digest)), by: none))
  }
}
