internal import Clocks

/// When to try again: full jitter in a window that doubles with each failure.
///
/// Full jitter, because all clients of a relay dial it at once when it comes back. The failures are forgotten only
/// after a connection has been open for a while, so that a relay that accepts and hangs up is not dialled in a tight
/// loop. The session never gives up: it tries every relay again, at the pace of the ceiling.
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

  /// Counts a connection that the relay cut after refusals, or that the session cut because of what the relay sent.
  /// Returns the milliseconds to wait, even when work is waiting: each time twice as long, plus a random part of up to
  /// a half.
  mutating func cut(using generator: inout SeededGenerator) -> UInt64 {
    let wait = grown(limits.cutRetryBaseMilliseconds, limits.retryCeilingMilliseconds)
    failures += 1
    return wait + UInt64.random(in: 0...wait / 2, using: &generator)
  }

  /// The least milliseconds between the last attempt and one made because work is waiting.
  var demandDelay: UInt64 { grown(limits.attemptSpacingMilliseconds, limits.demandCeilingMilliseconds) }

  /// Forgets the failures.
  mutating func reset() { failures = 0 }

  private func grown(_ base: UInt64, _ ceiling: UInt64) -> UInt64 {
    BackOff.window(base: base, ceiling: ceiling, failureCount: failures)
  }
}
