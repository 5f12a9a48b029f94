import Bus
import Contracts
import EventLoop
import Frames

/// One `job.follow` under way. Changes that come while the caller takes nothing are one change.
@EventLoopActor
final class JobFollower {
  /// Followers of all callers at once.
  static let maximum = 1_024

  private let request: BusRequest
  private var hasChanged = true
  private var ending: Refusal?
  private var sleeper: CheckedContinuation<Void, Never>?

  init(_ request: BusRequest) {
    self.request = request
    request.onCancel = { [weak self] in
      self?.end(Refusal(.cancelled, "cancelled by the caller", outcome: .done))
    }
  }

  /// The job has changed.
  func changed() {
    hasChanged = true
    wake()
  }

  /// The worker is about to end: the caller comes again.
  func drain() { end(Tracker.draining) }

  /// Sends the job as it is whenever it has changed, until it is final.
  ///
  /// - Parameter look: the job as it is now, and as it travels.
  func run(_ look: @EventLoopActor () async throws(Refusal) -> (job: Job, payload: BusPayload)) async throws(Refusal) {
    var last: Job?
    while true {
      if let ending { throw ending }
      if hasChanged {
        hasChanged = false
        let now = try await look()
        if now.job != last { try await request.send(part: now.payload) }
        last = now.job
        // Its end is told when it is written down.
        if now.job.state.isFinal, now.job.endedAt != nil { return }
      } else {
        await withCheckedContinuation { sleeper = $0 }
      }
    }
  }

  private func end(_ refusal: Refusal) {
    if ending == nil { ending = refusal }
    wake()
  }

  private func wake() {
    sleeper?.resume()
    sleeper = nil
  }
}
