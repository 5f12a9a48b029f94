internal import Clocks

/// How many of a relay's remarks (NOTICE and AUTH) are reported.
///
/// A relay may send as many remarks as it likes, and they go to a log of bounded size: one relay that sends without end
/// would push out everything else, also what was logged about other relays. So each window of time has a budget of
/// remarks. The session counts the others, and the first remark of a later window reports that count.
struct RemarkBudget: Sendable {
  private var windowStart: Instant?
  private var count = 0
  private var leftOut: UInt64 = 0

  /// A remark came.
  ///
  /// - Returns: nil if the remark is to be left out, else how many were left out before it.
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
