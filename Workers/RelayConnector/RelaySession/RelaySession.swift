public import Addresses
public import Clocks
public import Nostr

// The connection to one relay, as a value: events go in, actions come out. It has no socket and no clock, and its
// randomness comes from a given seed, so a test plays a year of failures in a second.
//
//     idle ──────► connecting ──────► open ──────► closing
//       ▲  ▲          │    ▲            │             │
//       │  └──────────┤    │            │             │
//       │          waiting ◄────────────┘             │
//       └──────────────┴──────────────────────────────┘
//
//     idle        not needed                 → connecting
//     waiting     until the back-off is over → connecting, idle
//     connecting  the shell is dialling      → open, waiting, idle
//     open        messages flow              → closing, waiting, connecting
//     closing     our close is under way     → idle, waiting, connecting
//
// A connection is needed while the shell has asked for it (`openRequested`), or while requests or publishes wait. One
// that arrives during the back-off is a reason to dial at once, but not in a loop: the shorter spacing of such attempts
// also grows with the failures.
//
// Promises. Each request and each publish ends exactly once: finished, failed or answered. When the connection ends,
// requests that were sent fail. The session never repeats them, because only the caller knows what it already has.
// Requests that were not sent go out on the next connection. An event without an OK is `unknown`.
//
// A request waits for one attempt to connect, not until the relay returns. When the attempt fails, the request fails
// with the reason. While the next attempt is not yet allowed, a new request fails at once with the last reason, so the
// caller can wait and try again. The session itself continues to dial.
//
// An account authenticates when the relay asks for it, and not before (NIP-42). What the relay refuses as
// `auth-required` waits until its account has authenticated, and is sent once more. Without an account it fails.
//
// Several publishes of one event share one EVENT message and its OK. Some relays refuse with an empty id (nostr-relay
// does); the session assigns such an OK when only one event can be meant. An acceptance must have its id.

/// The session with one relay: connection, requests, publishes. A pure machine.
public struct RelaySession: Sendable {
  /// The state of the connection, for people.
  public enum Phase: String, Sendable {
    /// Not connected, and not needed.
    case idle
    /// Not connected; the session will try again.
    case waiting
    /// An attempt is under way.
    case connecting
    /// Connected.
    case open
    /// Being closed.
    case closing
  }

  enum State {
    case idle
    case waiting(until: Instant)
    case connecting(attempt: UInt64)
    case open(Connection)
    /// With a penalty when the relay caused the close: then the back-off grows.
    case closing(hasPenalty: Bool)
  }

  /// What belongs to one connection and ends with it.
  struct Connection {
    let since: Instant
    var names: SubscriptionNames
    var garbage = 0
    /// Messages for no request under way, and their bytes, since a request last ended.
    var unclaimed = (messages: 0, bytes: 0)
    var authentications = Authentications()
    var namelessRefusals = NamelessRefusals()
    var pace = RequestPace()
    /// When the relay last refused something on this connection.
    var lastRefusal: Instant?
    /// When the machine last ran again after a suspend.
    var suspendEnd: Instant?
  }

  /// The relay.
  public let url: RelayURL
  /// The limits of the session.
  public let limits: SessionLimits
  /// Which key the relay sees when it asks for authentication.
  public let shownKey: ShownKey
  /// What the relay allows.
  public internal(set) var policy = RelayPolicy()
  /// What the session has counted.
  public internal(set) var counters = SessionCounters()
  /// Why the last attempt failed or the last connection ended; empty before the first time.
  public internal(set) var lastFailure = ""
  /// Why there is no connection: the shell does not dial yet, or ``lastFailure``.
  public var absence: String { postponement ?? lastFailure }
  /// Why the shell does not dial yet although the relay is wanted; nil when it would.
  public private(set) var postponement: String?
  /// When the shell expects to dial, if it knows that.
  private var postponementEnd: Instant?
  /// Whether one attempt is made even without work, because the shell has a dial for it.
  private var wantsAttempt = false
  /// Whether the last attempt led to this Roost's own relay.
  private var isOwnRelay = false
  /// The challenge of this connection, if the relay has sent one (NIP-42).
  public internal(set) var challenge: String?

  var state = State.idle
  var requests = Requests()
  var publishes = Publishes()
  var notices = RecentNotices()
  /// The recent remarks about this relay.
  public internal(set) var remarks = RecentRemarks()
  /// One budget for each kind: a relay that sends NOTICE without end must not hide its challenge.
  var noticeBudget = RemarkBudget()
  var challengeBudget = RemarkBudget()
  private var generator: SeededGenerator
  private var backoff: DialDelay
  private var wantsOpen = false
  /// Whether deliveries are not taken for now.
  var isStalled = false
  /// Since when the session does not read its connection for that reason, see ``Allowance``.
  var heldSince: Instant?
  /// When the relay last said `rate-limited`; nil once that is forgotten.
  var lastRateRefusal: Instant?
  /// The first of the last refusals by NOTICE for too many subscriptions, and how many can have been accepted.
  var noticedRefusals: (since: Instant, open: Int)?
  /// When a refusal last lowered ``policy``.
  var lastLowered: Instant?
  private var lastAttempt: Instant?
  /// When the relay was first dialled.
  public private(set) var firstAttempt: Instant?
  private var notBefore: Instant?
  private var timer: Instant?

