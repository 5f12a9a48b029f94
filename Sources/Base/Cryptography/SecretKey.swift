internal import COpenSSL
internal import CSecp256k1

/// A secret key of BIP-340, in ``SecretMemory``. It has no description, is not `Codable`, and has no way to leave the
/// process.
public final class SecretKey: Sendable {
  private let keyPair: SecretMemory
  /// The matching public key.
  public let publicKey: PublicKey

  /// Bytes of a secret key.
  public static let byteCount = 32

  /// A new key.
  public static func generate() -> SecretKey {
    while true {
      let secret = SecretMemory(byteCount: byteCount) { RandomBytes.fill($0) }
      // One value in 2^128 is not a key.
      if let key = SecretKey(secret) { return key }
    }
  }

  /// The key of these 32 bytes; nil if they are not a key: zero, or not below the order of the curve.
  public convenience init?(_ secret: SecretMemory) {
    guard secret.byteCount == Self.byteCount else { return nil }
    let key = secret.withBytes { bytes in Self.makePair(bytes) }
    guard let key else { return nil }
    self.init(keyPair: key.pair, publicKey: key.publicKey)
  }

  /// The key of these 32 bytes, which the caller wipes; nil if they are not a key.
  public convenience init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.byteCount, let key = Self.makePair(bytes) else { return nil }
    self.init(keyPair: key.pair, publicKey: key.publicKey)
  }

  private init(keyPair: SecretMemory, publicKey: PublicKey) {
    self.keyPair = keyPair
    self.publicKey = publicKey
  }

  private static func makePair(_ secret: UnsafeRawBufferPointer) -> (pair: SecretMemory, publicKey: PublicKey)? {
    guard let secretAddress = secret.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    var isKey = false
    let pair = SecretMemory(byteCount: MemoryLayout<secp256k1_keypair>.size) { bytes in
      guard let pair = bytes.baseAddress?.assumingMemoryBound(to: secp256k1_keypair.self) else { return }
      isKey = secp256k1_keypair_create(SigningContext.shared, pair, secretAddress) == 1
    }
    guard isKey else { return nil }
    var point = secp256k1_xonly_pubkey()
    let octets = withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes -> Octets32? in
      pair.withBytes { pair in
        guard let pair = pair.baseAddress?.assumingMemoryBound(to: secp256k1_keypair.self), let out = bytes.baseAddress,
          secp256k1_keypair_xonly_pub(Curve.context, &point, nil, pair) == 1,
          secp256k1_xonly_pubkey_serialize(Curve.context, out.assumingMemoryBound(to: UInt8.self), &point) == 1
        else { return nil }
        return Octets32(at: out)
      }
    }
    guard let octets else { return nil }
    return (pair, PublicKey(octets))
  }

  /// The 32 bytes, for code that stores them encrypted.
  public func withSecret<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    let secret = SecretMemory(byteCount: Self.byteCount) { bytes in
      keyPair.withBytes { pair in
        guard let pair = pair.baseAddress?.assumingMemoryBound(to: secp256k1_keypair.self),
          let out = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return }
        precondition(secp256k1_keypair_sec(Curve.context, out, pair) == 1, "a pair has its secret")
      }
    }
    return secret.withBytes(body)
  }

  /// Signs 32 bytes (BIP-340).
  ///
  /// - Parameters:
  ///   - message: the bytes to sign, such as an id.
  ///   - auxiliary: 32 bytes of randomness; fresh ones unless a test vector gives them.
  public func sign(_ message: Octets32, auxiliary: [UInt8]? = nil) -> Signature {
    sign(message.bytes, auxiliary: auxiliary)
  }

  /// Signs a message of any length (BIP-340). Nostr signs ids, which have 32 bytes.
  public func sign(_ message: [UInt8], auxiliary: [UInt8]? = nil) -> Signature {
    var randomness = auxiliary ?? RandomBytes.make(32)
    precondition(randomness.count == 32, "the auxiliary randomness has 32 bytes")
    return withUnsafeTemporaryAllocation(byteCount: Signature.byteCount, alignment: 8) { bytes in
      guard let out = bytes.baseAddress else { preconditionFailure("64 bytes have an address") }
      let isSigned = keyPair.withBytes { pair in
        guard let pair = pair.baseAddress?.assumingMemoryBound(to: secp256k1_keypair.self) else { return false }
        return randomness.withUnsafeMutableBytes { randomness in
          var parameters = secp256k1_schnorrsig_extraparams(
            magic: (0xDA, 0x6F, 0xB3, 0x8C), noncefp: nil, ndata: randomness.baseAddress)
          return secp256k1_schnorrsig_sign_custom(
            SigningContext.shared, out.assumingMemoryBound(to: UInt8.self), message, message.count, pair, &parameters)
            == 1
        }
      }
      precondition(isSigned, "a key signs any message")
      return Signature(at: out)
    }
  }
}

/// The context for signing, blinded once with randomness so that timing and power reveal nothing.
enum SigningContext {
  // @unchecked: randomized before any other code sees it; signing only reads it.
  nonisolated(unsafe) static let shared: OpaquePointer = {
    guard let context = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_NONE)) else {
      preconditionFailure("libsecp256k1 gives no context")
    }
    precondition(secp256k1_context_randomize(context, RandomBytes.make(32)) == 1, "any seed blinds")
    return context
  }()
}
