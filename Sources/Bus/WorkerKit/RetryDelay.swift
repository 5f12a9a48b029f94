/// How long to wait before something that others could not do is asked again: longer each time, with some chance in it,
/// so that nobody waits in step.
public struct RetryDelay: Sendable {
  private let ceilingMilliseconds: UInt64
  private var attempts: UInt64 = 0

  private static let firstMilliseconds: UInt64 = 100
  /// What lasts that long has worked.
  private static let stableMilliseconds: UInt64 = 5_000

  /// Waits from a tenth of a second up to a longest one.
  public init(ceilingMilliseconds: UInt64) { self.ceilingMilliseconds = ceilingMilliseconds }

  /// It has worked: the next wait is the shortest.
  public mutating func reset() { attempts = 0 }

  /// It has ended after so long.
  public mutating func lasted(milliseconds: UInt64) {
    if milliseconds >= Self.stableMilliseconds { reset() }
  }

  /// Milliseconds until the next attempt.
  public mutating func next() -> UInt64 {
    let longest = min(ceilingMilliseconds, Self.firstMilliseconds << min(attempts, 16))
    attempts += 1
    return UInt64.random(in: longest / 2...longest)
  }
}
