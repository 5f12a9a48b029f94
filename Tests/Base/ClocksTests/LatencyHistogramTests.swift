import Clocks
import Testing

@Suite("A histogram of latencies")
struct LatencyHistogramTests {
  @Test("counts each span up to its bound, and what is longer than all of them")
  func countsSpans() {
    var histogram = LatencyHistogram()
    #expect(histogram.counts.isEmpty && histogram.count == 0)
    for microseconds: UInt64 in [0, 500, 501, 30_000_000, 30_000_001, .max] {
      histogram.measured(microseconds: microseconds)
    }
    #expect(histogram.counts.count == LatencyHistogram.boundsMicroseconds.count + 1)
    #expect(histogram.counts.first == 2 && histogram.counts[1] == 1)
    #expect(histogram.counts.suffix(2) == [1, 2] && histogram.count == 6)
  }

  @Test("measures between two instants, and takes a clock that went back for no time")
  func measuresInstants() {
    var histogram = LatencyHistogram()
    let start = Instant(nanoseconds: 1_000_000_000)
    histogram.measured(from: start, to: start.advanced(milliseconds: 40))
    histogram.measured(from: start, to: Instant(nanoseconds: 5))
    #expect(histogram.sumMicroseconds == 40_000 && histogram.counts.first == 1 && histogram.count == 2)
  }

  @Test("adds another, and refuses one with other spans")
  func adds() {
    var first = LatencyHistogram()
    first.add(LatencyHistogram())
    #expect(first == LatencyHistogram())
    var second = LatencyHistogram()
    second.measured(microseconds: 700)
    first.add(second)
    first.add(second)
    #expect(first.count == 2 && first.sumMicroseconds == 1_400)
    #expect(LatencyHistogram(counts: first.counts, sumMicroseconds: 1_400) == first)
    #expect(LatencyHistogram(counts: [1, 2], sumMicroseconds: 3) == nil)
    #expect(LatencyHistogram(counts: [], sumMicroseconds: 0) == LatencyHistogram())
  }
}
