package import BatchVerification
internal import Clocks
internal import Cryptography

/// What is done to a true claim.
package enum ClaimDamage: String, CaseIterable {
  case messageBit, pointBit, scalarBit, otherKey, otherPoint, otherScalar, randomPoint, pointAboveField, zeroPoint,
    zeroScalar, scalarIsOrder, scalarAboveOrder, negatedScalar, negatedNonce, negatedKey, cancellingPair, repeated
}

/// Makes batches of claims, many of them damaged in every way there is. The same seed makes the same damage.
package struct TrialClaims {
  package let authors: [TrialAuthor]
  package private(set) var damages: [ClaimDamage: Int] = [:]
  private var random: SeededGenerator
  private var messageCount: UInt64 = 0
  private let seed: UInt64
  /// Claims with a wrong sign, which take long to make.
  private let wrongSigns: [ClaimDamage: [SignatureClaim]]

  /// The fewest and the most claims of a batch.
  package static let batchCounts = 1...4_096
  private static let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
  private static let field = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"

  package init(seed: UInt64, authorCount: Int = 512) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    let authors = (0..<authorCount).map { TrialAuthor(seed, $0) }
    self.authors = authors
    func wrong(_ sign: TrialAuthor.Sign) -> [SignatureClaim] {
      (0..<8).map { number in
        let message = SHA256.hash(Array("\(sign) \(number) of \(seed)".utf8))
        let nonce = SHA256.hash(Array("nonce of \(sign) \(number) of \(seed)".utf8))
        return authors[number % authors.count].claim(message, nonce: nonce, sign)
      }
    }
    wrongSigns = [.negatedNonce: wrong(.negatedNonce), .negatedKey: wrong(.negatedKey)]
  }

  /// A batch of at most `maximum` claims: of one author, of few, or of many; of one source or of several; and in one
  /// of two batches some are damaged.
  package mutating func batch(atMost maximum: Int) -> [SignatureClaim] {
    // More batches of few claims than of many.
    let bits = min(Int.random(in: 0...12, using: &random), .random(in: 0...12, using: &random))
    let count = min(maximum, min(Self.batchCounts.upperBound, Int.random(in: 1 << bits...2 << bits, using: &random)))
    let authorCount = [1, 8, authors.count].randomElement(using: &random) ?? 1
    let isEach = authorCount == authors.count
    let sourceCount = Int.random(in: 1...20, using: &random)
    var claims: [SignatureClaim] = []
    claims.reserveCapacity(count)
    for index in 0..<count {
      let author = authors[isEach ? index % authorCount : .random(in: 0..<authorCount, using: &random)]
      claims.append(author.claim(nextMessage(), source: .random(in: 0..<Int64(sourceCount), using: &random)))
    }
    if Bool.random(using: &random) {
      for _ in 0..<Int.random(in: 1...max(1, count / 32), using: &random) { damage(&claims) }
    }
    return claims
  }

  private mutating func nextMessage() -> Octets32 {
    messageCount += 1
    return SHA256.hash(Array("message \(messageCount) of \(seed)".utf8))
  }

  private mutating func damage(_ claims: inout [SignatureClaim]) {
    let damage = ClaimDamage.allCases.randomElement(using: &random) ?? .messageBit
    let index = Int.random(in: claims.indices, using: &random)
    let other = Int.random(in: claims.indices, using: &random)
    let claim = claims[index]
    damages[damage, default: 0] += 1
    switch damage {
    case .messageBit: claims[index] = claim.with(message: flipped(claim.message))
    case .pointBit: claims[index] = claim.with(point: flipped(claim.signature.point))
    case .scalarBit: claims[index] = claim.with(scalar: flipped(claim.signature.scalar))
    case .otherKey: claims[index] = claim.with(key: authors.randomElement(using: &random)?.key)
    case .otherPoint: claims[index] = claim.with(point: claims[other].signature.point)
    case .otherScalar: claims[index] = claim.with(scalar: claims[other].signature.scalar)
    case .randomPoint: claims[index] = claim.with(point: nextMessage())
    case .pointAboveField: claims[index] = claim.with(point: above(Self.field))
    case .zeroPoint: claims[index] = claim.with(point: OrderInteger(0).octets)
    case .zeroScalar: claims[index] = claim.with(scalar: OrderInteger(0).octets)
    case .scalarIsOrder: claims[index] = claim.with(scalar: Octets32(Self.order))
    case .scalarAboveOrder: claims[index] = claim.with(scalar: above(Self.order))
    case .negatedScalar: claims[index] = claim.with(scalar: (-OrderInteger(claim.signature.scalar)).octets)
    case .negatedNonce, .negatedKey:
      guard let wrong = wrongSigns[damage]?.randomElement(using: &random) else { return }
      claims[index] = wrong.with(source: claim.source)
    case .cancellingPair:
      let difference = OrderInteger(nextMessage())
      claims[index] = claim.with(scalar: (OrderInteger(claim.signature.scalar) + difference).octets)
      let second = claims[other]
      claims[other] = second.with(scalar: (OrderInteger(second.signature.scalar) + -difference).octets)
    case .repeated: claims[index] = claims[other]
    }
  }

  private mutating func flipped(_ octets: Octets32) -> Octets32 {
    var bytes = octets.bytes
    bytes[.random(in: 0..<32, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    return Octets32(bytes) ?? octets
  }

  /// The integer, or one a little above it.
  private mutating func above(_ integer: String) -> Octets32? {
    guard var bytes = Octets32(integer)?.bytes else { return nil }
    bytes[31] += .random(in: 0...128, using: &random)
    return Octets32(bytes)
  }
}
