internal import Clocks

/// When to try again: full jitter in a window that doubles with each failure.
///
/// Full jitter, because a relay that comes back meets all its clients at once. Forgotten only after a connection has
/// stood for a while: a relay that accepts and hangs up must not be dialled in a tight loop. Never "for ever": every
/// relay is tried again at the ceiling's pace.
struct DialDelay {
  private let limits: SessionLimits
  private var failures = 0

  init(_ limits: SessionLimits) { self.limits = limits }

  /// Counts a failure; returns the milliseconds to wait.
  mutating func failed(isNameFailure: Bool, using generator: inout SeededGenerator) -> UInt64 {
    let window =
      isNameFailure
      ? limits.retryCeilingMilliseconds : grown(limits.retryBaseMilliseconds, limits.retryCeilingMilliseconds)
    failures += 1
    return max(UInt64.random(in: 0...window, using: &generator), limits.attemptSpacingMilliseconds)
  }

  /// Counts a connection that the relay has cut after refusals, or that was cut for what it sent; returns the
  /// milliseconds to wait, work or no work. Each time twice as long, and by chance up to a half longer.
  mutating func cut(using generator: inout SeededGenerator) -> UInt64 {
    let wait = grown(limits.cutRetryBaseMilliseconds, limits.retryCeilingMilliseconds)
    failures += 1
    return wait + UInt64.random(in: 0...wait / 2, using: &generator)
  }

  /// Least milliseconds between the last attempt and one made because work is waiting.
  var demandDelay: UInt64 { grown(limits.attemptSpacingMilliseconds, limits.demandCeilingMilliseconds) }

  /// Forgets the failures.
  mutating func reset() { failures = 0 }

  private func grown(_ base: UInt64, _ ceiling: UInt64) -> UInt64 {
    BackOff.window(base: base, ceiling: ceiling, failureCount: failures)
  }
}
