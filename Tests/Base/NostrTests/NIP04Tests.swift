import Cryptography
import Nostr
import TestSupport
import Testing

@Suite struct NIP04Tests {
  private struct Pair: Decodable {
    let sec1: String, sec2: String, plaintext: String, ciphertext: String
  }

  private static let own = Pair(
    sec1: "92996316beebf94171065a714cbf164d1f56d7ad9b35b329d9fc97535bf25352",
    sec2: "591c0c249adfb9346f8d37dfeed65725e2eea1d7a6e99fa503342f367138de84", plaintext: "hello",
    ciphertext: "A+fRnU4aXS4kbTLfowqAww==?iv=QFYUrl5or/n/qamY79ze0A==")

  @Test("Messages of other libraries are read by both sides and written with their vector again")
  func vectors() throws {
    for pair in try sharedVectors([Pair].self, "nip04/pairs.json") ?? [Self.own] {
      let one = try #require(SecretKey(hex: pair.sec1))
      let two = try #require(SecretKey(hex: pair.sec2))
      #expect(try NIP04.decrypt(pair.ciphertext, by: one, from: two.publicKey) == pair.plaintext)
      #expect(try NIP04.decrypt(pair.ciphertext, by: two, from: one.publicKey) == pair.plaintext)
      let vector = try #require(Base64.decode(String(pair.ciphertext.suffix(24))))
      #expect(try NIP04.encrypt(pair.plaintext, by: one, for: two.publicKey, vector: vector) == pair.ciphertext)
    }
  }

  @Test("A message comes back, whatever its size", arguments: [0, 1, 15, 16, 17, 1_000, 65_536])
  func roundTrip(count: Int) throws {
    let one = SecretKey.generate()
    let two = SecretKey.generate()
    let text = String(repeating: "x", count: count)
    let content = try NIP04.encrypt(text, by: one, for: two.publicKey)
    #expect(try NIP04.decrypt(content, by: two, from: one.publicKey) == text)
    #expect(try NIP04.encrypt(text, by: one, for: two.publicKey) != content)
  }

  @Test(
    "What has another form is refused",
    arguments: [
      "", "?iv=", "hello", "A+fRnU4aXS4kbTLfowqAww==", "A+fRnU4aXS4kbTLfowqAww==?iv=", "?iv=QFYUrl5or/n/qamY79ze0A==",
      "A+fRnU4aXS4kbTLfowqAww==?iv=QFYUrl5or/n/qamY79ze", "A+fRnU4aXS4kbTLfowqAww==&iv=QFYUrl5or/n/qamY79ze0A==",
      "A+fRnU4aXS4kbTLfowqAww=?iv=QFYUrl5or/n/qamY79ze0A==", "A+fRnU4aXS4kbTLfowqAww==?iv=QFYUrl5or/n/qamY79ze0AAA",
      "A+fRnU4aXS4kbTLfowqAww==?iv=QFYUrl5or/n/qamY79ze0A==?iv=QFYUrl5or/n/qamY79ze0A==",
    ])
  func badForm(content: String) throws {
    let key = SecretKey.generate()
    #expect(throws: NIP04Fault.badForm) { try NIP04.decrypt(content, by: key, from: key.publicKey) }
  }

  @Test("Whatever else is wrong has one answer")
  func undecryptable() throws {
    let key = SecretKey.generate()
    let vector = Base64.encode(RandomBytes.make(16))
    let half = Base64.encode(RandomBytes.make(24)) + "?iv=" + vector
    #expect(throws: NIP04Fault.undecryptable) { try NIP04.decrypt(half, by: key, from: key.publicKey) }
    var refused = 0
    for _ in 0..<200 {
      let content = Base64.encode(RandomBytes.make(48)) + "?iv=" + vector
      do throws(NIP04Fault) { _ = try NIP04.decrypt(content, by: key, from: key.publicKey) } catch {
        #expect(error == .undecryptable)
        refused += 1
      }
    }
    // Nothing authenticates: about one in 256 looks padded, and hardly one of those is UTF-8.
    #expect(refused > 190)
    let nobody = PublicKey(try #require(Octets32([UInt8](repeating: 0xFF, count: 32))))
    #expect(throws: NIP04Fault.badPublicKey(nobody)) { try NIP04.encrypt("a", by: key, for: nobody) }
  }

  @Test("What no event can hold is refused before any work")
  func limits() throws {
    let key = SecretKey.generate()
    let maximum = NIP04.plaintextByteCountMaximum
    let largest = try NIP04.encrypt(String(repeating: "x", count: maximum), by: key, for: key.publicKey)
    #expect(largest.utf8.count <= NIP04.contentByteCountMaximum)
    #expect(throws: NIP04Fault.plaintextTooLarge(byteCount: maximum + 1, maximum: maximum)) {
      try NIP04.encrypt(String(repeating: "x", count: maximum + 1), by: key, for: key.publicKey)
    }
    let count = NIP04.contentByteCountMaximum + 1
    #expect(throws: NIP04Fault.contentTooLarge(byteCount: count, maximum: count - 1)) {
      try NIP04.decrypt(String(repeating: "x", count: count), by: key, from: key.publicKey)
    }
  }
}
