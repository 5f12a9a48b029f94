/// How long to wait before something that others could not do is asked again: longer each time, with some chance in it,
/// so that nobody waits in step.
struct RetryDelay {
  private var attempts: UInt64 = 0

  private static let firstMilliseconds: UInt64 = 100
  private static let ceilingMilliseconds: UInt64 = 5_000
  /// What lasts that long has worked.
  private static let stableMilliseconds: UInt64 = 5_000

  /// It has ended after so long.
  mutating func lasted(milliseconds: UInt64) {
    if milliseconds >= Self.stableMilliseconds { attempts = 0 }
  }

  /// Milliseconds until the next attempt.
  mutating func next() -> UInt64 {
    let longest = min(Self.ceilingMilliseconds, Self.firstMilliseconds << min(attempts, 16))
    attempts += 1
    return UInt64.random(in: longest / 2...longest)
  }
}
