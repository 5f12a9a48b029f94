import Bus
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import WorkerKit

/// Asks the planner how far requests are, where its topic may have been missed: now and then, and when another planner
/// has begun.
@EventLoopActor
final class PublicationPoll {
  /// The requests on their way to relays.
  var watched: (@EventLoopActor () -> [EventID])?
  /// Called with each publication.
  var onPublication: (@EventLoopActor (Publication) -> Void)?

  private let worker: Worker
  private let log: Logger
  private let timer = LoopTimer()
  private var isAsking = false
  private var plannerEndpoint: UInt32?

  /// Publications asked for at once.
  private static let countMaximum = 1_000
  private static let intervalMilliseconds: UInt64 = 10_000
  /// How long the planner may take.
  private static let answerMilliseconds: UInt32 = 10_000

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Asks now and then, from now on.
  func begin() {
    guard !worker.isDraining else { return }
    timer.set(afterMilliseconds: Self.intervalMilliseconds) { [unowned self] in
      ask()
      begin()
    }
  }

  /// Asks, unless the planner is being asked already.
  func ask() {
    let ids = watched?().prefix(Self.countMaximum).map(\.description) ?? []
    guard !isAsking, !ids.isEmpty, !worker.isDraining else { return }
    isAsking = true
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let wanted = PlanPublications(ids: ids, limit: ids.count)
        let answer = try await worker.bus.ask(
          PlanMethod.publications, wanted, ttlMilliseconds: Self.answerMilliseconds)
        while let publication = try await answer.nextPart() { onPublication?(publication) }
      } catch { log.debug("the planner does not say how far requests are", metadata: ["why": "\(error.message)"]) }
      isAsking = false
    }
  }

  func registryChanged(_ registry: Registry) {
    let planner = registry.members.first { $0.role == Role.outboxPlanner.name && $0.isReady }?.endpoint
    if let planner, planner != plannerEndpoint { ask() }
    plannerEndpoint = planner
  }

  /// Asks no more.
  func end() { timer.cancel() }
}
