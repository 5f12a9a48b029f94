internal import Bus
internal import Clocks
internal import EventLoop
internal import Frames

/// Whether and when an interrupted stream is requested again. Pure.
///
/// A stream that never returned a part is given up after the client's patience, as any request is: perhaps no worker
/// serves it. A stream that `isLasting` and has returned a part is retried without a time limit, for example while a
/// supervisor is updated, or a store is stopped for an hour.
struct Perseverance {
  private var backoff = BackOff(firstMilliseconds: 50, longestMilliseconds: 5_000, provenMilliseconds: 0)
  private var hasMoved = false
  private let isLasting: Bool
  private var end: Instant?

  /// - Parameter isLasting: whether a stream that has begun is retried without a time limit; otherwise for the client's
  ///   patience since the last part.
  init(isLasting: Bool) { self.isLasting = isLasting }

  /// A part arrived: the back-off starts again.
  mutating func moved() {
    hasMoved = true
    end = nil
    backoff.lasted(milliseconds: 0)
  }

  /// Refusals that concern the store's process or the connection, not the request, so that a retry makes sense.
  static let passingCodes: Set<RefusalCode> = [
    .workerDied, .unavailable, .gone, .disconnected, .noSupervisor, .notReading,
  ]

  /// How long to wait before a retry, in milliseconds.
  ///
  /// - Parameters:
  ///   - isConnected: whether the client has a connection now. If not, the refusal was about the one it had.
  ///   - patienceMilliseconds: the client's patience.
  /// - Returns: nil when a retry makes no sense and the caller receives the refusal.
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
  /// - Throws: the refusal, when a retry makes no sense.
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

/// A pause that ends early when the task is cancelled.
@EventLoopActor
private final class Pause {
  private let timer = LoopTimer()
  private var continuation: CheckedContinuation<Void, Never>?

  func wait(milliseconds: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.continuation = continuation
        // The task was cancelled before the pause began: the handler found nothing to end.
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
