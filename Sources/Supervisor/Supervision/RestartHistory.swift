import Clocks

/// The restarts that the circuit breaker remembers.
///
/// A restart is recorded when the new process exists (or could not be made), not when it is decided. Only then does "N
/// in a window" apply to the processes themselves, whatever back-off lies between them. The history keeps at most as
/// many instants as the breaker allows, because the machine calls ``tally(policy:now:)`` before it restarts.
struct RestartHistory: Hashable, Sendable {
  private var instants: [Instant] = []

  /// Records a restart.
  mutating func record(now: Instant, policy: WorkerPolicy) {
    forgetOld(window: policy.breakerWindow, now: now)
    instants.append(now)
  }

  /// Removes one restart: the death before it was not the worker's fault.
  mutating func takeBack(_ instant: Instant) {
    if let index = instants.lastIndex(of: instant) { instants.remove(at: index) }
  }

  /// Forgets all restarts: an operator's start after a failure is a new beginning.
  mutating func forget() { instants.removeAll() }

  /// How many restarts are in the window that ends now.
  func tally(policy: WorkerPolicy, now: Instant) -> RestartTally {
    let window = policy.breakerWindow.wholeMilliseconds
    let recent = instants.drop { now.milliseconds(since: $0) >= window }
    return RestartTally(
      count: recent.count, limit: policy.breakerRestarts,
      spanMilliseconds: recent.first.map { now.milliseconds(since: $0) } ?? window, windowMilliseconds: window)
  }

  private mutating func forgetOld(window: Duration, now: Instant) {
    let window = window.wholeMilliseconds
    instants.removeAll { now.milliseconds(since: $0) >= window }
  }
}

/// The breaker's figures at one instant, for the user to see.
public struct RestartTally: Hashable, Sendable {
  /// Restarts in the window that count.
  public var count: Int
  /// How many the window allows.
  public var limit: Int
  /// Milliseconds since the oldest restart that counts; the whole window if none counts.
  public var spanMilliseconds: UInt64
  /// The window, in milliseconds.
  public var windowMilliseconds: UInt64

  /// Whether the next death is final.
  public var isExhausted: Bool { count >= limit }

  /// `2 of 5 restarts in the last 40 s`.
  public var sentence: String { "\(count) of \(limit) restarts in the last \(spoken(milliseconds: spanMilliseconds))" }

  /// `5 of 5 restarts in the last 42 s; limit 5 in 60 s`.
  public var sentenceWithLimit: String { "\(sentence); limit \(limit) in \(spoken(milliseconds: windowMilliseconds))" }
}
