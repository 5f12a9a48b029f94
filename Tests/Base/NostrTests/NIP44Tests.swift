import TestSupport
import Testing

@testable import Nostr
@testable import Cryptography

@Suite struct NIP44Tests {
  private struct Vectors: Decodable {
    let v2: Version
    struct Version: Decodable { let valid: Valid, invalid: Invalid }
    struct Valid: Decodable {
      let getConversationKey: [ConversationCase]
      let getMessageKeys: MessageKeysCase
      let calcPaddedLen: [[Int]]
      let encryptDecrypt: [Exchange]
      let encryptDecryptLongMsg: [LongCase]
    }
    struct Invalid: Decodable {
      let getConversationKey: [ConversationCase]
      let decrypt: [BadPayload]
    }
    struct ConversationCase: Decodable { let sec1: String, pub2: String, conversationKey: String?, note: String? }
    struct MessageKeysCase: Decodable {
      let conversationKey: String, keys: [Keys]
      struct Keys: Decodable { let nonce: String, chachaKey: String, chachaNonce: String, hmacKey: String }
    }
    struct Exchange: Decodable {
      let sec1: String, sec2: String, conversationKey: String, nonce: String, plaintext: String, payload: String
    }
    struct LongCase: Decodable {
      let conversationKey: String, nonce: String, pattern: String
      let `repeat`: Int
      let plaintextSha256: String, payloadSha256: String
    }
    struct BadPayload: Decodable { let conversationKey: String, payload: String, note: String }
  }

  private let vectors: Vectors.Version?

  init() throws { vectors = try sharedVectors(Vectors.self, "nip44/nip44.vectors.json")?.v2 }

  private func key(_ hex: String) throws -> ConversationKey { ConversationKey(try SecretMemory(hex: hex)) }

  private func hex(of key: ConversationKey) -> String { key.memory.withBytes { Hexadecimal.text(of: $0) } }

