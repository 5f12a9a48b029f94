import Clocks
import Cryptography
import TestSupport
import Testing

@Suite struct WebPushEncryptionTests {
  /// The example of RFC 8291, section 5 and appendix A.
  private enum Example {
    static let plaintext = Array("When I grow up, I want to be a watermelon".utf8)
    static let sender = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    static let receiver = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let receiverPoint =
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let authentication = "BTBZMqHH6r4Tts7J_aSIgg"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let body =
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"
      + "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
  }

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.bytes(text)) }
  private func key(_ text: String) throws -> P256SecretKey { try #require(P256SecretKey(pem: sec1(bytes(text)))) }

  @Test("The example of RFC 8291 is written and opened")
  func example() throws {
    let receiver = try key(Example.receiver)
    let authentication = try bytes(Example.authentication)
    #expect(try receiver.publicKey == bytes(Example.receiverPoint))
    let body = WebPushEncryption.body(
      Example.plaintext, publicKey: receiver.publicKey, authentication: authentication, salt: try bytes(Example.salt),
      serverKey: try key(Example.sender))
    #expect(try body == bytes(Example.body))
    let opened = try WebPushEncryption.opened(bytes(Example.body), by: receiver, authentication: authentication)
    #expect(opened == Example.plaintext)
  }

  @Test("What is written for a subscription its owner opens, and nobody else does", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let receiver = P256SecretKey.generate()
    let authentication = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    for count in [0, 1, Int.random(in: 2...3_992, using: &random), WebPushEncryption.plaintextByteCountMaximum] {
      // With zeros at the end, which are not padding.
      let plaintext = (0..<count).map { $0 < count / 2 ? UInt8.random(in: 0...255, using: &random) : 0 }
      let body = try #require(
        WebPushEncryption.body(plaintext, publicKey: receiver.publicKey, authentication: authentication))
      #expect(body.count == count + 103 && body.count <= 4_096)
      #expect(WebPushEncryption.opened(body, by: receiver, authentication: authentication) == plaintext)
      #expect(WebPushEncryption.opened(body, by: .generate(), authentication: authentication) == nil)
      var other = authentication
      other[Int.random(in: 0..<16, using: &random)] ^= 1
      #expect(WebPushEncryption.opened(body, by: receiver, authentication: other) == nil)
      let again = WebPushEncryption.body(plaintext, publicKey: receiver.publicKey, authentication: authentication)
      #expect(again != body, "each message has a key and a salt of its own")
    }
  }

  @Test("Too much plaintext, a key off the curve and a secret of another length are refused")
  func refused() {
    let key = P256SecretKey.generate()
    let secret = [UInt8](repeating: 7, count: 16)
    let long = [UInt8](repeating: 0, count: 3_994)
    #expect(WebPushEncryption.body(long, publicKey: key.publicKey, authentication: secret) == nil)
    #expect(WebPushEncryption.body([1], publicKey: Array(key.publicKey.dropLast()), authentication: secret) == nil)
    #expect(WebPushEncryption.body([1], publicKey: [5] + key.publicKey.dropFirst(), authentication: secret) == nil)
    #expect(
      WebPushEncryption.body([1], publicKey: [4] + [UInt8](repeating: 1, count: 64), authentication: secret) == nil)
    for count in [0, 15, 17, 32] {
      let other = [UInt8](repeating: 7, count: count)
      #expect(WebPushEncryption.body([1], publicKey: key.publicKey, authentication: other) == nil)
    }
  }

  @Test("A body that is cut off or changed anywhere is not opened")
  func changed() throws {
    let key = P256SecretKey.generate()
    let secret = [UInt8](repeating: 7, count: 16)
    let body = try #require(WebPushEncryption.body([1, 2, 3], publicKey: key.publicKey, authentication: secret))
    #expect(WebPushEncryption.opened(body, by: key, authentication: secret) == [1, 2, 3])
    #expect(WebPushEncryption.opened(body, by: key, authentication: []) == nil)
    for count in 0..<body.count {
      #expect(WebPushEncryption.opened(Array(body[..<count]), by: key, authentication: secret) == nil)
    }
    // The record's size is not authenticated: only a smaller one than the record is seen.
    for place in 0..<body.count where !(16..<20).contains(place) {
      var other = body
      other[place] ^= 1
      #expect(WebPushEncryption.opened(other, by: key, authentication: secret) == nil, "\(place)")
    }
    var small = body
    small.replaceSubrange(16..<20, with: [0, 0, 0, 19])
    #expect(WebPushEncryption.opened(small, by: key, authentication: secret) == nil)
    small[19] = 20
    #expect(WebPushEncryption.opened(small, by: key, authentication: secret) == [1, 2, 3])
  }
}
