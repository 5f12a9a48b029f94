public import Cryptography

// A message that a platform cannot read, for devices that registered an X25519 key. All numbers are big-endian.
//
// The message, as bytes; a push contains it as standard base64 in its only field `sealed`:
//
//      0    1  version: 1
//      1   32  ephemeral X25519 public key, of this message only
//     33    n  ciphertext (AES-256-GCM)
//   33+n   16  its tag
//
// key and nonce: HKDF-SHA256, salt = ephemeral public key ‖ device's public key, secret = X25519(ephemeral, device's),
// info = "roost push-relay sealed 1", 44 bytes: the key (32), then the nonce (12). A nonce derived with the key is safe
// here because no key encrypts twice. Additional data: bytes 0 … 32, the version and the ephemeral key.
//
// The plaintext:
//
//      0   16  wake id
//     16    1  realm of the sender: 0 Pubky (Ed25519), 1 Nostr (secp256k1), 255 none: the relay itself
//     17   32  the sender's public key; zeroes for none
//     49   16  the sender's nonce; zeroes for none
//     65    1  t: bytes of the wake type
//     66    t  the wake type, ASCII
//   66+t    2  p: bytes of the payload
//   68+t    p  the payload, as the sender gave it; for a wake for an event of Nostr, JSON: `Wake.sealedPayload`
//          …   zeroes
//
// The zeroes pad the message to 512, 1,024 or 2,048 bytes, or to all that the platform accepts, so that its length
// reveals almost nothing. A reader checks the version, and ignores the zeroes.

/// A wake that only the device can read.
public enum SealedMessage {
  /// The sizes of a message; a longer one uses all the room there is.
  public static let sizes = [512, 1_024, 2_048]
  /// The first byte.
  public static let version: UInt8 = 1
  /// Bytes of a message that contain no data of the wake: version, key, tag.
  public static let overheadByteCount = 1 + Octets32.byteCount + 16

  private static let info = Array("roost push-relay sealed 1".utf8)
  private static let noSender: UInt8 = 255
  private static let headByteCount = 66
  private static let nonceByteCount = 16

  /// The size of a wake's message when there is room for so many bytes; nil when it does not fit.
  public static func byteCount(for wake: Wake, within room: Int) -> Int? {
    let needed = overheadByteCount + headByteCount + wake.type.utf8.count + 2 + wake.sealedPayload.count
    return sizes.first { needed <= $0 && $0 <= room } ?? (needed <= room ? room : nil)
  }

  /// Seals a wake.
  ///
  /// - Parameters:
  ///   - wake: the wake.
  ///   - key: the device's key.
  ///   - room: the maximum size of the message, in bytes.
  ///   - ephemeral: an X25519 secret made for this message and used for no other.
  /// - Returns: nil when it does not fit, or when the device's key allows no shared secret.
  public static func seal(
    _ wake: Wake, to key: Octets32, within room: Int, ephemeral: SecretMemory
  ) -> [UInt8]? {
    guard let byteCount = byteCount(for: wake, within: room),
      let shared = X25519.sharedSecret(ephemeral, with: key)
    else { return nil }
    let own = X25519.publicKey(of: ephemeral)
    let head = [version] + own.bytes
    let plaintext = plaintext(of: wake, byteCount: byteCount - overheadByteCount)
    return withKey(shared, ephemeral: own, device: key) { key, nonce in
      head + AESGCM.seal(plaintext, key: key, nonce: nonce, additional: head)
    }
  }

  /// What a device reads: the wake without its times and its recipient. Nil when the message was not sealed to this
  /// key, or was changed. The relay itself opens no message; this is for tests, and an example for authors of clients.
  public static func opened(_ message: [UInt8], by secret: SecretMemory) -> Content? {
    guard message.count > overheadByteCount + headByteCount, message[0] == version,
      let ephemeral = Octets32(message[1..<33]), let shared = X25519.sharedSecret(secret, with: ephemeral)
    else { return nil }
    let head = Array(message[..<33])
    let device = X25519.publicKey(of: secret)
    let plaintext = withKey(shared, ephemeral: ephemeral, device: device) { key, nonce in
      AESGCM.open(Array(message[33...]), key: key, nonce: nonce, additional: head)
    }
    return plaintext.flatMap(Content.init(reading:))
  }

  private static func plaintext(of wake: Wake, byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    bytes += wake.id
    bytes += wake.sender?.bytes ?? [noSender] + [UInt8](repeating: 0, count: Octets32.byteCount)
    let nonce = wake.nonce.prefix(nonceByteCount)
    bytes += nonce + [UInt8](repeating: 0, count: nonceByteCount - nonce.count)
    bytes.append(UInt8(wake.type.utf8.count))
    bytes += Array(wake.type.utf8)
    let payload = wake.sealedPayload
    bytes += [UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    bytes += payload
    return bytes + [UInt8](repeating: 0, count: byteCount - bytes.count)
  }

  private static func withKey<Value>(
    _ shared: SecretMemory, ephemeral: Octets32, device: Octets32,
    _ body: (UnsafeRawBufferPointer, [UInt8]) -> Value
  ) -> Value {
    let salt = ephemeral.bytes + device.bytes
    let extracted = salt.withUnsafeBytes { salt in
      shared.withBytes { HKDF.extract(salt: salt, keyMaterial: $0) }
    }
    return withWipedBytes(44) { output in
      extracted.withBytes { key in
        info.withUnsafeBytes { info in HKDF.expand(key, info: info, into: output) }
      }
      let bytes = UnsafeRawBufferPointer(output)
      return body(UnsafeRawBufferPointer(rebasing: bytes[..<32]), Array(bytes[32...]))
    }
  }

  /// The contents of a message.
  public struct Content: Hashable, Sendable {
    /// The wake's id.
    public let id: [UInt8]
    /// The sender; nil: the relay itself.
    public let sender: PushOwner?
    /// The sender's nonce.
    public let nonce: [UInt8]
    /// The wake's type.
    public let type: String
    /// The sender's payload; empty for none.
    public let payload: [UInt8]

    init?(reading bytes: [UInt8]) {
      guard bytes.count >= headByteCount + 2 else { return nil }
      id = Array(bytes[..<16])
      sender = bytes[16] == noSender ? nil : PushOwner(bytes: Array(bytes[16..<49]))
      nonce = Array(bytes[49..<65])
      let payloadAt = headByteCount + Int(bytes[65])
      guard payloadAt + 2 <= bytes.count else { return nil }
      type = String(decoding: bytes[headByteCount..<payloadAt], as: UTF8.self)
      let payloadCount = Int(bytes[payloadAt]) << 8 | Int(bytes[payloadAt + 1])
      guard payloadAt + 2 + payloadCount <= bytes.count else { return nil }
      payload = Array(bytes[(payloadAt + 2)..<(payloadAt + 2 + payloadCount)])
    }
  }
}
