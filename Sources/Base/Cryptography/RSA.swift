internal import COpenSSL

/// The operations of RSA that need no secret: signatures of RS256 (RFC 7518).
public enum RSA {
  /// The accepted sizes of the modulus, in bits: fewer are not safe (RFC 7518, 3.3), more cost too much.
  public static let bitCounts = 2_048...8_192

  /// Whether the holder of `publicKeyDER` signed `message` (PKCS #1 v1.5 with SHA-256). Also false if those bytes are
  /// not an RSA key of 2,048 to 8,192 bits as SubjectPublicKeyInfo, with nothing after it.
  public static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKeyDER: [UInt8]) -> Bool {
    guard let key = key(publicKeyDER) else { return false }
    return key.isValid(signature, of: message, digest: "SHA256")
  }

  /// Whether it is an RSA key, without parameters, of an accepted size.
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
