internal import COpenSSL

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
  /// About 200 µs, of which 7 go to libcrypto's key and context, made for each: that is less than keeping them would be
  /// worth. May be called on any thread. What comes in place of a signature is refused without computing: another count
  /// than 64 bytes, an R that is no key either, an S that is not below the group's order.
  public func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == Self.signatureByteCount else { return false }
    let isSound = signature.withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress else { return false }
      return Ed25519Point.isSound(at: address) && Ed25519Point.isScalar(at: address + Octets32.byteCount)
    }
    guard isSound else { return false }
    let pointer = withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) {
      bytes -> OpaquePointer? in
      guard let address = bytes.baseAddress else { return nil }
      octets.write(to: address)
      return EVP_PKEY_new_raw_public_key_ex(
        nil, "ED25519", nil, address.assumingMemoryBound(to: UInt8.self), Octets32.byteCount)
    }
    guard let key = LibraryKey(taking: pointer) else { preconditionFailure("libcrypto takes any 32 bytes for a key") }
    return key.isValid(signature, of: message, digest: nil)
  }
}
