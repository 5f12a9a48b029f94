import Addresses
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
  /// What one observe asks for.
  struct Plan: Hashable {
    /// The filters, without times.
    var filters: [Filter]
    /// The only relays that are asked; empty: as the planner chooses.
    var relays: [String] = []
  }
  /// The new events that have come.
  private(set) var count: UInt64 = 0
  private var answer: BusAnswer?
  private var isOver = false

  /// How far back relays are asked when it begins: what is older is fetched by itself. Gift wraps are dated back.
  private static let overlapSeconds: Int64 = 3 * 86_400

  /// - Parameter bounds: what is older than the floor of its class is not asked for, or it would come and go again.
  init(_ worker: Worker, _ plan: Plan, _ bounds: BoundKeeper, _ log: Logger) {
    worker.persist("store.observe of new events", ceilingMilliseconds: Mirror.retryMillisecondsMaximum, log) {
      [weak self] () async throws(Refusal) in
      guard let self, !isOver else { return true }
      guard await bounds.recall() else { throw Refusal(.unavailable, "the bounds are not known") }
      let since = WallClock.seconds - Self.overlapSeconds
      var wanted = StoreObserve(
        filters: plan.filters.map { filter in
          var filter = filter
          filter.since = max(since, filter.since ?? 0, bounds.floor(of: filter) ?? 0)
          return JSONValue(of: filter)
        }, afterSeq: try await worker.bus.request(StoreMethod.status, NoArguments()).seq)
      wanted.policy = .cacheWithNetwork
      if !plan.relays.isEmpty { (wanted.relays, wanted.exclusiveRelays) = (plan.relays, true) }
      let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
      guard !isOver else {
        answer.abandon(Refusal(.cancelled, "something else is observed"))
        return true
      }
      self.answer = answer.answer
      while try await answer.nextPart() != nil, !isOver { count += 1 }
      return isOver
    }
  }

  /// What is new of all that is kept, of followed people too: in one observe, and in one for each interest that is
  /// asked for at certain relays and nowhere else.
  static func plans(_ interests: [MirrorInterest]) -> [Plan] {
    // A filter with an end never has anything new.
    let open = interests.filter { $0.filters.allSatisfy { $0.until == nil } }
    let apart = open.filter(\.isExclusive)
    let filters = open.filter { !apart.contains($0) }.flatMap(\.filters).prefix(StoreObserve.filterMaximum)
    return (filters.isEmpty ? [] : [Plan(filters: Array(filters))])
      + apart.filter { !$0.liveRelays.isEmpty }.map {
        Plan(filters: $0.filters, relays: $0.liveRelays.prefix(StoreObserve.relayMaximum).map(\.text))
      }
  }

  /// Ends it.
  func end() {
    isOver = true
    answer?.abandon(Refusal(.cancelled, "something else is observed"))
    answer = nil
  }
}
