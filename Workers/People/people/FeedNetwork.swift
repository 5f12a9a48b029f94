import Bus
import Contracts
import Cryptography
import EventLoop
import Feeds
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import WorkerKit

// What relays are asked for because of feeds and inboxes, apart from what these are sent: each answer begins in the
// store, and changes with every list, while a relay is asked for a person once.
//
//     people of all feeds with the same kinds ─▶ AuthorBuckets ─▶ one observe with network for each part
//
// A part that changes begins before the one that it replaces ends. The planner compares the two relay by relay: where
// both ask the same, its REQ stays; and of stored events the connector asks for those that are not covered.

/// Has relays asked for what the open feeds and inboxes show.
@EventLoopActor
final class FeedNetwork {
  /// What one feed or inbox wants.
  enum Want {
    case people(Set<PublicKey>, kinds: [UInt16])
    case filter(Filter)
  }

  private let worker: Worker
  private let log: Logger
  private var wants: [UInt64: Want] = [:]
  private var buckets: [[UInt16]: AuthorBuckets] = [:]
  private var interests: [Filter: Interest] = [:]
  private var isPlanning = false
  private var isDue = false
  /// From when on relays are asked; the same for all filters as long as there are any, because another time is another
  /// question.
  private var since: Int64?

  /// How far back relays are asked when the first feed begins. The mirror fetches what is older, if it is wanted.
  private static let backSeconds: Int64 = 7 * 86_400
  /// The most observes; each is a request of this worker that stays open. People beyond are not asked for until others
  /// are not: 512 parts are some 30,000 people.
  private static let interestMaximum = 512
  /// The longest wait after a failure of the store.
  static let retryMillisecondsMaximum: UInt64 = 10_000

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// A feed or an inbox wants this from now on; nil: nothing.
  func want(_ want: Want?, for number: UInt64) {
    wants[number] = want
    isDue = true
    guard !isPlanning else { return }
    isPlanning = true
    EventLoopActor.task { [self] in
      while isDue {
        isDue = false
        await plan()
      }
      isPlanning = false
    }
  }

  func drain() {
    for interest in interests.values { interest.end() }
    interests = [:]
  }

  private func plan() async {
    let begin = since ?? (WallClock.seconds - Self.backSeconds) / 86_400 * 86_400
    since = wants.isEmpty ? nil : begin
    let filters = Set(
      wanted().map { filter in
        var filter = filter
        filter.since = begin
        return filter
      })
    let ended = interests.filter { !filters.contains($0.key) }
    let new = filters.filter { interests[$0] == nil }
    for filter in new {
      guard interests.count < Self.interestMaximum else {
        log.warning("too many people are followed by feeds: some are not asked for")
        break
      }
      interests[filter] = Interest(worker, filter, log)
    }
    for filter in new { await interests[filter]?.begun() }
    for (filter, interest) in ended {
      interest.end()
      interests[filter] = nil
    }
  }

  private func wanted() -> Set<Filter> {
    var people: [[UInt16]: Set<PublicKey>] = [:]
    var filters: Set<Filter> = []
    for want in wants.values {
      switch want {
      case .people(let some, let kinds): people[kinds, default: []].formUnion(some)
      case .filter(let filter): filters.insert(filter.canonical)
      }
    }
    buckets = buckets.filter { people[$0.key] != nil }
    for (kinds, some) in people {
      buckets[kinds, default: AuthorBuckets()].adopt(some)
      for bucket in buckets[kinds]?.buckets ?? [] {
        filters.insert(Filter(authors: bucket.people, kinds: kinds).canonical)
      }
    }
    return filters
  }

  /// One observe, whose events are not needed here: relays send them to the store, and the feeds get them there.
  @EventLoopActor
  final class Interest {
    private var answer: BusAnswer?
    private var isOver = false
    private var hasBegun = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ worker: Worker, _ filter: Filter, _ log: Logger) {
      worker.persist("what relays are asked for feeds", ceilingMilliseconds: retryMillisecondsMaximum, log) {
        [weak self] () async throws(Refusal) in
        guard let self, !isOver else { return true }
        // A store that is away lets the part that is replaced end; the planner then asks again.
        defer { begin() }
        var wanted = StoreObserve(
          filters: [], afterSeq: try await worker.bus.request(StoreMethod.status, NoArguments()).seq)
        wanted.policy = .cacheWithNetwork
        wanted.pages = true
        let answer = try await worker.bus.ask(
          StoreMethod.observe, encoded: BusPayload(json: wanted, filters: [filter]))
        guard !isOver else {
          answer.abandon(Refusal(.cancelled, "others are followed"))
          return true
        }
        self.answer = answer.answer
        while let part = try await answer.nextPart(), !isOver { if !part.isRaw { begin() } }
        return isOver
      }
    }

    /// Returns when the store has it.
    func begun() async {
      guard !hasBegun, !isOver else { return }
      await withCheckedContinuation { waiters.append($0) }
    }

    private func begin() {
      hasBegun = true
      for waiter in waiters { waiter.resume() }
      waiters = []
    }

    func end() {
      isOver = true
      begin()
      answer?.abandon(Refusal(.cancelled, "others are followed"))
      answer = nil
    }
  }
}
