internal import Clocks
public import Contracts
public import Cryptography
internal import DequeModule
internal import HeapModule
public import Nostr

// The publish queue decides which event is sent to which relay next, and when to retry one that a relay did not accept.
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
// A value without I/O. It does not hold the bytes of events: the shell keeps them, or reads them from the ledger before
// it sends. The queue holds publications that are under way. A publication that has ended leaves the queue once the
// ledger has recorded the end; the shell brings it back for a retry.
//
// Waits are measured on the monotonic clock. The ledger has wall times, and setting the clock must do no harm: after a
// start no wait is longer than `restoredCeilingMilliseconds`, and no publication has more time left than when it was
// accepted.
//
// An attempt is counted when it begins, and written to the ledger when it has ended. A crash in between loses one
// count, and the relay receives the event once more; it recognises the event by its id.

/// Publications under way, and the next step for each of their relays.
public struct PublishQueue: Sendable {
  /// A publication in memory.
  struct Entry: Sendable {
    var publication: QueuedPublication
    /// When relays that have not accepted the event are given up.
    var expiry: Instant
    /// One for each relay, in the order of `publication.targets`.
    var slots: [Slot]
    /// The number of changes that the ledger must record.
    var version: UInt64 = 0
    var recordedVersion: UInt64 = 0
  }

  /// The internal state of one relay of a publication; callers do not see it.
  struct Slot: Sendable {
    /// The end of its wait.
    var due: Instant?
    var isInLine = false
    var isInFlight = false
    /// Attempts in a row whose outcome is unknown.
    var unsettledCount = 0
  }

  /// What a timer is for: the end of a publication, its next attempt at a relay, the end of a relay's pause.
  enum Wake: Sendable {
    case expiry(EventID)
    case slot(SendingKey)
    case lane(String)
  }

  /// The bounds.
  public let limits: PublishLimits
  var entries: [EventID: Entry] = [:]
  var lanes: [String: RelayQueue] = [:]
  /// The paces of relays that have answered `rate-limited`. They outlive lanes.
  var paces: [String: RelayPace] = [:]
  /// Lanes that may send, each once; they take turns.
  var ring = Deque<String>()
  var wakes = Deadlines<Instant, Wake>()
  /// Events that wait because their account is locked.
  var locked: Set<SendingKey> = []
  /// Events sent and not answered yet.
  public internal(set) var inFlightCount = 0
  /// Whether the queue sends nothing new.
  var isClosed = false
  var actions: [PublishAction] = []
  var generator: SeededGenerator
  private var timer: Instant?

  /// An empty queue. `seed` makes the waits random.
  public init(limits: PublishLimits = PublishLimits(), seed: UInt64) {
    self.limits = limits
    generator = SeededGenerator(seed: seed)
  }

  // MARK: State

  /// The number of publications in memory: those under way, and those whose end the ledger has not recorded yet.
  public var count: Int { entries.count }
  /// Their ids, in no particular order.
  public var ids: some Sequence<EventID> { entries.keys }

  /// The number of pending timers. Void ones are included, but they do not accumulate.
  public var waitingCount: Int { wakes.count }

  /// The number of publications that still wait for one of these relays.
  public func count(openAt isMeant: (_ relay: String) -> Bool) -> Int {
    entries.values.count { $0.publication.targets.contains { $0.isOpen && isMeant($0.relay) } }
  }

  /// Whether an event waits for this relay, or is on its way to it.
  public func isBusy(at relay: String) -> Bool {
    lanes[relay].map { !$0.line.isEmpty || $0.inFlightCount > 0 } ?? false
  }

