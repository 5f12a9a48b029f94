/// The endomorphism of secp256k1: λ · (x, y) = (β · x, y), with λ³ = 1 modulo n and β³ = 1 modulo p. It turns a product
/// of a point with a scalar of 256 bits into two products with scalars of 128 bits.
///
/// The short vectors (a₁, b₁) and (a₂, b₂) of the lattice of pairs with a + b · λ = 0 modulo n are those of
/// "Guide to Elliptic Curve Cryptography", 3.5, algorithm 3.74; a test holds all constants against their definitions.
enum Endomorphism {
  static var beta: FieldElement {
    FieldElement(0xc139_6c28_7195_01ee, 0x9cf0_4975_12f5_8995, 0x6e64_479e_ac34_34e9, 0x7ae9_6a2b_657c_0710)
  }

  /// An integer with a sign.
  struct Half: Sendable {
    let magnitude: UInt128
    let isNegative: Bool
  }

  /// λ · `point`.
  static func image(of point: CurvePoint) -> CurvePoint { CurvePoint(x: beta * point.x, y: point.y) }

  /// Two integers of at most 128 bits: `scalar` = `first` + `second` · λ modulo n.
  static func split(_ scalar: Scalar) -> (first: Half, second: Half) {
    let words = scalar.words
    // 2³⁸⁴ · b₂ / n and 2³⁸⁴ · −b₁ / n.
    let quotient1 = roundedQuotient(
      words, (0xe893_209a_45db_b031, 0x3daa_8a14_71e8_ca7f, 0xe86c_90e4_9284_eb15, 0x3086_d221_a7d4_6bcd))
    let quotient2 = roundedQuotient(
      words, (0x1571_b4ae_8ac4_7f71, 0x2212_08ac_9df5_06c6, 0x6f54_7fa9_0abf_e4c4, 0xe443_7ed6_010e_8828))
    let a1 = Words192(0xe86c_90e4_9284_eb15, 0x3086_d221_a7d4_6bcd, 0)
    let minusB1 = Words192(0x6f54_7fa9_0abf_e4c3, 0xe443_7ed6_010e_8828, 0)
    let a2 = Words192(0x57c1_108d_9d44_cfd8, 0x14ca_50f7_a8e2_f3f6, 1)
    let b2 = a1
    let first = Words192(words.0, words.1, words.2) - quotient1 * a1 - quotient2 * a2
    let second = quotient1 * minusB1 - quotient2 * b2
    return (first.half, second.half)
  }

  /// `words` · `factor` / 2³⁸⁴, rounded.
  private static func roundedQuotient(_ words: Words256, _ factor: Words256) -> Words192 {
    var product: Words256 = (0, 0, 0, 0)
    // Rows of the schoolbook product; the lowest words are dropped once nothing is added to them.
    for word in [words.0, words.1, words.2, words.3] {
      var carry: UInt64 = 0
      product.0 = multiplyAdd(word, factor.0, product.0, &carry)
      product.1 = multiplyAdd(word, factor.1, product.1, &carry)
      product.2 = multiplyAdd(word, factor.2, product.2, &carry)
      product.3 = multiplyAdd(word, factor.3, product.3, &carry)
      product = (product.1, product.2, product.3, carry)
    }
    // `product` has words 4 to 7 now.
    var carry = product.1 >> 63
    return Words192(addCarrying(product.2, 0, &carry), addCarrying(product.3, 0, &carry), carry)
  }
}

/// An integer modulo 2¹⁹²: room for 128 bits, their sign, and what is subtracted on the way.
private struct Words192 {
  private let word0: UInt64
  private let word1: UInt64
  private let word2: UInt64

  init(_ word0: UInt64, _ word1: UInt64, _ word2: UInt64) {
    self.word0 = word0
    self.word1 = word1
    self.word2 = word2
  }

  static func * (a: Words192, b: Words192) -> Words192 {
    var carry: UInt64 = 0
    let word0 = multiplyAdd(a.word0, b.word0, 0, &carry)
    let cross = multiplyAdd(a.word0, b.word1, 0, &carry)
    let above = a.word0 &* b.word2 &+ carry
    carry = 0
    let word1 = multiplyAdd(a.word1, b.word0, cross, &carry)
    return Words192(word0, word1, above &+ carry &+ a.word1 &* b.word1 &+ a.word2 &* b.word0)
  }

  static func - (a: Words192, b: Words192) -> Words192 {
    var carry: UInt64 = 1
    return Words192(
      addCarrying(a.word0, ~b.word0, &carry), addCarrying(a.word1, ~b.word1, &carry),
      addCarrying(a.word2, ~b.word2, &carry))
  }

  var half: Endomorphism.Half {
    let isNegative = word2 >> 63 != 0
    let value = isNegative ? Words192(0, 0, 0) - self : self
    return Endomorphism.Half(
      magnitude: UInt128(truncatingIfNeeded: value.word1) << 64 | UInt128(truncatingIfNeeded: value.word0),
      isNegative: isNegative)
  }
}