  /// An idle session. `seed` should differ between relays and between starts: the jitter comes from it.
  public init(
    url: RelayURL, limits: SessionLimits = SessionLimits(), shownKey: ShownKey = .account, seed: UInt64
  ) {
    self.url = url
    self.shownKey = shownKey
    self.limits = limits
    generator = SeededGenerator(seed: seed)
    backoff = DialDelay(limits)
  }

  /// The connection's state.
  public var phase: Phase {
    switch state {
    case .idle: .idle
    case .waiting: .waiting
    case .connecting: .connecting
    case .open: .open
    case .closing: .closing
    }
  }

  // MARK: What the caller asks for

  /// From now on the connection is wanted, even without work.
  public mutating func openRequested(at now: Instant) -> [SessionAction] {
    wantsOpen = true
    return settled([], at: now)
  }

  /// Ends the session: all work fails now, and the session dials again only for a new request, publish or
  /// `openRequested`.
  public mutating func closeRequested(at now: Instant) -> [SessionAction] {
    (wantsOpen, wantsAttempt, postponement) = (false, false, nil)
    var actions: [SessionAction] = []
    let failure = WorkFailure(.closing, "the session with \(url) is being closed")
    failAll(requests: .all, publishes: .all, failure, &actions)
    switch state {
    case .idle, .closing: break
    case .waiting: state = .idle
    case .connecting(let attempt):
      state = .idle
      actions.append(.abandonConnect(attempt: attempt))
    case .open:
      state = .closing(hasPenalty: false)
      actions.append(.close(code: 1000, reason: ""))
    }
    return settled(actions, at: now)
  }

  /// The shell cannot dial now, and says so instead of reporting on this attempt; ``dialGranted(at:)`` follows when it
  /// can. Publishes fail with the reason, because their caller keeps them; requests wait until their deadlines.
  ///
  /// - Parameters:
  ///   - attempt: the number of the attempt.
  ///   - reason: why it waits.
  ///   - milliseconds: when the shell expects to have a dial; nil when that is not known.
  ///   - now: the instant.
  public mutating func dialPostponed(
    attempt: UInt64, reason: String, milliseconds: UInt64?, at now: Instant
  ) -> [SessionAction] {
    guard case .connecting(attempt) = state else { return [] }
    postponement = reason
    postponementEnd = milliseconds.map { now.advanced(milliseconds: $0) }
    state = .waiting(until: now.advanced(milliseconds: limits.retryCeilingMilliseconds))
    var actions: [SessionAction] = []
    if let failure = postponed(at: now) { failAll(requests: .sent, publishes: .all, failure, &actions) }
    return settled(actions, at: now)
  }

  /// The shell has a dial for the relay: it is dialled now, once, even without work.
  public mutating func dialGranted(at now: Instant) -> [SessionAction] {
    switch state {
    case .connecting, .open, .closing: return []
    case .idle: break
    case .waiting: state = .waiting(until: now)
    }
    postponement = nil
    (notBefore, lastAttempt) = (nil, nil)
    wantsAttempt = true
    return settled([], at: now)
  }

  /// Tries now, because a caller asked or the network came back: forgets the back-off.
  public mutating func retryRequested(at now: Instant) -> [SessionAction] {
    backoff.reset()
    notBefore = nil
    if case .waiting = state { state = .waiting(until: now) }
    return settled(forgetLearned(), at: now)
  }

  /// A person waits for the relay: the next attempt is due now, unless the relay itself has named a time. What was
  /// learned of it stays.
  public mutating func backOffEnded(at now: Instant) -> [SessionAction] {
    guard case .waiting = state, postponement == nil else { return [] }
    backoff.reset()
    state = .waiting(until: max(now, notBefore ?? now))
    return settled([], at: now)
  }

  /// The machine was suspended, and runs again. Failures from before are forgotten, a wait for the back-off is over,
  /// and an open connection is checked: it may be dead without a sign of it. If it ends now, it is made again at once.
  public mutating func suspendEnded(at now: Instant) -> [SessionAction] {
    backoff.reset()
    switch state {
    case .waiting: state = .waiting(until: max(now, notBefore ?? now))
    case .open(var connection):
      connection.suspendEnd = now
      state = .open(connection)
      return settled([.checkConnection(withinMilliseconds: limits.checkMilliseconds)], at: now)
    case .idle, .connecting, .closing: break
    }
    return settled([], at: now)
  }

