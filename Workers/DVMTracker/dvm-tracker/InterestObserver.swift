import Bus
import Contracts
import EventLoop
import Frames
import JobTracking
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import WorkerKit

/// Has relays asked for what open jobs wait for. The events come to the store, where the ``AnswerReader`` finds them;
/// here they are not read.
@EventLoopActor
final class InterestObserver {
  private let worker: Worker
  private let log: Logger
  private var rounds = InterestRounds()
  private var observations: [InterestRounds.Round: BusAnswer] = [:]
  private let timer = LoopTimer()

  /// How far clocks of providers may be behind, in seconds: relays are asked for events dated so much earlier.
  private static let skewSeconds: Int64 = 3_600
  /// How long changes of the interests gather before relays are asked for them.
  private static let gatherMilliseconds: UInt64 = 100
  /// Most observations at relays; further interests wait until others have ended.
  private static let observationMaximum = 64
  private static let unwanted = Refusal(.cancelled, "no longer waited for")

  init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Jobs wait for something else.
  ///
  /// - Parameter interests: what they wait for, read when changes have gathered.
  func changed(_ interests: @escaping @EventLoopActor () -> [JobTable.Interest]) {
    guard !timer.isSet, !worker.isDraining else { return }
    timer.set(afterMilliseconds: Self.gatherMilliseconds) { [unowned self] in
      let change = rounds.want(Set(interests().prefix(Self.observationMaximum)))
      for round in change.ended { observations.removeValue(forKey: round)?.abandon(Self.unwanted) }
      for round in change.begun { observe(round) }
    }
  }

  private func observe(_ round: InterestRounds.Round) {
    worker.persist("the observation at relays", ceilingMilliseconds: Tracker.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      guard rounds.goesOn(round) else { return true }
      let answer = try await worker.bus.ask(StoreMethod.observe, Self.arguments(round.interest))
      guard rounds.goesOn(round) else {
        answer.abandon(Self.unwanted)
        return true
      }
      observations[round] = answer.answer
      while try await answer.nextPart() != nil {}
      return !rounds.goesOn(round)
    }
  }

  private static func arguments(_ interest: JobTable.Interest) -> StoreObserve {
    var filter = Filter(
      authors: interest.authors.isEmpty ? nil : interest.authors, kinds: interest.kinds,
      since: max(0, min(interest.since, WallClock.seconds) - skewSeconds))
    if let letter = TagLetter("e") { filter.tags[letter] = interest.events.map { TagValue($0.description) } }
    var wanted = StoreObserve(filters: [JSONValue(of: filter)])
    wanted.policy = .networkOnly
    wanted.relays = interest.relays.isEmpty ? nil : interest.relays
    return wanted
  }

  /// The wall clock was set: requests that were dated by a wrong one are answered by a right one.
  func clockSet() {
    for answer in observations.values { answer.abandon(Refusal(.cancelled, "it is asked again")) }
  }

  /// Asks no more.
  func end(_ refusal: Refusal) {
    timer.cancel()
    for answer in observations.values { answer.abandon(refusal) }
  }
}
