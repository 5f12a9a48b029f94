import Bus
import Contracts
import EventLoop
import Frames
import Logging
import WorkerKit

/// Reports to the store which filters the relays have answered, one message after the other.
@EventLoopActor
final class FetchReporter {
  private let worker: Worker
  private let log: Logger
  private var waiting: [StoreFetched] = []
  private var isTelling = false

  /// Most reports that wait. Beyond that the oldest are dropped, and their filters are later fetched from relays
  /// without need.
  private static let waitingMaximum = 1_024

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Adds these reports.
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
          // If the store rejects a report as `bad-request`, it will reject it again. After any other error another
          // attempt makes sense.
          if error.code != .badRequest { waiting.insert(fetched, at: 0) }
          throw error
        }
      }
      isTelling = false
      return true
    }
  }
}
