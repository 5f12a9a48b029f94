@testable import BatchVerification
import Clocks
import Cryptography
import TestSupport
import Testing

/// The arithmetic modulo p and n, beside Python's integers.
@Suite(
  .enabled(if: PythonPeer.isAvailable, "skipped: no .venv at the repository's root: run Scripts/python-environment.sh"))
struct IntegerTests {
  private let python: PythonIntegers

  init() throws { python = try PythonIntegers() }

  @Test("Sums, differences, products, squares, inverses and roots of field elements are Python's", arguments: seeds(4))
  func field(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var rootCount = 0
    for _ in 0..<500 {
      guard let a = FieldElement(random.nextWords()), let b = FieldElement(random.nextWords()) else { continue }
      let (left, right) = (digits(a.words), digits(b.words))
      #expect(try digits((a + b).words) == python.compute("add", left, right))
      #expect(try digits((a - b).words) == python.compute("subtract", left, right))
      #expect(try digits((-a).words) == python.compute("negate", left))
      #expect(try digits(a.doubled().words) == python.compute("add", left, left))
      #expect(try digits((a * b).words) == python.compute("multiply", left, right))
      #expect(try digits(a.squared().words) == python.compute("square", left))
      #expect(try digits(a.inverted().words) == python.compute("invert", left))
      let root = a.squareRoot()
      #expect(try root.map { digits($0.words) } ?? "none" == python.compute("root", left))
      let roots = FieldPair(first: b, second: a).squareRoots()
      #expect(roots.1.map { digits($0.words) } == root.map { digits($0.words) })
      rootCount += root == nil ? 0 : 1
    }
    #expect((50..<450).contains(rootCount), "about half of all elements are squares")
  }

  @Test("An element is less than p, and p and more is refused")
  func fieldBounds() {
    #expect(FieldElement((0xffff_fffe_ffff_fc2e, .max, .max, .max)) != nil)
    for lowest in [0xffff_fffe_ffff_fc2f, 0xffff_fffe_ffff_fc30, UInt64.max] {
      #expect(FieldElement((lowest, .max, .max, .max)) == nil)
    }
  }

  @Test("Integers are reduced modulo n, and sums of products are, as Python does it", arguments: seeds(4))
  func scalars(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let words = random.nextWords()
      let reduced = try python.compute("reduce", digits(words))
      #expect(digits(Scalar(reducing: words).words) == reduced)
      #expect((Scalar(words) == nil) == (reduced != digits(words)))
      var sum = ScalarSum()
      var numbers: [String] = []
      for _ in 0...random.next() % 20 {
        let coefficient = random.next() % 4 == 0 ? UInt128.max : UInt128.random(in: 0 ... .max, using: &random)
        let scalar = Scalar(reducing: random.nextWords())
        sum.add(coefficient, times: scalar)
        numbers += [digits(coefficient), digits(scalar.words)]
      }
      #expect(try digits(sum.reduced().words) == python.compute("products", numbers))
    }
  }

  @Test("A sum of 100,000 of the largest products is reduced right")
  func largestSum() throws {
    let order = Scalar.order
    let scalar = try #require(Scalar((order.0 - 1, order.1, order.2, order.3)))
    var sum = ScalarSum()
    for _ in 0..<100_000 { sum.add(.max, times: scalar) }
    // −1 · (2¹²⁸ − 1) · 100,000
    let factor = digits(UInt128(100_000))
    let once = try python.compute("products", digits(UInt128.max), digits(scalar.words))
    #expect(try digits(sum.reduced().words) == python.compute("products", factor, once))
  }

  @Test("The endomorphism splits a scalar into two halves of 128 bits that are the scalar again", arguments: seeds(4))
  func endomorphism(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let scalar = Scalar(reducing: random.nextWords())
      let (first, second) = Endomorphism.split(scalar)
      let together = try python.compute(
        "split", digits(first.magnitude), first.isNegative ? "1" : "0", digits(second.magnitude),
        second.isNegative ? "1" : "0")
      #expect(together == digits(scalar.words))
    }
    let beta = try python.compute("beta")
    let square = try python.compute("square", beta)
    #expect([beta, square].contains(digits(Endomorphism.beta.words)), "β is a third root of 1")
  }
}
