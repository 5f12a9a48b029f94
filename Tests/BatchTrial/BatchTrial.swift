package import BatchVerification

/// Compares verdicts.
package struct BatchTrial {
  package let seed: UInt64
  package private(set) var signatureCount = 0
  package private(set) var batchCount = 0
  package private(set) var validCount = 0
  /// Claims that no call of libsecp256k1 settled.
  package private(set) var provenCount = 0
  /// Claims on which the verdicts differ.
  package private(set) var differenceCount = 0
  /// Batches of true claims that did not hold.
  package private(set) var needlessCount = 0
  private var claims: TrialClaims
  private let verifier = BatchVerifier()

  package init(seed: UInt64) {
    self.seed = seed
    claims = TrialClaims(seed: seed)
  }

  package var isPassed: Bool { differenceCount == 0 && needlessCount == 0 && signatureCount > 0 }

  /// Makes and verifies so many claims.
  package mutating func run(_ count: Int) {
    let end = signatureCount + count
    while signatureCount < end { compare(claims.batch(atMost: end - signatureCount)) }
  }

  /// Verifies one batch both ways.
  package mutating func compare(_ batch: [SignatureClaim]) {
    let verdicts = verifier.verdicts(of: batch)
    let expected = batch.map(\.isValid)
    let trueCount = expected.count { $0 }
    batchCount += 1
    signatureCount += batch.count
    validCount += trueCount
    provenCount += batch.count - verdicts.singleCount
    differenceCount += zip(expected, verdicts.isValid).count { $0 != $1 } + (verdicts.hasDisagreement ? 1 : 0)
    if trueCount == batch.count, verdicts.retriedCount > 0 { needlessCount += 1 }
  }

  /// One line of JSON.
  package var report: String {
    let damages = claims.damages.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\"\($0.key.rawValue)\": \($0.value)" }.joined(separator: ", ")
    return "{\"seed\": \(seed), \"signatures\": \(signatureCount), \"batches\": \(batchCount), "
      + "\"valid\": \(validCount), \"proven\": \(provenCount), \"differences\": \(differenceCount), "
      + "\"needless\": \(needlessCount), "
      + "\"damages\": {\(damages)}}"
  }
}
