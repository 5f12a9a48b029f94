import Bus
import Contracts
import EventLoop
import Frames
import Nostr

/// One `plan.follow` under way. Changes that come while the caller takes nothing are one change.
@EventLoopActor
final class PublishFollower {
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

  /// The publication has changed.
  func changed() {
    hasChanged = true
    wake()
  }

  /// The worker is about to end: the caller comes again.
  func drain() { end(Publishing.draining) }

  /// Sends the publication as it is whenever it has changed, until it is final.
  ///
  /// - Parameter look: the publication as it is now.
  func run(_ look: @EventLoopActor () async throws(Refusal) -> Publication) async throws(Refusal) {
    var last: Publication?
    while true {
      if let ending { throw ending }
      if hasChanged {
        hasChanged = false
        let now = try await look()
        if now != last { try await request.send(part: BusPayload(json: now)) }
        last = now
        if now.state.isFinal { return }
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
