import Clocks
@testable import JobLedger
import JobTracking
import TestSupport
import Testing

@Suite("A fact as bytes") struct FactCodingTests {
  @Test("is read as it was written, and nothing that is cut or longer", arguments: seeds(20))
  func coding(seed: UInt64) throws {
    var generator = FactGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<200 {
      let what = generator.what()
      let bytes = what.bytes
      #expect(JobFact.What(bytes: bytes) == what)
      #expect(JobFact.What(bytes: bytes + [0]) == nil)
      for end in 0..<min(bytes.count, 300) { #expect(JobFact.What(bytes: Array(bytes.prefix(end))) == nil) }
      // Whatever stands there: it is read or refused.
      var damaged = bytes
      damaged[generator.number(damaged.count)] = UInt8(generator.number(256))
      _ = JobFact.What(bytes: damaged)
    }
  }
}