  /// Forgets what refusals have taught about the relay's bounds.
  private mutating func forgetLearned() -> [SessionAction] {
    let before = policy
    policy.forgetLearned()
    (lastRateRefusal, lastLowered) = (nil, nil)
    return policy == before ? [] : [.reportPolicy]
  }

  // MARK: The relay's document

  /// The relay's document was fetched (NIP-11): its bounds are obeyed from now on. Nil when it has none.
  public mutating func limitationRead(_ limitation: RelayInformation.Limitation?, at now: Instant) -> [SessionAction] {
    let before = policy
    policy.said(limitation)
    return settled(policy == before ? [] : [.reportPolicy], at: now)
  }

  // MARK: The connection

  /// An attempt has succeeded.
  public mutating func connected(attempt: UInt64, at now: Instant) -> [SessionAction] {
    guard case .connecting(attempt) = state else { return [.abandonConnect(attempt: attempt)] }
    wantsAttempt = false
    state = .open(Connection(since: now, names: SubscriptionNames(using: &generator)))
    challenge = nil
    isOwnRelay = false
    counters.connections += 1
    counters.connectFailuresInRow = 0
    if let lastAttempt {
      counters.connectLatency.add(now.milliseconds(since: lastAttempt))
      counters.latencies.connect.measured(from: lastAttempt, to: now)
    }
    var actions: [SessionAction] = isStalled ? [.pauseReading] : []
    if let lastLowered, now.milliseconds(since: lastLowered) >= limits.learnedMilliseconds {
      actions += forgetLearned()
    }
    return settled(actions, at: now)
  }

  /// An attempt has failed.
  public mutating func connectFailed(attempt: UInt64, _ failure: ConnectFailure, at now: Instant) -> [SessionAction] {
    guard case .connecting(attempt) = state else { return [] }
    counters.connectFailures += 1
    counters.connectFailuresInRow += 1
    wantsAttempt = false
    lastFailure = failure.message
    isOwnRelay = failure.isOwnRelay
    if let milliseconds = failure.retryAfterMilliseconds {
      notBefore = now.advanced(milliseconds: min(milliseconds, limits.retryAfterMaximumMilliseconds))
    }
    backOff(isNameFailure: failure.isNameFailure, at: now)
    var actions: [SessionAction] = []
    failAll(requests: .all, publishes: .all, unreachable(until: nextAttempt, at: now), &actions)
    return settled(actions, at: now)
  }

  /// The connection has ended, on request or not.
  public mutating func disconnected(reason: String, at now: Instant) -> [SessionAction] {
    var actions: [SessionAction] = []
    switch state {
    case .idle, .waiting, .connecting: preconditionFailure("a connection ended that this session did not have")
    case .closing(hasPenalty: false): state = .idle
    case .closing(hasPenalty: true): backOffAfterCut(at: now)
    case .open(let connection):
      counters.disconnections += 1
      lastFailure = reason
      if now.milliseconds(since: connection.since) >= limits.stableMilliseconds { backoff.reset() }
      if let refusal = connection.lastRefusal,
        now.milliseconds(since: refusal) < limits.refusalMemoryMilliseconds
      {
        backOffAfterCut(at: now)
      } else if let end = connection.suspendEnd, now.milliseconds(since: end) < limits.suspendMemoryMilliseconds {
        state = .waiting(until: max(now, notBefore ?? now))
      } else {
        backOff(isNameFailure: false, at: now)
      }
    }
    challenge = nil
    releaseHeld()
    let failure = WorkFailure(.disconnected, "the connection to \(url) ended: \(reason)")
    failAll(requests: .sent, publishes: .sent, failure, &actions)
    return settled(actions, at: now)
  }

  /// The instant of the last `setTimer` has come.
  public mutating func timerFired(at now: Instant) -> [SessionAction] {
    timer = nil
    var actions: [SessionAction] = []
    expireRequests(at: now, &actions)
    expirePublishes(at: now, &actions)
    expireAuthentications(at: now, &actions)
    expireRate(at: now, &actions)
    return settled(actions, at: now)
  }

  private mutating func backOff(isNameFailure: Bool, at now: Instant) {
    let delay = backoff.failed(isNameFailure: isNameFailure, using: &generator)
    let next = now.advanced(milliseconds: delay)
    state = .waiting(until: max(next, notBefore ?? next))
  }

  /// The relay cut the connection after refusals, or the session cut it. Waiting requests do not bring the next attempt
  /// forward: otherwise a relay that refuses and hangs up would be dialled a hundred times a second.
  private mutating func backOffAfterCut(at now: Instant) {
    let next = now.advanced(milliseconds: backoff.cut(using: &generator))
    notBefore = max(next, notBefore ?? next)
    state = .waiting(until: max(next, notBefore ?? next))
  }

