// Which 32 bytes are accepted as a point of edwards25519, before libsodium computes with it.
//
// A point is encoded as its y coordinate, 255 bits with the lowest byte first, and one bit for the sign of x. RFC 8032
// permits implementations to differ about two kinds of encodings, and they do differ: a y that is not reduced modulo p
// = 2^255 - 19, and the eight points whose order divides 8. With a key or an R of the second kind, one signature is
// valid for many messages. An honest signer produces neither kind, so both are refused. That removes every difference
// between libraries except the cofactor: here, as in libsodium, [S]B = R + [k]A without it.

/// The checks of an encoded point that need no arithmetic.
enum Ed25519Point {
  /// The order of the group, L = 2^252 + 27742317777372353535851937790883648493, lowest word first.
  private static let order: Number = (0x5812_631A_5CF5_D3ED, 0x14DE_F9DE_A2F7_9CD6, 0, 0x1000_0000_0000_0000)

  /// Four words, the lowest first.
  private typealias Number = (UInt64, UInt64, UInt64, UInt64)

  /// Whether the 32 bytes at `address` are the only encoding of a point, judged by y, and that point is not one of the
  /// eight of small order. Whether a matching x exists is not checked.
  static func isSound(at address: UnsafeRawPointer) -> Bool {
    var y = number(at: address)
    y.3 &= 0x7FFF_FFFF_FFFF_FFFF
    let isReduced = y.3 < 0x7FFF_FFFF_FFFF_FFFF || y.2 < .max || y.1 < .max || y.0 < 0xFFFF_FFFF_FFFF_FFED
    return isReduced && !isOfSmallOrder(y)
  }

  /// Whether the 32 bytes at `address` are a number below the group's order: a larger one would give a second signature
  /// for the same message.
  static func isScalar(at address: UnsafeRawPointer) -> Bool {
    let scalar = number(at: address)
    return (scalar.3, scalar.2, scalar.1, scalar.0) < (order.3, order.2, order.1, order.0)
  }

  /// The eight points have five values of y: 1 (order 1), -1 (order 2), 0 (order 4, two points), and two of order 8,
  /// with two points each.
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
