/// A finite point of secp256k1, y² = x³ + 7, as its two coordinates.
struct CurvePoint: BitwiseCopyable, Sendable {
  let x: FieldElement
  let y: FieldElement

  /// A point of these coordinates, which must be on the curve.
  @inline(__always)
  init(x: FieldElement, y: FieldElement) {
    self.x = x
    self.y = y
  }

  /// The opposite point.
  @inline(__always)
  static prefix func - (point: CurvePoint) -> CurvePoint { CurvePoint(x: point.x, y: -point.y) }

  /// x³ + 7, of which y is a square root.
  @inline(__always)
  static func ySquared(ofX x: FieldElement) -> FieldElement { x.squared() * x + FieldElement(7, 0, 0, 0) }

  /// The point with this x and an even y (`lift_x` of BIP-340); nil if no point has it. About 4 µs.
  static func lift(x: FieldElement) -> CurvePoint? { evenPoint(x, ySquared(ofX: x).squareRoot()) }

  /// The same for two, in about 1.4 times the time.
  static func lift(x first: FieldElement, _ second: FieldElement) -> (CurvePoint?, CurvePoint?) {
    let roots = FieldPair(first: ySquared(ofX: first), second: ySquared(ofX: second)).squareRoots()
    return (evenPoint(first, roots.0), evenPoint(second, roots.1))
  }

  private static func evenPoint(_ x: FieldElement, _ y: FieldElement?) -> CurvePoint? {
    y.map { y in CurvePoint(x: x, y: y.isOdd ? -y : y) }
  }
}
