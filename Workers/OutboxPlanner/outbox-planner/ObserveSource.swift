import Bus
import Contracts
import EventLoop
import Frames
import Logging
import OutboxRouting
import WorkerKit

/// The active observes, from the store: a list of all, then the changes.
@EventLoopActor
final class ObserveSource {
  /// Called with the observes that are new or changed, and the keys of those that ended.
  var onChange: (@EventLoopActor (_ changed: [ActiveObserve], _ removed: [String]) -> Void)?

  private let worker: Worker
  private let log: Logger
  private var mirror = ObserveMirror()
  private var isListing = false
  private var isListDue = false

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Whether there is an observe with this key.
  func isObserved(_ key: String) -> Bool { mirror.observes[key] != nil }

  /// The store has published changes.
  func received(_ changes: ObserveChanges) { take(mirror.received(changes)) }

  private func take(_ step: ObserveMirror.Step) {
    switch step {
    case .nothing: return
    case .list: list()
    case .take(let changed, let removed): onChange?(changed, removed)
    }
  }

  /// Requests the list of all observes. A call while a request is in flight leads to one more request after it.
  func list() {
    isListDue = true
    guard !isListing else { return }
    isListing = true
    worker.persist("the list of what is observed", ceilingMilliseconds: Planner.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      while isListDue {
        isListDue = false
        mirror.listBegins()
        do throws(Refusal) {
          take(try await ask())
        } catch {
          mirror.listFailed()
          isListDue = true
          throw error
        }
      }
      isListing = false
      return true
    }
  }

  private func ask() async throws(Refusal) -> ObserveMirror.Step {
    let answer = try await worker.bus.ask(StoreMethod.listObserves, NoArguments())
    var observes: [ActiveObserve] = []
    while let item = try await answer.next() {
      switch item {
      case .part(let observe): observes.append(observe)
      case .end(let end): return mirror.listed(observes, end)
      }
    }
    throw Refusal(.badPayload, "the list of what is observed has no end")
  }
}
