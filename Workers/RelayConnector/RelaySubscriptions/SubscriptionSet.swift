public import Clocks
public import Cryptography
internal import Nostr
public import RelaySession

// The subscriptions to hold open at one relay, whatever the relay does: a value over a RelaySession, without I/O.
//
// A session ends a request for good when its connection ends or the relay sends CLOSED, because only its caller knows
// what it already has. This set sends the request again: on each new connection, and after CLOSED as often as the
// reason makes sense. The filters do not change: an event that comes twice costs the store one look-up of an id, but an
// event that is left out is lost.
//
//     waiting ──► asked ──► stored          (an interest that is not live is over then)
//        ▲          │ CLOSED
//        │          ▼
//        └─── a while, by the reason's word ───► refused, until the next connection; where only our own signature was
//                                                missing, until the account has authenticated, or a while
//
// A CLOSED after EOSE that names no error is not a refusal: the relay has answered, and says that nothing more will
// come. rust-nostr's relay does so for a filter of ids. If everything asked for has come, the interest is done.
// Otherwise the set sends the request of a live interest again, after a wait that grows each time.
//
// Interests that are not live are the pages of stored events (Drain). A relay with one subscription sends those first.
//
// A relay has only so many subscriptions (`slotsChanged`), of which one stays free for single events. If more live
// interests want one, they take turns: after EOSE an interest keeps its subscription for a minute, then the one that
// waits longest gets it. A refusal for want of a free subscription costs an interest nothing, because the relay's bound
// is lowered with it.
//
// A relay that answers `blocked` is set aside when other people named it: nothing is asked there until a person asks
// for it (`relay.retry`), or a restart. At one's own relays that one interest is refused.
//
// While the relay is held back, its messages are not read, so its silence does not count and no patience runs out.
//
// Rejected: to set `since` to the last EOSE. Events are published late and dated back (gift wraps by two days on
// purpose), so this would find only most of them. The planner knows by coverage what each relay has.

/// The subscriptions to hold open at one relay.
public struct SubscriptionSet: Sendable {
  private(set) var limits: SubscriptionLimits
  private var generator: SeededGenerator
  var entries: [String: Entry] = [:]
  var keys: [RequestKey: String] = [:]
  /// Numbers the interests in the order in which they came.
  var nextNumber: UInt64 = 0
  var nextKey: UInt64
  private var isOpen = false
  private var timer: Instant?
  private var whyClosed: String?
  /// How many subscriptions the relay allows.
  var slots = RelayPolicy.assumedSubscriptionMaximum
  /// Why nothing is asked of the relay; nil while it may be.
  private var aside: String?
  /// Since when the relay is held back; nil while it is not.
  private var heldSince: Instant?

  /// The keys of this set's requests begin here; those of the shell are below.
  public static let firstRequestKey: UInt64 = 1 << 63

  /// An empty set. `seed` should differ between relays and starts.
  public init(limits: SubscriptionLimits = SubscriptionLimits(), seed: UInt64) {
    self.limits = limits
    generator = SeededGenerator(seed: seed)
    nextKey = Self.firstRequestKey
  }

  /// Whether there is no interest.
  public var isEmpty: Bool { entries.isEmpty }
  /// The interests, by key.
  public var wishes: [String: Subscription] { entries.mapValues(\.wish) }

  /// The report of an interest; nil when there is no interest with this key.
  public func report(_ key: String) -> Report? {
    guard let entry = entries[key] else { return nil }
    let state: State =
      switch entry.phase {
      case .refused: .refused(entry.reason ?? "", entry.refusal)
      case .done: .stored
      case .started, .closed: entry.isStored ? .stored : .asked
      case .resting where entry.isStored: .stored
      case .idle, .pausing, .resting: .waiting(entry.reason ?? whyClosed)
      }
    let overdue = state == .asked && entry.isOverdue ? silence : nil
    return Report(state: state, events: entry.events, overdue: overdue, isSilent: entry.isOverdue)
  }

  // MARK: Interests

  /// Adds an interest. The same interest under the same key changes nothing; another one replaces it.
  public mutating func wish(_ key: String, _ wish: Subscription, at now: Instant) -> [Action] {
    if entries[key]?.wish == wish { return [] }
    var actions = remove(key)
    nextNumber += 1
    entries[key] = Entry(wish: wish, number: nextNumber)
    if let aside {
      entries[known: key].refusal = .blocked
      refuse(key, aside)
    }
    actions.append(.changed(key))
    return settled(actions, at: now)
  }

