/// The waits between attempts to connect: doubling from the first to the longest, each cut at random by up to a half so
/// that the clients of a restarted supervisor do not come back in one moment.
///
/// A connection must last for a while before the waits begin again: a supervisor that accepts and hangs up at once is
/// not asked in a tight circle.
public struct ReconnectDelay: Sendable, Equatable {
  /// The longest first wait, in milliseconds.
  public var firstMilliseconds: UInt64
  /// The longest wait of all, in milliseconds.
  public var longestMilliseconds: UInt64
  /// How long a connection must have lasted for the waits to begin again, in milliseconds.
  public var provenMilliseconds: UInt64
  private var ceiling: UInt64 = 0

  /// Waits from 100 ms to 10 s; a connection of 5 s is proven.
  public init(firstMilliseconds: UInt64 = 100, longestMilliseconds: UInt64 = 10_000, provenMilliseconds: UInt64 = 5_000)
  {
    self.firstMilliseconds = max(1, firstMilliseconds)
    self.longestMilliseconds = max(self.firstMilliseconds, longestMilliseconds)
    self.provenMilliseconds = provenMilliseconds
  }

  /// A connection has ended after so many milliseconds.
  public mutating func connectionEnded(afterMilliseconds milliseconds: UInt64) {
    if milliseconds >= provenMilliseconds { ceiling = 0 }
  }

  /// The next wait, in milliseconds: between half the present ceiling and the ceiling.
  public mutating func nextWait(using generator: inout some RandomNumberGenerator) -> UInt64 {
    ceiling = ceiling == 0 ? firstMilliseconds : min(longestMilliseconds, ceiling * 2)
    return UInt64.random(in: (ceiling + 1) / 2...ceiling, using: &generator)
  }
}