  @Test("The example of the NIP is encrypted and decrypted from both sides")
  func example() throws {
    let one = try publicTestKey(1)
    let two = try publicTestKey(2)
    let key = try ConversationKey(one, two.publicKey)
    #expect(hex(of: key) == "c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d")
    #expect(try hex(of: ConversationKey(two, one.publicKey)) == hex(of: key))
    let payload = try NIP44.encrypt([UInt8(ascii: "a")], with: key, nonce: [UInt8](repeating: 0, count: 31) + [1])
    #expect(
      payload == "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABee0G5VSK0/9YypIObAtDKfYEAjD35uVkHyB0F4DwrcNaCXlC"
        + "WZKaArsGrY6M9wnuTMxWfp1RTN9Xga8no+kF5Vsb")
    #expect(try NIP44.decryptText(payload, with: key) == "a")
  }

  @Test("Conversation keys, message keys and paddings are those of the vectors")
  func keys() throws {
    guard let valid = vectors?.valid else { return }
    for test in valid.getConversationKey {
      let secret = try #require(SecretKey(hex: test.sec1))
      #expect(try hex(of: ConversationKey(secret, #require(PublicKey(test.pub2)))) == test.conversationKey)
    }
    let conversation = try key(valid.getMessageKeys.conversationKey)
    for test in valid.getMessageKeys.keys {
      let nonce = try #require(Hexadecimal.decode(test.nonce.utf8))
      let keys = nonce.withUnsafeBytes { nonce in
        MessageKeys.derive(from: conversation, nonce: nonce) { keys in
          [keys.cipherKey, keys.cipherNonce, keys.codeKey].map { Hexadecimal.text(of: $0) }
        }
      }
      #expect(keys == [test.chachaKey, test.chachaNonce, test.hmacKey])
    }
    for test in valid.calcPaddedLen { #expect(NIP44.paddedByteCount(of: test[0]) == test[1]) }
  }

  @Test("Texts, short and long, are encrypted to the payloads of the vectors and back")
  func exchanges() throws {
    for test in vectors?.valid.encryptDecrypt ?? [] {
      let one = try #require(SecretKey(hex: test.sec1))
      let two = try #require(SecretKey(hex: test.sec2))
      let there = try ConversationKey(one, two.publicKey)
      #expect(hex(of: there) == test.conversationKey)
      let nonce = try #require(Hexadecimal.decode(test.nonce.utf8))
      #expect(try NIP44.encrypt(Array(test.plaintext.utf8), with: there, nonce: nonce) == test.payload)
      #expect(try NIP44.decryptText(test.payload, with: ConversationKey(two, one.publicKey)) == test.plaintext)
    }
    for test in vectors?.valid.encryptDecryptLongMsg ?? [] {
      let text = String(repeating: test.pattern, count: test.repeat)
      try check(text, test.conversationKey, test.nonce, test.plaintextSha256, test.payloadSha256)
    }
  }

  @Test("The length takes the longer form from 65,536 bytes on, as the NIP's own values say")
  func longForm() throws {
    for (count, plaintext, payload) in [
      (
        65_535, "6e1bebca6a8229364a162a72ef064826c4cd7457bf54f190ef782bd9deff3e42",
        "6d8c2810d1e870fbaa1f0a0937126cca837a15f9260e27060c331d70a3c0bc84"
      ),
      (
        65_536, "bf718b6f653bebc184e1479f1935b8da974d701b893afcf49e701f3e2f9f9c5a",
        "b7b4edb36ba92e267d322d56d9aebc22e7fa96ff52e3c12adc07f07a43cbc616"
      ),
      (
        65_537, "008ffc88d3c96a9f307524eb361e47c5222a887fc45fa0c1fb8d429c5c23b430",
        "eeb7c7c5373894ea2c1547cfd3ccb15d5a0b2d619da852e5c79df792dcc9e435"
      ),
    ] {
      try check(
        String(repeating: "a", count: count), "c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d",
        String(repeating: "0", count: 63) + "1", plaintext, payload)
    }
  }

  private func check(
    _ text: String, _ conversationKey: String, _ nonce: String, _ textHash: String, _ payloadHash: String
  ) throws {
    let key = try key(conversationKey)
    let nonce = try #require(Hexadecimal.decode(nonce.utf8))
    let payload = try NIP44.encrypt(Array(text.utf8), with: key, nonce: nonce)
    #expect(SHA256.hex(of: text) == textHash && SHA256.hex(of: payload) == payloadHash)
    let decrypted = try NIP44.decryptText(payload, with: key)
    #expect(decrypted.utf8.elementsEqual(text.utf8))
  }

  @Test("What the vectors call invalid is refused, each for its reason")
  func invalid() throws {
    guard let invalid = vectors?.invalid else { return }
    for test in invalid.getConversationKey {
      guard let secret = SecretKey(hex: test.sec1), let other = PublicKey(test.pub2) else { continue }
      #expect(throws: NIP44Fault.badPublicKey(other), "\(test.note ?? "")") { try ConversationKey(secret, other) }
    }
    for test in invalid.decrypt {
      let key = try key(test.conversationKey)
      let fault: NIP44Fault =
        switch test.note {
        case "unknown encryption version": .unknownVersion(nil)
        case "unknown encryption version 0": .unknownVersion(0)
        case "invalid base64": .notBase64
        case "invalid MAC": .wrongCode
        case "invalid padding": .badPadding
        default: .payloadTooShort(byteCount: test.payload.utf8.count)
        }
      #expect(throws: fault, "\(test.note)") { try NIP44.decrypt(test.payload, with: key) }
    }
  }

  @Test(
    "What is decrypted is what was encrypted, at and around every change of size",
    arguments: [1, 2, 31, 32, 33, 64, 65, 255, 256, 257, 319, 320, 321, 65_535, 65_536, 65_537, 655_360])
  func roundTrip(count: Int) throws {
    let key = ConversationKey(SecretMemory(byteCount: 32) { RandomBytes.fill($0) })
    let plaintext = RandomBytes.make(count)
    let payload = try NIP44.encrypt(plaintext, with: key)
    #expect(try NIP44.decrypt(payload, with: key) == plaintext)
    #expect(try NIP44.encrypt(plaintext, with: key) != payload, "each payload has a nonce of its own")
    let other = ConversationKey(SecretMemory(byteCount: 32) { RandomBytes.fill($0) })
    #expect(throws: NIP44Fault.wrongCode) { try NIP44.decrypt(payload, with: other) }
  }

  @Test("Random texts of random sizes come back", arguments: seeds(4))
  func randomRoundTrip(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    let key = try ConversationKey(.generate(), SecretKey.generate().publicKey)
    for _ in 0..<200 {
      let text = generator.message(1 + generator.below(1 << generator.below(12)))
      #expect(try NIP44.decryptText(NIP44.encrypt(text, with: key), with: key).utf8.elementsEqual(text.utf8))
    }
  }

  @Test("A payload with any one byte changed, in any bit, is refused")
  func changed() throws {
    let key = ConversationKey(SecretMemory(byteCount: 32) { RandomBytes.fill($0) })
    let payload = try NIP44.encrypt("refuse me", with: key)
    var bytes = try #require(Base64.decode(payload))
    for index in bytes.indices {
      for bit in 0..<8 {
        bytes[index] ^= 1 << UInt8(bit)
        #expect(throws: index == 0 ? NIP44Fault.unknownVersion(bytes[0]) : .wrongCode) {
          try NIP44.decrypt(Base64.encode(bytes), with: key)
        }
        bytes[index] ^= 1 << UInt8(bit)
      }
    }
    var letters = Array(payload.utf8)
    for index in letters.indices {
      let letter = letters[index]
      for other in "AQgw+/=-#\u{0}".utf8 where other != letter {
        letters[index] = other
        #expect(throws: NIP44Fault.self) { try NIP44.decrypt(String(decoding: letters, as: UTF8.self), with: key) }
      }
      letters[index] = letter
    }
    for count in 0..<letters.count {
      #expect(throws: NIP44Fault.self) { try NIP44.decrypt(String(payload.prefix(count)), with: key) }
    }
  }

  /// A payload with a right code around whatever padded text.
  private func forge(_ padded: [UInt8], with key: ConversationKey, version: UInt8 = 2) -> String {
    let nonce = RandomBytes.make(32)
    var bytes = [version] + nonce + padded
    nonce.withUnsafeBytes { nonce in
      MessageKeys.derive(from: key, nonce: nonce) { keys in
        bytes.withUnsafeMutableBytes {
          ChaCha20.apply(
            key: keys.cipherKey, nonce: keys.cipherNonce, to: UnsafeMutableRawBufferPointer(rebasing: $0[33...]))
        }
        let hmac = HMACSHA256(key: keys.codeKey)
        bytes.withUnsafeBytes { hmac.update(UnsafeRawBufferPointer(rebasing: $0[1...])) }
        var code = [UInt8](repeating: 0, count: 32)
        code.withUnsafeMutableBytes { hmac.end(into: $0) }
        bytes += code
      }
    }
    return Base64.encode(bytes)
  }

  @Test("A length that does not belong to its padding is refused although the code is right")
  func padding() throws {
    let key = ConversationKey(SecretMemory(byteCount: 32) { RandomBytes.fill($0) })
    let zeros = [UInt8](repeating: 0, count: 32)
    #expect(try NIP44.decrypt(forge([0, 32] + zeros, with: key), with: key) == zeros)
    let bad: [[UInt8]] = [
      [0, 0] + zeros, [0, 33] + zeros, [0xFF, 0xFF] + zeros, [0, 32] + zeros + zeros, [0, 32] + zeros + [0],
      // The longer form for what fits the shorter one, and for far more than there is.
      [0, 0, 0, 0, 0, 32] + zeros, [0, 0, 0, 0, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_536),
      [0, 0, 0xFF, 0xFF, 0xFF, 0xFF] + zeros, [0, 0, 0, 1, 0, 0] + zeros,
    ]
    for padded in bad {
      #expect(throws: NIP44Fault.badPadding) { try NIP44.decrypt(forge(padded, with: key), with: key) }
    }
    #expect(throws: NIP44Fault.unknownVersion(3)) {
      try NIP44.decrypt(forge([0, 32] + zeros, with: key, version: 3), with: key)
    }
    // 132 letters, of which two stand for nothing.
    #expect(throws: NIP44Fault.payloadTooShort(byteCount: 132)) {
      try NIP44.decrypt(Base64.encode([2] + RandomBytes.make(96)), with: key)
    }
    #expect(throws: NIP44Fault.notUTF8) { try NIP44.decryptText(NIP44.encrypt([0xFF], with: key), with: key) }
  }

  @Test("Nothing, and more than an event can hold, is refused before any work")
  func limits() throws {
    let key = ConversationKey(SecretMemory(byteCount: 32) { RandomBytes.fill($0) })
    #expect(throws: NIP44Fault.emptyPlaintext) { try NIP44.encrypt("", with: key) }
    let maximum = NIP44.plaintextByteCountMaximum
    let largest = try NIP44.encrypt([UInt8](repeating: 65, count: maximum), with: key)
    #expect(largest.utf8.count <= NIP44.payloadByteCountMaximum)
    #expect((1 + 32 + 6 + NIP44.paddedByteCount(of: maximum + 1) + 32) / 3 * 4 > NIP44.payloadByteCountMaximum)
    #expect(throws: NIP44Fault.plaintextTooLarge(byteCount: maximum + 1, maximum: maximum)) {
      try NIP44.encrypt([UInt8](repeating: 65, count: maximum + 1), with: key)
    }
    let count = NIP44.payloadByteCountMaximum + 4
    #expect(throws: NIP44Fault.payloadTooLarge(byteCount: count, maximum: count - 4)) {
      try NIP44.decrypt(String(repeating: "A", count: count), with: key)
    }
    #expect(NIP44.paddedByteCount(of: Int(UInt32.max)) == 1 << 32)
  }
}

extension EventGenerator {
  /// Plain text of so many characters, some of them outside ASCII.
  mutating func message(_ count: Int) -> String {
    String((0..<count).map { _ in oneIn(4) ? "é🪶\n\"\\\u{1}\u{2028}𐍈ß水"[below(9)] : "abcdefghij "[below(11)] })
  }
}

extension String {
  fileprivate subscript(_ place: Int) -> Character { self[index(startIndex, offsetBy: place)] }
}