  /// Removes an interest.
  public mutating func drop(_ key: String, at now: Instant) -> [Action] { settled(remove(key), at: now) }

  private mutating func remove(_ key: String) -> [Action] {
    guard let entry = entries.removeValue(forKey: key), case .started(let request, _) = entry.phase else { return [] }
    keys[request] = nil
    return [.cancel(request)]
  }

  // MARK: What happens

  /// The connection is open.
  public mutating func opened(at now: Instant) -> [Action] {
    isOpen = true
    whyClosed = nil
    for (key, entry) in entries {
      entries[known: key].unsignedCount = 0
      entries[known: key].closings = 0
      let end = entry.refusedAt?.advanced(milliseconds: limits.retryMemoryMilliseconds)
      let isRemembered = end.map { $0 > now } ?? false
      if !isRemembered { entries[known: key].retries = Retries() }
      switch entry.phase {
      case .refused where aside != nil: break
      case .refused where isRemembered && entry.refusal != nil: entries[known: key].phase = .refused(until: end)
      case .refused, .pausing, .resting:
        entries[known: key].phase = .idle
        entries[known: key].reason = nil
      case .idle, .started, .closed, .done: break
      }
    }
    return settled([], at: now)
  }

  /// The relay allows so many subscriptions, at least 1.
  public mutating func slotsChanged(_ count: Int, at now: Instant) -> [Action] {
    slots = count
    return settled([], at: now)
  }

  /// So many pages of stored events are asked for at a time, from now on.
  public mutating func pageMaximumChanged(_ count: Int, at now: Instant) -> [Action] {
    limits.pageMaximum = count
    return settled([], at: now)
  }

  /// Other people named this relay, and it wants nothing of this client: nothing is asked there from now on.
  public mutating func setAside(_ reason: String, at now: Instant) -> [Action] {
    aside = reason
    var actions: [Action] = []
    for (key, entry) in entries where entry.phase != .done {
      if case .started(let request, _) = entry.phase {
        keys[request] = nil
        actions.append(.cancel(request))
      }
      entries[known: key].refusal = .blocked
      refuse(key, reason)
      actions.append(.changed(key))
    }
    return settled(actions, at: now)
  }

  /// A person wants the relay tried again: refusals are forgotten.
  public mutating func forgiven(at now: Instant) -> [Action] {
    aside = nil
    var actions: [Action] = []
    for (key, entry) in entries {
      entries[known: key].retries = Retries()
      entries[known: key].refusedAt = nil
      guard case .refused = entry.phase else { continue }
      entries[known: key].phase = .idle
      entries[known: key].reason = nil
      actions.append(.changed(key))
    }
    return settled(actions, at: now)
  }

  /// The account has authenticated: interests that were refused because its signature was missing are sent again.
  public mutating func shown(_ account: PublicKey, at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (key, entry) in entries where entry.wish.account == account {
      guard case .refused(until: .some) = entry.phase, entry.refusal == nil else { continue }
      entries[known: key].phase = .idle
      entries[known: key].reason = nil
      actions.append(.changed(key))
    }
    return settled(actions, at: now)
  }

  /// There is no connection, for this reason.
  public mutating func closed(why: String?, at now: Instant) -> [Action] {
    let reason = why ?? whyClosed
    guard isOpen || reason != whyClosed else { return [] }
    isOpen = false
    whyClosed = reason
    for (key, entry) in entries {
      if case .closed(again: .some) = entry.phase { entries[key]?.phase = .idle }
    }
    let waiting = entries.filter { $0.value.phase != .done }.keys.sorted()
    for key in waiting where entries[key]?.phase == .idle { entries[key]?.reason = nil }
    return settled(waiting.map { .changed($0) }, at: now)
  }

  /// The REQ of a request was sent, the first time or again: from now on the relay owes its answer.
  public mutating func sent(_ request: RequestKey, at now: Instant) -> [Action] {
    guard let key = keys[request] else { return [] }
    entries[known: key].sentAt = now
    entries[known: key].lastSign = now
    return settled([], at: now)
  }

