import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Nostr
import WorkerKit

/// Waits for the network's part of an answer: until all planned relays have sent their stored events, or there was no
/// progress for two seconds, or four seconds have passed.
@EventLoopActor
final class FetchWait {
  /// Longest time without progress.
  private static let quietMilliseconds: UInt64 = 2_000
  /// Longest wait.
  private static let longestMilliseconds: UInt64 = 4_000

  private let quiet = LoopTimer()
  private let longest = LoopTimer()
  private var answer: BusAnswer?
  private var isOver = false
  private var body: (@EventLoopActor () -> Void)?

  init(_ wanted: StoreObserve, _ filters: [Filter], _ bus: BusConnection) {
    longest.set(afterMilliseconds: Self.longestMilliseconds) { [unowned self] in end() }
    noteProgress()
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let question = BusPayload(json: wanted.plain, filters: filters)
        let answer = try await bus.ask(PlanMethod.progress, encoded: question)
        guard !isOver else { return answer.abandon(Refusal(.cancelled, "no longer awaited", outcome: .done)) }
        self.answer = answer.answer
        while let progress = try await answer.nextPart(), !isOver {
          noteProgress()
          if progress.isObserved, progress.isComplete { return end() }
        }
      } catch {
        // Without a planner there is no network part.
        end()
      }
    }
  }

  /// Calls `body` when the wait is over, or at once if it is over.
  func whenOver(_ body: @escaping @EventLoopActor () -> Void) {
    if isOver { body() } else { self.body = body }
  }

  /// The feed no longer waits.
  func cancel() {
    body = nil
    end()
  }

  /// There was progress: a relay's state has changed, or its events have arrived.
  func noteProgress() {
    guard !isOver else { return }
    quiet.set(afterMilliseconds: Self.quietMilliseconds) { [unowned self] in end() }
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    quiet.cancel()
    longest.cancel()
    answer?.abandon(Refusal(.cancelled, "no longer awaited", outcome: .done))
    let body = body
    self.body = nil
    body?()
  }
}

extension StoreObserve {
  /// The form that the planner knows: without the parts that concern only this caller.
  var plain: StoreObserve {
    var plain = self
    plain.afterSeq = nil
    plain.pages = nil
    plain.recipients = nil
    return plain
  }
}
