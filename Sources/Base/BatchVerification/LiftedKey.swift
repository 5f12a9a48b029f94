public import Cryptography

/// An author's public key with its point, for single verifications by libsecp256k1 and for batches.
public struct LiftedKey: Sendable {
  /// The key.
  public let key: PublicKey
  /// The point as libsecp256k1 keeps it.
  public let parsed: ParsedPublicKey
  let point: CurvePoint

  /// Computes the point; nil if no point of the curve has this x coordinate. Takes two square roots.
  public init?(_ key: PublicKey) {
    guard let parsed = ParsedPublicKey(key), let x = FieldElement(words256(of: key.octets)),
      let point = CurvePoint.lift(x: x)
    else { return nil }
    self.key = key
    self.parsed = parsed
    self.point = point
  }
}
