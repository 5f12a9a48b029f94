internal import Clocks

/// How much of what a relay says to people, by NOTICE and AUTH, is passed on to them.
///
/// A relay may say as much as it likes, and what it says ends in a log with a bound: one that talks without end would
/// leave nothing else in it, of other relays neither. So a window of time takes so many remarks; the others are
/// counted, and the first remark of a later window tells how many there were.
struct RemarkBudget: Sendable {
  private var windowStart: Instant?
  private var count = 0
  private var leftOut: UInt64 = 0

  /// A remark came.
  ///
  /// - Returns: nil if it is to be left out, else how many were before it.
  mutating func take(_ limits: SessionLimits, at now: Instant) -> UInt64? {
    if windowStart.map({ now.milliseconds(since: $0) >= limits.remarkWindowMilliseconds }) ?? true {
      windowStart = now
      count = 0
    }
    guard count < limits.remarkMaximum else {
      leftOut += 1
      return nil
    }
    count += 1
    defer { leftOut = 0 }
    return leftOut
  }
}
