internal import COpenSSL

/// A secret key of RSA, 2,048 to 8,192 bits, in libcrypto's heap for secrets. It signs with RS256, as Google's service
/// accounts do. It has no description and is not `Codable`.
public final class RSASecretKey: Sendable {
  private let key: LibraryKey
  /// The matching public key, as SubjectPublicKeyInfo (RFC 5280).
  public let publicKeyDER: [UInt8]

  /// A new key, which takes a second or so: for tests, since a real key comes from the service that accepts it.
  public static func generate(bitCount: Int = 2_048) -> RSASecretKey {
    precondition(RSA.bitCounts.contains(bitCount), "a key has 2,048 to 8,192 bits")
    guard let key = LibraryKey.secret({ roost_rsa_generate(bitCount) }), let made = RSASecretKey(key) else {
      preconditionFailure("libcrypto makes keys of RSA")
    }
    return made
  }

  /// Reads a key in PEM, as PKCS #8 or PKCS #1, up to 8 KiB; nil if it is not an RSA key, has fewer than 2,048 bits or
  /// more than 8,192, is encrypted, or its public half does not match the secret.
  public convenience init?(pem: String) {
    var pem = pem
    self.init(pem.withUTF8 { Self.read(UnsafeRawBufferPointer($0)) })
  }

  /// The same for bytes, which the caller wipes.
  public convenience init?(pem: UnsafeRawBufferPointer) { self.init(Self.read(pem)) }

  private init?(_ key: LibraryKey?) {
    guard let key else { return nil }
    let count = Int(i2d_PUBKEY(key.pointer, nil))
    guard count > 0 else { return nil }
    self.key = key
    publicKeyDER = [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
      var end = buffer.baseAddress
      count = Int(i2d_PUBKEY(key.pointer, &end))
    }
  }

  private static func read(_ pem: UnsafeRawBufferPointer) -> LibraryKey? {
    KeyText.read(pem, kind: "RSA") { RSA.isFit($0) && hasBoundNumbers($0) }
  }

  /// Whether no number is longer than the modulus. The text sets the length of each number, and with primes longer than
  /// their product a computation would take minutes.
  private static func hasBoundNumbers(_ key: LibraryKey) -> Bool {
    // libcrypto's names of the numbers; the names of the primes are macros that Swift does not import.
    let names = ["e", "d", "rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1"]
    return names.allSatisfy { name in
      var number: OpaquePointer?
      guard EVP_PKEY_get_bn_param(key.pointer, name, &number) == 1 else { return false }
      defer { BN_clear_free(number) }
      return BN_num_bits(number) <= EVP_PKEY_get_bits(key.pointer)
    }
  }

  /// The key in PEM, as unencrypted PKCS #8. The caller must keep the text secret.
  public var pem: String { KeyText.write(key) }

  /// Signs by PKCS #1 v1.5 with SHA-256 (RS256, RFC 7518): as many bytes as the modulus has; deterministic.
  public func sign(_ message: [UInt8]) -> [UInt8] {
    guard let signature = key.sign(message, digest: "SHA256") else { preconditionFailure("a key signs any message") }
    return signature
  }
}
