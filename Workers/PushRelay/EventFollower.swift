import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LedgerKeeping
import Logging
import Nostr
import Observing
import PushDelivery
import PushLedger
import PushRequests
import PushRules
import Storage
import WorkerKit

// The shell of `EventWatch`: reads the store for the keys that have devices, and writes wakes into the ledger, where
// they are brought from as any other.
//
//    event-store ── store.observe ──▶ EventWatch ──▶ PushWriter ──▶ ledger's queue ──▶ Dispatcher
//                   from the seq that                one transaction: the wakes, the events'
//                   stands in the ledger             ids, the seq
//
// The next page is read when the last one is written: a ledger that cannot be written stops the reading, and the
// store's credit does the rest. Relays are asked by another observation, of which nothing is read here: what it fetches
// comes to the store.
//
// Who registers is answered when the store is being read for him, if that does not take long: what comes from the
// answer on wakes him.

/// Follows the store's events.
@EventLoopActor
final class EventFollower {
  /// How it is with the store.
  enum State: String { case idle, following, away }

  /// Settings of the follower.
  struct Rules: Sendable {
    var ageSeconds: Int64 = 600
    var pauseMilliseconds: UInt64 = 30_000
    var keyMaximum = 1_000
    var asksRelays = true
    var wakeSeconds: Int64 = 86_400
  }

  private(set) var watch: EventWatch
  private(set) var state = State.idle
  private let worker: Worker
  private let ledger: PushLedger
  private let writer: PushWriter
  private let rules: Rules
  private let log: Logger
  private let owners = LoopTimer()
  private let pause = LoopTimer()
  private let keeping = LoopTimer()
  /// When the store was last heard, Unix seconds.
  private var heardAt: Int64?
  private var answers: [BusAnswer] = []
  private var networkAnswer: BusAnswer?
  /// Which of the observations at relays is the present one.
  private var networkRound = 0
  private var isRunning = false
  private var isAsking = false
  private var isReading = false
  private var isStale = false
  private var isGathering = false
  /// How often it was read who has devices.
  private var readCount = 0
  private var isWriting = false
  private var isOver = false
  private var keptPlace: EventPlace?

  /// How long changes of who is watched for gather.
  private static let gatherMilliseconds: UInt64 = 20
  /// How often it is looked who is still registered.
  private static let lookMilliseconds: UInt64 = 60_000
  /// How often the place is written down when nobody is woken.
  private static let keepMilliseconds: UInt64 = 30_000
  /// Longest wait until the store is asked again.
  private static let retryMillisecondsMaximum: UInt64 = 5_000
  /// Until the ledger is tried again.
  private static let writeMilliseconds: UInt64 = 1_000
  /// How long a registration waits until the store is read for its key.
  private static let patienceMilliseconds: UInt64 = 3_000
  private static let stepMilliseconds: UInt64 = 20
  /// How long the store has for mute lists.
  private static let listMilliseconds: UInt32 = 10_000

  init(_ worker: Worker, ledger: PushLedger, writer: PushWriter, rules: Rules, log: Logger) {
    self.worker = worker
    self.ledger = ledger
    self.writer = writer
    self.rules = rules
    self.log = log
    watch = EventWatch(
      judge: EventJudge(ageSeconds: rules.ageSeconds), pauseMilliseconds: rules.pauseMilliseconds, seq: nil)
  }

