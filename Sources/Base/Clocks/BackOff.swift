/// Back-off: the waits between attempts double from the first to the longest. Each is shortened at random by up to a
/// half, so that processes hit by one failure do not all return at the same moment.
///
/// An attempt must last for a while before the waits start again from the first. So a peer that accepts and hangs up at
/// once is not called in a tight loop.
public struct BackOff: Sendable, Hashable {
  /// The longest first wait, in milliseconds.
  public var firstMilliseconds: UInt64
  /// The longest wait of all, in milliseconds.
  public var longestMilliseconds: UInt64
  /// How long an attempt must have lasted for the waits to start again, in milliseconds.
  public var provenMilliseconds: UInt64
  private var failureCount = 0

  /// Waits from 100 ms to 10 s; an attempt that lasts 5 s is proven.
  public init(firstMilliseconds: UInt64 = 100, longestMilliseconds: UInt64 = 10_000, provenMilliseconds: UInt64 = 5_000)
  {
    self.firstMilliseconds = max(1, firstMilliseconds)
    self.longestMilliseconds = max(self.firstMilliseconds, longestMilliseconds)
    self.provenMilliseconds = provenMilliseconds
  }

  /// The attempt has succeeded: the next wait is the shortest.
  public mutating func reset() { failureCount = 0 }

  /// The attempt, or the connection it made, has ended after this time.
  public mutating func lasted(milliseconds: UInt64) {
    if milliseconds >= provenMilliseconds { reset() }
  }

  /// The next wait, in milliseconds: between half the present window and all of it.
  public mutating func next(using generator: inout some RandomNumberGenerator) -> UInt64 {
    defer { failureCount += 1 }
    return Self.wait(
      base: firstMilliseconds, ceiling: longestMilliseconds, failureCount: failureCount, using: &generator)
  }

  /// The same, with the system's randomness.
  public mutating func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return next(using: &generator)
  }

  /// A window that doubles with each failure, up to a ceiling.
  public static func window(base: UInt64, ceiling: UInt64, failureCount: Int) -> UInt64 {
    let (doubled, overflowed) = base.multipliedReportingOverflow(by: 1 << UInt64(max(0, min(failureCount, 62))))
    return overflowed ? ceiling : min(doubled, ceiling)
  }

  /// A wait between half such a window and all of it.
  public static func wait(
    base: UInt64, ceiling: UInt64, failureCount: Int, using generator: inout some RandomNumberGenerator
  ) -> UInt64 {
    let window = max(1, window(base: base, ceiling: ceiling, failureCount: failureCount))
    return UInt64.random(in: (window + 1) / 2...window, using: &generator)
  }
}
