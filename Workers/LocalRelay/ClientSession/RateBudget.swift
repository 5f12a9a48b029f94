internal import Clocks

/// How often something may be done: so often at once, and so often a second in the long run.
///
/// Kept as the instant at which the whole budget would be free again, which needs neither a timer nor a count (the
/// generic cell rate algorithm).
struct RateBudget: Sendable {
  private var freeAt = Instant(nanoseconds: 0)

  /// Whether it may be done now; if so, it counts.
  mutating func take(perSecond: Int, burst: Int, at now: Instant) -> Bool {
    let cost = 1_000_000_000 / UInt64(max(1, perSecond))
    let start = max(freeAt, now)
    let free = start.nanoseconds + cost
    guard free - now.nanoseconds <= cost * UInt64(max(1, burst)) else { return false }
    freeAt = Instant(nanoseconds: free)
    return true
  }
}
