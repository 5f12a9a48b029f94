/// An integer modulo p = 2²⁵⁶ − 2³² − 977, the field of the coordinates of secp256k1. It is always less than p, so
/// equal elements have equal words.
///
/// Not in constant time: it branches on values. No secret may enter it.
struct FieldElement: BitwiseCopyable, Sendable {
  private let word0: UInt64
  private let word1: UInt64
  private let word2: UInt64
  private let word3: UInt64

  @inline(__always) static var zero: FieldElement { FieldElement(0, 0, 0, 0) }
  @inline(__always) static var one: FieldElement { FieldElement(1, 0, 0, 0) }

  /// 2²⁵⁶ modulo p: the value of a carry out of the highest word.
  @inline(__always) private static var fold: UInt64 { 0x1_0000_03d1 }
  /// The lowest word of p. The other three have all bits set.
  @inline(__always) private static var lowestOfModulus: UInt64 { 0xffff_fffe_ffff_fc2f }

  /// An element of these words, the lowest first; together they must be less than p.
  @inline(__always)
  init(_ word0: UInt64, _ word1: UInt64, _ word2: UInt64, _ word3: UInt64) {
    self.word0 = word0
    self.word1 = word1
    self.word2 = word2
    self.word3 = word3
  }

  /// An element of these words; nil if they are p or more.
  init?(_ words: Words256) {
    self.init(words.0, words.1, words.2, words.3)
    if word3 == .max, word2 == .max, word1 == .max, word0 >= Self.lowestOfModulus { return nil }
  }

  /// The words, the lowest first.
  var words: Words256 { (word0, word1, word2, word3) }

  @inline(__always) var isZero: Bool { word0 | word1 | word2 | word3 == 0 }
  @inline(__always) var isOdd: Bool { word0 & 1 != 0 }

  @inline(__always)
  static func == (left: FieldElement, right: FieldElement) -> Bool {
    (left.word0 ^ right.word0) | (left.word1 ^ right.word1) | (left.word2 ^ right.word2) | (left.word3 ^ right.word3)
      == 0
  }

  // MARK: Sums

  @inline(__always)
  static func + (left: FieldElement, right: FieldElement) -> FieldElement {
    var carry: UInt64 = 0
    let word0 = addCarrying(left.word0, right.word0, &carry)
    let word1 = addCarrying(left.word1, right.word1, &carry)
    let word2 = addCarrying(left.word2, right.word2, &carry)
    let word3 = addCarrying(left.word3, right.word3, &carry)
    // Both are less than p, so their sum folds once at most, and does not carry again.
    let folded = (0 &- carry) & fold
    carry = 0
    return FieldElement(
      addCarrying(word0, folded, &carry), addCarrying(word1, 0, &carry), addCarrying(word2, 0, &carry),
      addCarrying(word3, 0, &carry)
    ).reducedOnce()
  }

  @inline(__always)
  static func - (left: FieldElement, right: FieldElement) -> FieldElement {
    let (low, borrow) = left.low.subtractingReportingOverflow(right.low)
    let (upper, borrowUpper) = left.high.subtractingReportingOverflow(right.high)
    let (high, borrowHigh) = upper.subtractingReportingOverflow(borrow ? 1 : 0)
    // Adding p is the same as subtracting 2²⁵⁶ − p.
    let folded = borrowUpper || borrowHigh ? UInt128(truncatingIfNeeded: fold) : 0
    let (lowest, borrowLow) = low.subtractingReportingOverflow(folded)
    return FieldElement(low: lowest, high: high &- (borrowLow ? 1 : 0))
  }

  @inline(__always)
  static prefix func - (element: FieldElement) -> FieldElement { zero - element }

  @inline(__always)
  func doubled() -> FieldElement { self + self }

  // MARK: Products

  @inline(__always)
  static func * (a: FieldElement, b: FieldElement) -> FieldElement {
    var carry: UInt64 = 0
    let r0 = multiplyAdd(a.word0, b.word0, 0, &carry)
    var r1 = multiplyAdd(a.word0, b.word1, 0, &carry)
    var r2 = multiplyAdd(a.word0, b.word2, 0, &carry)
    var r3 = multiplyAdd(a.word0, b.word3, 0, &carry)
    var r4 = carry
    carry = 0
    r1 = multiplyAdd(a.word1, b.word0, r1, &carry)
    r2 = multiplyAdd(a.word1, b.word1, r2, &carry)
    r3 = multiplyAdd(a.word1, b.word2, r3, &carry)
    r4 = multiplyAdd(a.word1, b.word3, r4, &carry)
    var r5 = carry
    carry = 0
    r2 = multiplyAdd(a.word2, b.word0, r2, &carry)
    r3 = multiplyAdd(a.word2, b.word1, r3, &carry)
    r4 = multiplyAdd(a.word2, b.word2, r4, &carry)
    r5 = multiplyAdd(a.word2, b.word3, r5, &carry)
    var r6 = carry
    carry = 0
    r3 = multiplyAdd(a.word3, b.word0, r3, &carry)
    r4 = multiplyAdd(a.word3, b.word1, r4, &carry)
    r5 = multiplyAdd(a.word3, b.word2, r5, &carry)
    r6 = multiplyAdd(a.word3, b.word3, r6, &carry)
    return reduce((r0, r1, r2, r3), (r4, r5, r6, carry))
  }

