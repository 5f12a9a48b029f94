import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import WorkerKit

/// Observes what is new of all interests, for as long as they are the same: relays send it to the store, and this
/// observer needs none of it.
@EventLoopActor
final class LiveObserve {
  /// The filters, without times.
  let filters: [Filter]
  private var answer: BusAnswer?
  private var isOver = false

  /// How far back relays are asked when it begins: what is older is fetched by itself. Gift wraps are dated back.
  private static let overlapSeconds: Int64 = 3 * 86_400

  init(_ worker: Worker, _ filters: [Filter], _ log: Logger) {
    self.filters = filters
    worker.persist("store.observe of new events", ceilingMilliseconds: Mirror.retryMillisecondsMaximum, log) {
      [weak self] () async throws(Refusal) in
      guard let self, !isOver else { return true }
      let since = WallClock.seconds - Self.overlapSeconds
      var wanted = StoreObserve(
        filters: filters.map { filter in
          var filter = filter
          filter.since = since
          return JSONValue(of: filter)
        }, afterSeq: try await worker.bus.request(StoreMethod.status, NoArguments()).seq)
      wanted.policy = .cacheWithNetwork
      let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
      guard !isOver else {
        answer.abandon(Refusal(.cancelled, "something else is observed"))
        return true
      }
      self.answer = answer.answer
      while try await answer.nextPart() != nil, !isOver {}
      return isOver
    }
  }

  /// The filters of what is new: of followed people too.
  static func filters(_ interests: [MirrorInterest]) -> [Filter] {
    Array(interests.flatMap(\.filters).prefix(StoreObserve.filterMaximum))
  }

  /// Ends it.
  func end() {
    isOver = true
    answer?.abandon(Refusal(.cancelled, "something else is observed"))
    answer = nil
  }
}
