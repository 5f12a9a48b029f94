import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import OutboxRouting
import Storage
import WorkerKit

// With `selection = "learned"`: what relays have brought is counted by the store (`store.delivery`), every hour, over
// the last four weeks, and all beliefs about deliveries are computed from that. The census asks each relay that a
// list names once, for four weeks: one relay at a time, within the connector's dial budget.

extension Planner {
  /// After a start this long passes before the store is first asked.
  private static let firstLearningMilliseconds: UInt64 = 60_000
  /// How often the store is asked.
  private static let learningMilliseconds: UInt64 = 3_600_000
  /// Weeks that are looked at.
  private static let learningWeeks: Int64 = 4
  private static let weekSeconds: Int64 = 604_800
  /// How long a relay of the census may take.
  private static let censusMilliseconds: UInt64 = 120_000
  /// How long the census waits between two relays: twelve relays a minute may be dialled for all purposes.
  private static let censusPauseMilliseconds: UInt64 = 10_000
  /// How often what the census has asked is written.
  private static let keepingMilliseconds: UInt64 = 300_000
  /// Most people for whom the census asks one relay.
  private static let censusPeopleMaximum = 2_000
  /// The kinds that say what relays keep of a person: those that people post, which no newer version replaces.
  private static let learnedKinds: [UInt16] = [1, 6, 16, 20, 1_111, 30_023]

  /// Begins to learn if the settings say so. Called by `update()`.
  func continueLearning() {
    guard directory.isLearning, !isDraining else {
      if let asked = learning.stop() { end(asked.key) }
      return
    }
    if !learning.isRunning {
      learning.isRunning = true
      learning.timer.set(afterMilliseconds: Self.firstLearningMilliseconds) { [unowned self] in countDeliveries() }
    }
    takeCensus()
  }

  // MARK: Deliveries

  private func countDeliveries() {
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let weeks = try await countedWeeks()
        guard !isDraining, directory.isLearning else { return }
        directory.teach(weeks, at: WallClock.seconds)
        update()
        await keepBeliefs()
      } catch {
        log.warning("what relays deliver is not counted", metadata: ["why": "\(error.message)"])
      }
      guard learning.isRunning, !isDraining else { return }
      learning.timer.set(afterMilliseconds: Self.learningMilliseconds) { [unowned self] in countDeliveries() }
    }
  }

  private func countedWeeks() async throws(Refusal) -> [CountedWeek] {
    let authors = directory.wantedAuthors.map(\.description)
    var weeks: [CountedWeek] = []
    let end = WallClock.seconds
    for number in 0..<Self.learningWeeks {
      let until = end - number * Self.weekSeconds - 1
      var week = CountedWeek(since: until - Self.weekSeconds + 1, until: until, people: [])
      for start in stride(from: 0, to: authors.count, by: StoreDelivery.authorMaximum) {
        let some = Array(authors[start..<min(start + StoreDelivery.authorMaximum, authors.count)])
        let wanted = StoreDelivery(authors: some, kinds: Self.learnedKinds, since: week.since, until: week.until)
        let answer = try await bus.ask(StoreMethod.delivery, wanted)
        // Nothing is known of a person whom no relay was asked for.
        while let part = try await answer.nextPart() {
          if !part.relays.isEmpty { week.people.append(part) }
        }
      }
      weeks.append(week)
    }
    return weeks
  }

  /// Writes what was learned.
  func keepBeliefs() async {
    guard let beliefs else { return }
    do throws(StorageFault) { try await beliefs.replace(directory.beliefs) } catch {
      log.warning("what was learned about relays is not kept", metadata: ["why": "\(error.description)"])
    }
  }

  // MARK: Census

  private func takeCensus() {
    if let asked = learning.census {
      let isOver = wishes.progress(of: asked.key)?.isComplete != false || now >= asked.until
      guard isOver else { return }
      learning.census = nil
      // A relay that was not asked in this time, because dials are few or it cannot be reached, is asked later.
      let isAnswered = wishes.progress(of: asked.key)?.relays.contains { $0.state == .stored || $0.state == .refused }
      if isAnswered == true { directory.wasCounted(asked.relay, at: WallClock.seconds) }
      end(asked.key)
      if learning.keptAt.map({ now >= $0.advanced(milliseconds: Self.keepingMilliseconds) }) ?? true {
        learning.keptAt = now
        EventLoopActor.task { [self] in await keepBeliefs() }
      }
      learning.censusAt = now.advanced(milliseconds: Self.censusPauseMilliseconds)
    }
    if let at = learning.censusAt, now < at { return wakeForCensus() }
    learning.censusAt = now.advanced(milliseconds: Self.censusPauseMilliseconds)
    defer { wakeForCensus() }
    guard !isEarly, lookUps.isEmpty, !directory.isSelectionDue, let next = directory.nextCensus() else { return }
    let people = Array(next.people.prefix(Self.censusPeopleMaximum))
    var filter = Filter(authors: people, kinds: [EventKind.textNote])
    filter.since = WallClock.seconds - Self.learningWeeks * Self.weekSeconds
    learning.censusCount += 1
    let interest = Interest(
      own: "census:\(learning.censusCount)", [filter], foreign: [next.relay], isExclusive: true, isLive: false,
      manner: FetchManner(isBackfill: true))
    log.info("the census asks a relay", metadata: ["relay": "\(next.relay)"])
    learning.census = Learning.Census(
      key: interest.key, relay: next.relay, until: now.advanced(milliseconds: Self.censusMilliseconds))
    begin(interest)
  }

  private func wakeForCensus() {
    guard let at = learning.census?.until ?? learning.censusAt else { return }
    learning.censusTimer.set(at: at) { [unowned self] in update() }
  }
}

/// How far learning is.
@EventLoopActor
struct Learning {
  /// A relay that the census is asking.
  struct Census {
    let key: String
    let relay: RelayURL
    /// When it is given up.
    let until: Instant
  }

  var isRunning = false
  let timer = LoopTimer()
  let censusTimer = LoopTimer()
  var census: Census?
  /// The relays that were asked: it distinguishes their interests.
  var censusCount = 0
  /// When what was learned was last written.
  var keptAt: Instant?
  /// When the next relay may be asked.
  var censusAt: Instant?

  /// Returns the relay that the census was asking.
  mutating func stop() -> Census? {
    guard isRunning else { return nil }
    isRunning = false
    timer.cancel()
    censusTimer.cancel()
    defer { census = nil }
    return census
  }
}
