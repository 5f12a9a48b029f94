internal import COpenSSL

/// The operations on NIST's curve P-256 that need no secret: signatures of ES256 (RFC 7518) and points.
public enum P256 {
  /// Bytes of a public key: 4, and the coordinates x and y, big-endian (SEC 1, uncompressed).
  public static let publicKeyByteCount = 65
  /// Bytes of a signature: r and s, big-endian.
  public static let signatureByteCount = 64

  /// Whether the 65 bytes are an uncompressed point of the curve.
  public static func isPublicKey(_ bytes: [UInt8]) -> Bool { key(bytes) != nil }

  /// Whether the holder of `publicKey` signed `message` (ECDSA with SHA-256). Also false for an invalid key, or a
  /// signature that does not have 64 bytes.
  public static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard let der = P256Signature.der(of: signature), let key = key(publicKey) else { return false }
    return key.isValid(der, of: message, digest: "SHA256")
  }

  /// The key of a point; nil if the bytes are not an uncompressed point of the curve.
  static func key(_ bytes: [UInt8]) -> LibraryKey? {
    // libcrypto also reads the hybrid form, which repeats the sign of y; with it one key would have two encodings.
    guard bytes.count == publicKeyByteCount, bytes.first == 4 else { return nil }
    return LibraryKey(taking: roost_p256_public_key(bytes, bytes.count))
  }
}
