internal import Clocks

/// How many lines one worker may write: a token bucket on the monotonic clock.
///
/// The state is one instant and not a count of tokens (the "theoretical arrival time" of cell networks): each line
/// moves the instant forward by one interval, and it may be at most one burst ahead of now. There is nothing to refill
/// and nothing to round.
struct LineBudget: Sendable {
  private let intervalNanoseconds: UInt64
  private let burstNanoseconds: UInt64
  /// The instant up to which all lines so far are paid for.
  private var paidUntil: UInt64 = 0

  /// Both are at least 1. The maximum is a million lines a second, and a burst of 2³² lines.
  init(linesPerSecond: Int, burstLines: Int) {
    intervalNanoseconds = 1_000_000_000 / UInt64(min(max(linesPerSecond, 1), 1_000_000))
    burstNanoseconds = intervalNanoseconds * UInt64(min(max(burstLines, 1), 1 << 32))
  }

  /// Takes one line if one is left.
  mutating func take(_ now: Instant) -> Bool {
    let next = max(paidUntil, now.nanoseconds) + intervalNanoseconds
    guard next - now.nanoseconds <= burstNanoseconds else { return false }
    paidUntil = next
    return true
  }

  /// When half of the burst will be free again.
  var halfFree: Instant {
    // Half of a burst of one line is that line.
    let half = max(burstNanoseconds / 2, intervalNanoseconds)
    let ahead = burstNanoseconds - half
    return Instant(nanoseconds: paidUntil > ahead ? paidUntil - ahead : 0)
  }
}
