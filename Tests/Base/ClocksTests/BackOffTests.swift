import Clocks
import TestSupport
import Testing

@Suite struct BackOffTests {
  @Test("Waits double up to the longest, each between half and whole", arguments: seeds(1))
  func doubling(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var backOff = BackOff(firstMilliseconds: 100, longestMilliseconds: 1_000)
    for ceiling: UInt64 in [100, 200, 400, 800, 1_000, 1_000] {
      let wait = backOff.next(using: &generator)
      #expect((ceiling / 2...ceiling).contains(wait), "seed \(seed): \(wait) for \(ceiling)")
    }
  }

  @Test("A connection that lasted begins the waits anew; one that did not, does not")
  func proven() {
    var generator = SeededGenerator(seed: 1)
    var backOff = BackOff(firstMilliseconds: 100, longestMilliseconds: 10_000, provenMilliseconds: 1_000)
    for _ in 0..<5 { _ = backOff.next(using: &generator) }
    backOff.lasted(milliseconds: 999)
    #expect(backOff.next(using: &generator) >= 1_600)
    backOff.lasted(milliseconds: 1_000)
    #expect(backOff.next(using: &generator) <= 100)
  }

  @Test("A window stops at its ceiling, and never overflows")
  func ceiling() {
    #expect(BackOff.window(base: 100, ceiling: 1_000, failureCount: 0) == 100)
    #expect(BackOff.window(base: 100, ceiling: 1_000, failureCount: 3) == 800)
    #expect(BackOff.window(base: 100, ceiling: 1_000, failureCount: 4) == 1_000)
    #expect(BackOff.window(base: 100, ceiling: 1_000, failureCount: -1) == 100)
    #expect(BackOff.window(base: .max, ceiling: .max, failureCount: .max) == .max)
    #expect(BackOff.window(base: 0, ceiling: 1_000, failureCount: 9) == 0)
  }
}
