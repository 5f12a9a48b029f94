internal import CSodium

/// A public key of Ed25519 (RFC 8032, without context or pre-hash): 32 bytes, which have only one encoding.
///
/// It refuses all keys that libraries disagree about: bytes whose y is not below 2^255 - 19, and the eight points of
/// small order. A value does not prove that a point with this y exists; if it does not, no signature is valid.
public struct Ed25519PublicKey: Hashable, Sendable {
  /// The 32 bytes.
  public let octets: Octets32

  /// Bytes of a signature: R, followed by S.
  public static let signatureByteCount = 64

  /// The key of these bytes; nil if they are a second encoding of a key, or a point of small order, for which anyone
  /// can sign.
  public init?(_ octets: Octets32) {
    let isSound = withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { return false }
      octets.write(to: address)
      return Ed25519Point.isSound(at: address)
    }
    guard isSound else { return nil }
    self.octets = octets
  }

  /// Whether the holder of this key signed `message`.
  ///
  /// Some 60 µs, half of what libcrypto needs. May be called on any thread. These are refused without computation: a
  /// count other than 64 bytes, an R that would be refused as a key, an S that is not below the group's order.
  public func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == Self.signatureByteCount, Self.isLibraryReady else { return false }
    return signature.withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress, Ed25519Point.isSound(at: address),
        Ed25519Point.isScalar(at: address + Octets32.byteCount)
      else { return false }
      return withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { key in
        guard let place = key.baseAddress else { return false }
        octets.write(to: place)
        return crypto_sign_ed25519_verify_detached(
          address.assumingMemoryBound(to: UInt8.self), message, UInt64(message.count),
          place.assumingMemoryBound(to: UInt8.self)) == 0
      }
    }
  }

  /// Once per process: libsodium detects the features of the processor.
  private static let isLibraryReady: Bool = {
    precondition(sodium_init() >= 0, "libsodium can always begin")
    return true
  }()
}
