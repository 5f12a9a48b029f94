import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import PushDelivery
import PushRules
import WorkerKit

// Reading the store.

extension EventFollower {
  /// How long the store may take for mute lists.
  private static let listMilliseconds: UInt32 = 10_000

  /// Reads the store while keys are watched; begins again when the keys change, or after the store was away.
  func follow() async {
    var delay = BackOff(longestMilliseconds: Self.retryMillisecondsMaximum)
    while !isOver, !watch.keys.isEmpty {
      let began = EventLoop.process.now
      let keys = watch.keys
      do throws(Refusal) { try await read() } catch {
        log.debug("the store's stream has ended", metadata: ["why": "\(error.message)"])
      }
      answers = []
      watch.ended()
      if state == .following { heardAt = WallClock.seconds }
      guard !isOver, keys == watch.keys else { continue }
      state = .away
      progress.raise()
      delay.lasted(milliseconds: EventLoop.process.now.milliseconds(since: began))
      await EventLoopActor.sleep(milliseconds: delay.next())
    }
    state = .idle
  }

  private func read() async throws(Refusal) {
    let keys = watch.keys
    watch.began(pastIsNews: heardAt.map { WallClock.seconds - $0 <= rules.ageSeconds } ?? false)
    try await readLists(keys)
    guard keys == watch.keys, !isOver else { return }
    var events = Self.events(for: keys)
    // The first reading needs no stored events, only the position.
    if watch.seq == nil { events.limit = 0 }
    var wanted = StoreObserve(
      filters: [events, Self.lists(of: keys)].map { JSONValue(of: $0) }, afterSeq: watch.seq)
    wanted.policy = .cacheOnly
    wanted.pages = true
    let answer = try await worker.bus.ask(StoreMethod.observe, wanted)
    guard keys == watch.keys, !isOver else { return answer.abandon(Refusal(.cancelled, "others are watched for now")) }
    answers = [answer.answer]
    while let part = try await answer.nextPart(), !isOver {
      if part.isRaw {
        try await take(part.bytes)
      } else {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.bytes)
        if let seq = watch.seq, end.seq < seq {
          log.warning("the event store has a new file: what it has is history", metadata: ["seq": "\(end.seq)"])
          watch.storeChanged()
          return answer.abandon(Refusal(.cancelled, "the store is another one"))
        }
        guard keys == watch.keys else { return }
        watch.caughtUp(seq: end.seq)
        state = .following
        progress.raise()
        keepPlace()
      }
      heardAt = WallClock.seconds
    }
  }

  /// Mute lists come first, so that no event is judged without them.
  private func readLists(_ keys: Set<PublicKey>) async throws(Refusal) {
    let answer = try await worker.bus.ask(
      StoreMethod.query, StoreQuery(filters: [JSONValue(of: Self.lists(of: keys))]),
      ttlMilliseconds: Self.listMilliseconds)
    while let part = try await answer.nextPart() {
      // The store has verified it; an unreadable list mutes nothing.
      if let event = try? Event(json: part.bytes) { watch.learn(event) }
    }
  }

  private func take(_ page: [UInt8]) async throws(Refusal) {
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(page) } catch {
      throw Refusal(.badPayload, error.description)
    }
    let moment = PushMoment.now
    for record in records {
      guard let seq = record.seq else { continue }
      // The store has verified it; an event that this program cannot read is skipped.
      if let event = try? Event(json: Array(page[record.bytes])) { watch.received(event, seq: seq, at: moment) }
    }
    await wakeDue()
  }

  static func events(for keys: Set<PublicKey>) -> Filter {
    var filter = Filter(kinds: EventJudge.kinds)
    if let letter = TagLetter("p") { filter.tags[letter] = keys.sorted().map { TagValue($0.description) } }
    return filter
  }

  static func lists(of keys: Set<PublicKey>) -> Filter {
    Filter(authors: keys.sorted(), kinds: [EventKind.mutes])
  }
}