  /// An event came for a request; one that has come before is no sign of progress.
  ///
  /// - Returns: the key of its interest; nil when the interest was removed.
  public mutating func delivered(_ request: RequestKey, isNew: Bool = true, at now: Instant) -> String? {
    guard let key = keys[request] else { return nil }
    entries[known: key].events += 1
    entries[known: key].delivered += 1
    if isNew { entries[known: key].lastSign = now }
    return key
  }

  /// The relay is held back: nothing of what it sends is read.
  public mutating func held(at now: Instant) -> [Action] {
    heldSince = heldSince ?? now
    return settled([], at: now)
  }

  /// The relay is read again.
  public mutating func released(at now: Instant) -> [Action] {
    guard let since = heldSince else { return [] }
    heldSince = nil
    for (key, entry) in entries {
      guard case .started(_, hasEnded: false) = entry.phase else { continue }
      let pause = now.nanoseconds - min(now, max(since, entry.lastSign)).nanoseconds
      entries[known: key].lastSign = entry.lastSign.advanced(nanoseconds: pause)
    }
    return settled([], at: now)
  }

  /// EOSE came.
  public mutating func endedStored(_ request: RequestKey, at now: Instant) -> [Action] {
    guard let key = keys[request], case .started(request, hasEnded: false)? = entries[key]?.phase else { return [] }
    entries[known: key].phase = .started(request, hasEnded: true)
    entries[known: key].committing = request
    entries[known: key].endedAt = now
    return settled([.commit(key, request)], at: now)
  }

  /// All events before that EOSE are committed.
  public mutating func committed(_ key: String, _ request: RequestKey, at now: Instant) -> [Action] {
    guard let entry = entries[key], entry.committing == request else { return [] }
    var actions: [Action] = []
    entries[known: key].committing = nil
    entries[known: key].isStored = true
    if entry.phase == .closed(again: nil) {
      entries[known: key].phase = .done
    } else if !entry.wish.isLive {
      keys[request] = nil
      entries[known: key].phase = .done
      actions.append(.cancel(request))
    }
    return settled(actions + [.changed(key)], at: now)
  }

  /// The request has ended without a cancel.
  public mutating func failed(_ request: RequestKey, _ failure: WorkFailure, at now: Instant) -> [Action] {
    guard let key = keys.removeValue(forKey: request), let entry = entries[key] else { return [] }
    if failure.code == .closedByRelay, closedBehindEnd(key, entry, failure.reason, at: now) {
      return settled([.changed(key)], at: now)
    }
    entries[known: key].committing = nil
    switch failure.code {
    case .relayUnreachable, .disconnected, .closing, .timedOut:
      // `opened` comes before any request is started again.
      isOpen = false
      entries[known: key].phase = .idle
    case .full, .noSlot:
      pause(key, failure.message, milliseconds: limits.fullMilliseconds, at: now)
    case .notAuthenticated, .notProtected, .ownRelay:
      entries[known: key].refusal = failure.code == .notAuthenticated ? .authentication : nil
      refuse(key, failure.message)
    case .notSigned:
      let wait = min(
        limits.unsignedMilliseconds << UInt64(min(entry.unsignedCount, 8)), limits.unsignedCeilingMilliseconds)
      let chance = UInt64.random(in: 0...wait / 2, using: &generator)
      entries[known: key].unsignedCount += 1
      refuse(key, failure.message, until: now.advanced(milliseconds: wait + chance))
    case .tooLarge:
      entries[known: key].refusal = .size
      refuse(key, failure.message)
    case .outOfBounds, .notShown: preconditionFailure("only events are out of bounds or protected")
    case .noReconciliation: preconditionFailure("a REQ is no reconciliation")
    case .closedByRelay: refused(key, failure, at: now)
    }
    return settled([.changed(key)], at: now)
  }

  /// The relay sent CLOSED with an error, or before EOSE.
  private mutating func refused(_ key: String, _ failure: WorkFailure, at now: Instant) {
    let kind = RefusalClass(failure.reason ?? RelayReason(""))
    entries[known: key].refusal = kind
    entries[known: key].refusedAt = now
    // The relay's bound is lower from now on, so this ends. Others go first: they have their subscription.
    if kind == .subscriptions, slots > 1 { return rest(key, at: now) }
    if let milliseconds = entries[known: key].retries.delay(after: kind, limits, using: &generator) {
      pause(key, failure.message, milliseconds: milliseconds, at: now)
    } else {
      refuse(key, failure.message)
    }
  }

