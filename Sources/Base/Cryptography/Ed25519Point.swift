// Which 32 bytes are taken for a point of edwards25519, before libsodium computes with it.
//
// A point is its y coordinate, 255 bits from the lowest byte on, and a bit for the sign of x. RFC 8032 lets readers
// differ about two kinds of bytes, and readers do: a y that is not reduced modulo p = 2^255 - 19, and the eight points
// whose order divides 8. With a key or an R of the second kind one signature is good for many messages. Neither occurs
// in what an honest signer makes, so both are refused, and everything that libraries disagree about goes with them but
// the cofactor: here, as in libsodium, [S]B = R + [k]A without it.

/// The looks at an encoded point that need no arithmetic.
enum Ed25519Point {
  /// The order of the group, L = 2^252 + 27742317777372353535851937790883648493, lowest word first.
  private static let order: Number = (0x5812_631A_5CF5_D3ED, 0x14DE_F9DE_A2F7_9CD6, 0, 0x1000_0000_0000_0000)

  /// Four words, the lowest first.
  private typealias Number = (UInt64, UInt64, UInt64, UInt64)

  /// Whether the 32 bytes at `address` are one point's only encoding, as far as y says, and that point is not among the
  /// eight of small order. Whether there is such an x is not looked at.
  static func isSound(at address: UnsafeRawPointer) -> Bool {
    var y = number(at: address)
    y.3 &= 0x7FFF_FFFF_FFFF_FFFF
    let isReduced = y.3 < 0x7FFF_FFFF_FFFF_FFFF || y.2 < .max || y.1 < .max || y.0 < 0xFFFF_FFFF_FFFF_FFED
    return isReduced && !isOfSmallOrder(y)
  }

  /// Whether the 32 bytes at `address` are a number below the group's order: another one would be a second signature
  /// for the same message.
  static func isScalar(at address: UnsafeRawPointer) -> Bool {
    let scalar = number(at: address)
    return (scalar.3, scalar.2, scalar.1, scalar.0) < (order.3, order.2, order.1, order.0)
  }

  /// The eight points have five y: 1 (order 1), -1 (order 2), 0 (order 4, twice), and two of order 8, twice each.
  private static func isOfSmallOrder(_ y: Number) -> Bool {
    y == (0, 0, 0, 0) || y == (1, 0, 0, 0) || y == (0xFFFF_FFFF_FFFF_FFEC, .max, .max, 0x7FFF_FFFF_FFFF_FFFF)
      || y == (0xB027_B2C2_8F95_E826, 0xF098_EFF2_89F4_C345, 0x3933_C6D3_05AC_DFD5, 0x05FC_536D_8802_38B1)
      || y == (0x4FD8_4D3D_706A_17C7, 0x0F67_100D_760B_3CBA, 0xC6CC_392C_FA53_202A, 0x7A03_AC92_77FD_C74E)
  }

  private static func number(at address: UnsafeRawPointer) -> Number {
    func word(_ index: Int) -> UInt64 {
      UInt64(littleEndian: address.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    return (word(0), word(1), word(2), word(3))
  }
}
