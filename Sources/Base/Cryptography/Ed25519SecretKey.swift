internal import COpenSSL

/// A secret key of Ed25519 (RFC 8032), in libcrypto's heap for secrets. It has no description and is not `Codable`.
public final class Ed25519SecretKey: Sendable {
  private let key: LibraryKey
  /// The matching public key.
  public let publicKey: Ed25519PublicKey

  /// Bytes of the seed of a key.
  public static let seedByteCount = 32

  /// A new key.
  public static func generate() -> Ed25519SecretKey {
    withWipedBytes(seedByteCount) { seed in
      RandomBytes.fill(seed)
      return Ed25519SecretKey(seed: UnsafeRawBufferPointer(seed))
    }
  }

  /// The key of a seed: any 32 bytes are valid. A value of ``Octets32`` is never wiped; pass a seed that must stay
  /// secret as bytes.
  public convenience init(seed: Octets32) {
    self.init(
      key: withWipedBytes(Self.seedByteCount) { bytes in
        if let address = bytes.baseAddress { seed.write(to: address) }
        return Self.makeKey(UnsafeRawBufferPointer(bytes))
      })
  }

  /// The key of a seed of 32 bytes; the caller wipes them.
  public convenience init(seed: UnsafeRawBufferPointer) { self.init(key: Self.makeKey(seed)) }

  private init(key: LibraryKey) {
    self.key = key
    let octets = withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes -> Octets32? in
      var count = bytes.count
      guard let address = bytes.baseAddress,
        EVP_PKEY_get_raw_public_key(key.pointer, address.assumingMemoryBound(to: UInt8.self), &count) == 1
      else { return nil }
      return Octets32(at: address)
    }
    // Its scalar is a multiple of 8 below 8 L, and not 0: so the point is in the large group, and not the neutral
    // element.
    guard let publicKey = octets.flatMap({ Ed25519PublicKey($0) }) else {
      preconditionFailure("a secret key has a sound public key")
    }
    self.publicKey = publicKey
  }

  private static func makeKey(_ seed: UnsafeRawBufferPointer) -> LibraryKey {
    precondition(seed.count == seedByteCount, "a seed has 32 bytes")
    let key = LibraryKey.secret {
      EVP_PKEY_new_raw_private_key_ex(
        nil, "ED25519", nil, seed.baseAddress?.assumingMemoryBound(to: UInt8.self), seed.count)
    }
    guard let key else { preconditionFailure("any 32 bytes are a seed") }
    return key
  }

  /// The signature of `message`, 64 bytes; deterministic.
  public func sign(_ message: [UInt8]) -> [UInt8] {
    guard let signature = key.sign(message, digest: nil) else { preconditionFailure("a key signs any message") }
    return signature
  }
}