  /// Handles CLOSED after EOSE; returns false if it is a refusal. An interest that is not live is done with EOSE,
  /// whatever reason the CLOSED has.
  private mutating func closedBehindEnd(
    _ key: String, _ entry: Entry, _ reason: RelayReason?, at now: Instant
  ) -> Bool {
    guard case .started(_, hasEnded: true) = entry.phase else { return false }
    if !entry.wish.isLive || entry.wish.idCount.map({ entry.delivered >= $0 }) ?? false {
      entries[known: key].phase = entry.committing == nil ? .done : .closed(again: nil)
      return true
    }
    if reason?.namesError ?? false { return false }
    // A subscription that was open for long was closed for its age; the next one may be open as long.
    let hasStood = now.milliseconds(since: entry.endedAt) >= limits.closedCeilingMilliseconds
    let closings = hasStood ? 0 : entry.closings
    let wait = min(limits.closedMilliseconds << UInt64(min(closings, 16)), limits.closedCeilingMilliseconds)
    let chance = UInt64.random(in: 0...wait / 2, using: &generator)
    entries[known: key].closings = closings + 1
    entries[known: key].phase = .closed(again: now.advanced(milliseconds: wait + chance))
    return true
  }

  /// The instant of the last `setTimer` has come.
  public mutating func timerFired(at now: Instant) -> [Action] {
    timer = nil
    var actions: [Action] = []
    for (key, entry) in entries {
      switch entry.phase {
      case .pausing(let until) where until <= now, .refused(let until?) where until <= now,
        .closed(let until?) where until <= now:
        entries[known: key].phase = .idle
        entries[known: key].reason = nil
        actions.append(.changed(key))
      case .started(let request, hasEnded: false) where patienceEnd(of: entry).map { $0 <= now } ?? false:
        if entry.wish.isLive {
          entries[known: key].isOverdue = true
        } else {
          keys[request] = nil
          actions.append(.cancel(request))
          entries[known: key].isOverdue = true
          refuse(key, silence)
        }
        actions.append(.changed(key))
      default: break
      }
    }
    return settled(actions, at: now)
  }

  private mutating func pause(_ key: String, _ reason: String, milliseconds: UInt64, at now: Instant) {
    entries[known: key].phase = .pausing(until: now.advanced(milliseconds: milliseconds))
    entries[known: key].reason = reason
  }

  private mutating func refuse(_ key: String, _ reason: String, until: Instant? = nil) {
    entries[known: key].phase = .refused(until: until)
    entries[known: key].reason = reason
  }

  private var silence: String {
    "it has sent neither an event nor EOSE for \(limits.patienceMilliseconds / 1_000) s"
  }

  /// When the set stops waiting for the EOSE of a silent relay. A live request remains open, because new events may
  /// still come.
  private func patienceEnd(of entry: Entry) -> Instant? {
    entry.isOverdue || entry.sentAt == nil || heldSince != nil
      ? nil : entry.lastSign.advanced(milliseconds: limits.patienceMilliseconds)
  }

  // MARK: What follows

  /// Starts what may be started, in the order of the interests, and sets the timer.
  private mutating func settled(_ actions: [Action], at now: Instant) -> [Action] {
    var actions = actions
    if isOpen {
      giveUpExcess(&actions, at: now)
      startWaiting(&actions, at: now)
    }
    setTimer(&actions)
    return actions
  }

  private mutating func setTimer(_ actions: inout [Action]) {
    var due = entries.values.compactMap { entry -> Instant? in
      switch entry.phase {
      case .pausing(let until), .refused(let until?), .closed(let until?): until
      case .started(_, hasEnded: false): patienceEnd(of: entry)
      default: nil
      }
    }.min()
    let waiting = entries.values.filter { $0.wish.isLive && ($0.phase == .idle || $0.phase == .resting) }
    if isOpen, let begin = waiting.map({ turnBegin(of: $0) }).min(), let (_, end) = nextTurnEnd {
      due = min(due ?? .init(nanoseconds: .max), max(begin, end))
    }
    if due != timer {
      timer = due
      actions.append(due.map { .setTimer($0) } ?? .cancelTimer)
    }
  }
}
