import BatchTrial
@testable import BatchVerification
import Cryptography
import TestSupport
import Testing

/// The vectors of BIP-340 (its repository's test-vectors.csv): all of them by the equation, and those that sign 32
/// bytes, as events do, in batches.
@Suite struct VectorTests {
  private struct Vector {
    let index: String
    let key: PublicKey
    let message: [UInt8]
    let signature: Signature
    let isValid: Bool

    init(_ line: Substring) throws {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
      index = fields[0]
      key = try #require(PublicKey(fields[2]))
      message = try #require(Hexadecimal.decode(fields[4].utf8))
      signature = try #require(Signature(fields[5]))
      isValid = fields[6] == "true"
    }
  }

  private let vectors: [Vector]

  init() throws {
    let path = SharedFolder.repository + "/Tests/Base/BatchVerificationTests/Vectors/bip340.csv"
    let text = String(decoding: try #require(SharedFolder.bytes(ofFile: path)), as: UTF8.self)
    vectors = try text.split(whereSeparator: \.isNewline).dropFirst().map { try Vector($0) }
  }

  @Test("The equation holds for the valid ones of all 19 vectors, and for no other")
  func equation() throws {
    #expect(vectors.count == 19)
    for vector in vectors { #expect(holds(vector) == vector.isValid, "vector \(vector.index)") }
  }

  /// s · G = R + e · P, each side times a coefficient.
  private func holds(_ vector: Vector) -> Bool {
    guard let key = LiftedKey(vector.key), let x = FieldElement(words256(of: vector.signature.point)),
      let nonce = CurvePoint.lift(x: x), let scalar = Scalar(words256(of: vector.signature.scalar))
    else { return false }
    let tag = SHA256.hash(Array("BIP0340/challenge".utf8)).bytes
    let bytes = tag + tag + vector.signature.point.bytes + vector.key.octets.bytes + vector.message
    let coefficient = UInt128.random(in: 1 ... .max)
    var sides = (left: ScalarSum(), right: ScalarSum())
    sides.left.add(coefficient, times: scalar)
    sides.right.add(coefficient, times: Scalar(reducing: words256(of: SHA256.hash(bytes))))
    let (first, second) = Endomorphism.split(sides.right.reduced())
    let image = Endomorphism.image(of: key.point)
    var sum = MultiScalarSum()
    sum.begin(capacity: 3)
    sum.add(nonce, times: coefficient)
    sum.add(first.isNegative ? -key.point : key.point, times: first.magnitude)
    sum.add(second.isNegative ? -image : image, times: second.magnitude)
    guard let expected = GeneratorProduct(octets32(of: sides.left.reduced().words))?.curvePoint else { return false }
    return sum.sum().equals(expected)
  }

  @Test("In a batch the valid ones are accepted and the others refused, alone and all together")
  func batches() throws {
    let authors = (0..<3).map { TrialAuthor(340, $0) }
    let others = (0..<24).map { authors[$0 % 3].claim(SHA256.hash([UInt8($0)]), source: 9) }
    var together = others
    var expected = [Bool](repeating: true, count: others.count)
    var noKeyCount = 0
    let verifier = BatchVerifier()
    for vector in vectors where vector.message.count == Octets32.byteCount {
      guard let key = LiftedKey(vector.key) else {
        #expect(!vector.isValid, "vector \(vector.index)")
        noKeyCount += 1
        continue
      }
      let message = try #require(Octets32(vector.message))
      let claim = SignatureClaim(message: message, signature: vector.signature, key: key, source: 1)
      #expect(verifier.verdicts(of: [claim] + others).isValid == [vector.isValid] + expected.prefix(others.count))
      together.append(claim)
      expected.append(vector.isValid)
    }
    #expect(noKeyCount == 2 && together.count == others.count + 13)
    #expect(verifier.verdicts(of: together).isValid == expected)
  }
}
