internal import COpenSSL

/// A secret key on NIST's curve P-256, in libcrypto's heap for secrets. It signs with ES256, for APNs and VAPID, and
/// derives shared secrets, for Web Push. It has no description and is not `Codable`.
public final class P256SecretKey: Sendable {
  private let key: LibraryKey
  /// The matching public key, 65 bytes: 4, x, y.
  public let publicKey: [UInt8]

  /// A new key.
  public static func generate() -> P256SecretKey {
    guard let key = LibraryKey.secret({ roost_p256_generate() }), let made = P256SecretKey(key) else {
      preconditionFailure("libcrypto makes keys on P-256")
    }
    return made
  }

  /// Reads a key in PEM, as PKCS #8 or SEC 1, up to 8 KiB; nil if it is not a key on this curve, is encrypted, or its
  /// public half does not match the secret.
  public convenience init?(pem: String) {
    var pem = pem
    self.init(pem.withUTF8 { Self.read(UnsafeRawBufferPointer($0)) })
  }

  /// The same for bytes, which the caller wipes.
  public convenience init?(pem: UnsafeRawBufferPointer) { self.init(Self.read(pem)) }

  private init?(_ key: LibraryKey?) {
    guard let key, let publicKey = Self.publicKey(of: key) else { return nil }
    self.key = key
    self.publicKey = publicKey
  }

  private static func read(_ pem: UnsafeRawBufferPointer) -> LibraryKey? {
    KeyText.read(pem, kind: "EC") { isOnCurve($0) && isScalar($0) }
  }

  private static func isOnCurve(_ key: LibraryKey) -> Bool {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { name in
      var count = 0
      return EVP_PKEY_get_group_name(key.pointer, name.baseAddress, name.count, &count) == 1
        && String(decoding: UnsafeRawBufferPointer(name)[..<count], as: UTF8.self) == "prime256v1"
    }
  }

  /// Whether the secret is above zero and below the curve's order. libcrypto would accept a larger one, and compute
  /// with its remainder.
  private static func isScalar(_ key: LibraryKey) -> Bool {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
      preconditionFailure("libcrypto has no memory")
    }
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_PKEY_private_check(context) == 1
  }

  /// The key in PEM, as unencrypted PKCS #8. The caller must keep the text secret.
  public var pem: String { KeyText.write(key) }

  /// Signs with SHA-256 (ES256, RFC 7518): r and s, 64 bytes, different each time.
  public func sign(_ message: [UInt8]) -> [UInt8] {
    guard let der = key.sign(message, digest: "SHA256") else { preconditionFailure("a key signs any message") }
    return P256Signature.raw(of: der)
  }

  /// The x coordinate that this key and another's public key share, 32 bytes (ECDH); nil if `publicKey` is invalid.
  public func sharedSecret(with publicKey: [UInt8]) -> SecretMemory? {
    P256.key(publicKey).flatMap { key.sharedSecret(with: $0) }
  }

  /// Reads the two coordinates separately: the whole point would come in the form that the PEM text had.
  private static func publicKey(of key: LibraryKey) -> [UInt8]? {
    var bytes: [UInt8] = [4]
    for name in [OSSL_PKEY_PARAM_EC_PUB_X, OSSL_PKEY_PARAM_EC_PUB_Y] {
      var number: OpaquePointer?
      guard EVP_PKEY_get_bn_param(key.pointer, name, &number) == 1 else { return nil }
      defer { BN_free(number) }
      var coordinate = [UInt8](repeating: 0, count: 32)
      guard BN_bn2binpad(number, &coordinate, 32) == 32 else { return nil }
      bytes += coordinate
    }
    return bytes
  }
}
