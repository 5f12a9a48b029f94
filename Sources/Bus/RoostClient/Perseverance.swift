internal import Bus
internal import Clocks
internal import EventLoop
internal import Frames

/// Whether and when a stream that was cut off is asked for again. Pure.
///
/// One that never gave anything is given up after the client's patience, as any request is: perhaps nobody serves it.
/// One that `isLasting` and has given something is waited for as long as it takes: a supervisor that is updated, a
/// store that is stopped for an hour.
struct Perseverance {
  private var backoff = BackOff(firstMilliseconds: 50, longestMilliseconds: 5_000, provenMilliseconds: 0)
  private var hasMoved = false
  private let isLasting: Bool
  private var end: Instant?

  /// - Parameter isLasting: what has once begun is waited for without end; else for the client's patience since the
  ///   last part.
  init(isLasting: Bool) { self.isLasting = isLasting }

  /// Something came: waits begin again.
  mutating func moved() {
    hasMoved = true
    end = nil
    backoff.lasted(milliseconds: 0)
  }

  /// What ends with the store's process or the connection, and not with the question: asking again makes sense.
  static let passingCodes: Set<RefusalCode> = [
    .workerDied, .unavailable, .gone, .disconnected, .noSupervisor, .notReading,
  ]

  /// How long to wait before asking again, in milliseconds.
  ///
  /// - Parameters:
  ///   - isConnected: whether the client has a connection now. If not, the refusal was about the one it had.
  ///   - patienceMilliseconds: the client's.
  /// - Returns: nil when there is no sense in it: the refusal is for the caller.
  mutating func wait(
    after refusal: Refusal, isConnected: Bool, patienceMilliseconds: UInt64, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) -> UInt64? {
    guard !isConnected || Self.passingCodes.contains(refusal.code) else { return nil }
    if !(isLasting && hasMoved) {
      let end = end ?? now.advanced(milliseconds: patienceMilliseconds)
      self.end = end
      guard now < end else { return nil }
    }
    return max(backoff.next(using: &generator), UInt64(refusal.retryAfterMilliseconds ?? 0))
  }
}

extension RoostClient {
  /// Waits as `perseverance` says after a stream was refused, or until the task is cancelled.
  ///
  /// - Throws: the refusal, when it makes no sense to ask again.
  func persevere(after refusal: Refusal, _ perseverance: Perseverance) async throws(Refusal) -> Perseverance {
    var perseverance = perseverance
    var generator = SystemRandomNumberGenerator()
    let isConnected = if case .connected = connectionState { true } else { false }
    if case .closed = connectionState { throw refusal }
    let wait = perseverance.wait(
      after: refusal, isConnected: isConnected, patienceMilliseconds: settings.patienceMilliseconds,
      now: EventLoop.process.now, using: &generator)
    guard let wait else { throw refusal }
    await Pause().wait(milliseconds: wait)
    return perseverance
  }
}

/// A pause that a cancelled task does not finish.
@EventLoopActor
private final class Pause {
  private let timer = LoopTimer()
  private var continuation: CheckedContinuation<Void, Never>?

  func wait(milliseconds: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.continuation = continuation
        // Cancelled before it began: the handler has found nothing to end.
        if Task.isCancelled { return end() }
        timer.set(afterMilliseconds: milliseconds) { [weak self] in self?.end() }
      }
    } onCancel: {
      EventLoopActor.task { self.end() }
    }
    timer.cancel()
  }

  private func end() {
    continuation?.resume()
    continuation = nil
  }
}
