/// How long something took, counted by bounded spans of time. The bounds are fixed, so histograms of several processes
/// can be added, and one takes 150 bytes however much is measured.
public struct LatencyHistogram: Hashable, Sendable {
  /// The upper bound of each span, inclusive, in microseconds, ascending: 0.5 ms to 30 s. What took longer is in a
  /// further span without a bound.
  public static let boundsMicroseconds: [UInt64] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
    10_000_000, 30_000_000,
  ]

  /// How many took so long, for each span; one more than there are bounds. Empty before the first measurement.
  public private(set) var counts: [UInt64]
  /// How long they took together, in microseconds.
  public private(set) var sumMicroseconds: UInt64

  /// Nothing was measured.
  public init() { (counts, sumMicroseconds) = ([], 0) }

  /// A histogram of another process; nil when it does not have these spans.
  ///
  /// - Parameters:
  ///   - counts: how many took so long, for each span; empty for none.
  ///   - sumMicroseconds: how long they took together.
  public init?(counts: [UInt64], sumMicroseconds: UInt64) {
    guard counts.isEmpty || counts.count == Self.boundsMicroseconds.count + 1 else { return nil }
    (self.counts, self.sumMicroseconds) = (counts, sumMicroseconds)
  }

  /// How many were measured.
  public var count: UInt64 { counts.reduce(0, &+) }

  /// Something began at `start` and has ended at `end`.
  public mutating func measured(from start: Instant, to end: Instant) {
    let nanoseconds = end > start ? end.nanoseconds - start.nanoseconds : 0
    measured(microseconds: nanoseconds / 1_000)
  }

  /// Something took so long.
  public mutating func measured(microseconds: UInt64) {
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.boundsMicroseconds.count + 1) }
    let span = Self.boundsMicroseconds.firstIndex { microseconds <= $0 } ?? Self.boundsMicroseconds.count
    counts[span] &+= 1
    sumMicroseconds = sumMicroseconds.addingReportingOverflow(microseconds).partialValue
  }

  /// Adds what another one has measured.
  public mutating func add(_ other: LatencyHistogram) {
    guard !other.counts.isEmpty else { return }
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.boundsMicroseconds.count + 1) }
    for index in counts.indices { counts[index] &+= other.counts[index] }
    sumMicroseconds &+= other.sumMicroseconds
  }
}