  /// The number of publications that were accepted before `time`, seconds since 1970, and still wait for a relay; and
  /// those relays, the one with the most such publications first.
  public func overdue(acceptedBefore time: Int64) -> (count: Int, relays: [String]) {
    var (count, waiting) = (0, [String: Int]())
    for entry in entries.values where entry.publication.acceptedAt < time {
      let open = entry.publication.targets.filter(\.isOpen)
      if !open.isEmpty { count += 1 }
      for target in open { waiting[target.relay, default: 0] += 1 }
    }
    return (count, waiting.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key))
  }

  /// The publications that were accepted at `time`, seconds since 1970, or before, and still wait for a relay; the
  /// oldest first.
  public func open(acceptedUntil time: Int64) -> [QueuedPublication] {
    entries.values.map(\.publication)
      .filter { $0.acceptedAt <= time && $0.targets.contains(where: \.isOpen) }
      .sorted { ($0.acceptedAt, $0.number) < ($1.acceptedAt, $1.number) }
  }

  /// A publication as the ledger must record it; nil when it is not in memory.
  public subscript(id: EventID) -> QueuedPublication? { entries[id]?.publication }

  /// The number of changes that the ledger must record. Read it with ``subscript(_:)``, for ``recorded(_:version:)``.
  public func version(of id: EventID) -> UInt64? { entries[id]?.version }

  /// Whether the ledger has recorded all changes of a publication; true for one that is not in memory.
  public func isRecorded(_ id: EventID) -> Bool { entries[id].map { $0.version == $0.recordedVersion } ?? true }

  /// A publication as callers see it, with the next attempt and the reason for each relay that is being waited for.
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

  // MARK: Inputs

  /// A publication was accepted, or read from the ledger: it is sent to those of its relays that are open.
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

  /// A publication in memory has further relays.
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

  /// A connector reports that the relay is connected: the events that waited for it are sent immediately.
  public mutating func relayOpened(_ relay: String, at moment: Moment) -> [PublishAction] {
    guard let hold = lanes[relay]?.hold, hold.reason == .unreachable || hold.reason == .absent else { return [] }
    release(relay)
    return finish(at: moment)
  }

  /// Connectors have started or ended: the events that found no connector are sent immediately.
  public mutating func connectorsChanged(at moment: Moment) -> [PublishAction] {
    for (relay, lane) in lanes where lane.hold?.reason == .absent { release(relay) }
    return finish(at: moment)
  }

  /// The signer reports that these accounts are unlocked: the events that waited for one of them are sent immediately.
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

  /// A caller retries relays that failed or were cancelled; relays that wait are tried now.
  ///
  /// - Parameters:
  ///   - id: the event.
  ///   - relay: only this one; nil for all.
  ///   - expiresAt: the publication does not expire before this time, seconds since 1970.
  ///   - moment: now.
  public mutating func retried(
    _ id: EventID, relay: String? = nil, expiresAt: Int64, at moment: Moment
  ) -> [PublishAction] {
    guard let entry = entries[id] else { return [] }
    prolong(id, until: expiresAt, at: moment)
    for (index, target) in entry.publication.targets.enumerated() where relay == nil || relay == target.relay {
      guard target.progress.state != .confirmed else { continue }
      if entry.slots[index].isInFlight {
        // The outcome of this attempt counts again.
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
        // The message of a cancellation is out of date; the message of a failure explains the wait.
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

  /// A caller retries what has waited for long: relays that are open, and those that were given up or cancelled only if
  /// `withEnded`. The time at which relays are given up stays.
  public mutating func retriedOpen(_ id: EventID, withEnded: Bool, at moment: Moment) -> [PublishAction] {
    guard let publication = entries[id]?.publication else { return [] }
    return publication.targets.filter { withEnded || $0.isOpen }.flatMap {
      retried(id, relay: $0.relay, expiresAt: publication.expiresAt, at: moment)
    }
  }

  /// A caller cancels a publication. If an event that was already sent is accepted after this, it counts as accepted.
  public mutating func cancelled(_ id: EventID, relay: String? = nil, at moment: Moment) -> [PublishAction] {
    guard let entry = entries[id] else { return [] }
    for (index, target) in entry.publication.targets.enumerated()
    where target.isOpen && (relay == nil || relay == target.relay) {
      end(id, index, .cancelled, target.progress.state == .sent ? "called off while it was being sent" : "called off")
    }
    changed(id)
    return finish(at: moment)
  }

  /// Another Roost of the same owner has published the event too: relays that have taken it from there are not sent it
  /// from here. Other relays stay as they are.
  ///
  /// - Parameters:
  ///   - id: the event, which is in memory.
  ///   - targets: its relays there.
  ///   - moment: now.
  public mutating func learned(_ id: EventID, _ targets: [PublicationTarget], at moment: Moment) -> [PublishAction] {
    guard let entry = entries[id] else { return [] }
    var (isNew, further) = (false, [QueuedTarget]())
    for told in targets where told.state == .confirmed {
      guard let index = entry.publication.targets.firstIndex(where: { $0.relay == told.relay }) else {
        further.append(QueuedTarget(told, manner: SendingManner(isForeign: true)))
        continue
      }
      // The outcome of an attempt under way will come by itself.
      guard entry.publication.targets[index].progress.state != .confirmed, !entry.slots[index].isInFlight else {
        continue
      }
      end(id, index, .confirmed, told.message ?? "")
      entries[known: id].publication.change(index) {
        $0.progress.confirmedAt = told.confirmedAt
        if told.message == nil { $0.progress.message = nil }
      }
      isNew = true
    }
    let room = max(0, PlanPublish.relayMaximum - entry.publication.targets.count)
    further = Array(further.prefix(room))
    if !further.isEmpty { return targetsAdded(further, to: id, at: moment) }
    if isNew { changed(id) }
    return finish(at: moment)
  }

  /// The ledger has recorded a publication at this version. If the publication has ended, the queue forgets it.
  public mutating func recorded(_ id: EventID, version: UInt64) {
    guard let known = entries[id]?.recordedVersion else { return }
    entries[known: id].recordedVersion = max(known, version)
    forgetIfDone(id)
  }

  /// A caller no longer needs a publication that it loaded into memory. If the publication has ended, the queue forgets
  /// it again.
  public mutating func putBack(_ id: EventID) { forgetIfDone(id) }

  /// The process is about to end: the queue sends nothing new.
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

  // MARK: Actions

  /// Ends each input: sends what may be sent, sets the timer, and returns the actions.
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

  /// The ledger must record the change, and the callers that follow the publication must learn of it.
  mutating func changed(_ id: EventID) {
    entries[known: id].version += 1
    actions.append(.record(id))
  }
}
