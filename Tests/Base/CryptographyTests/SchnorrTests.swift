import Cryptography
import TestSupport
import Testing

/// The vectors of BIP-340 where they are at hand, and its first one always.
@Suite struct SchnorrTests {
  private static let own = [
    "0,0000000000000000000000000000000000000000000000000000000000000003,"
      + "F9308A019258C31049344F85F89D5229B531C845836F99B08601F113BCE036F9,"
      + "0000000000000000000000000000000000000000000000000000000000000000,"
      + "0000000000000000000000000000000000000000000000000000000000000000,"
      + "E907831F80848D1069A5371B402410364BDF1C5F8307B0084C55F1CE2DCA8215"
      + "25F66A4A85EA8B71E482A74F382D2CE5EBEEE8FDB2172F477DF4900D310536C0,TRUE,"
  ]

  @Test("Every vector of BIP-340 signs and verifies as it says")
  func vectors() throws {
    let lines =
      SharedFolder.lines(of: "vectors/bip340/test-vectors.csv")?.dropFirst().map { String(decoding: $0, as: UTF8.self) }
      ?? Self.own
    for line in lines {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
      let message = try #require(Hexadecimal.decode(fields[4].utf8))
      let key = try #require(PublicKey(fields[2]))
      let signature = try #require(Signature(fields[5]))
      let isValid =
        ParsedPublicKey(key).map { parsed in message.withUnsafeBytes { signature.isValid(for: $0, by: parsed) } }
        ?? false
      #expect(isValid == (fields[6] == "true"), "vector \(fields[0]): \(fields[7...])")
      guard !fields[1].isEmpty else { continue }
      let secretBytes = try #require(Hexadecimal.decode(fields[1].utf8))
      let secret = try #require(SecretKey(secretBytes))
      #expect(secret.publicKey == key)
      #expect(secret.sign(message, auxiliary: Hexadecimal.decode(fields[3].utf8)) == signature, "vector \(fields[0])")
    }
  }

  @Test("What a fresh key signs verifies, and with a bit changed does not", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    let key = SecretKey.generate()
    let parsed = try #require(ParsedPublicKey(key.publicKey))
    let message = SHA256.hash(Array("\(seed)".utf8))
    let signature = key.sign(message)
    #expect(signature.isValid(for: message, by: parsed))
    #expect(key.sign(message) != signature, "two signatures differ by their randomness")
    var bytes = signature.bytes
    bytes[Int(seed % 64)] ^= 1 << UInt8(seed >> 8 & 7)
    let changed = try #require(Signature(Hexadecimal.text(of: bytes)))
    #expect(!changed.isValid(for: message, by: parsed))
  }

  @Test("Zero and the curve's order are no keys")
  func noKeys() {
    #expect(SecretKey([UInt8](repeating: 0, count: 32)) == nil)
    #expect(
      SecretKey(Hexadecimal.decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".utf8)!) == nil)
    #expect(SecretKey([1, 2, 3]) == nil)
  }
}

extension SecretKey {
  convenience init?(_ bytes: [UInt8]) {
    let key = bytes.withUnsafeBytes { SecretKey(bytes: $0) }
    guard let key else { return nil }
    self.init(key.withSecret { secret in SecretMemory(byteCount: 32) { $0.copyMemory(from: secret) } })
  }
}
