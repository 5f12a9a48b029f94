/// Time that never goes back, made of one that may.
///
/// Limits are kept over restarts, so they are told in wall-clock time; and wall clocks are set. One that is set back
/// would make every window stand still until it has caught up: here the step counts as no time at all. One that is set
/// forward cannot be told from a quiet hour: it forgives what was spent, once.
struct SteadyClock: Hashable, Sendable {
  /// The steady time last told, seconds.
  private(set) var last: Int64
  /// The wall clock then, Unix seconds.
  private(set) var lastWall: Int64

  /// The furthest a clock is believed, the year 3000: what is beyond would leave no room to go on.
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
