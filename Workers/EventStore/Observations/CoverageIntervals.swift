// Of one filter at one relay: between which times of creation all is here that the relay had, and when it was looked.
//
//    time of creation   0 ──────[ 1,000 … 1,999 ]@A[ 2,000 … 2,499 ]@B────[ 3,000 … 3,999 ]@A──▶
//
// Intervals never overlap. Where a new one does, what was looked at later counts: a relay can get old events at any
// time. There are never more than `maximum`; then two that touch become one, of the earlier time, or the one looked at
// longest ago is dropped. So what is claimed is never more than what was seen, and at worst something is asked for
// twice.

/// Times of creation for which all that a relay had is here.
public struct CoverageIntervals: Hashable, Sendable {
  /// One stretch of time.
  public struct Interval: Hashable, Sendable {
    /// Its first second.
    public let since: Int64
    /// Its last second.
    public let until: Int64
    /// When the relay was asked, seconds since 1970.
    public let checkedAt: Int64

    /// A stretch of time; nil when it ends before it begins. Times before 1970 are left out.
    public init?(since: Int64, until: Int64, checkedAt: Int64) {
      guard max(since, 0) <= min(until, .max - 1) else { return nil }
      self.since = max(since, 0)
      // So that the second behind it is a number as well.
      self.until = min(until, .max - 1)
      self.checkedAt = checkedAt
    }

    /// What is left without the time of another: one piece, or one before it and one behind.
    fileprivate func without(_ other: Interval) -> [Interval] {
      guard other.since <= until, since <= other.until else { return [self] }
      return [
        Interval(since: since, until: other.since - 1, checkedAt: checkedAt),
        Interval(since: other.until + 1, until: until, checkedAt: checkedAt),
      ].compactMap { $0 }
    }
  }

  /// The intervals, the earliest first.
  public private(set) var intervals: [Interval] = []

  /// Most intervals kept.
  public static let maximum = 64

  /// Nothing is known.
  public init() {}

  /// All is here of a stretch of time.
  public mutating func add(_ new: Interval) {
    var pieces = [new]
    var kept: [Interval] = []
    for old in intervals {
      if old.checkedAt <= new.checkedAt {
        kept += old.without(new)
      } else {
        kept.append(old)
        pieces = pieces.flatMap { $0.without(old) }
      }
    }
    intervals = Self.joined((kept + pieces).sorted { $0.since < $1.since })
    while intervals.count > Self.maximum { shrink() }
  }

  /// Nothing is claimed any more for the times up to one, inclusive.
  public mutating func forget(upTo time: Int64) {
    intervals = intervals.compactMap {
      Interval(since: max($0.since, min(time, .max - 1) + 1), until: $0.until, checkedAt: $0.checkedAt)
    }
  }

  /// Joins those that touch and are of one time.
  private static func joined(_ sorted: [Interval]) -> [Interval] {
    var joined: [Interval] = []
    for next in sorted {
      if let last = joined.last, last.until + 1 == next.since, last.checkedAt == next.checkedAt,
        let both = Interval(since: last.since, until: next.until, checkedAt: last.checkedAt)
      {
        joined[joined.count - 1] = both
      } else {
        joined.append(next)
      }
    }
    return joined
  }

  /// Makes one interval less, and loses as little as can be.
  private mutating func shrink() {
    let touching = intervals.indices.dropLast().filter { intervals[$0].until + 1 == intervals[$0 + 1].since }
    func difference(_ index: Int) -> Int64 {
      let (left, right) = (intervals[index].checkedAt, intervals[index + 1].checkedAt)
      return max(left, right) &- min(left, right)
    }
    if let index = touching.min(by: { difference($0) < difference($1) }) {
      let (left, right) = (intervals[index], intervals[index + 1])
      let both = Interval(
        since: left.since, until: right.until, checkedAt: min(left.checkedAt, right.checkedAt))
      intervals.replaceSubrange(index...index + 1, with: [both].compactMap { $0 })
      intervals = Self.joined(intervals)
    } else if let oldest = intervals.indices.min(by: { intervals[$0].checkedAt < intervals[$1].checkedAt }) {
      intervals.remove(at: oldest)
    }
  }
}

extension CoverageIntervals {
  /// As it is written down: for each interval its three numbers, 8 bytes each, little-endian.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(intervals.count * Self.intervalByteCount)
    for interval in intervals {
      for number in [interval.since, interval.until, interval.checkedAt] {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
      }
    }
    return bytes
  }

  /// Reads what was written down; nil when it is no such thing.
  public init?(bytes: [UInt8]) {
    guard bytes.count % Self.intervalByteCount == 0, bytes.count / Self.intervalByteCount <= Self.maximum else {
      return nil
    }
    func number(_ start: Int) -> Int64 {
      (0..<8).reduce(Int64(0)) { $0 | Int64(bytes[start + $1]) << Int64(8 * $1) }
    }
    for start in stride(from: 0, to: bytes.count, by: Self.intervalByteCount) {
      guard
        let next = Interval(since: number(start), until: number(start + 8), checkedAt: number(start + 16)),
        intervals.last.map({ $0.until < next.since }) ?? true
      else { return nil }
      intervals.append(next)
    }
  }

  private static let intervalByteCount = 24
}
