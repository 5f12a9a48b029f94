package import Cryptography

/// An integer modulo n, the order of the group of secp256k1, computed slowly and plainly: by doubling and adding.
package struct OrderInteger: Equatable {
  /// The words, the lowest first; together less than n.
  package private(set) var words: [UInt64]

  /// n.
  package static let order: [UInt64] = [
    0xbfd2_5e8c_d036_4141, 0xbaae_dce6_af48_a03b, 0xffff_ffff_ffff_fffe, 0xffff_ffff_ffff_ffff,
  ]

  package init(_ value: UInt64) { words = [value, 0, 0, 0] }

  /// The big-endian integer of the bytes, modulo n.
  package init(_ octets: Octets32) {
    let bytes = octets.bytes
    words = stride(from: 24, through: 0, by: -8).map { start in
      bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    subtractOrder(after: false)
  }

  /// The 32 big-endian bytes.
  package var octets: Octets32 {
    let bytes = words.reversed().flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    guard let octets = Octets32(bytes) else { preconditionFailure("four words have 32 bytes") }
    return octets
  }

  package static func + (left: OrderInteger, right: OrderInteger) -> OrderInteger {
    var sum = left
    var carry = false
    for index in 0..<4 {
      let (first, over) = sum.words[index].addingReportingOverflow(right.words[index])
      let (second, overAgain) = first.addingReportingOverflow(carry ? 1 : 0)
      sum.words[index] = second
      carry = over || overAgain
    }
    sum.subtractOrder(after: carry)
    return sum
  }

  package static prefix func - (integer: OrderInteger) -> OrderInteger {
    // (n − 1) · integer
    var factor = order
    factor[0] -= 1
    return integer.times(factor)
  }

  package static func * (left: OrderInteger, right: OrderInteger) -> OrderInteger { left.times(right.words) }

  private func times(_ factor: [UInt64]) -> OrderInteger {
    var product = OrderInteger(0)
    for bit in (0..<256).reversed() {
      product = product + product
      if factor[bit / 64] >> UInt64(bit % 64) & 1 == 1 { product = product + self }
    }
    return product
  }

  private mutating func subtractOrder(after carry: Bool) {
    let isBelow = words.reversed().lexicographicallyPrecedes(Self.order.reversed())
    guard carry || !isBelow else { return }
    var borrow = false
    for index in 0..<4 {
      let (first, under) = words[index].subtractingReportingOverflow(Self.order[index])
      let (second, underAgain) = first.subtractingReportingOverflow(borrow ? 1 : 0)
      words[index] = second
      borrow = under || underAgain
    }
  }
}
