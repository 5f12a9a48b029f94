import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Nostr
import WorkerKit

/// Waits for the network's part of an answer: until all relays that are planned have sent what they had, or nothing has
/// moved for two seconds, or four have passed.
@EventLoopActor
final class FetchWait {
  /// Longest silence.
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
        guard !isOver else { return answer.abandon(Refusal(.cancelled, "not awaited any more", outcome: .done)) }
        self.answer = answer.answer
        while let progress = try await answer.nextPart(), !isOver {
          noteProgress()
          if progress.isObserved, progress.isComplete { return end() }
        }
      } catch {
        // Without a planner there is no network to wait for.
        end()
      }
    }
  }

  /// Does it when the wait is over, or at once if it is.
  func whenOver(_ body: @escaping @EventLoopActor () -> Void) {
    if isOver { body() } else { self.body = body }
  }

  /// Nobody waits any more.
  func cancel() {
    body = nil
    end()
  }

  /// Something has moved: a relay has, or what it sent has come.
  func noteProgress() {
    guard !isOver else { return }
    quiet.set(afterMilliseconds: Self.quietMilliseconds) { [unowned self] in end() }
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    quiet.cancel()
    longest.cancel()
    answer?.abandon(Refusal(.cancelled, "not awaited any more", outcome: .done))
    let body = body
    self.body = nil
    body?()
  }
}

extension StoreObserve {
  /// What the planner knows it by: the same without what concerns this caller alone.
  var plain: StoreObserve {
    var plain = self
    plain.afterSeq = nil
    plain.pages = nil
    plain.recipients = nil
    return plain
  }
}
