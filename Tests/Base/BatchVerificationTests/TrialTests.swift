import BatchTrial
import Clocks
import Cryptography
import FoundationEssentials
import TestSupport
import Testing

/// The same verdicts as libsecp256k1, on many signatures. `make batch-trial` does it with
/// ten million.
@Suite struct TrialTests {
  private struct Report: Decodable {
    let signatures, batches, valid, proven, differences, needless: Int
    let damages: [String: Int]
  }

  @Test("100,000 signatures, good ones and bad ones, get libsecp256k1's verdict in batches", arguments: seeds(4))
  func verdicts(seed: UInt64) throws {
    let count = 25_000
    let trial = try SpawnedProcess(SpawnedProcess.builtProgram("batch-trial"), ["\(count)", "\(seed)"])
    let output = try trial.readAllOutput(within: 120)
    #expect(try trial.waitForEnd() == .exited(0), "\(output)")
    let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    #expect(report.signatures == count && report.differences == 0 && report.needless == 0)
    #expect(report.valid < count && report.proven > count / 4, "batches have proved claims, and met bad ones")
    #expect(report.damages.count == ClaimDamage.allCases.count, "every damage has come")
  }

  @Test("Batches of 1 to 4,096, of one author and of different ones, are true", arguments: [1, 4_096])
  func sizes(authorCount: Int) {
    let authors = TrialClaims(seed: 3, authorCount: authorCount).authors
    var trial = BatchTrial(seed: 4)
    let all = (0..<4_096).map {
      authors[$0 % authorCount].claim(SHA256.hash([UInt8($0 & 255), UInt8($0 >> 8)]))
    }
    for count in [1, 2, 7, 8, 9, 31, 100, 4_096] { trial.compare(Array(all.prefix(count))) }
    #expect(trial.isPassed && trial.validCount == trial.signatureCount && trial.signatureCount == 4_254)
  }
}
