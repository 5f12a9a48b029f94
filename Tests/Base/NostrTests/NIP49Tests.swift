import Cryptography
import Nostr
import TestSupport
import Testing

@Suite struct NIP49Tests {
  private struct Vectors: Decodable {
    let nipExample: Case
    let vectors: [Case]
    struct Case: Decodable {
      let password: String, sec: String, logN: Int, keySecurity: UInt8?, ncryptsec: String
    }
  }

  private static let example =
    "ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84zm3"
    + "frztj3z7s35vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p"

  @Test("The example of the NIP opens with its passphrase and no other")
  func example() throws {
    let encrypted = try EncryptedSecretKey(Self.example)
    #expect(encrypted.logN == 16 && encrypted.handling == .insecure && encrypted.memoryByteCount >> 20 == 64)
    let key = try encrypted.open(with: Passphrase("nostr"))
    #expect(key.hex == "3501454135014541350145413501453fefb02227e449e57cf4d3a3ce05378683")
    #expect(throws: NIP49Fault.wrongPassphrase) { try encrypted.open(with: Passphrase("Nostr")) }
    #expect(encrypted.text == Self.example)
  }

  @Test("Texts of other libraries open, with passphrases that differ before they are normalized")
  func vectors() throws {
    for test in try sharedVectors(Vectors.self, "nip49/nip49.json")?.vectors ?? [] {
      let encrypted = try EncryptedSecretKey(test.ncryptsec)
      #expect(encrypted.logN == test.logN && encrypted.handling.rawValue == test.keySecurity)
      let key = try encrypted.open(with: Passphrase(test.password))
      #expect(key.hex == test.sec && encrypted.text == test.ncryptsec, "\(test.password)")
    }
  }

  @Test("A key that was encrypted opens again, and with any bit changed does not")
  func roundTrip() throws {
    let key = SecretKey.generate()
    let passphrase = try Passphrase("a mountain and two rivers")
    for handling in [KeyHandling.insecure, .notKnownInsecure, .untracked] {
      let encrypted = try EncryptedSecretKey(encrypting: key, with: passphrase, logN: 2, handling: handling)
      let read = try EncryptedSecretKey(encrypted.text)
      #expect(read == encrypted && read.handling == handling)
      #expect(try read.open(with: passphrase).publicKey == key.publicKey)
      #expect(read.text.utf8.count == 162)
    }
    let text = try EncryptedSecretKey(encrypting: key, with: passphrase, logN: 1).text
    var (prefix, bytes) = try Bech32.decode(text, maximumCount: 200)
    for bit in 0..<(8 * bytes.count) {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      defer { bytes[bit / 8] ^= 1 << UInt8(bit % 8) }
      // Not the cost: that is believed, and only costs.
      if bit / 8 == 1 { continue }
      #expect(throws: NIP49Fault.self, "bit \(bit)") {
        try EncryptedSecretKey(Bech32.encode(hrp: prefix, data: bytes)).open(with: passphrase)
      }
    }
    prefix = "nsec"
    #expect(throws: NIP49Fault.wrongPrefix) { try EncryptedSecretKey(Bech32.encode(hrp: prefix, data: bytes)) }
  }

  @Test("What is no text of version 2, or costs too much, is refused before any work")
  func refused() throws {
    let (_, bytes) = try Bech32.decode(Self.example, maximumCount: 200)
    func read(_ change: (inout [UInt8]) -> Void) -> NIP49Fault? {
      var bytes = bytes
      change(&bytes)
      do throws(NIP49Fault) {
        _ = try EncryptedSecretKey(Bech32.encode(hrp: "ncryptsec", data: bytes))
        return nil
      } catch { return error }
    }
    #expect(read { _ in } == nil)
    #expect(read { $0[0] = 1 } == .unknownVersion(1) && read { $0[0] = 3 } == .unknownVersion(3))
    #expect(read { $0.removeLast() } == .wrongByteCount(90) && read { $0.append(0) } == .wrongByteCount(92))
    #expect(read { $0.removeAll() } == .wrongByteCount(0))
    #expect(read { $0[1] = 0 } == .badCost && read { $0[1] = 21 } == nil)
    #expect(read { $0[1] = 22 } == .tooCostly(logN: 22, maximum: 21) && read { $0[1] = 255 } != nil)
    #expect(read { $0[42] = 3 } == .unknownHandling(3))
    #expect(NIP49Fault.tooCostly(logN: 22, maximum: 21).description.contains("2048 MiB"))
    #expect(throws: NIP49Fault.notBech32(.badChecksum)) {
      try EncryptedSecretKey(Self.example.replacing("qgg9", with: "qgg8"))
    }
    #expect(throws: NIP49Fault.notBech32(.tooLong(count: 513, maximum: 512))) {
      try EncryptedSecretKey(String(repeating: "n", count: 513))
    }
    #expect(throws: NIP49Fault.tooCostly(logN: 22, maximum: 21)) {
      try EncryptedSecretKey(encrypting: .generate(), with: Passphrase(""), logN: 22)
    }
  }
}

