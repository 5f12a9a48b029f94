internal import Clocks
public import Contracts
public import Cryptography
internal import DequeModule
public import Nostr

// The publish queue: which event is sent to which relay next, and when one that a relay did not take is sent again.
//
//   pending ──▶ sent ──▶ confirmed            the relay's OK, or `duplicate:`: never sent there again
//     ▲ ▲        │
//     │ └────────┤ wait: it failed, wants AUTH, or its end is not known    this event waits at this relay
//     └──────────┤ hold: unreachable, too fast, no connector               all events for this relay wait
//                │ pace: one at a time, since it was too fast (`RelayPace`)
//                └─▶ failed                   the relay's last word, too many refusals, or out of time
//   any of the open ones ──▶ cancelled        and still confirmed if it had been sent and its OK comes
//   failed, cancelled ──▶ pending             only by a caller's retry
//
// A value without I/O. It has no bytes of events: the shell keeps them, or reads them from the ledger before it sends.
// It holds publications that are under way. One that has ended, and is in the ledger as such, leaves the queue; the
// shell gives it back for a retry.
//
// Waits are measured on the monotonic clock. The ledger has wall times, and a clock that was set must do no harm: after
// a start no wait is longer than the longest, and no publication has more time left than it had at first.
//
// An attempt is counted when it begins, and is in the ledger when it has ended. A death in between loses one count, and
// the relay gets the event once more; it recognises the event by its id.

/// Publications under way and what is next for each of their relays.
public struct PublishQueue: Sendable {
  /// A publication in memory.
  struct Entry: Sendable {
    var publication: QueuedPublication
    /// When what is open is given up.
    var expiry: Instant
    /// For each relay, in the order of `publication.targets`.
    var slots: [Slot]
    /// Counts the changes that the ledger is to know.
    var version: UInt64 = 0
    var recordedVersion: UInt64 = 0
  }

  /// What the queue knows of one relay of a publication, and no caller is shown.
  struct Slot: Sendable {
    /// Until when it waits.
    var due: Instant?
    var isInLine = false
    var isInFlight = false
    /// Attempts in a row whose end is not known.
    var unsettledCount = 0
  }

  /// Something that comes with time: the end of a publication, its next attempt at a relay, the end of a relay's pause.
  enum Wake: Sendable {
    case expiry(EventID)
    case slot(SendingKey)
    case lane(String)
  }

  /// The bounds.
  public let limits: PublishLimits
  var entries: [EventID: Entry] = [:]
  var lanes: [String: RelayQueue] = [:]
  /// Paces of relays that have said `rate-limited`. They outlive lanes.
  var paces: [String: RelayPace] = [:]
  /// Lanes that may send, each once, in turn.
  var ring = Deque<String>()
  var wakes = Deadlines<Instant, Wake>()
  /// What waits because its account is locked.
  var locked: Set<SendingKey> = []
  /// Events sent and not answered yet.
  public internal(set) var inFlightCount = 0
  /// Whether nothing new is sent.
  var isClosed = false
  var actions: [PublishAction] = []
  var generator: SeededGenerator
  private var timer: Instant?

  /// An empty queue. `seed` is for the waits.
  public init(limits: PublishLimits = PublishLimits(), seed: UInt64) {
    self.limits = limits
    generator = SeededGenerator(seed: seed)
  }

  // MARK: What is there

  /// Publications in memory: those under way, and those that have ended and are not written down as that.
  public var count: Int { entries.count }
  /// Their ids, in no order.
  public var ids: some Sequence<EventID> { entries.keys }

  /// Times that something waits for; void ones are among them, but do not gather.
  public var waitingCount: Int { wakes.count }

  /// Publications of which something is still to be sent to one of these relays.
  public func count(openAt isMeant: (_ relay: String) -> Bool) -> Int {
    entries.values.count { $0.publication.targets.contains { $0.isOpen && isMeant($0.relay) } }
  }

