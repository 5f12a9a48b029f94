import Bus
import Contracts
import EventLoop
import Frames

/// One `plan.progress`: how far it is at once, and at each change. Changes gather while the caller takes none.
@EventLoopActor
final class ProgressFollower {
  /// The observe it is about.
  let key: String
  private let request: BusRequest
  private let progress: @EventLoopActor () -> ObserveProgress
  private var isDue = true
  private var ending: Refusal?
  private var waiter: CheckedContinuation<Void, Never>?

  /// Most at once.
  static let maximum = 1_024

  init(_ request: BusRequest, key: String, _ progress: @escaping @EventLoopActor () -> ObserveProgress) {
    self.request = request
    self.key = key
    self.progress = progress
  }

  /// Tells until the caller cancels or the worker drains; then throws what he is answered.
  func run() async throws(Refusal) {
    request.accept()
    request.onCancel = { [self] in end(Refusal(.cancelled, "cancelled by the caller", outcome: .done)) }
    var last: ObserveProgress?
    while true {
      if let ending { throw ending }
      guard isDue else {
        await withCheckedContinuation { waiter = $0 }
        continue
      }
      isDue = false
      let next = progress()
      guard next != last else { continue }
      last = next
      try await request.send(part: BusPayload(json: next))
    }
  }

  /// Something about it may have changed.
  func changed() {
    isDue = true
    wake()
  }

  /// The planner drains.
  func finish() { end(Refusal(.unavailable, "the planner is finishing", outcome: .done)) }

  private func end(_ refusal: Refusal) {
    ending = ending ?? refusal
    wake()
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
