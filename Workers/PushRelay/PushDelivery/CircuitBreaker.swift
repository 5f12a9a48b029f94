public import Clocks

// While a provider is in trouble, only one push at a time tries it, however many wait.
//
//   closed ──▶ open        so many failures in a row, or one fault that affects every push
//   open ──▶ half-open     its time is over
//   half-open ──▶ closed   the one push that was let through, the probe, succeeded
//   half-open ──▶ open     the probe failed: for twice as long
//   half-open ──▶ half-open   the outcome of the probe is unknown: another probe

/// How long a provider is left alone. Waits are chosen at random from the upper half of a window that doubles.
public struct BreakerLimits: Hashable, Sendable {
  /// Failures in a row that open it.
  public var failureMaximum = 5
  /// The first window after failures, in milliseconds.
  public var failureBaseMilliseconds: UInt64 = 1_000
  /// The largest window after failures: half of the usual life of a wake.
  public var failureCeilingMilliseconds: UInt64 = 30_000
  /// The first window after a fault that a person has to fix.
  public var faultBaseMilliseconds: UInt64 = 5_000
  /// The largest window after faults.
  public var faultCeilingMilliseconds: UInt64 = 600_000

  /// The default limits.
  public init() {}
}

/// Whether pushes may be sent to a provider.
public struct CircuitBreaker: Hashable, Sendable {
  /// The states.
  public enum State: Hashable, Sendable {
    /// All pushes go through; the number of failures in a row so far.
    case closed(failureCount: Int)
    /// No push goes through before then.
    case open(until: Instant)
    /// One push goes through, the probe; whether it is under way.
    case halfOpen(isProbing: Bool)
  }

  /// The present state.
  public private(set) var state = State.closed(failureCount: 0)
  /// The limits.
  public let limits: BreakerLimits
  /// Openings since a success last closed it.
  private var openingCount = 0

  /// A closed breaker.
  public init(limits: BreakerLimits = BreakerLimits()) { self.limits = limits }

  /// Whether a push may begin.
  public func mayBegin(at instant: Instant) -> Bool {
    switch state {
    case .closed: true
    case .open(let until): until <= instant
    case .halfOpen(let isProbing): !isProbing
    }
  }

  /// When it lets a probe through; nil when it is not open.
  public var reopening: Instant? {
    guard case .open(let until) = state else { return nil }
    return until
  }

  /// Whether all pushes go through.
  public var isClosed: Bool {
    guard case .closed = state else { return false }
    return true
  }

  /// Whether it has no failures on record.
  public var isAtRest: Bool { state == .closed(failureCount: 0) && openingCount == 0 }

  /// A push begins. Returns whether it is the probe: then its end must be reported, by one of the following methods.
  public mutating func begun(at instant: Instant) -> Bool {
    precondition(mayBegin(at: instant), "an open breaker lets nothing through")
    if case .closed = state { return false }
    state = .halfOpen(isProbing: true)
    return true
  }

  /// A push succeeded, or was refused for reasons of its own: the provider works.
  public mutating func succeeded() {
    state = .closed(failureCount: 0)
    openingCount = 0
  }

  /// The provider failed.
  ///
  /// - Parameters:
  ///   - isProbe: whether it was the probe; while the breaker is not closed, only the probe counts.
  ///   - instant: now.
  ///   - milliseconds: how long the provider asks to be left alone; used when the breaker opens.
  ///   - generator: chooses the wait.
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

  /// There is a fault that affects every push.
  ///
  /// - Parameters:
  ///   - isProbe: as above.
  ///   - instant: now.
  ///   - generator: chooses the wait.
  /// - Returns: whether it opened; it does not change when it is already open, or when the result of a probe decides.
  public mutating func tripped(
    isProbe: Bool, at instant: Instant, using generator: inout some RandomNumberGenerator
  ) -> Bool {
    guard mayOpen(isProbe: isProbe) else { return false }
    open(limits.faultBaseMilliseconds, limits.faultCeilingMilliseconds, at: instant, atLeast: 0, using: &generator)
    return true
  }

  /// The provider refuses pushes, perhaps rightly and perhaps because of a fault of ours. Pushes are then tried one at
  /// a time, with the first window after a failure between them, which does not grow.
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

  /// Whether a result may open it: it is not open already, and while it is half-open only the probe counts.
  private func mayOpen(isProbe: Bool) -> Bool {
    switch state {
    case .closed: true
    case .open: false
    case .halfOpen: isProbe
    }
  }

  /// The probe ended without a result about the provider.
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
