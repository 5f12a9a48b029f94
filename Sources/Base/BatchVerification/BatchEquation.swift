internal import Cryptography

// The equation of BIP-340, "Batch Verification":
//
//    (Σ aᵢ·sᵢ)·G  =  Σ aᵢ·Rᵢ  +  Σ (aᵢ·eᵢ)·Pᵢ
//
// It holds for valid signatures with any coefficients aᵢ. If one signature is not valid, it holds for one in 2¹²⁸
// choices of the coefficients, so no author of signatures may know them: they are a ChaCha20 stream whose key is a
// hash over the whole batch and 32 fresh random bytes. The hash alone would do, and so would the random bytes alone.
//
// The terms of one author are summed first: Σ (aᵢ·eᵢ) over the author's signatures, modulo n. The endomorphism splits
// that scalar into two of 128 bits, so all scalars have 128 bits.
//
// The left side is computed by libsecp256k1. It is a finite point of the curve, and the right side must be that point:
// the equation fails if either side is the point at infinity.

/// The two sides of the equation, and the memory that they take. It belongs to one thread.
struct BatchEquation: ~Copyable {
  /// A claim whose signature and challenge are read.
  struct Term: Sendable {
    /// Its position among the claims.
    let claim: Int
    let source: Int64
    /// Its author's position among the authors of the batch.
    let author: Int
    /// R.
    let nonce: CurvePoint
    /// s.
    let scalar: Scalar
    /// e.
    let challenge: Scalar
  }

  private let hasher = SHA256()
  private var sum = MultiScalarSum()
  private var authors: [CurvePoint] = []

  /// SHA-256 of "BIP0340/challenge", twice: with it a challenge begins.
  private static let challengeTag: [UInt8] = {
    let tag = SHA256.hash(Array("BIP0340/challenge".utf8)).bytes
    return tag + tag
  }()

  /// Reads claims. Those are left out whose R is no point of the curve, or whose s is not below the order of the group.
  mutating func terms(of claims: [SignatureClaim]) -> [Term] {
    authors.removeAll(keepingCapacity: true)
    var numbers: [Octets32: Int] = [:]
    var terms: [Term] = []
    terms.reserveCapacity(claims.count)
    // R of one claim waits for that of the next, because two are lifted together.
    var waiting: (claim: Int, x: FieldElement, scalar: Scalar)?
    for (index, claim) in claims.enumerated() {
      guard let x = FieldElement(words256(of: claim.signature.point)),
        let scalar = Scalar(words256(of: claim.signature.scalar))
      else { continue }
      guard let before = waiting else {
        waiting = (index, x, scalar)
        continue
      }
      waiting = nil
      let (first, second) = CurvePoint.lift(x: before.x, x)
      if let first { append(before.claim, claims, first, before.scalar, &numbers, to: &terms) }
      if let second { append(index, claims, second, scalar, &numbers, to: &terms) }
    }
    if let last = waiting, let point = CurvePoint.lift(x: last.x) {
      append(last.claim, claims, point, last.scalar, &numbers, to: &terms)
    }
    return terms
  }

  private mutating func append(
    _ index: Int, _ claims: [SignatureClaim], _ nonce: CurvePoint, _ scalar: Scalar, _ numbers: inout [Octets32: Int],
    to terms: inout [Term]
  ) {
    let claim = claims[index]
    let key = claim.key.key.octets
    let author = numbers[key] ?? authors.count
    if author == authors.count {
      numbers[key] = author
      authors.append(claim.key.point)
    }
    terms.append(
      Term(
        claim: index, source: claim.source, author: author, nonce: nonce, scalar: scalar,
        challenge: challenge(of: claim)))
  }

  /// e = SHA-256(tag ‖ tag ‖ R ‖ P ‖ message) modulo n.
  private func challenge(of claim: SignatureClaim) -> Scalar {
    withUnsafeTemporaryAllocation(byteCount: 160, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { preconditionFailure("160 bytes have an address") }
      bytes.copyBytes(from: Self.challengeTag)
      claim.signature.point.write(to: address + 64)
      claim.key.key.octets.write(to: address + 96)
      claim.message.write(to: address + 128)
      return Scalar(reducing: words256(of: hasher.hash(UnsafeRawBufferPointer(bytes))))
    }
  }

  /// Whether the equation holds for terms of the claims that were read last, with coefficients drawn for this call.
  mutating func holds(_ terms: ArraySlice<Term>) -> Bool {
    let coefficients = coefficients(for: terms)
    sum.begin(capacity: terms.count + 2 * min(terms.count, authors.count))
    var left = ScalarSum()
    var byAuthor = [ScalarSum](repeating: ScalarSum(), count: authors.count)
    for (term, coefficient) in zip(terms, coefficients) {
      sum.add(term.nonce, times: coefficient)
      left.add(coefficient, times: term.scalar)
      byAuthor[term.author].add(coefficient, times: term.challenge)
    }
    for (author, challenges) in zip(authors, byAuthor) {
      let scalar = challenges.reduced()
      // An author of other terms, or challenges that are a multiple of n.
      if scalar.isZero { continue }
      let (first, second) = Endomorphism.split(scalar)
      let image = Endomorphism.image(of: author)
      sum.add(first.isNegative ? -author : author, times: first.magnitude)
      sum.add(second.isNegative ? -image : image, times: second.magnitude)
    }
    guard let expected = GeneratorProduct(octets32(of: left.reduced().words)),
      let x = FieldElement(words256(of: expected.x)), let y = FieldElement(words256(of: expected.y))
    else { return false }
    return sum.sum().equals(CurvePoint(x: x, y: y))
  }

  /// A coefficient for each term, never 0.
  private func coefficients(for terms: ArraySlice<Term>) -> [UInt128] {
    hasher.begin()
    RandomBytes.make(Octets32.byteCount).withUnsafeBytes { hasher.update($0) }
    // A challenge is a hash over R, the key and the message, so with s it determines the whole claim.
    for term in terms {
      octets32(of: term.challenge.words).withUnsafeBytes { hasher.update($0) }
      octets32(of: term.scalar.words).withUnsafeBytes { hasher.update($0) }
    }
    let key = hasher.end()
    var stream = [UInt128](repeating: 0, count: terms.count)
    key.withUnsafeBytes { key in
      stream.withUnsafeMutableBytes { bytes in
        [UInt8](repeating: 0, count: ChaCha20.nonceByteCount).withUnsafeBytes { nonce in
          ChaCha20.apply(key: key, nonce: nonce, to: bytes)
        }
      }
    }
    return stream.map { $0 == 0 ? 1 : $0 }
  }
}
