internal import Cryptography
internal import PushDelivery

// Encrypted content of the file: AES-256-GCM with a random nonce (NIST SP 800-38D), bound to its place, so that a row's
// bytes do not open after they were moved into another row.
//
//     version 1 (1 byte) | nonce (12) | ciphertext | tag (16)
//
// A key may be used with 2^32 random nonces; a registration uses one.

/// Bytes that are encrypted for one place.
enum SealedBox {
  private static let version: UInt8 = 1

  static func seal(_ plaintext: [UInt8], key: SecretMemory, place: [UInt8]) -> [UInt8] {
    let nonce = RandomBytes.make(AESGCM.nonceByteCount)
    return key.withBytes { key in
      [version] + nonce + AESGCM.seal(plaintext, key: key, nonce: nonce, additional: [version] + place)
    }
  }

  /// Nil for another key, another place, or changed bytes.
  static func open(_ sealed: [UInt8], key: SecretMemory, place: [UInt8]) -> [UInt8]? {
    let start = 1 + AESGCM.nonceByteCount
    guard sealed.count >= start + AESGCM.tagByteCount, sealed[0] == version else { return nil }
    return key.withBytes { key in
      AESGCM.open(
        Array(sealed[start...]), key: key, nonce: Array(sealed[1..<start]), additional: [version] + place)
    }
  }

  /// The place of a device's token. The owner has 33 bytes and the platform one, so the name between them is
  /// unambiguous.
  static func place(owner: PushOwner, deviceID: String, platform: PushPlatform) -> [UInt8] {
    owner.bytes + Array(deviceID.utf8) + [platform.number]
  }
}

/// Tokens as bytes: those of APNs and FCM unchanged; of Web Push the key (65), the secret (16), and the endpoint.
extension PushToken {
  private static let publicKeyByteCount = 65
  private static let secretByteCount = 16

  var bytes: [UInt8] {
    switch self {
    case .apple(let token): token
    case .google(let token): Array(token.utf8)
    case .web(let endpoint, let publicKey, let authentication): publicKey + authentication + Array(endpoint.utf8)
    }
  }

  /// The reverse; nil for invalid bytes.
  init?(bytes: [UInt8], platform: PushPlatform) {
    switch platform {
    case .ios: self = .apple(bytes)
    case .android:
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self = .google(text)
    case .webPush:
      let start = Self.publicKeyByteCount + Self.secretByteCount
      guard bytes.count > start, let endpoint = String(validating: bytes[start...], as: UTF8.self) else { return nil }
      self = .web(
        endpoint: endpoint, publicKey: Array(bytes[..<Self.publicKeyByteCount]),
        authentication: Array(bytes[Self.publicKeyByteCount..<start]))
    }
  }
}

extension PushPlatform {
  init?(number: Int64) {
    guard let platform = Self.allCases.first(where: { Int64($0.number) == number }) else { return nil }
    self = platform
  }
}
