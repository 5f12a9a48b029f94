// For one filter at one relay: for which times of creation everything the relay had is stored here, and when that was
// checked.
//
//    time of creation   0 ──────[ 1,000 … 1,999 ]@A[ 2,000 … 2,499 ]@B────[ 3,000 … 3,999 ]@A──▶
//
// Intervals never overlap. Where a new one overlaps, the later check counts, because a relay can receive old events at
// any time. There are never more than `maximum`: beyond it, two adjacent intervals become one with the earlier check
// time, or the interval with the earliest check is dropped. So coverage never claims more than was seen; at worst
// something is fetched twice.

/// Times of creation for which everything that a relay had is stored here.
public struct CoverageIntervals: Hashable, Sendable {
  /// One stretch of time.
  public struct Interval: Hashable, Sendable {
    /// Its first second.
    public let since: Int64
    /// Its last second.
    public let until: Int64
    /// When the relay was asked, seconds since 1970.
    public let checkedAt: Int64

    /// A stretch of time; nil when it ends before it begins. Times before 1970 are cut off.
    public init?(since: Int64, until: Int64, checkedAt: Int64) {
      guard max(since, 0) <= min(until, .max - 1) else { return nil }
      self.since = max(since, 0)
      // So that the next second is still a valid number.
      self.until = min(until, .max - 1)
      self.checkedAt = checkedAt
    }

    /// The parts outside another interval: at most one before it and one after it.
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

  /// The most intervals kept.
  public static let maximum = 64

  /// No coverage.
  public init() {}

  /// Adds a stretch of time for which everything is stored.
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

  /// Withdraws the coverage of all times up to this one, inclusive.
  public mutating func forget(upTo time: Int64) {
    intervals = intervals.compactMap {
      Interval(since: max($0.since, min(time, .max - 1) + 1), until: $0.until, checkedAt: $0.checkedAt)
    }
  }

  /// Joins adjacent intervals that were checked within so many seconds; the earlier check counts. A drain of a thousand
  /// pages is then one interval.
  public mutating func join(checkedWithinSeconds seconds: Int64) {
    var joined: [Interval] = []
    for next in intervals {
      if let last = joined.last, last.until + 1 == next.since,
        max(last.checkedAt, next.checkedAt) &- min(last.checkedAt, next.checkedAt) < seconds,
        let both = Interval(
          since: last.since, until: next.until, checkedAt: min(last.checkedAt, next.checkedAt))
      {
        joined[joined.count - 1] = both
      } else {
        joined.append(next)
      }
    }
    intervals = joined
  }

  /// Joins adjacent intervals with the same check time.
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

  /// Removes one interval, with the smallest possible loss.
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
  /// The stored form: the three numbers of each interval, 8 bytes each, little-endian.
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

  /// Reads the stored form; nil when the bytes are not valid.
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
