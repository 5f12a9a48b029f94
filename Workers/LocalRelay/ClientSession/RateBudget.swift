internal import Clocks

/// How often something may be done: so often at once, and as often a second in the long run.
///
/// Kept as the instant at which all would be free again, which needs no timer and no count (the generic cell rate
/// algorithm).
struct RateBudget: Sendable {
  private var freeAt = Instant(nanoseconds: 0)

  /// Whether it may be done now; if so, it is counted.
  mutating func take(perSecond: Int, burst: Int, at now: Instant) -> Bool {
    let cost = 1_000_000_000 / UInt64(max(1, perSecond))
    let start = max(freeAt, now)
    let free = start.nanoseconds + cost
    guard free - now.nanoseconds <= cost * UInt64(max(1, burst)) else { return false }
    freeAt = Instant(nanoseconds: free)
    return true
  }
}
