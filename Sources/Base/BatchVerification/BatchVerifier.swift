internal import Cryptography

// Many signatures verified together, in plain Swift: 16 take about two thirds of the time that they take one by one,
// 1,024 about a fifth (docs/decisions/0027-batch-verification.md).
//
// libsecp256k1 remains the judge. A refusal never comes from this arithmetic: claims that a batch does not prove are
// verified by libsecp256k1, one by one. An acceptance does come from it, and so
//
//   - the equation fails closed: its left side is a finite point that libsecp256k1 computed (BatchEquation);
//   - of the accepted claims, chosen at random, one in 256 is verified again. If libsecp256k1 refuses it, the caller
//     learns of a disagreement, and stops using batches;
//   - `passesSelfTest` shows at start that a valid batch holds and that forged ones do not.
//
// A batch that does not hold is split by source, so that what one source forged costs the claims of others one more
// equation; those of sources with fewer than `leastCount` are verified one by one. The claims of a source are halved
// while one of the halves holds; otherwise, and below `leastCount`, they are verified one by one.
//
// Nothing here is in constant time. Signatures, public keys and ids are not secret; secret keys do not come here.

/// Verifies BIP-340 signatures in batches. It belongs to one thread at a time.
public final class BatchVerifier {
  /// The fewest claims for which a batch is faster than libsecp256k1 alone: of 4 claims of 4 authors it takes as long,
  /// of 8 it takes four fifths.
  public static let leastCount = 8
  /// Of so many accepted claims one is verified again.
  static let claimsPerAudit = 256

  private var equation = BatchEquation()
  private let judge: (SignatureClaim) -> Bool

  /// A verifier.
  public convenience init() { self.init { $0.isValid } }

  /// A verifier with another judge of single claims.
  init(judge: @escaping (SignatureClaim) -> Bool) { self.judge = judge }

  /// Whether each claim is true.
  public func verdicts(of claims: [SignatureClaim]) -> BatchVerdicts {
    var verdicts = BatchVerdicts(count: claims.count)
    guard claims.count >= Self.leastCount else {
      for index in claims.indices { judge(index, claims, &verdicts) }
      return verdicts
    }
    var terms = equation.terms(of: claims)
    var isTerm = [Bool](repeating: false, count: claims.count)
    for term in terms { isTerm[term.claim] = true }
    for index in claims.indices where !isTerm[index] { judge(index, claims, &verdicts) }
    guard terms.count >= Self.leastCount else {
      for term in terms { judge(term.claim, claims, &verdicts) }
      return verdicts
    }
    if equation.holds(terms[...]) {
      accept(terms[...], claims, &verdicts)
      return verdicts
    }
    verdicts.retriedCount = terms.count
    terms.sort { ($0.source, $0.claim) < ($1.source, $1.claim) }
    let isOneSource = terms.first?.source == terms.last?.source
    var rest = terms[...]
    while !verdicts.hasDisagreement, let source = rest.first?.source {
      let part = rest.prefix { $0.source == source }
      rest = rest[part.endIndex...]
      if !isOneSource, part.count >= Self.leastCount, equation.holds(part) {
        accept(part, claims, &verdicts)
      } else {
        halve(part, claims, &verdicts)
      }
    }
    // What proved a false claim proves none of the others, in whichever part they were.
    if verdicts.hasDisagreement { for index in claims.indices { judge(index, claims, &verdicts) } }
    return verdicts
  }

  /// Settles claims of which at least one is false, or that are too few for a batch.
  private func halve(
    _ terms: ArraySlice<BatchEquation.Term>, _ claims: [SignatureClaim], _ verdicts: inout BatchVerdicts
  ) {
    var rest = terms
    while rest.count >= 2 * Self.leastCount {
      let middle = rest.startIndex + rest.count / 2
      let (first, second) = (rest[..<middle], rest[middle...])
      if equation.holds(first) {
        accept(first, claims, &verdicts)
        rest = second
      } else if equation.holds(second) {
        accept(second, claims, &verdicts)
        rest = first
      } else {
        break
      }
    }
    for term in rest { judge(term.claim, claims, &verdicts) }
  }

  private func judge(_ index: Int, _ claims: [SignatureClaim], _ verdicts: inout BatchVerdicts) {
    verdicts.isValid[index] = judge(claims[index])
    verdicts.singleCount += 1
  }

  private func accept(
    _ terms: ArraySlice<BatchEquation.Term>, _ claims: [SignatureClaim], _ verdicts: inout BatchVerdicts
  ) {
    // A byte is 0 once in `claimsPerAudit` times.
    let audited = zip(terms, RandomBytes.make(terms.count)).filter { $1 == 0 }.map(\.0)
    guard audited.allSatisfy({ judge(claims[$0.claim]) }) else {
      // What proved a false claim proves none of the others.
      verdicts.hasDisagreement = true
      for term in terms { judge(term.claim, claims, &verdicts) }
      return
    }
    for term in terms { verdicts.isValid[term.claim] = true }
  }
}

/// The verdicts on a batch of claims.
public struct BatchVerdicts: Sendable {
  /// Whether each claim is true, in the order of the claims.
  public internal(set) var isValid: [Bool]
  /// Claims that libsecp256k1 verified one by one, audits apart.
  public internal(set) var singleCount = 0
  /// Claims of a batch that did not hold: they were verified again, by themselves or in smaller batches.
  public internal(set) var retriedCount = 0
  /// Whether libsecp256k1 refused a claim that a batch had proved. Then batches must not be used.
  public internal(set) var hasDisagreement = false

  init(count: Int) { isValid = Array(repeating: false, count: count) }
}
