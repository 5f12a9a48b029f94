/// A point of secp256k1 in Jacobian coordinates: (x / z², y / z³), and the point at infinity if z is 0. All sums are
/// complete: of equal points, of opposite ones, and with infinity.
///
/// Formulas: add-2007-bl and dbl-2009-l of the Explicit-Formulas Database, in the form for z₂ = 1 where one is affine.
struct ProjectivePoint: Sendable {
  let x: FieldElement
  let y: FieldElement
  let z: FieldElement

  static var infinity: ProjectivePoint { ProjectivePoint(x: .one, y: .one, z: .zero) }

  init(x: FieldElement, y: FieldElement, z: FieldElement) {
    self.x = x
    self.y = y
    self.z = z
  }

  init(_ point: CurvePoint) { self.init(x: point.x, y: point.y, z: .one) }

  @inline(__always) var isInfinity: Bool { z.isZero }

  /// Whether it is this finite point.
  func equals(_ point: CurvePoint) -> Bool {
    if isInfinity { return false }
    let square = z.squared()
    return point.x * square == x && point.y * square * z == y
  }

  func doubled() -> ProjectivePoint {
    if isInfinity { return self }
    let xx = x.squared()
    let yy = y.squared()
    let yyyy = yy.squared()
    let s = ((x + yy).squared() - xx - yyyy).doubled()
    let m = xx.doubled() + xx
    let newX = m.squared() - s.doubled()
    let newY = m * (s - newX) - yyyy.doubled().doubled().doubled()
    return ProjectivePoint(x: newX, y: newY, z: (y * z).doubled())
  }

  static func + (left: ProjectivePoint, right: CurvePoint) -> ProjectivePoint {
    if left.isInfinity { return ProjectivePoint(right) }
    let zz = left.z.squared()
    let h = right.x * zz - left.x
    let r = right.y * zz * left.z - left.y
    if h.isZero { return r.isZero ? left.doubled() : .infinity }
    return sum(x: left.x, y: left.y, h: h, r: r, z: left.z * h)
  }

  static func + (left: ProjectivePoint, right: ProjectivePoint) -> ProjectivePoint {
    if left.isInfinity { return right }
    if right.isInfinity { return left }
    let leftSquare = left.z.squared()
    let rightSquare = right.z.squared()
    let x = left.x * rightSquare
    let y = left.y * rightSquare * right.z
    let h = right.x * leftSquare - x
    let r = right.y * leftSquare * left.z - y
    if h.isZero { return r.isZero ? left.doubled() : .infinity }
    return sum(x: x, y: y, h: h, r: r, z: left.z * right.z * h)
  }

  @inline(__always)
  private static func sum(
    x: FieldElement, y: FieldElement, h: FieldElement, r: FieldElement, z: FieldElement
  ) -> ProjectivePoint {
    let hh = h.squared()
    let hhh = hh * h
    let v = x * hh
    let newX = r.squared() - hhh - v.doubled()
    return ProjectivePoint(x: newX, y: r * (v - newX) - y * hhh, z: z)
  }
}
