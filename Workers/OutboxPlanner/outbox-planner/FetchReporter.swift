import Bus
import Contracts
import EventLoop
import Frames
import Logging
import WorkerKit

/// Tells the store what relays have sent of what is observed, one message after the other.
@EventLoopActor
final class FetchReporter {
  private let worker: Worker
  private let log: Logger
  private var waiting: [StoreFetched] = []
  private var isTelling = false

  /// Most that waits to be told; the oldest are left out beyond that, and then asked of relays again for nothing.
  private static let waitingMaximum = 1_024

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Tells these too.
  func tell(_ fetches: [StoreFetched]) {
    waiting += fetches
    waiting.removeFirst(max(0, waiting.count - Self.waitingMaximum))
    guard !isTelling, !waiting.isEmpty else { return }
    isTelling = true
    worker.persist("what was fetched", ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      while let fetched = waiting.first {
        waiting.removeFirst()
        do throws(Refusal) {
          _ = try await worker.bus.request(StoreMethod.fetched, fetched)
        } catch {
          // What it refuses it will refuse again; what it could not do is worth another attempt.
          if error.code != .badRequest { waiting.insert(fetched, at: 0) }
          throw error
        }
      }
      isTelling = false
      return true
    }
  }
}
