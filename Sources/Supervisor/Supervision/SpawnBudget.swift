public import Clocks

/// How many processes the whole supervisor makes a second: a token bucket for all workers together.
///
/// Back-off keeps one worker from restarting too fast. When one cause ends fifty workers at once, only a common bound
/// keeps the machine usable. Tokens are counted in nanoseconds, so that no rate loses anything to rounding.
public struct SpawnBudget: Hashable, Sendable {
  /// Spawns a second in the long run.
  public let perSecond: Int
  /// Spawns that may happen at once after a quiet time.
  public let burst: Int
  private var savedNanoseconds: UInt64
  private var countedAt: Instant

  /// The highest rate and the largest burst that are possible.
  public static let maximum = 1_000

  /// The answer to a request to spawn.
  public enum Answer: Hashable, Sendable {
    /// The caller may spawn; a token is spent.
    case granted
    /// No token before this instant. Nothing was reserved: the caller asks again then.
    case wait(until: Instant)
  }

  /// A full bucket. Both figures are 1…``maximum``.
  public init(perSecond: Int = 5, burst: Int = 10, now: Instant) {
    precondition((1...Self.maximum).contains(perSecond), "a budget of \(perSecond) spawns a second")
    precondition((1...Self.maximum).contains(burst), "a burst of \(burst) spawns")
    self.perSecond = perSecond
    self.burst = burst
    savedNanoseconds = UInt64(burst) * (1_000_000_000 / UInt64(perSecond))
    countedAt = now
  }

  private var price: UInt64 { 1_000_000_000 / UInt64(perSecond) }

  /// Spends a token, or says when there will be one.
  public mutating func take(now: Instant) -> Answer {
    if now > countedAt {
      let earned = now.nanoseconds - countedAt.nanoseconds
      let full = UInt64(burst) * price
      savedNanoseconds = earned >= full - savedNanoseconds ? full : savedNanoseconds + earned
      countedAt = now
    }
    guard savedNanoseconds >= price else {
      return .wait(until: Instant(nanoseconds: countedAt.nanoseconds + (price - savedNanoseconds)))
    }
    savedNanoseconds -= price
    return .granted
  }
}
