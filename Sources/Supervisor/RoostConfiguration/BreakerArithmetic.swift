/// Whether the circuit breaker works for a worker: whether one that fails at once at every start is ever declared
/// FAILED.
///
/// The breaker counts restarts within a window, and the back-off spaces restarts out. If the back-off delays alone take
/// longer than the window, the count is never reached and the worker is restarted for ever. The calculation takes the
/// full delays: the jitter that the supervisor adds only shortens them, and the breaker must not depend on luck.
struct BreakerArithmetic {
  /// The full delays before the restarts that the breaker counts, shortest first; at most ``shownMaximum`` of them.
  let firstDelays: [Duration]
  let restarts: Int
  /// The sum of all counted delays.
  let total: Duration
  let window: Duration

  /// How many delays a complaint shows.
  static let shownMaximum = 6

  init(_ worker: WorkerConfiguration) {
    restarts = worker.breakerRestarts
    window = worker.breakerWindow
    var delay = worker.backoffBase
    var sum: Duration = .zero
    var shown: [Duration] = []
    for place in 0..<worker.breakerRestarts {
      if place < BreakerArithmetic.shownMaximum { shown.append(delay) }
      sum += delay
      delay = min(delay * 2, worker.backoffCeiling)
    }
    firstDelays = shown
    total = sum
  }

  /// Why these values are refused; nil if the breaker works with them.
  var refusal: String? {
    guard total > window else { return nil }
    let sum = firstDelays.map(TimeSpan.text).joined(separator: " + ") + (restarts > firstDelays.count ? " + …" : "")
    return "the breaker cannot be relied on: \(restarts) restarts take up to \(sum) = \(TimeSpan.spoken(total)) of"
      + " back-off, and breaker-window is \(TimeSpan.text(window)); give it at least \(TimeSpan.above(total)),"
      + " or lower breaker-restarts or the back-off"
  }
}
