/// An integer modulo n, the order of the group of secp256k1. Always less than n. Not in constant time.
struct Scalar: BitwiseCopyable, Sendable {
  private let word0: UInt64
  private let word1: UInt64
  private let word2: UInt64
  private let word3: UInt64

  /// n.
  static var order: Words256 {
    (0xbfd2_5e8c_d036_4141, 0xbaae_dce6_af48_a03b, 0xffff_ffff_ffff_fffe, 0xffff_ffff_ffff_ffff)
  }

  /// The integer of these words; nil if they are n or more.
  init?(_ words: Words256) {
    guard Self.isBelowOrder(words) else { return nil }
    self.init(unchecked: words)
  }

  /// The integer of these words modulo n.
  init(reducing words: Words256) {
    guard !Self.isBelowOrder(words) else {
      self.init(unchecked: words)
      return
    }
    let order = Self.order
    var carry: UInt64 = 1
    self.init(
      unchecked: (
        addCarrying(words.0, ~order.0, &carry), addCarrying(words.1, ~order.1, &carry),
        addCarrying(words.2, ~order.2, &carry), addCarrying(words.3, ~order.3, &carry)
      ))
  }

  private init(unchecked words: Words256) { (word0, word1, word2, word3) = words }

  /// The words, the lowest first.
  @inline(__always) var words: Words256 { (word0, word1, word2, word3) }

  var isZero: Bool { word0 | word1 | word2 | word3 == 0 }

  private static func isBelowOrder(_ words: Words256) -> Bool {
    let order = order
    return (words.3, words.2, words.1, words.0) < (order.3, order.2, order.1, order.0)
  }
}

/// A sum of products of 128 with 256 bits, reduced modulo n once, at its end. Its 448 bits hold 2⁶⁴ products.
struct ScalarSum: BitwiseCopyable, Sendable {
  private typealias Upper = (UInt64, UInt64, UInt64)

  private var low: Words256 = (0, 0, 0, 0)
  private var high: Upper = (0, 0, 0)

  /// Adds `coefficient` · `scalar`.
  @inline(__always)
  mutating func add(_ coefficient: UInt128, times scalar: Scalar) {
    let words = scalar.words
    let lower = UInt64(truncatingIfNeeded: coefficient)
    let upper = UInt64(truncatingIfNeeded: coefficient >> 64)
    var carry: UInt64 = 0
    low.0 = multiplyAdd(lower, words.0, low.0, &carry)
    low.1 = multiplyAdd(lower, words.1, low.1, &carry)
    low.2 = multiplyAdd(lower, words.2, low.2, &carry)
    low.3 = multiplyAdd(lower, words.3, low.3, &carry)
    var above: UInt64 = 0
    high.0 = addCarrying(high.0, carry, &above)
    high.1 = addCarrying(high.1, 0, &above)
    high.2 &+= above
    carry = 0
    low.1 = multiplyAdd(upper, words.0, low.1, &carry)
    low.2 = multiplyAdd(upper, words.1, low.2, &carry)
    low.3 = multiplyAdd(upper, words.2, low.3, &carry)
    high.0 = multiplyAdd(upper, words.3, high.0, &carry)
    above = 0
    high.1 = addCarrying(high.1, carry, &above)
    high.2 &+= above
  }

  /// The sum modulo n.
  func reduced() -> Scalar {
    var sum = self
    while sum.high.0 | sum.high.1 | sum.high.2 != 0 { sum = sum.folded() }
    return Scalar(reducing: sum.low)
  }

  /// The same modulo n with fewer bits: 2²⁵⁶ modulo n is 2¹²⁸ + `d1` · 2⁶⁴ + `d0`.
  private func folded() -> ScalarSum {
    let d0: UInt64 = 0x402d_a173_2fc9_bebf
    let d1: UInt64 = 0x4551_2319_50b7_5fc4
    var sum = ScalarSum()
    var carry: UInt64 = 0
    sum.low.0 = multiplyAdd(d0, high.0, low.0, &carry)
    var word1 = multiplyAdd(d0, high.1, low.1, &carry)
    var word2 = multiplyAdd(d0, high.2, low.2, &carry)
    var above: UInt64 = 0
    var word3 = addCarrying(low.3, carry, &above)
    carry = 0
    word1 = multiplyAdd(d1, high.0, word1, &carry)
    word2 = multiplyAdd(d1, high.1, word2, &carry)
    word3 = multiplyAdd(d1, high.2, word3, &carry)
    // The product so far is below 2¹²⁷ · 2¹⁹², so this does not carry.
    above &+= carry
    carry = 0
    sum.low.1 = word1
    sum.low.2 = addCarrying(word2, high.0, &carry)
    sum.low.3 = addCarrying(word3, high.1, &carry)
    sum.high.0 = addCarrying(above, high.2, &carry)
    sum.high.1 = carry
    return sum
  }
}
