import Cryptography
import PushDelivery
import Testing

@Suite("Sealed messages")
struct SealedMessageTests {
  let secret = X25519.generate()
  var key: Octets32 { X25519.publicKey(of: secret) }

  @Test("are read by the device and by nobody else, and a changed one by nobody")
  func opened() throws {
    for (sender, payload) in [(owner(5, .nostr), [1, 2, 3] as [UInt8]?), (owner(6), nil), (nil, [])] {
      var told = wake(3, payload: payload)
      told.sender = sender
      let sealed = try #require(SealedMessage.seal(told, to: key, within: 3_000, ephemeral: X25519.generate()))
      let read = try #require(SealedMessage.opened(sealed, by: secret))
      #expect(read.id == told.id && read.sender == sender && read.type == told.type && read.nonce == told.nonce)
      #expect(read.payload == payload ?? [])
      #expect(SealedMessage.opened(sealed, by: X25519.generate()) == nil)
      for place in [0, 1, 32, 33, sealed.count - 1] {
        var changed = sealed
        changed[place] ^= 1
        #expect(SealedMessage.opened(changed, by: secret) == nil)
      }
    }
  }

  @Test("have one of four lengths, whatever is inside")
  func lengths() throws {
    var seen: Set<Int> = []
    for count in stride(from: 0, through: 3_072, by: 7) {
      let sealed = SealedMessage.seal(
        wake(3, payload: [UInt8](repeating: 1, count: count)), to: key, within: 2_991, ephemeral: X25519.generate())
      if let sealed { seen.insert(sealed.count) } else { #expect(count > 2_800) }
    }
    #expect(seen == [512, 1_024, 2_048, 2_991])
  }

  @Test("are all that a push shows")
  func inPush() throws {
    var target = device(7)
    target.sealingKey = key
    let message = try PushMessage(
      of: wake(1, type: "noise_connect", payload: [1]), to: target, as: WakeClasses()["noise_connect"], settings,
      unixMilliseconds: beginning, ephemeral: X25519.generate)
    let text = String(decoding: message.body, as: UTF8.self)
    let all = text + message.headers.map(\.value).joined()
    for word in ["noise_connect", "wake_id", "sender", "payload", "nonce"] { #expect(!all.contains(word)) }
    let sealed = try #require(text.firstMatch(of: #/"sealed":"([^"]+)"}$/#)).output.1
    let bytes = try #require(Base64.decode(sealed))
    #expect(bytes.count == 512 && SealedMessage.opened(bytes, by: secret)?.payload == [1])
  }

  @Test("are as their layout says, with a vector of fixed keys")
  func layout() throws {
    let ephemeral = SecretMemory(byteCount: 32) { $0.initializeMemory(as: UInt8.self, repeating: 3) }
    let sealed = try #require(SealedMessage.seal(wake(3), to: key, within: 600, ephemeral: ephemeral))
    #expect(sealed[0] == 1 && Octets32(sealed[1..<33]) == X25519.publicKey(of: ephemeral) && sealed.count == 512)
    // By hand, from the documentation.
    let shared = try #require(X25519.sharedSecret(secret, with: X25519.publicKey(of: ephemeral)))
    let salt = X25519.publicKey(of: ephemeral).bytes + key.bytes
    var output = [UInt8](repeating: 0, count: 44)
    salt.withUnsafeBytes { salt in
      shared.withBytes { shared in
        HKDF.extract(salt: salt, keyMaterial: shared).withBytes { key in
          Array("roost push-relay sealed 1".utf8).withUnsafeBytes { info in
            output.withUnsafeMutableBytes { HKDF.expand(key, info: info, into: $0) }
          }
        }
      }
    }
    let plaintext = output[..<32].withUnsafeBytes {
      AESGCM.open(Array(sealed[33...]), key: $0, nonce: Array(output[32...]), additional: Array(sealed[..<33]))
    }
    let type = Array("payment_received".utf8)
    let expected = wake(3).id + owner(200).bytes + wake(3).nonce + [UInt8(type.count)] + type + [0, 0]
    #expect(plaintext == expected + [UInt8](repeating: 0, count: 512 - 49 - expected.count))
  }

  @Test("cannot be made for a key that shares no secret")
  func badKey() {
    var target = device(7)
    target.sealingKey = octets(0)
    #expect(throws: PushMessageFault.badKey) {
      try PushMessage(
        of: wake(1), to: target, as: WakeClasses()["x"], settings, unixMilliseconds: beginning,
        ephemeral: X25519.generate)
    }
  }
}
