import Cryptography
import DataKeys
import Testing

@Suite struct DataKeyTests {
  private let key = Self.key(1)

  private static func key(_ first: UInt8) -> DataKey {
    (0..<32).map { first &+ UInt8($0) }.withUnsafeBytes { DataKey($0) }
  }

  @Test("What was sealed opens again, and is longer by nonce and tag")
  func roundTrip() {
    for count in [0, 1, 31, 4_096] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let sealed = key.seal(bytes, for: "draft")
      #expect(sealed.count == count + DataKey.sealByteCount)
      #expect(key.open(sealed, for: "draft") == bytes)
    }
    #expect(key.text(key.seal("ünïcode", for: "draft"), for: "draft") == "ünïcode")
  }

  @Test("Another key, another purpose, and a change of any byte open nothing")
  func refusals() {
    let sealed = key.seal(Array("secret".utf8), for: "draft 1")
    #expect(Self.key(2).open(sealed, for: "draft 1") == nil)
    #expect(key.open(sealed, for: "draft 2") == nil)
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 1
      #expect(key.open(changed, for: "draft 1") == nil)
    }
    for count in 0..<sealed.count { #expect(key.open(Array(sealed[..<count]), for: "draft 1") == nil) }
  }

  @Test("The same value is sealed differently each time, and nothing of it is in the sealed bytes")
  func nonces() {
    let text = "a text that is long enough to be recognised"
    let sealed = (0..<50).map { _ in key.seal(text, for: "draft") }
    #expect(Set(sealed).count == 50)
    #expect(!sealed.contains { String(decoding: $0, as: UTF8.self).contains("recognised") })
  }

  @Test("A hash is the same for the same value, purpose and key, and for nothing else")
  func hashes() {
    let value = Array("npub".utf8)
    let hash = key.hash(value, for: "muted")
    #expect(hash.count == 32 && hash == key.hash(value, for: "muted"))
    #expect(hash != key.hash(value, for: "mute"))
    #expect(hash != Self.key(2).hash(value, for: "muted"))
    // No part of the purpose counts as the value.
    #expect(key.hash(Array("dnpub".utf8), for: "mute") != hash)
  }
}