/// Passphrases are tested where the vectors for them are. One of the tests takes all the room there is for them, so no
/// two run at a time.
@Suite(.serialized) struct PassphraseTests {
  private func normalized(_ text: String) throws -> [UInt8] { try Passphrase(text).withBytes { Array($0) } }

  @Test("A passphrase is brought into NFKC, as the example of NIP-49 says")
  func example() throws {
    #expect(try normalized("\u{212B}\u{2126}\u{1E9B}\u{0323}") == [0xC3, 0x85, 0xCE, 0xA9, 0xE1, 0xB9, 0xA9])
  }

  @Test(
    "Spellings of one text are one passphrase",
    arguments: [
      ("e\u{301}", "\u{E9}"), ("\u{FB01}", "fi"), ("\u{FF21}", "A"), ("\u{2460}", "1"),
      ("\u{AC00}", "\u{1100}\u{1161}"),
      ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{A0}", " "),
      (
        "\u{FDFA}",
        "\u{635}\u{644}\u{649} \u{627}\u{644}\u{644}\u{647} \u{639}\u{644}\u{64A}\u{647} \u{648}\u{633}\u{644}\u{645}"
      ),
    ])
  func spellings(one: String, other: String) throws {
    #expect(try normalized(one) == normalized(other))
    #expect(try normalized(other) == Array(other.utf8) || other.unicodeScalars.count > 1)
  }

  @Test("ASCII is left as it is, and so are nothing and zeros")
  func ascii() throws {
    for text in ["", "nostr", "a\u{0}b", String((0..<128).map { Character(UnicodeScalar(UInt8($0))) })] {
      #expect(try normalized(text) == Array(text.utf8))
    }
  }

  @Test("What is no UTF-8, or too long, is refused; what grows most is taken")
  func refused() throws {
    for bytes: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x61, 0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
      #expect(throws: PassphraseFault.notUTF8) {
        try bytes.withUnsafeBytes { bytes throws(PassphraseFault) in try Passphrase(utf8: bytes) }
      }
    }
    #expect(throws: PassphraseFault.tooLong(byteCount: 1_025, maximum: 1_024)) {
      try Passphrase(String(repeating: "x", count: 1_025))
    }
    #expect(try normalized(String(repeating: "\u{FDFA}", count: 341)).count == 341 * 33)
  }

  @Test("Passphrases beyond the locked memory there is are refused, and keys still find room")
  func noRoom() throws {
    var held: [Passphrase] = []
    #expect(throws: PassphraseFault.noRoom) {
      for _ in 0..<100 { held.append(try Passphrase(String(repeating: "\u{FDFA}", count: 341))) }
    }
    #expect(held.count < 8)
    let keys = (0..<256).map { _ in SecretKey.generate() }
    #expect(keys.count == 256)
    held.removeAll()
    #expect(throws: Never.self) { try Passphrase("short") }
  }
}

extension Passphrase {
  init(_ text: String) throws {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { bytes -> Result<Passphrase, PassphraseFault> in
      do throws(PassphraseFault) { return .success(try Passphrase(utf8: bytes)) } catch { return .failure(error) }
    }
    self = try result.get()
  }
}
