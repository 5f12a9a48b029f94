internal import CSodium

/// A public key of Ed25519 (RFC 8032, without context or pre-hash), 32 bytes of which there is one spelling.
///
/// Of the keys that libraries disagree about none is taken: bytes whose y is not below 2^255 - 19, and the eight points
/// of small order. Holding one does not mean that there is a point with this y; where there is none, no signature is
/// valid.
public struct Ed25519PublicKey: Hashable, Sendable {
  /// The 32 bytes.
  public let octets: Octets32

  /// Bytes of a signature: R, and S.
  public static let signatureByteCount = 64

  /// The key of these bytes; nil when they are the second spelling of a key, or a point of small order, for which
  /// anybody can sign.
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
  /// Some 60 µs, half of what libcrypto needs. May be called on any thread. What comes in place of a signature is
  /// refused without computing: another count than 64 bytes, an R that is no key either, an S that is not below the
  /// group's order.
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

  /// Once for the process: libsodium looks what the processor can do.
  private static let isLibraryReady: Bool = {
    precondition(sodium_init() >= 0, "libsodium can always begin")
    return true
  }()
}
