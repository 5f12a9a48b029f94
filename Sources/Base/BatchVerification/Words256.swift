internal import Cryptography

/// 256 bits as four words, the lowest first.
typealias Words256 = (UInt64, UInt64, UInt64, UInt64)

/// Returns the lower word of `a` · `b` + `sum` + `carry` and leaves the upper one in `carry`. 128 bits always hold it.
@inline(__always)
func multiplyAdd(_ a: UInt64, _ b: UInt64, _ sum: UInt64, _ carry: inout UInt64) -> UInt64 {
  let total =
    UInt128(truncatingIfNeeded: a) &* UInt128(truncatingIfNeeded: b) &+ UInt128(truncatingIfNeeded: sum)
    &+ UInt128(truncatingIfNeeded: carry)
  carry = UInt64(truncatingIfNeeded: total >> 64)
  return UInt64(truncatingIfNeeded: total)
}

/// Returns the lower word of `a` + `b` + `carry` and leaves the upper one, 0 or 1, in `carry`.
@inline(__always)
func addCarrying(_ a: UInt64, _ b: UInt64, _ carry: inout UInt64) -> UInt64 {
  let total = UInt128(truncatingIfNeeded: a) &+ UInt128(truncatingIfNeeded: b) &+ UInt128(truncatingIfNeeded: carry)
  carry = UInt64(truncatingIfNeeded: total >> 64)
  return UInt64(truncatingIfNeeded: total)
}

/// The words of 32 big-endian bytes.
func words256(of octets: Octets32) -> Words256 {
  octets.withUnsafeBytes { bytes in
    (
      UInt64(bigEndian: bytes.load(fromByteOffset: 24, as: UInt64.self)),
      UInt64(bigEndian: bytes.load(fromByteOffset: 16, as: UInt64.self)),
      UInt64(bigEndian: bytes.load(fromByteOffset: 8, as: UInt64.self)),
      UInt64(bigEndian: bytes.load(as: UInt64.self))
    )
  }
}

/// The 32 big-endian bytes of words.
func octets32(of words: Words256) -> Octets32 {
  withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes in
    bytes.storeBytes(of: words.3.bigEndian, as: UInt64.self)
    bytes.storeBytes(of: words.2.bigEndian, toByteOffset: 8, as: UInt64.self)
    bytes.storeBytes(of: words.1.bigEndian, toByteOffset: 16, as: UInt64.self)
    bytes.storeBytes(of: words.0.bigEndian, toByteOffset: 24, as: UInt64.self)
    guard let address = bytes.baseAddress else { preconditionFailure("32 bytes have an address") }
    return Octets32(at: address)
  }
}
