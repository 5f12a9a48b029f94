import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import PushRules
import WorkerKit

// The subscription at relays.

extension EventFollower {
  /// The wall clock was set: the filter for relays has a date, so the subscription must be renewed.
  func clockSet() {
    heardAt = heardAt.map { min($0, WallClock.seconds) }
    networkAnswer?.abandon(Refusal(.cancelled, "it is asked again"))
  }

  /// Has the events of all keys fetched from relays, until the watched keys change.
  func askRelays() {
    let keys = watch.keys
    networkRound += 1
    let round = networkRound
    worker.persist(
      "the observation at relays", ceilingMilliseconds: Self.retryMillisecondsMaximum, log
    ) { [self] () async throws(Refusal) in
      guard !isOver, round == networkRound else { return true }
      var events = Self.events(for: keys)
      events.since = WallClock.seconds - EventJudge.wrapSeconds - rules.ageSeconds
      var wanted = StoreObserve(filters: [events, Self.lists(of: keys)].map { JSONValue(of: $0) })
      wanted.policy = .networkOnly
      let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
      guard !isOver, round == networkRound else {
        answer.abandon(Refusal(.cancelled, "others are watched for now"))
        return true
      }
      networkAnswer = answer.answer
      // The events are not read here: they arrive in the store.
      while try await answer.nextPart() != nil {}
      return isOver || round != networkRound
    }
  }
}
