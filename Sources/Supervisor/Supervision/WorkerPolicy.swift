import Clocks
/// When a worker that has left is started again.
public enum RestartRule: String, Hashable, Sendable, CaseIterable {
  /// After every end, unless its exit code asks for no restart (``ExitVerdict``).
  case always
  /// Unless it exited with 0.
  case onFailure = "on-failure"
  /// Never; the worker is ``WorkerState/exited`` then.
  case never
}

/// What the configuration says about one managed worker: when it is started again, and how long each step may take.
///
/// Every duration is measured on the monotonic clock. A changed policy applies from the next step on; a deadline that
/// is already running keeps its instant.
public struct WorkerPolicy: Hashable, Sendable {
  /// When it is started again after it has left. Default always.
  public var restart = RestartRule.always
  /// The names of the workers that must be ready before this one is spawned.
  public var after: [String] = []
  /// Whether the whole supervisor gives up when this worker has failed. Default no.
  public var isCritical = false

  /// From spawn to READY; EXTEND moves it. Default 10 s.
  public var startDeadline = Duration.seconds(10)
  /// From DRAIN to SIGTERM; EXTEND moves it. Default 10 s.
  public var drainDeadline = Duration.seconds(10)
  /// From SIGTERM to SIGKILL; EXTEND moves it. Default 5 s.
  public var termDeadline = Duration.seconds(5)
  /// From SIGABRT to SIGKILL: the time to write a backtrace or a core. Default 2 s.
  public var abortGrace = Duration.seconds(2)
  /// How long waiting work may make no progress before the worker counts as stuck. The hub, which sees the work,
  /// applies it. Default 30 s.
  public var stuckAfter = Duration.seconds(30)

  /// The longest wait before the second restart in a row, which is the first with a wait; it doubles with each further
  /// one. Default 0.5 s.
  public var backoffBase = Duration.milliseconds(500)
  /// The limit of all waits. Default 60 s.
  public var backoffCeiling = Duration.seconds(60)
  /// How long a life must be ready to count as stable: the next restart is then immediate, and the waits begin at the
  /// base. Default 60 s.
  public var stableAfter = Duration.seconds(60)

  /// How many restarts the window allows; the death after them is final. Default 5.
  public var breakerRestarts = 5
  /// The window of the breaker. Default 60 s.
  public var breakerWindow = Duration.seconds(60)

  /// The defaults.
  public init() {}

  /// The most restarts that a window may allow: the machine keeps an instant for each.
  public static let maximumBreakerRestarts = 1_000
  /// The longest duration any field may have.
  public static let longestDuration = Duration.seconds(7 * 86_400)

  /// What is wrong with these figures, one sentence each; empty if nothing is.
  ///
  /// Refuses a breaker that would never trip because the waits alone fill its window: a cause of restart loops that
  /// stay unnoticed.
  public func problems() -> [String] {
    var problems: [String] = []
    let durations: [(name: String, value: Duration)] = [
      ("start deadline", startDeadline), ("drain deadline", drainDeadline), ("term deadline", termDeadline),
      ("abort grace", abortGrace), ("stuck-after", stuckAfter), ("back-off base", backoffBase),
      ("back-off ceiling", backoffCeiling), ("stable-after", stableAfter), ("breaker window", breakerWindow),
    ]
    for (name, value) in durations where value < .milliseconds(1) || value > Self.longestDuration {
      problems.append("The \(name) must be from 1 ms to \(Self.longestDuration.spoken).")
    }
    if backoffCeiling < backoffBase {
      problems.append("The back-off ceiling (\(backoffCeiling.spoken)) is below its base (\(backoffBase.spoken)).")
    }
    guard (0...Self.maximumBreakerRestarts).contains(breakerRestarts) else {
      return problems + [
        "The breaker allows \(breakerRestarts) restarts; 0 to \(Self.maximumBreakerRestarts) are possible."
      ]
    }
    if problems.isEmpty, let waits = meanWaits(), waits >= breakerWindow {
      problems.append(
        "The breaker can hardly ever trip: \(breakerRestarts) restarts wait \(waits.spoken) on average, and its "
          + "window is \(breakerWindow.spoken). Widen the window, allow fewer restarts or lower the back-off.")
    }
    return problems
  }

  /// The total of the waits before as many restarts as the breaker allows, on average; nil if it allows none.
  private func meanWaits() -> Duration? {
    guard breakerRestarts > 0 else { return nil }
    // Full jitter draws from 0 to the longest wait, so the mean is half of it.
    return (1...breakerRestarts).reduce(.zero) { $0 + .milliseconds(longestWaitMilliseconds(unstableLives: $1) / 2) }
  }

  /// The longest wait after this many unstable lives in a row: base · 2^(lives − 2), capped. 0 for none, and for the
  /// first: most deaths are single, and the callers of a worker should not wait longer than its start takes.
  func longestWaitMilliseconds(unstableLives: Int) -> UInt64 {
    guard unstableLives > 1 else { return 0 }
    return BackOff.window(
      base: backoffBase.wholeMilliseconds, ceiling: backoffCeiling.wholeMilliseconds, failureCount: unstableLives - 2)
  }
}
