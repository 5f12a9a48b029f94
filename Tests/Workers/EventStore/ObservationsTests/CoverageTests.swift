import Clocks
import Observations
import TestSupport
import Testing

@Suite("Coverage")
struct CoverageTests {
  private typealias Interval = CoverageIntervals.Interval

  private func coverage(_ parts: [(Int64, Int64, Int64)]) throws -> CoverageIntervals {
    var coverage = CoverageIntervals()
    for part in parts { coverage.add(try #require(Interval(since: part.0, until: part.1, checkedAt: part.2))) }
    return coverage
  }

  private func triples(_ coverage: CoverageIntervals) -> [[Int64]] {
    coverage.intervals.map { [$0.since, $0.until, $0.checkedAt] }
  }

  @Test("What was looked at later counts; what touches and is of one time is one")
  func merging() throws {
    #expect(triples(try coverage([(10, 20, 1), (21, 30, 1)])) == [[10, 30, 1]])
    #expect(triples(try coverage([(10, 30, 1), (15, 20, 2)])) == [[10, 14, 1], [15, 20, 2], [21, 30, 1]])
    #expect(triples(try coverage([(15, 20, 2), (10, 30, 1)])) == [[10, 14, 1], [15, 20, 2], [21, 30, 1]])
    #expect(triples(try coverage([(10, 20, 1), (5, 40, 1)])) == [[5, 40, 1]])
    #expect(triples(try coverage([(0, 9, 1), (20, 29, 1), (0, .max, 3)])) == [[0, .max - 1, 3]])
    #expect(Interval(since: 5, until: 4, checkedAt: 0) == nil && Interval(since: -9, until: -1, checkedAt: 0) == nil)
  }

  @Test("It claims for each second what was seen, and never more, however many pieces there were", arguments: seeds(30))
  func model(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Some seeds stay below the bound, where nothing may be lost either.
    let (span, steps) = seed % 2 == 0 ? (100, 20) : (600, 400)
    var coverage = CoverageIntervals()
    var truth = [Int64?](repeating: nil, count: span)
    var wasShrunk = false
    for _ in 0..<steps {
      let since = Int(random.next() % UInt64(span))
      let until = min(span - 1, since + Int(random.next() % 4))
      let time = Int64(random.next() % 50)
      if random.next() % 40 == 0 {
        coverage.forget(upTo: Int64(since))
        for second in 0...since { truth[second] = nil }
        continue
      }
      coverage.add(try #require(Interval(since: Int64(since), until: Int64(until), checkedAt: time)))
      for second in since...until { truth[second] = max(truth[second] ?? .min, time) }
      wasShrunk = wasShrunk || coverage.intervals.count == CoverageIntervals.maximum
      #expect(coverage.intervals.count <= CoverageIntervals.maximum)
      #expect(zip(coverage.intervals, coverage.intervals.dropFirst()).allSatisfy { $0.until < $1.since })
      #expect(CoverageIntervals(bytes: coverage.bytes) == coverage)
    }
    var claimed = [Int64?](repeating: nil, count: span)
    for interval in coverage.intervals {
      for second in interval.since...interval.until { claimed[Int(second)] = interval.checkedAt }
    }
    if wasShrunk {
      for (claim, truth) in zip(claimed, truth) where claim != nil { #expect(claim ?? 0 <= truth ?? .min) }
    } else {
      #expect(claimed == truth)
    }
  }

  @Test("Bytes that are not what was written down are no coverage")
  func damagedBytes() throws {
    let bytes = try coverage([(10, 20, 1), (30, 40, 1)]).bytes
    #expect(CoverageIntervals(bytes: Array(bytes.dropLast())) == nil)
    #expect(CoverageIntervals(bytes: Array(bytes[24...] + bytes[..<24])) == nil)
    #expect(CoverageIntervals(bytes: Array(repeating: 0, count: 24 * 65)) == nil)
    #expect(CoverageIntervals(bytes: []) == CoverageIntervals())
  }
}
