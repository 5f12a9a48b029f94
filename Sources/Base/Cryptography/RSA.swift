internal import COpenSSL

/// RSA as far as it needs no secret: signatures of RS256 (RFC 7518).
public enum RSA {
  /// The sizes of modulus that are taken, in bits: fewer are not safe (RFC 7518, 3.3), more cost too much.
  public static let bitCounts = 2_048...8_192

  /// Whether the holder of `publicKeyDER` signed `message` (PKCS #1 v1.5 with SHA-256). False too when those bytes are
  /// no key of RSA, a SubjectPublicKeyInfo with nothing behind it, of 2,048 to 8,192 bits.
  public static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKeyDER: [UInt8]) -> Bool {
    guard let key = key(publicKeyDER) else { return false }
    return key.isValid(signature, of: message, digest: "SHA256")
  }

  /// Whether it is a key of RSA, without parameters, of a size that is taken.
  static func isFit(_ key: LibraryKey) -> Bool {
    EVP_PKEY_is_a(key.pointer, "RSA") == 1 && bitCounts.contains(Int(EVP_PKEY_get_bits(key.pointer)))
  }

  private static func key(_ der: [UInt8]) -> LibraryKey? {
    der.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return nil }
      var end: UnsafePointer<UInt8>? = start
      guard let key = LibraryKey(taking: d2i_PUBKEY(nil, &end, bytes.count)), end == start + bytes.count, isFit(key)
      else { return nil }
      return key
    }
  }
}
