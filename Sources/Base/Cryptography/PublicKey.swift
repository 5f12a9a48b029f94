internal import CSecp256k1

/// A BIP-340 public key, 32 bytes: the x coordinate of a point. A value does not prove that such a point exists; only
/// ``ParsedPublicKey`` does.
public struct PublicKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The 32 bytes.
  public let octets: Octets32

  /// A key of these bytes.
  @inline(__always)
  public init(_ octets: Octets32) { self.octets = octets }

  /// Reads 64 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) {
    guard let octets = Octets32(text) else { return nil }
    self.octets = octets
  }

  /// The 64 lower-case hexadecimal digits.
  public var description: String { octets.description }

  /// The order of the bytes.
  public static func < (left: PublicKey, right: PublicKey) -> Bool { left.octets < right.octets }
}

/// A public key with its computed point: this saves later verifications for the same author a square root, about an
/// eighth of a verification.
public struct ParsedPublicKey: Sendable {
  let point: secp256k1_xonly_pubkey

  /// Computes the point; nil when no point of the curve has this x coordinate.
  public init?(_ key: PublicKey) {
    var point = secp256k1_xonly_pubkey()
    let isOnCurve = withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { return false }
      key.octets.write(to: address)
      return secp256k1_xonly_pubkey_parse(
        Curve.context, &point, address.assumingMemoryBound(to: UInt8.self)) == 1
    }
    guard isOnCurve else { return nil }
    self.point = point
  }
}

enum Curve {
  /// The library's context for verification: read-only, so all threads share it. Signing uses a randomized context of
  /// its own.
  // @unchecked: no code writes to a context without randomization; the library permits threads to share it.
  nonisolated(unsafe) static let context: OpaquePointer = {
    guard let context = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_NONE)) else {
      preconditionFailure("libsecp256k1 gives no context")
    }
    return context
  }()
}
