internal import COpenSSL

/// X25519 (RFC 7748): the secrets of two parties, 32 random bytes each, and the secret they share.
public enum X25519 {
  /// Bytes of a secret, a public key and a shared secret.
  public static let byteCount = 32

  /// A new secret.
  public static func generate() -> SecretMemory { SecretMemory(byteCount: byteCount) { RandomBytes.fill($0) } }

  /// The public key of a secret of 32 bytes.
  public static func publicKey(of secret: SecretMemory) -> Octets32 {
    let key = key(of: secret)
    return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
      var count = bytes.count
      guard let address = bytes.baseAddress,
        EVP_PKEY_get_raw_public_key(key.pointer, address.assumingMemoryBound(to: UInt8.self), &count) == 1
      else { preconditionFailure("a secret has a public key") }
      return Octets32(at: address)
    }
  }

  /// The shared secret of a secret of 32 bytes and another's public key; nil if it is zero, because the other side has
  /// sent a point of small order in order to know the result beforehand. It is not a key: derive one with ``HKDF``.
  public static func sharedSecret(_ secret: SecretMemory, with publicKey: Octets32) -> SecretMemory? {
    let other = withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes -> OpaquePointer? in
      guard let address = bytes.baseAddress else { return nil }
      publicKey.write(to: address)
      return EVP_PKEY_new_raw_public_key_ex(
        nil, "X25519", nil, address.assumingMemoryBound(to: UInt8.self), byteCount)
    }
    guard let other = LibraryKey(taking: other) else { preconditionFailure("any 32 bytes are a public key") }
    // libcrypto refuses the zero.
    return key(of: secret).sharedSecret(with: other)
  }

  private static func key(of secret: SecretMemory) -> LibraryKey {
    precondition(secret.byteCount == byteCount, "a secret has 32 bytes")
    let key = secret.withBytes { bytes in
      LibraryKey.secret {
        EVP_PKEY_new_raw_private_key_ex(
          nil, "X25519", nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
      }
    }
    guard let key else { preconditionFailure("any 32 bytes are a secret") }
    return key
  }
}