  /// The relay has refused something.
  mutating func noteRefusal(_ reason: RelayReason, at now: Instant) {
    counters.refusals += 1
    counters.refusalsByClass[RefusalClass(reason), default: 0] += 1
    guard case .open(var connection) = state else { return }
    connection.lastRefusal = now
    state = .open(connection)
  }

  /// Keeps the reason that the relay gave. `auth-required` without an account to authenticate has a kind of its own.
  mutating func remark(on reason: RelayReason, _ kind: RecentRemarks.Kind, at now: Instant) {
    remarks.note(reason.word == "auth-required" ? .authWall : kind, reason, at: now)
  }

  // MARK: What follows from the state

  /// The last step of every input that may have changed something: dials if there is a reason, sends what may be sent,
  /// and sets the timer.
  mutating func settled(_ actions: [SessionAction], at now: Instant) -> [SessionAction] {
    var actions = actions
    let hasWork = requests.hasWaiting || publishes.hasWaiting || wantsAttempt
    switch state {
    case .idle where wantsOpen || hasWork: dial(notBefore: attemptAllowed, at: now, &actions)
    case .waiting(let until):
      if !wantsOpen && !hasWork {
        state = .idle
        postponement = nil
      } else {
        let isHurried = hasWork && postponement == nil
        dial(notBefore: isHurried ? min(until, attemptAllowed) : until, at: now, &actions)
      }
    case .open:
      launchRequests(at: now, &actions)
      launchPublishes(at: now, &actions)
    case .idle, .connecting, .closing: break
    }
    noteHolding(at: now)
    setTimer(at: now, &actions)
    return actions
  }

  /// The earliest instant at which waiting work may cause an attempt.
  private var attemptAllowed: Instant {
    let spaced = lastAttempt?.advanced(milliseconds: backoff.demandDelay) ?? Instant(nanoseconds: 0)
    return max(spaced, notBefore ?? spaced)
  }

  /// The earliest instant at which new work would cause an attempt; nil when there is nothing to wait for.
  private var nextAttempt: Instant? {
    switch state {
    case .idle: attemptAllowed
    case .waiting(let until): min(until, attemptAllowed)
    case .connecting, .open, .closing: nil
    }
  }

  /// Why new work need not wait: the last attempt failed, and the next is not allowed soon.
  func unreachableForNow(at now: Instant) -> WorkFailure? {
    let patience = now.advanced(milliseconds: limits.demandPatienceMilliseconds)
    guard postponement == nil, let next = nextAttempt, next > patience else { return nil }
    return unreachable(until: next, at: now)
  }

  /// Why an event is not taken now; nil when the relay is not postponed.
  func postponed(at now: Instant) -> WorkFailure? {
    guard let postponement else { return nil }
    let milliseconds = postponementEnd.map { $0.milliseconds(since: now) }
    return WorkFailure(.full, "\(url) is not dialled yet: \(postponement)", retryAfterMilliseconds: milliseconds)
  }

  private func unreachable(until next: Instant?, at now: Instant) -> WorkFailure {
    if isOwnRelay { return WorkFailure(.ownRelay, "\(url) is not dialled: \(lastFailure)") }
    let milliseconds = next.map { $0 > now ? $0.milliseconds(since: now) : 0 } ?? 0
    return WorkFailure(
      .relayUnreachable, "\(url) cannot be reached: \(lastFailure)",
      retryAfterMilliseconds: milliseconds > 0 ? milliseconds : nil)
  }

  private mutating func dial(notBefore allowed: Instant, at now: Instant, _ actions: inout [SessionAction]) {
    guard now >= allowed else {
      state = .waiting(until: allowed)
      return
    }
    (notBefore, postponement) = (nil, nil)
    lastAttempt = now
    firstAttempt = firstAttempt ?? now
    counters.attempts += 1
    state = .connecting(attempt: counters.attempts)
    actions.append(.connect(attempt: counters.attempts))
  }

  private mutating func setTimer(at now: Instant, _ actions: inout [SessionAction]) {
    let work = [requests.nextDeadline(isHeld: isHeld), publishes.nextDeadline(isHeld: isHeld)]
    var due = (work + [nextQueueEnd, nextLaunch(at: now), nextRateEnd]).compactMap { $0 }.min()
    if case .waiting(let until) = state { due = min(until, due ?? until) }
    if case .open(let connection) = state, let next = connection.authentications.nextDeadline(isHeld: isHeld) {
      due = min(next, due ?? next)
    }
    if due == timer { return }
    timer = due
    actions.append(due.map { .setTimer($0) } ?? .cancelTimer)
  }
}
