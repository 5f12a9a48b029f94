internal import Cryptography

extension BatchVerifier {
  /// Whether batches of fresh signatures hold, and those with a forgery do not; forgeries that cancel each other under
  /// equal coefficients included. It computes both forms of the sum.
  public static func passesSelfTest() -> Bool {
    let secrets = [SecretKey.generate(), SecretKey.generate()]
    let keys = secrets.compactMap { LiftedKey($0.publicKey) }
    guard keys.count == secrets.count else { return false }
    let claims = (0..<128).map { index in
      let message = SHA256.hash([UInt8(index)])
      return SignatureClaim(
        message: message, signature: secrets[index % 2].sign(message), key: keys[index % 2], source: Int64(index % 3))
    }
    // Few claims are summed by positions of bits, many by digits.
    return [16, claims.count].allSatisfy { passes(Array(claims.prefix($0)), otherKey: keys[0]) }
  }

  /// `claims` are true, and the second, fourth and so on are not by `otherKey`.
  private static func passes(_ claims: [SignatureClaim], otherKey: LiftedKey) -> Bool {
    var equation = BatchEquation()
    func holds(_ claims: [SignatureClaim]) -> Bool {
      let terms = equation.terms(of: claims)
      return terms.count == claims.count && equation.holds(terms[...])
    }
    func isRefused(_ change: (inout [SignatureClaim]) -> Void) -> Bool {
      var changed = claims
      change(&changed)
      return !holds(changed)
    }
    guard holds(claims) else { return false }
    guard isRefused({ $0[3] = $0[3].with(message: $0[4].message) }) else { return false }
    guard isRefused({ $0[5] = $0[5].with(key: otherKey) }) else { return false }
    guard isRefused({ $0[6] = $0[6].with(scalar: $0[6].signature.scalar.adding(1)) }) else { return false }
    // Two that cancel under equal coefficients: s + 1 of one, s − 1 of another.
    let forgeTwo: (inout [SignatureClaim]) -> Void = {
      $0[7] = $0[7].with(scalar: $0[7].signature.scalar.adding(1))
      $0[8] = $0[8].with(scalar: $0[8].signature.scalar.adding(-1))
    }
    guard isRefused(forgeTwo) else { return false }
    var forged = claims
    forgeTwo(&forged)
    let verdicts = BatchVerifier().verdicts(of: forged)
    let refused = verdicts.isValid.indices.filter { !verdicts.isValid[$0] }
    return refused == [7, 8] && !verdicts.hasDisagreement
  }
}

extension SignatureClaim {
  fileprivate func with(message: Octets32? = nil, key: LiftedKey? = nil, scalar: Octets32? = nil) -> SignatureClaim {
    SignatureClaim(
      message: message ?? self.message,
      signature: Signature(point: signature.point, scalar: scalar ?? signature.scalar),
      key: key ?? self.key, source: source)
  }
}

extension Octets32 {
  /// The integer of the bytes plus `difference`, without a carry out of the lowest word.
  fileprivate func adding(_ difference: Int64) -> Octets32 {
    let words = words256(of: self)
    return octets32(of: (words.0 &+ UInt64(bitPattern: difference), words.1, words.2, words.3))
  }
}
