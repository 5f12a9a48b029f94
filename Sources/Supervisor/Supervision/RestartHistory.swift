import Clocks

/// The restarts the breaker remembers.
///
/// A restart is written down when the new process is there (or could not be made), not when it is decided: only so does
/// "N in a window" hold for the processes themselves, whatever a back-off lies between. It keeps at most as many
/// instants as the breaker allows, because the machine asks ``tally(policy:now:)`` before it restarts.
struct RestartHistory: Hashable, Sendable {
  private var instants: [Instant] = []

  /// Writes a restart down.
  mutating func record(now: Instant, policy: WorkerPolicy) {
    forgetOld(window: policy.breakerWindow, now: now)
    instants.append(now)
  }

  /// Strikes one restart out: the death before it was not the worker's fault.
  mutating func takeBack(_ instant: Instant) {
    if let index = instants.lastIndex(of: instant) { instants.remove(at: index) }
  }

  /// Forgets all: an operator's start after a failure is a new beginning.
  mutating func forget() { instants.removeAll() }

  /// How many restarts lie in the window that ends now.
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

/// The breaker's arithmetic at one instant, so that nobody has to guess it.
public struct RestartTally: Hashable, Sendable {
  /// Restarts in the window that count.
  public var count: Int
  /// How many the window allows.
  public var limit: Int
  /// Milliseconds since the oldest that counts; the whole window when none does.
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
