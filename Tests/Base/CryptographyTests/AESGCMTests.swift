import Clocks
import Cryptography
import TestSupport
import Testing

@Suite struct AESGCMTests {
  private struct Group: Decodable {
    let keySize, ivSize, tagSize: Int
    let tests: [Case]
    struct Case: Decodable {
      let tcId: Int
      let key, iv, aad, msg, ct, tag: Octets
      let result: String
    }
  }

  private func seal(_ plaintext: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) -> [UInt8] {
    key.withUnsafeBytes { AESGCM.seal(plaintext, key: $0, nonce: nonce, additional: data) }
  }

  private func open(_ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) -> [UInt8]? {
    key.withUnsafeBytes { AESGCM.open(sealed, key: $0, nonce: nonce, additional: data) }
  }

  @Test("Known messages are sealed and opened, with both sizes of key")
  func known() {
    let key: Octets = "5b9604fe14eadba931b0ccf34843dab9"
    let nonce: Octets = "028318abc1824029138141a2"
    let message: Octets = "001d0c231287c1182784554ca3a21908"
    let sealed: Octets = "26073cc1d851beff176384dc9896d5ff0a3ea7a5487cb5f7d70fb6c58d038554"
    #expect(seal(message.bytes, key.bytes, nonce.bytes, []) == sealed.bytes)
    #expect(open(sealed.bytes, key.bytes, nonce.bytes, []) == message.bytes)
    // The first case of 256 bits in "The Galois/Counter Mode of Operation": nothing under zeros.
    let zeros = [UInt8](repeating: 0, count: 32)
    let tag: Octets = "530f8afbc74536b9a963b4f1c4cb738b"
    #expect(seal([], zeros, Array(zeros[..<12]), []) == tag.bytes)
    #expect(open(tag.bytes, zeros, Array(zeros[..<12]), []) == [])
  }

  @Test("Every case of Wycheproof with our sizes is sealed and opened, or refused")
  func wycheproof() throws {
    for group in try Wycheproof<Group>.groups("aes_gcm_test.json")
    where group.ivSize == 96 && group.tagSize == 128 && group.keySize != 192 {
      for test in group.tests {
        let sealed = test.ct.bytes + test.tag.bytes
        let opened = open(sealed, test.key.bytes, test.iv.bytes, test.aad.bytes)
        #expect(opened == (test.result == "valid" ? test.msg.bytes : nil), "case \(test.tcId)")
        guard test.result == "valid" else { continue }
        #expect(seal(test.msg.bytes, test.key.bytes, test.iv.bytes, test.aad.bytes) == sealed, "case \(test.tcId)")
      }
    }
  }

  @Test("A change of any part is seen", arguments: seeds(4))
  func changes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
    for keyCount in [16, 32] {
      let key = bytes(keyCount)
      let nonce = bytes(12)
      let data = bytes(Int.random(in: 1...40, using: &random))
      let message = bytes(Int.random(in: 0...100, using: &random))
      let sealed = seal(message, key, nonce, data)
      #expect(sealed.count == message.count + AESGCM.tagByteCount && open(sealed, key, nonce, data) == message)
      func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let bit = Int.random(in: 0..<(8 * bytes.count), using: &random)
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
      }
      #expect(open(changed(sealed), key, nonce, data) == nil)
      #expect(open(sealed, changed(key), nonce, data) == nil)
      #expect(open(sealed, key, changed(nonce), data) == nil)
      #expect(open(sealed, key, nonce, changed(data)) == nil)
      #expect(open(sealed, key, nonce, []) == nil)
      for count in 0..<sealed.count { #expect(open(Array(sealed[..<count]), key, nonce, data) == nil) }
    }
  }
}