  /// Publications that were accepted before `time`, seconds since 1970, and wait for a relay; and those relays, by the
  /// number of publications, the most first.
  public func overdue(acceptedBefore time: Int64) -> (count: Int, relays: [String]) {
    var (count, waiting) = (0, [String: Int]())
    for entry in entries.values where entry.publication.acceptedAt < time {
      let open = entry.publication.targets.filter(\.isOpen)
      if !open.isEmpty { count += 1 }
      for target in open { waiting[target.relay, default: 0] += 1 }
    }
    return (count, waiting.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key))
  }

  /// A publication as it is to be written down; nil when it is not in memory.
  public subscript(id: EventID) -> QueuedPublication? { entries[id]?.publication }

  /// How many changes the ledger was to know; with ``subscript(_:)``, for ``recorded(_:version:)``.
  public func version(of id: EventID) -> UInt64? { entries[id]?.version }

  /// Whether the ledger has all that it was to know of a publication; of one that is not in memory it has.
  public func isRecorded(_ id: EventID) -> Bool { entries[id].map { $0.version == $0.recordedVersion } ?? true }

  /// A publication as it is told: what waits for its relay says so.
  public func publication(_ id: EventID, at moment: Moment) -> Publication? {
    guard let entry = entries[id] else { return nil }
    var told = entry.publication.publication
    for index in told.targets.indices where told.targets[index].state == .pending {
      let hold = lanes[told.targets[index].relay]?.hold
      let end = max(entry.slots[index].due ?? moment.instant, hold?.end ?? moment.instant)
      guard end > moment.instant else { continue }
      told.targets[index].nextAttemptAt =
        moment.time + Int64(clamping: (end.milliseconds(since: moment.instant) + 999) / 1_000)
      if told.targets[index].message == nil { told.targets[index].message = hold?.words }
    }
    return told
  }

  // MARK: What happens

  /// A publication was accepted, or is read from the ledger: it is sent to those of its relays that are open.
  public mutating func admitted(_ publication: QueuedPublication, at moment: Moment) -> [PublishAction] {
    guard entries[publication.id] == nil else { return [] }
    let left = max(0, min(publication.expiresAt - moment.time, publication.expiresAt - publication.acceptedAt))
    var entry = Entry(
      publication: publication, expiry: moment.instant.advanced(milliseconds: UInt64(left) * 1_000), slots: [])
    for (index, target) in publication.targets.enumerated() {
      var slot = Slot()
      if target.isOpen {
        entry.publication.change(index) { $0.progress.state = .pending }
        slot.due = restoredDue(target.progress.nextAttemptAt, at: moment)
        restorePace(target.paceMilliseconds, of: target.relay, at: moment)
      }
      entry.slots.append(slot)
    }
    entries[publication.id] = entry
    if left > 0 {
      wakes.add(.expiry(publication.id), at: entry.expiry)
      begin(publication.id, at: moment)
    } else {
      woke(.expiry(publication.id), at: moment)
    }
    return finish(at: moment)
  }

  /// More relays for a publication in memory.
  public mutating func targetsAdded(
    _ targets: [QueuedTarget], to id: EventID, expiresAt: Int64? = nil, at moment: Moment
  ) -> [PublishAction] {
    guard var entry = entries[id] else { return [] }
    let slots = Dictionary(uniqueKeysWithValues: zip(entry.publication.targets.map(\.relay), entry.slots))
    guard entry.publication.add(targets) > 0 else { return [] }
    entry.slots = entry.publication.targets.map { slots[$0.relay] ?? Slot() }
    entries[id] = entry
    if let expiresAt { prolong(id, until: expiresAt, at: moment) }
    begin(id, at: moment)
    changed(id)
    return finish(at: moment)
  }

  /// An attempt has ended.
  public mutating func settled(_ key: SendingKey, _ outcome: SendOutcome, at moment: Moment) -> [PublishAction] {
    guard let index = index(of: key), entries[key.id]?.slots[index].isInFlight == true else { return [] }
    entries[known: key.id].slots[index].isInFlight = false
    inFlightCount -= 1
    lanes[known: key.relay].inFlightCount -= 1
    settle(key, index, outcome, at: moment)
    forgetIfDone(key.id)
    enlist(key.relay)
    return finish(at: moment)
  }

  /// A connector says that the relay is connected now: what waited for that goes at once.
  public mutating func relayOpened(_ relay: String, at moment: Moment) -> [PublishAction] {
    guard let hold = lanes[relay]?.hold, hold.reason == .unreachable || hold.reason == .absent else { return [] }
    release(relay)
    return finish(at: moment)
  }

  /// Connectors have come or gone: what found none goes at once.
  public mutating func connectorsChanged(at moment: Moment) -> [PublishAction] {
    for (relay, lane) in lanes where lane.hold?.reason == .absent { release(relay) }
    return finish(at: moment)
  }

  /// The signer says that these accounts can be used: what waited for one of them goes at once.
  public mutating func accountsOpened(_ accounts: Set<PublicKey>, at moment: Moment) -> [PublishAction] {
    for key in locked {
      guard let index = index(of: key), let target = entries[key.id]?.publication.targets[index],
        target.manner.account.map(accounts.contains) ?? false
      else { continue }
      entries[known: key.id].slots[index].due = nil
      lineUp(key.id, index, at: moment)
    }
    return finish(at: moment)
  }

  /// Somebody wants relays that failed, or were called off, tried again, and those that wait tried now.
  ///
  /// - Parameters:
  ///   - id: the event.
  ///   - relay: only this one.
  ///   - expiresAt: until when, at least.
  ///   - moment: when it happens.
  public mutating func retried(
    _ id: EventID, relay: String? = nil, expiresAt: Int64, at moment: Moment
  ) -> [PublishAction] {
    guard let entry = entries[id] else { return [] }
    prolong(id, until: expiresAt, at: moment)
    for (index, target) in entry.publication.targets.enumerated() where relay == nil || relay == target.relay {
      guard target.progress.state != .confirmed else { continue }
      if entry.slots[index].isInFlight {
        // What comes of it counts again.
        entries[known: id].publication.change(index) {
          $0.progress.state = .sent
          if target.progress.state == .cancelled { $0.progress.message = nil }
          $0.refusals = 0
        }
        continue
      }
      entries[known: id].slots[index].due = nil
      entries[known: id].slots[index].unsettledCount = 0
      entries[known: id].publication.change(index) {
        $0.progress.state = .pending
        // That it was called off is over; why a relay has failed explains what it waits for.
        if target.progress.state == .cancelled { $0.progress.message = nil }
        $0.progress.nextAttemptAt = nil
        $0.refusals = 0
      }
      lineUp(id, index, at: moment)
      release(target.relay)
    }
    changed(id)
    return finish(at: moment)
  }

  /// Somebody does not want it sent any more. What was sent already and is taken in spite of that counts as taken.
  public mutating func cancelled(_ id: EventID, relay: String? = nil, at moment: Moment) -> [PublishAction] {
    guard let entry = entries[id] else { return [] }
    for (index, target) in entry.publication.targets.enumerated()
    where target.isOpen && (relay == nil || relay == target.relay) {
      end(id, index, .cancelled, target.progress.state == .sent ? "called off when it had been sent" : "called off")
    }
    changed(id)
    return finish(at: moment)
  }

  /// A publication was written down as it was at this version: when it has ended, it is forgotten.
  public mutating func recorded(_ id: EventID, version: UInt64) {
    guard let known = entries[id]?.recordedVersion else { return }
    entries[known: id].recordedVersion = max(known, version)
    forgetIfDone(id)
  }

  /// Somebody has brought a publication back, and did not change it: when it has ended, it is forgotten again.
  public mutating func putBack(_ id: EventID) { forgetIfDone(id) }

  /// Nothing new is sent from now on: the process is about to end.
  public mutating func closed(at moment: Moment) -> [PublishAction] {
    isClosed = true
    return finish(at: moment)
  }

  /// The timer has fired.
  public mutating func timerFired(at moment: Moment) -> [PublishAction] {
    timer = nil
    while let (_, wake) = wakes.popDue(at: moment.instant) { woke(wake, at: moment) }
    return finish(at: moment)
  }

  // MARK: Turning

  /// Ends a turn: sends what may be sent, sets the timer, gives the actions out.
  private mutating func finish(at moment: Moment) -> [PublishAction] {
    dispatch(at: moment)
    dropVoidWakes()
    let next = isClosed ? nil : wakes.first
    if next != timer {
      timer = next
      actions.append(next.map(PublishAction.setTimer) ?? .cancelTimer)
    }
    defer { actions = [] }
    return actions
  }

  /// The ledger is to know of it, and whoever follows it.
  mutating func changed(_ id: EventID) {
    entries[known: id].version += 1
    actions.append(.record(id))
  }
}
