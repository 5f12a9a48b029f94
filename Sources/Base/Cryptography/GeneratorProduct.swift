internal import CSecp256k1

/// A product of the generator G of secp256k1 with a scalar that is not secret, as libsecp256k1 computes it.
public struct GeneratorProduct: Hashable, Sendable {
  /// The x coordinate, big-endian.
  public let x: Octets32
  /// The y coordinate, big-endian.
  public let y: Octets32

  /// `scalar` · G; nil if the product is the point at infinity, or if `scalar`, big-endian, is not less than the order
  /// of the group. About 25 µs; may be called on any thread.
  public init?(_ scalar: Octets32) {
    var point = secp256k1_pubkey()
    let isFinite = scalar.withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress else { return false }
      return secp256k1_ec_pubkey_create(Curve.context, &point, address.assumingMemoryBound(to: UInt8.self)) == 1
    }
    guard isFinite else { return nil }
    self.init(point)
  }

  private init(_ point: secp256k1_pubkey) {
    var byteCount = 65
    (x, y) = withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { preconditionFailure("65 bytes have an address") }
      let isWritten = withUnsafePointer(to: point) { point in
        secp256k1_ec_pubkey_serialize(
          Curve.context, address.assumingMemoryBound(to: UInt8.self), &byteCount, point,
          UInt32(SECP256K1_EC_UNCOMPRESSED)) == 1
      }
      precondition(isWritten && byteCount == 65, "a point has 65 bytes")
      return (Octets32(at: address + 1), Octets32(at: address + 33))
    }
  }
}
