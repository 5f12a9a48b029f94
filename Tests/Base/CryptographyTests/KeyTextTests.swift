import Cryptography
import TestSupport
import Testing

/// Secret keys as text.
@Suite struct KeyTextTests {
  @Test("A key on P-256 is read in PKCS #8 and in SEC 1, behind the curve's name and with its point compressed")
  func p256() throws {
    let key = try #require(P256SecretKey(pem: KeySamples.pkcs8))
    #expect(key.publicKey.count == 65 && key.publicKey.first == 4 && P256.isPublicKey(key.publicKey))
    // More than once: an error that one reading leaves must not end the next.
    for text in [KeySamples.sec1, KeySamples.sec1, KeySamples.compressed, KeySamples.sec1] {
      #expect(P256SecretKey(pem: text)?.publicKey == key.publicKey)
    }
    #expect(P256.isValid(key.sign([1]), of: [1], by: key.publicKey))
    let bytes = Array(KeySamples.pkcs8.utf8)
    #expect(bytes.withUnsafeBytes { P256SecretKey(pem: $0) }?.publicKey == key.publicKey)
  }

  @Test("A key is read as it was written, in PKCS #8")
  func roundTrip() throws {
    let key = P256SecretKey.generate()
    #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(P256SecretKey(pem: key.pem)?.publicKey == key.publicKey)
    #expect(try #require(P256SecretKey(pem: KeySamples.sec1)).pem == KeySamples.pkcs8 + "\n")
    let rsa = RSATests.key
    #expect(rsa.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(RSASecretKey(pem: rsa.pem)?.publicKeyDER == rsa.publicKeyDER)
    let bytes = Array(rsa.pem.utf8)
    #expect(bytes.withUnsafeBytes { RSASecretKey(pem: $0) }?.publicKeyDER == rsa.publicKeyDER)
  }

  @Test("A key of another kind is refused")
  func otherKinds() {
    for text in [
      KeySamples.p384, KeySamples.secp256k1, KeySamples.ed25519, KeySamples.rsa1024, KeySamples.pss,
      KeySamples.publicHalf, RSATests.key.pem,
    ] {
      #expect(P256SecretKey(pem: text) == nil, "\(text)")
    }
    for text in [KeySamples.pkcs8, KeySamples.sec1, KeySamples.ed25519, KeySamples.pss] {
      #expect(RSASecretKey(pem: text) == nil, "\(text)")
    }
    #expect(RSASecretKey(pem: KeySamples.rsa1024) == nil, "fewer than 2,048 bits")
  }

  @Test("An encrypted key is refused, and nobody is asked for its passphrase")
  func encrypted() {
    for text in [KeySamples.encrypted, KeySamples.encryptedUnderNothing, KeySamples.encryptedByHeaders] {
      #expect(P256SecretKey(pem: text) == nil)
    }
  }

  @Test("A key whose public half belongs to another secret is refused, and so are scalars that are none")
  func mismatched() {
    let scalar = [UInt8](repeating: 0x11, count: 32)
    #expect(P256SecretKey(pem: sec1(scalar)) != nil)
    #expect(P256SecretKey(pem: sec1(scalar, publicKey: P256SecretKey.generate().publicKey)) == nil)
    #expect(P256SecretKey(pem: sec1([UInt8](repeating: 0, count: 32))) == nil)
    let order: Octets = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    #expect(P256SecretKey(pem: sec1(order.bytes)) == nil)
    #expect(P256SecretKey(pem: sec1([UInt8](repeating: 0xFF, count: 32))) == nil)
  }

  @Test("What is no text of a key is refused, and of one that is cut off every part")
  func noText() {
    for text in ["", "\n", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"] {
      #expect(P256SecretKey(pem: text) == nil && RSASecretKey(pem: text) == nil)
    }
    // Up to the first hyphen of the end.
    for count in 0..<(KeySamples.pkcs8.utf8.count - 25) {
      #expect(P256SecretKey(pem: String(KeySamples.pkcs8.prefix(count))) == nil, "\(count)")
    }
    #expect(P256SecretKey(pem: String(repeating: "\n", count: 8 << 10) + KeySamples.pkcs8) == nil, "more than 8 KiB")
    #expect(P256SecretKey(pem: KeySamples.publicHalf + "\n" + KeySamples.pkcs8) != nil, "behind another block")
  }
}