  @inline(__always)
  func squared() -> FieldElement {
    // The products of different words, which count twice.
    var carry: UInt64 = 0
    var r1 = multiplyAdd(word0, word1, 0, &carry)
    var r2 = multiplyAdd(word0, word2, 0, &carry)
    var r3 = multiplyAdd(word0, word3, 0, &carry)
    var r4 = carry
    carry = 0
    r3 = multiplyAdd(word1, word2, r3, &carry)
    r4 = multiplyAdd(word1, word3, r4, &carry)
    var r5 = carry
    carry = 0
    r5 = multiplyAdd(word2, word3, r5, &carry)
    var r6 = carry
    let r7 = r6 >> 63
    r6 = r6 << 1 | r5 >> 63
    r5 = r5 << 1 | r4 >> 63
    r4 = r4 << 1 | r3 >> 63
    r3 = r3 << 1 | r2 >> 63
    r2 = r2 << 1 | r1 >> 63
    r1 <<= 1
    // The squares of the words.
    carry = 0
    let r0 = multiplyAdd(word0, word0, 0, &carry)
    r1 = addCarrying(r1, 0, &carry)
    r2 = multiplyAdd(word1, word1, r2, &carry)
    r3 = addCarrying(r3, 0, &carry)
    r4 = multiplyAdd(word2, word2, r4, &carry)
    r5 = addCarrying(r5, 0, &carry)
    r6 = multiplyAdd(word3, word3, r6, &carry)
    return Self.reduce((r0, r1, r2, r3), (r4, r5, r6, r7 &+ carry))
  }

  /// `low` + 2²⁵⁶ · `high` modulo p, for any words.
  @inline(__always)
  private static func reduce(_ low: Words256, _ high: Words256) -> FieldElement {
    var carry: UInt64 = 0
    let word0 = multiplyAdd(high.0, fold, low.0, &carry)
    let word1 = multiplyAdd(high.1, fold, low.1, &carry)
    let word2 = multiplyAdd(high.2, fold, low.2, &carry)
    let word3 = multiplyAdd(high.3, fold, low.3, &carry)
    // The carry is less than 2³⁴, so its product with `fold` is less than 2⁶⁷.
    var second: UInt64 = 0
    let sum = FieldElement(
      multiplyAdd(carry, fold, word0, &second), addCarrying(word1, 0, &second), addCarrying(word2, 0, &second),
      addCarrying(word3, 0, &second))
    // With a second carry less than 2⁶⁷ is left, so a third cannot come.
    if _slowPath(second != 0) { return sum.foldingCarry() }
    return sum.reducedOnce()
  }

  @inline(never)
  private func foldingCarry() -> FieldElement {
    var carry: UInt64 = 0
    return FieldElement(
      addCarrying(word0, Self.fold, &carry), addCarrying(word1, 0, &carry), addCarrying(word2, 0, &carry),
      addCarrying(word3, 0, &carry))
  }

  /// The same modulo p, less than p. `self` may be anything below 2²⁵⁶.
  @inline(__always)
  private func reducedOnce() -> FieldElement {
    if _slowPath(word3 == .max), word2 == .max, word1 == .max, word0 >= Self.lowestOfModulus {
      return FieldElement(word0 &+ Self.fold, 0, 0, 0)
    }
    return self
  }

  @inline(__always)
  private init(low: UInt128, high: UInt128) {
    self.init(
      UInt64(truncatingIfNeeded: low), UInt64(truncatingIfNeeded: low >> 64), UInt64(truncatingIfNeeded: high),
      UInt64(truncatingIfNeeded: high >> 64))
  }

  @inline(__always)
  private var low: UInt128 { UInt128(truncatingIfNeeded: word1) << 64 | UInt128(truncatingIfNeeded: word0) }
  @inline(__always)
  private var high: UInt128 { UInt128(truncatingIfNeeded: word3) << 64 | UInt128(truncatingIfNeeded: word2) }
}
