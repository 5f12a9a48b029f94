internal import CSecp256k1

/// A public key of 33 bytes: the sign of y, and x, as bitcoin and lightning write keys. A value does not prove that
/// such a point exists.
public struct CompressedPublicKey: Hashable, Sendable, CustomStringConvertible {
  /// 2 or 3.
  public let prefix: UInt8
  /// The x coordinate.
  public let x: Octets32

  /// Bytes of a key.
  public static let byteCount = 33

  /// Takes exactly 33 bytes, of which the first is 2 or 3; nil for anything else.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount, let prefix = bytes.first, prefix == 2 || prefix == 3,
      let x = Octets32(bytes.dropFirst())
    else { return nil }
    self.prefix = prefix
    self.x = x
  }

  /// The 33 bytes.
  public var bytes: [UInt8] { [prefix] + x.bytes }

  /// 66 lower-case hexadecimal digits.
  public var description: String { Hexadecimal.text(of: bytes) }
}

/// An ECDSA signature of 64 bytes, r and s, and a number that says which of up to four keys made it, as in lightning's
/// invoices.
public struct RecoverableSignature: Hashable, Sendable {
  private let compact: [UInt8]
  private let recovery: UInt8

  /// Bytes of a signature.
  public static let byteCount = 65

  /// Takes r, s and the number, 0 to 3; nil for anything else.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount, let recovery = Array(bytes).last, recovery < 4 else { return nil }
    compact = Array(bytes.prefix(64))
    self.recovery = recovery
  }

  /// The 65 bytes: r, s and the number.
  public var bytes: [UInt8] { compact + [recovery] }

  /// The key that made the signature of this digest; nil if no key can have made it.
  ///
  /// Accepts high and low s. About 50 µs; may be called on any thread.
  public func key(signing digest: Octets32) -> CompressedPublicKey? {
    var signature = secp256k1_ecdsa_recoverable_signature()
    guard
      secp256k1_ecdsa_recoverable_signature_parse_compact(Curve.context, &signature, compact, CInt(recovery)) == 1
    else { return nil }
    var point = secp256k1_pubkey()
    guard secp256k1_ecdsa_recover(Curve.context, &point, &signature, digest.bytes) == 1 else { return nil }
    return CompressedPublicKey(point)
  }

  /// Whether the holder of `key` signed this digest, with the lower of the two possible s. False for the higher s, and
  /// for a key that is not a point. About 40 µs; may be called on any thread.
  public func isValid(for digest: Octets32, by key: CompressedPublicKey) -> Bool {
    var signature = secp256k1_ecdsa_signature()
    var point = secp256k1_pubkey()
    let keyBytes = key.bytes
    guard secp256k1_ecdsa_signature_parse_compact(Curve.context, &signature, compact) == 1,
      secp256k1_ec_pubkey_parse(Curve.context, &point, keyBytes, keyBytes.count) == 1
    else { return false }
    return secp256k1_ecdsa_verify(Curve.context, &signature, digest.bytes, &point) == 1
  }
}

extension SecretKey {
  /// The public key in its longer form: ECDSA signatures depend on its sign.
  public var compressedPublicKey: CompressedPublicKey {
    var point = secp256k1_pubkey()
    let isMade = withSecret { secret in
      guard let scalar = secret.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
      return secp256k1_ec_pubkey_create(SigningContext.shared, &point, scalar) == 1
    }
    precondition(isMade, "a secret key has a public one")
    return CompressedPublicKey(point)
  }

  /// Signs a digest with ECDSA, deterministically (RFC 6979), with the lower of the two possible s.
  public func signRecoverably(_ digest: Octets32) -> RecoverableSignature {
    var signature = secp256k1_ecdsa_recoverable_signature()
    let isSigned = withSecret { secret in
      guard let scalar = secret.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
      return secp256k1_ecdsa_sign_recoverable(SigningContext.shared, &signature, digest.bytes, scalar, nil, nil) == 1
    }
    precondition(isSigned, "a key signs any digest")
    var compact = [UInt8](repeating: 0, count: 64)
    var recovery: CInt = 0
    let isWritten = secp256k1_ecdsa_recoverable_signature_serialize_compact(
      Curve.context, &compact, &recovery, &signature)
    guard isWritten == 1, let value = RecoverableSignature(compact + [UInt8(recovery)]) else {
      preconditionFailure("a signature is always written")
    }
    return value
  }
}

extension CompressedPublicKey {
  init(_ point: secp256k1_pubkey) {
    var point = point
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    var count = bytes.count
    let isWritten = secp256k1_ec_pubkey_serialize(
      Curve.context, &bytes, &count, &point, UInt32(SECP256K1_EC_COMPRESSED))
    guard isWritten == 1, let key = CompressedPublicKey(bytes) else { preconditionFailure("a key is always written") }
    self = key
  }
}
