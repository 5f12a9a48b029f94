/// Time that never goes back, made of a clock that may.
///
/// Limits survive restarts, so they are in wall-clock time; and wall clocks are set. If one is set back, every window
/// would stop until the clock has caught up: here such a step counts as no time. A clock that is set forward looks like
/// a quiet hour: it frees, once, what was spent.
struct SteadyClock: Hashable, Sendable {
  /// The steady time at the last call, seconds.
  private(set) var last: Int64
  /// The wall clock at that time, Unix seconds.
  private(set) var lastWall: Int64

  /// The latest time that is believed, the year 3000: a later one would leave no room to advance.
  private static let wallMaximum: Int64 = 32_503_680_000

  init(now: Int64) {
    lastWall = min(max(now, 0), Self.wallMaximum)
    last = lastWall
  }

  init(last: Int64, wall: Int64, now: Int64) {
    self.last = min(max(last, 0), 2 * Self.wallMaximum)
    lastWall = min(max(wall, 0), Self.wallMaximum)
    _ = tell(now)
  }

  /// The steady time at `now`.
  mutating func tell(_ now: Int64) -> Int64 {
    let now = min(max(now, 0), Self.wallMaximum)
    last = min(last + max(now - lastWall, 0), 2 * Self.wallMaximum)
    lastWall = now
    return last
  }
}
