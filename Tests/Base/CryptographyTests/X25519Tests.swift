import Cryptography
import TestSupport
import Testing

@Suite struct X25519Tests {
  private func secret(_ octets: Octets) -> SecretMemory {
    SecretMemory(byteCount: octets.bytes.count) { $0.copyBytes(from: octets.bytes) }
  }

  @Test("Alice and Bob of RFC 7748, 6.1, have their keys and their secret")
  func rfc7748() throws {
    let alice = secret("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    let bob = secret("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    #expect(
      X25519.publicKey(of: alice) == Octets32("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
    #expect(X25519.publicKey(of: bob) == Octets32("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
    let shared: Octets = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    #expect(X25519.sharedSecret(alice, with: X25519.publicKey(of: bob))?.bytes == shared.bytes)
    #expect(X25519.sharedSecret(bob, with: X25519.publicKey(of: alice))?.bytes == shared.bytes)
  }

  @Test("The vectors of RFC 7748, 5.2, are computed, the second with a bit that is ignored")
  func scalars() throws {
    let vectors: [(Octets, String, Octets)] = [
      (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
      ),
      (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
      ),
    ]
    for (scalar, point, shared) in vectors {
      #expect(X25519.sharedSecret(secret(scalar), with: try #require(Octets32(point)))?.bytes == shared.bytes)
    }
  }

  @Test(
    "With a point of small order nothing is shared",
    arguments: [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ])
  func smallOrder(point: String) throws {
    #expect(X25519.sharedSecret(X25519.generate(), with: try #require(Octets32(point))) == nil)
  }

  @Test("Fresh secrets differ, and each two share one")
  func fresh() {
    let secrets = (0..<3).map { _ in X25519.generate() }
    let shared = X25519.sharedSecret(secrets[0], with: X25519.publicKey(of: secrets[1]))?.bytes
    #expect(shared?.count == 32)
    #expect(shared == X25519.sharedSecret(secrets[1], with: X25519.publicKey(of: secrets[0]))?.bytes)
    #expect(shared != X25519.sharedSecret(secrets[2], with: X25519.publicKey(of: secrets[1]))?.bytes)
  }
}
