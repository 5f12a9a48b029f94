import BatchTrial
@testable import BatchVerification
import Clocks
import Cryptography
import TestSupport
import Testing

/// Sums of products of points with scalars, beside libsecp256k1's product of the generator with the same sum.
@Suite struct PointSumTests {
  /// k · G.
  private struct KnownPoint {
    let integer: OrderInteger
    let point: CurvePoint

    init(_ integer: OrderInteger) throws {
      self.integer = integer
      point = try #require(GeneratorProduct(integer.octets)?.curvePoint)
    }
  }

  private static let forms: [MultiScalarSum.Form?] =
    [nil] + [2, 3, 4, 5].map { .positions(width: $0) } + [2, 3, 5, 6, 7, 8, 9, 11].map { .digits(width: $0) }

  /// The sum in every form is `expected`, and infinity if that is 0.
  private func check(_ terms: [(point: CurvePoint, scalar: UInt128)], _ expected: OrderInteger, _ comment: Comment) {
    var sum = MultiScalarSum()
    for form in Self.forms {
      sum.begin(capacity: terms.count)
      for term in terms { sum.add(term.point, times: term.scalar) }
      let result = sum.sum(form)
      if let point = GeneratorProduct(expected.octets)?.curvePoint {
        #expect(result.equals(point), "\(comment), \(String(describing: form))")
        #expect(!result.equals(-point))
      } else {
        #expect(result.isInfinity, "\(comment), \(String(describing: form))")
      }
    }
  }

  @Test("Both forms give the sum that libsecp256k1 gives, for few and for many points", arguments: seeds(2))
  func sums(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let points = try (0..<40).map { _ in
      let integer = OrderInteger(octets32(of: random.nextWords()))
      return try KnownPoint(integer == OrderInteger(0) ? OrderInteger(1) : integer)
    }
    for count in [0, 1, 2, 3, 7, 20, 60, 300] {
      var terms: [(CurvePoint, UInt128)] = []
      var expected = OrderInteger(0)
      for _ in 0..<count {
        let known = points[Int(random.next() % 40)]
        let scalar: UInt128 =
          switch random.next() % 8 {
          case 0: UInt128(random.next() % 3)
          case 1: .max - UInt128(random.next() % 3)
          default: .random(in: 0 ... .max, using: &random)
          }
        // Every third is the opposite point, so that buckets have equal and opposite points.
        let isOpposite = random.next() % 3 == 0
        terms.append((isOpposite ? -known.point : known.point, scalar))
        let product = known.integer * integer(scalar)
        expected = expected + (isOpposite ? -product : product)
      }
      check(terms, expected, "\(count) points")
    }
  }

  @Test("Equal points, opposite points and sums that are infinity", arguments: [1, 2, 3, 4, 5, 64, 129, 700])
  func equalAndOpposite(count: Int) throws {
    let known = try KnownPoint(OrderInteger(7))
    let scalar = UInt128(1) << 127 + 5
    let equal = (0..<count).map { _ in (known.point, scalar) }
    check(equal, OrderInteger(UInt64(count)) * known.integer * integer(scalar), "\(count) equal points")
    let opposite = (0..<2 * count).map { ($0 % 2 == 0 ? known.point : -known.point, scalar) }
    check(opposite, OrderInteger(0), "\(count) pairs of opposite points")
    check(opposite + [(known.point, 3)], OrderInteger(21), "\(count) pairs and one point more")
  }

  @Test("A multiple by λ is the image of the point, and every point with odd y is lifted to the other")
  func imageAndLift() throws {
    for number in 0..<50 {
      let known = try KnownPoint(OrderInteger(SHA256.hash([UInt8(number)])))
      let lifted = try #require(CurvePoint.lift(x: known.point.x))
      #expect(!lifted.y.isOdd && lifted.x == known.point.x)
      #expect(lifted.y == (known.point.y.isOdd ? (-known.point).y : known.point.y))
      let image = Endomorphism.image(of: known.point)
      #expect(CurvePoint.ySquared(ofX: image.x) == image.y.squared(), "the image is on the curve")
    }
  }

  private func integer(_ scalar: UInt128) -> OrderInteger {
    OrderInteger(octets32(of: (UInt64(truncatingIfNeeded: scalar), UInt64(truncatingIfNeeded: scalar >> 64), 0, 0)))
  }
}

extension GeneratorProduct {
  var curvePoint: CurvePoint? {
    guard let x = FieldElement(words256(of: x)), let y = FieldElement(words256(of: y)) else { return nil }
    return CurvePoint(x: x, y: y)
  }
}
