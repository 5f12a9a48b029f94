public import Clocks

// A provider that is in trouble is asked by one push at a time, whatever number waits for it.
//
//   closed ──▶ open        so many failures in a row, or one fault that no other push would escape
//   open ──▶ half-open     its time is over
//   half-open ──▶ closed   the one push that was let through, the probe, came through
//   half-open ──▶ open     it did not: for twice as long
//   half-open ──▶ half-open   nobody knows what became of it: another one

/// How long a provider is left alone. Waits are chosen at random in the upper half of a window that doubles.
public struct BreakerLimits: Hashable, Sendable {
  /// Failures in a row that open it.
  public var failureMaximum = 5
  /// First window after failures, in milliseconds.
  public var failureBaseMilliseconds: UInt64 = 1_000
  /// Largest of those: half of what a wake usually lives.
  public var failureCeilingMilliseconds: UInt64 = 30_000
  /// First window after a fault that somebody has to mend.
  public var faultBaseMilliseconds: UInt64 = 5_000
  /// Largest of those.
  public var faultCeilingMilliseconds: UInt64 = 600_000

  /// The limits above.
  public init() {}
}

/// Whether a provider may be sent anything.
public struct CircuitBreaker: Hashable, Sendable {
  /// The states.
  public enum State: Hashable, Sendable {
    /// All goes through; failures in a row so far.
    case closed(failureCount: Int)
    /// Nothing goes through before then.
    case open(until: Instant)
    /// One push goes through, the probe; whether it is under way.
    case halfOpen(isProbing: Bool)
  }

  /// How it stands.
  public private(set) var state = State.closed(failureCount: 0)
  /// The bounds.
  public let limits: BreakerLimits
  /// Openings since it was last closed by a success.
  private var openingCount = 0

  /// Closed.
  public init(limits: BreakerLimits = BreakerLimits()) { self.limits = limits }

  /// Whether a push may begin.
  public func mayBegin(at instant: Instant) -> Bool {
    switch state {
    case .closed: true
    case .open(let until): until <= instant
    case .halfOpen(let isProbing): !isProbing
    }
  }

  /// When it lets a probe through; nil when it need not be waited for.
  public var reopening: Instant? {
    guard case .open(let until) = state else { return nil }
    return until
  }

  /// Whether all goes through.
  public var isClosed: Bool {
    guard case .closed = state else { return false }
    return true
  }

  /// Whether it is as new.
  public var isAtRest: Bool { state == .closed(failureCount: 0) && openingCount == 0 }

  /// A push begins. Says whether it is the probe: then its end must be told, by one of the following.
  public mutating func begun(at instant: Instant) -> Bool {
    precondition(mayBegin(at: instant), "an open breaker lets nothing through")
    if case .closed = state { return false }
    state = .halfOpen(isProbing: true)
    return true
  }

  /// A push came through, or was refused for reasons of its own: the provider works.
  public mutating func succeeded() {
    state = .closed(failureCount: 0)
    openingCount = 0
  }

  /// The provider failed.
  ///
  /// - Parameters:
  ///   - isProbe: whether it was the probe; while the breaker is not closed, nothing else counts.
  ///   - instant: now.
  ///   - milliseconds: how long the provider wants to be left alone; counts when the breaker opens.
  ///   - generator: for the wait.
  /// - Returns: whether it opened.
  public mutating func failed(
    isProbe: Bool, at instant: Instant, atLeast milliseconds: UInt64 = 0,
    using generator: inout some RandomNumberGenerator
  ) -> Bool {
    switch state {
    case .closed(let count) where count + 1 < limits.failureMaximum:
      state = .closed(failureCount: count + 1)
      return false
    case .open: return false
    case .halfOpen where !isProbe: return false
    case .closed, .halfOpen:
      open(
        limits.failureBaseMilliseconds, limits.failureCeilingMilliseconds, at: instant, atLeast: milliseconds,
        using: &generator)
      return true
    }
  }

  /// Something is wrong that no push escapes.
  ///
  /// - Parameters:
  ///   - isProbe: as above.
  ///   - instant: now.
  ///   - generator: for the wait.
  /// - Returns: whether it opened; it stays as it is when it is open already, or when a probe is to tell.
  public mutating func tripped(
    isProbe: Bool, at instant: Instant, using generator: inout some RandomNumberGenerator
  ) -> Bool {
    guard mayOpen(isProbe: isProbe) else { return false }
    open(limits.faultBaseMilliseconds, limits.faultCeilingMilliseconds, at: instant, atLeast: 0, using: &generator)
    return true
  }

  /// The provider refuses what it may be right to refuse, and perhaps for our fault: one push is tried after the other,
  /// with the first window after a failure between them, which becomes no longer.
  ///
  /// - Returns: whether it opened, as ``tripped(isProbe:at:using:)``.
  public mutating func doubted(
    isProbe: Bool, at instant: Instant, using generator: inout some RandomNumberGenerator
  ) -> Bool {
    guard mayOpen(isProbe: isProbe) else { return false }
    let count = openingCount
    let window = limits.failureBaseMilliseconds
    open(window, window, at: instant, atLeast: 0, using: &generator)
    openingCount = count
    return true
  }

  /// Whether it is not open already, and nobody else is to tell.
  private func mayOpen(isProbe: Bool) -> Bool {
    switch state {
    case .closed: true
    case .open: false
    case .halfOpen: isProbe
    }
  }

  /// The probe ended without saying anything of the provider.
  public mutating func probeLost() {
    if case .halfOpen = state { state = .halfOpen(isProbing: false) }
  }

  private mutating func open(
    _ base: UInt64, _ ceiling: UInt64, at instant: Instant, atLeast milliseconds: UInt64,
    using generator: inout some RandomNumberGenerator
  ) {
    let wait = BackOff.wait(base: base, ceiling: ceiling, failureCount: openingCount, using: &generator)
    openingCount += 1
    let longest = UInt64(RetryAfter.secondsMaximum) * 1_000
    state = .open(until: instant.advanced(milliseconds: max(wait, min(milliseconds, longest))))
  }
}
