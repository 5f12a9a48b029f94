import BatchTrial
@testable import BatchVerification
import Cryptography
import TestSupport
import Testing

/// Sets of signatures that are made to deceive a batch.
@Suite struct ForgeryTests {
  private let authors = (0..<4).map { TrialAuthor(4_869, $0) }

  private func claims(_ count: Int, authorCount: Int = 4, source: (Int) -> Int64 = { _ in 0 }) -> [SignatureClaim] {
    (0..<count).map { index in
      authors[index % authorCount].claim(SHA256.hash([UInt8(index & 255), UInt8(index >> 8)]), source: source(index))
    }
  }

  private func holds(_ claims: [SignatureClaim]) -> Bool {
    var equation = BatchEquation()
    let terms = equation.terms(of: claims)
    return terms.count == claims.count && equation.holds(terms[...])
  }

  /// Coefficients that a forger could count on, of 128 bits at most.
  enum Guess: String, CaseIterable {
    case equal, counted, powersOfTwo, firstIsOne

    func coefficient(_ index: Int) -> OrderInteger {
      switch self {
      case .equal: OrderInteger(1)
      case .counted: OrderInteger(UInt64(index + 1))
      case .powersOfTwo: OrderInteger(1 << UInt64(index % 64))
      case .firstIsOne: index == 0 ? OrderInteger(1) : OrderInteger(SHA256.hash([UInt8(index)]))
      }
    }
  }

  @Test(
    "Forgeries that cancel under coefficients which can be known are refused", arguments: Guess.allCases, [16, 200])
  func cancelling(guess: Guess, count: Int) {
    var forged = claims(count)
    let difference = OrderInteger(SHA256.hash([9]))
    let (first, second) = (guess.coefficient(0), guess.coefficient(5))
    let differences = [(0, second * difference), (5, -(first * difference))]
    for (index, difference) in differences {
      forged[index] = forged[index].with(
        scalar: (OrderInteger(forged[index].signature.scalar) + difference).octets)
    }
    let sum = first * differences[0].1 + second * differences[1].1
    #expect(sum == OrderInteger(0), "under these coefficients the batch would hold")
    #expect(!forged[0].isValid && !forged[5].isValid)
    for _ in 0..<20 { #expect(!holds(forged)) }
    let verdicts = BatchVerifier().verdicts(of: forged)
    #expect(verdicts.isValid.indices.filter { !verdicts.isValid[$0] } == [0, 5])
  }

  @Test("All of a batch forged, so that the sum of all s is right, is refused")
  func allForged() {
    let count = 64
    var forged = claims(count)
    for index in 0..<count {
      let difference = OrderInteger(UInt64(index / 2 + 1))
      forged[index] = forged[index].with(
        scalar: (OrderInteger(forged[index].signature.scalar) + (index % 2 == 0 ? difference : -difference)).octets)
    }
    #expect(!holds(forged))
    #expect(BatchVerifier().verdicts(of: forged).isValid == Array(repeating: false, count: count))
  }

  @Test("A signature with R or P negated is refused", arguments: TrialAuthor.Sign.allCases)
  func negated(sign: TrialAuthor.Sign) {
    var batch = claims(40)
    for index in 3..<20 {
      let nonce = SHA256.hash([1, UInt8(index)])
      batch[index] = authors[index % 4].claim(batch[index].message, nonce: nonce, sign)
      #expect(holds([batch[index]]) == (sign == .right))
      #expect(batch[index].isValid == (sign == .right))
    }
    #expect(holds(batch) == (sign == .right))
    let verdicts = BatchVerifier().verdicts(of: batch)
    #expect(verdicts.isValid == (0..<40).map { sign == .right || !(3..<20).contains($0) })
  }

  @Test("An equation whose two sides are infinity does not hold, and the same with any other s holds")
  func infinity() throws {
    let author = authors[0]
    var equation = BatchEquation()
    let term = try #require(equation.terms(of: claims(1)).first)
    let product = OrderInteger(octets32(of: term.challenge.words)) * author.secret
    for (scalar, isHeld) in [(OrderInteger(0), false), (OrderInteger(5), true)] {
      // R = (s − e · d) · G
      let nonce = try #require(GeneratorProduct((scalar + -product).octets)?.curvePoint)
      let crafted = BatchEquation.Term(
        claim: 0, source: 0, author: 0, nonce: nonce, scalar: try #require(Scalar(words256(of: scalar.octets))),
        challenge: term.challenge)
      #expect(equation.holds([crafted]) == isHeld)
    }
  }

  @Test("The same claim a hundred times is true, and false if it is false")
  func repeated() {
    let claim = claims(1)[0]
    #expect(holds(Array(repeating: claim, count: 100)))
    let forged = claim.with(message: SHA256.hash([1]))
    let verdicts = BatchVerifier().verdicts(of: Array(repeating: forged, count: 30) + claims(30))
    #expect(verdicts.isValid == Array(repeating: false, count: 30) + Array(repeating: true, count: 30))
  }

  @Test("What one source forged leaves the claims of others to one more equation")
  func sources() {
    var batch = claims(200) { Int64($0 % 5) }
    for index in stride(from: 2, to: 200, by: 5) { batch[index] = batch[index].with(message: SHA256.hash([2])) }
    let verdicts = BatchVerifier().verdicts(of: batch)
    #expect(verdicts.isValid == batch.map { $0.source != 2 })
    #expect(verdicts.singleCount == 40 && verdicts.retriedCount == 200)
  }

  @Test("One forgery among many of one source leaves few to be verified one by one", arguments: [0, 100, 255])
  func halves(position: Int) {
    var batch = claims(256)
    batch[position] = batch[position].with(message: SHA256.hash([3]))
    let verdicts = BatchVerifier().verdicts(of: batch)
    #expect(verdicts.isValid == batch.indices.map { $0 != position })
    #expect((1..<2 * BatchVerifier.leastCount).contains(verdicts.singleCount))
  }

  @Test("One accepted claim in 256 is verified again, and a disagreement is reported and ends the batch")
  func audits() {
    var judgedCount = 0
    let watched = BatchVerifier { claim in
      judgedCount += 1
      return claim.isValid
    }
    let batch = claims(1_024)
    for _ in 0..<8 { #expect(!watched.verdicts(of: batch).hasDisagreement) }
    // 8,192 claims: 32 audits are expected, and fewer than 5 or more than 90 come once in 10⁹ runs.
    #expect((5...90).contains(judgedCount))
    let severe = BatchVerifier { _ in false }
    var verdicts = severe.verdicts(of: batch)
    for _ in 0..<40 where !verdicts.hasDisagreement { verdicts = severe.verdicts(of: batch) }
    #expect(verdicts.hasDisagreement)
    #expect(verdicts.isValid == Array(repeating: false, count: 1_024), "what libsecp256k1 refuses is refused")
    // Also in parts that were accepted before the disagreement.
    var parted = claims(1_024) { Int64($0 % 4) }
    parted[3] = parted[3].with(message: SHA256.hash([4]))
    verdicts = severe.verdicts(of: parted)
    for _ in 0..<40 where !verdicts.hasDisagreement { verdicts = severe.verdicts(of: parted) }
    #expect(verdicts.hasDisagreement && !verdicts.isValid.contains(true))
  }

  @Test("The self-test passes")
  func selfTest() { #expect(BatchVerifier.passesSelfTest()) }
}