  /// Goes on where the last process ended.
  func begin() {
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        if let place = try await ledger.eventPlace() {
          (heardAt, keptPlace) = (place.readAt, place)
          watch = EventWatch(
            judge: watch.judge, pauseMilliseconds: watch.pauseMilliseconds, seq: place.seq)
        }
      } catch { log.warning("the place in the store cannot be read", metadata: ["why": "\(error)"]) }
      isRunning = true
      await readOwners(isFirst: true)
    }
  }

  /// Whether wakes are being written.
  var isBusy: Bool { isWriting }

  /// Whether as many keys are watched for as may be, and this is another.
  func isFull(for key: PublicKey) -> Bool { watch.keys.count >= rules.keyMaximum && !watch.keys.contains(key) }

  /// Somebody has registered, or has changed what wakes him.
  func ownersChanged() {
    guard isRunning, !isOver, !isGathering else { return }
    isGathering = true
    owners.set(afterMilliseconds: Self.gatherMilliseconds) { [unowned self] in
      isGathering = false
      EventLoopActor.task { [self] in await readOwners(isFirst: false) }
    }
  }

  /// Waits until the store is read for a key: not for long, and not at all where there is no store.
  func awaitFollowing(_ key: PublicKey) async {
    // The reading that is under way may have begun before the registration was written.
    let wanted = readCount + (isReading ? 2 : 1)
    ownersChanged()
    for _ in 0..<(Self.patienceMilliseconds / Self.stepMilliseconds) {
      guard !isOver, !watch.isFollowing(key), hasStore else { return }
      // It has no device that can be woken yet, or has none any more.
      if readCount >= wanted, !watch.keys.contains(key) { return }
      await EventLoopActor.sleep(milliseconds: Self.stepMilliseconds)
    }
  }

  /// Takes nothing any more. The place is written by who ends the process.
  func close() {
    if state == .following { heardAt = WallTime.seconds }
    isOver = true
    for timer in [owners, pause, keeping] { timer.cancel() }
    let end = Refusal(.cancelled, "the push relay is stopping")
    for answer in answers { answer.abandon(end) }
    networkAnswer?.abandon(end)
  }

  /// What is left to write at the end: how far the store was read.
  var last: PushCommand? { isWriting ? nil : place.map { .events(EventsCommand(batches: [], place: $0)) } }

  private var hasStore: Bool {
    worker.bus.registry.members.contains { $0.role == Role.eventStore.name && $0.isReady }
  }

  // MARK: Who

  private func readOwners(isFirst: Bool) async {
    guard !isReading else {
      isStale = true
      return
    }
    isReading = true
    repeat {
      isStale = false
      do throws(StorageFault) {
        let now = WallTime.seconds
        adopt(try await ledger.watchedOwners(now: now, limit: rules.keyMaximum), isFirst: isFirst)
        readCount += 1
      } catch {
        writer.health.leaveIfDamaged(error)
        log.warning("it cannot be read who has devices", metadata: ["why": "\(error)"])
      }
    } while isStale && !isOver
    isReading = false
    if !isOver, !owners.isSet {
      owners.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in
        EventLoopActor.task { [self] in await readOwners(isFirst: false) }
      }
    }
  }

  private func adopt(_ found: [WatchedOwner], isFirst: Bool) {
    guard !isOver else { return }
    var wanted: [PublicKey: WakeRules] = [:]
    var known: Set<PublicKey> = []
    for owner in found {
      let key = PublicKey(owner.owner.key)
      wanted[key] = Self.rules(owner)
      // Whoever came after the store was last read has no past here.
      if isFirst, let heardAt, owner.registeredAt <= heardAt { known.insert(key) }
    }
    guard watch.watch(wanted, known: known) else { return }
    let changed = Refusal(.cancelled, "others are watched for now")
    for answer in answers { answer.abandon(changed) }
    networkAnswer?.abandon(changed)
    networkAnswer = nil
    networkRound += 1
    guard !watch.keys.isEmpty else {
      state = .idle
      return
    }
    if !isAsking {
      isAsking = true
      EventLoopActor.task { [self] in
        await follow()
        isAsking = false
        if !watch.keys.isEmpty, !isOver { ownersChanged() }
      }
    }
    if rules.asksRelays { askRelays() }
  }

  private static func rules(_ owner: WatchedOwner) -> WakeRules {
    var rules = WakeRules(kept: owner.rules)
    rules.mutedPeople.formUnion(owner.blocked.filter { $0.realm == .nostr }.map { PublicKey($0.key) })
    return rules
  }

  // MARK: The store

  /// Reads the store as long as somebody is watched for; begins anew when others are, or when the store was away.
  private func follow() async {
    var delay = RetryDelay(ceilingMilliseconds: Self.retryMillisecondsMaximum)
    while !isOver, !watch.keys.isEmpty {
      let began = EventLoop.process.now
      let keys = watch.keys
      do throws(Refusal) { try await read() } catch {
        log.debug("the store's stream has ended", metadata: ["why": "\(error.message)"])
      }
      answers = []
      watch.ended()
      if state == .following { heardAt = WallTime.seconds }
      guard !isOver, keys == watch.keys else { continue }
      state = .away
      delay.lasted(milliseconds: EventLoop.process.now.milliseconds(since: began))
      await EventLoopActor.sleep(milliseconds: delay.next())
    }
    state = .idle
  }

  private func read() async throws(Refusal) {
    let keys = watch.keys
    watch.began(pastIsNews: heardAt.map { WallTime.seconds - $0 <= rules.ageSeconds } ?? false)
    try await readLists(keys)
    guard keys == watch.keys, !isOver else { return }
    var events = Self.events(for: keys)
    // Who begins wants nothing that is stored, but the place.
    if watch.seq == nil { events.limit = 0 }
    var wanted = StoreObserve(
      filters: [events, Self.lists(of: keys)].map { JSONValue(of: $0) }, afterSeq: watch.seq)
    wanted.policy = .cacheOnly
    wanted.pages = true
    let answer = try await worker.bus.ask("store.observe", BusPayload(json: wanted))
    guard keys == watch.keys, !isOver else { return answer.abandon(Refusal(.cancelled, "others are watched for now")) }
    answers = [answer]
    while let part = try await answer.nextPart(), !isOver {
      if part.payload.isRaw {
        try await take(part.payload.bytes)
      } else if !part.isLast {
        let end = try part.payload.decoded(as: StoredEnd.self)
        if let seq = watch.seq, end.seq < seq {
          log.warning("the event store has begun anew: what it has is history", metadata: ["seq": "\(end.seq)"])
          watch.storeChanged()
          return answer.abandon(Refusal(.cancelled, "the store is another one"))
        }
        guard keys == watch.keys else { return }
        watch.caughtUp(seq: end.seq)
        state = .following
        keepPlace()
      }
      heardAt = WallTime.seconds
    }
  }

  /// Mute lists first, so that none of what comes is judged without them.
  private func readLists(_ keys: Set<PublicKey>) async throws(Refusal) {
    let answer = try await worker.bus.ask(
      "store.query", BusPayload(json: StoreQuery(filters: [JSONValue(of: Self.lists(of: keys))])),
      ttlMilliseconds: Self.listMilliseconds)
    while let part = try await answer.nextPart(), !part.isLast {
      // The store has verified it; what cannot be read mutes nobody.
      if let event = try? Event(json: part.payload.bytes) { watch.learn(event) }
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
      // The store has read it before; what is none to this program is passed by.
      if let event = try? Event(json: Array(page[record.bytes])) { watch.received(event, seq: seq, at: moment) }
    }
    await wakeDue()
  }

  private static func events(for keys: Set<PublicKey>) -> Filter {
    var filter = Filter(kinds: EventJudge.kinds)
    if let letter = TagLetter("p") { filter.tags[letter] = keys.sorted().map { TagValue($0.description) } }
    return filter
  }

  private static func lists(of keys: Set<PublicKey>) -> Filter {
    Filter(authors: keys.sorted(), kinds: [EventKind.mutes])
  }

  // MARK: The network

  private func askRelays() {
    let keys = watch.keys
    networkRound += 1
    let round = networkRound
    worker.persist(
      "the observation at relays", ceilingMilliseconds: Self.retryMillisecondsMaximum, log
    ) { [self] () async throws(Refusal) in
      guard !isOver, round == networkRound else { return true }
      var events = Self.events(for: keys)
      events.since = WallTime.seconds - EventJudge.wrapSeconds - rules.ageSeconds
      var wanted = StoreObserve(filters: [events, Self.lists(of: keys)].map { JSONValue(of: $0) })
      wanted.policy = .networkOnly
      let answer = try await worker.bus.ask("store.observe", BusPayload(json: wanted))
      guard !isOver, round == networkRound else {
        answer.abandon(Refusal(.cancelled, "others are watched for now"))
        return true
      }
      networkAnswer = answer
      // Nothing of it is read here: it comes to the store.
      while try await answer.nextPart() != nil {}
      return isOver || round != networkRound
    }
  }

  // MARK: Waking

  /// Writes the wakes whose time has come, and waits until they are written.
  private func wakeDue() async {
    while isWriting, !isOver { await EventLoopActor.sleep(milliseconds: Self.stepMilliseconds) }
    guard !isOver else { return }
    let wakes = watch.due(at: EventLoop.process.now)
    setPause()
    guard !wakes.isEmpty else { return }
    // What was taken from the machine is here alone: nobody writes the place before this is written.
    isWriting = true
    let batches = wakes.map(batch)
    while true {
      let command = EventsCommand(batches: batches, place: place)
      if case .success = await writer.perform(.events(command)) {
        keptPlace = command.place
        break
      }
      guard !isOver else { break }
      await EventLoopActor.sleep(milliseconds: Self.writeMilliseconds)
    }
    isWriting = false
  }

  private func batch(_ wake: EventWake) -> EventBatch {
    let now = WallTime.milliseconds
    var queued = Wake(
      id: RandomBytes.make(16), recipient: PushOwner(.nostr, wake.key.octets), sender: nil, type: Wake.nostr,
      payload: nil, nonce: RandomBytes.make(16), acceptedAt: now, expiresAt: now + rules.wakeSeconds * 1_000)
    queued.topic = wake.topic
    queued.event = wake.events.last?.octets
    return EventBatch(wake: queued, events: wake.events.map(\.octets))
  }

  private func setPause() {
    guard !isOver, let deadline = watch.deadline else { return pause.cancel() }
    pause.set(at: deadline) { [unowned self] in EventLoopActor.task { [self] in await wakeDue() } }
  }

  private var place: EventPlace? { watch.place.map { EventPlace(seq: $0, readAt: heardAt ?? WallTime.seconds) } }

  /// Writes down now and then how far the store was read: after a crash, what came since is news.
  private func keepPlace() {
    guard !keeping.isSet, !isOver else { return }
    keeping.set(afterMilliseconds: keptPlace == nil ? 0 : Self.keepMilliseconds) { [unowned self] in
      EventLoopActor.task { [self] in
        if state == .following { heardAt = WallTime.seconds }
        if !isWriting, let place, place != keptPlace,
          case .success = await writer.perform(.events(EventsCommand(batches: [], place: place)))
        {
          keptPlace = place
        }
        if state == .following { keepPlace() }
      }
    }
  }
}
