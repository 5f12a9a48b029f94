public import Clocks
public import Cryptography
public import Nostr
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
// While the relay is held back, its messages are not read, so its silence does not count and no patience runs out.
//
// Rejected: to set `since` to the last EOSE. Events are published late and dated back (gift wraps by two days on
// purpose), so this would find only most of them. The planner knows by coverage what each relay has.

/// The subscriptions to hold open at one relay.
public struct SubscriptionSet: Sendable {
  /// One interest.
  public struct Subscription: Hashable, Sendable {
    /// The filters.
    public let filters: RawFilters
    /// Whether the subscription continues after EOSE.
    public let isLive: Bool
    /// The account that authenticates if the relay asks for it.
    public let account: PublicKey?
    /// The most events that can match, if the filters name ids; nil when that is unknown.
    public let idCount: Int?

    /// An interest.
    public init(filters: RawFilters, isLive: Bool, account: PublicKey?, idCount: Int? = nil) {
      self.filters = filters
      self.isLive = isLive
      self.account = account
      self.idCount = idCount
    }
  }

  /// The state of an interest.
  public enum State: Hashable, Sendable {
    /// There is no connection, or no free subscription, or the set waits before a retry. With the reason, if there is
    /// one.
    case waiting(String?)
    /// Sent; EOSE has not come, or the events before it are not committed yet.
    case asked
    /// EOSE came, and all events before it are committed.
    case stored
    /// Not sent again on this connection; or, if the account could not sign, not soon.
    case refused(String)
  }

  /// What is reported of an interest.
  public struct Report: Hashable, Sendable {
    /// Its state.
    public let state: State
    /// The number of events it has brought.
    public let events: UInt64
    /// While it is `asked`: why its EOSE is no longer expected, although it may still come.
    public let overdue: String?
  }

  /// What the shell does, in order.
  public enum Action: Hashable, Sendable {
    /// Start this request at the session, without a deadline, for the interest with this key.
    case start(RequestKey, String, Subscription)
    /// Cancel the request at the session.
    case cancel(RequestKey)
    /// EOSE came for the interest with this key: report `committed` when everything before it is committed.
    case commit(String, RequestKey)
    /// The report of the interest with this key has changed.
    case changed(String)
    /// Call `timerFired` at this instant; it replaces any earlier one.
    case setTimer(Instant)
    /// No `timerFired` is needed.
    case cancelTimer
  }

  struct Entry {
    let wish: Subscription
    let number: UInt64
    var phase = Phase.idle
    /// The request whose EOSE came, until everything before it is committed.
    var committing: RequestKey?
    /// Whether EOSE came, and everything before it was committed, since the interest was made.
    var isStored = false
    /// When the last EOSE came.
    var endedAt = Instant(nanoseconds: 0)
    /// The number of events of the present request.
    var delivered = 0
    /// How often the relay closed it after EOSE, without an error, on this connection.
    var closings = 0
    var events: UInt64 = 0
    var reason: String?
    var retries = Retries()
    /// How often the account could not sign, on this connection.
    var unsignedCount = 0
    /// When the relay last sent an event for it, or when the request was sent.
    var lastSign = Instant(nanoseconds: 0)
    /// Whether the relay has sent nothing for too long since the request was sent.
    var isOverdue = false
  }

  enum Phase: Hashable {
    /// To be started when there is a connection.
    case idle
    /// To be started at this time.
    case pausing(until: Instant)
    /// Under way.
    case started(RequestKey, hasEnded: Bool)
    /// The relay has closed it after EOSE: to be started again at this time, or never.
    case closed(again: Instant?)
    /// Nothing more can come; the interest is done.
    case done
    /// Not started again on this connection, or not before this time.
    case refused(until: Instant?)
  }

  private let limits: SubscriptionLimits
  private var generator: SeededGenerator
  private var entries: [String: Entry] = [:]
  private var keys: [RequestKey: String] = [:]
  /// Numbers the interests in the order in which they came.
  private var nextNumber: UInt64 = 0
  private var nextKey: UInt64
  private var isOpen = false
  private var timer: Instant?
  private var whyClosed: String?
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
      case .refused: .refused(entry.reason ?? "")
      case .done: .stored
      case .started, .closed: entry.isStored ? .stored : .asked
      case .idle, .pausing: .waiting(entry.reason ?? whyClosed)
      }
    let overdue = state == .asked && entry.isOverdue ? silence : nil
    return Report(state: state, events: entry.events, overdue: overdue)
  }

  // MARK: Interests

  /// Adds an interest. The same interest under the same key changes nothing; another one replaces it.
  public mutating func wish(_ key: String, _ wish: Subscription, at now: Instant) -> [Action] {
    if entries[key]?.wish == wish { return [] }
    var actions = remove(key)
    nextNumber += 1
    entries[key] = Entry(wish: wish, number: nextNumber)
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
    for key in entries.keys {
      entries[known: key].retries = Retries()
      entries[known: key].unsignedCount = 0
      entries[known: key].closings = 0
      switch entries[key]?.phase {
      case .refused, .pausing:
        entries[known: key].phase = .idle
        entries[known: key].reason = nil
      case .idle, .started, .closed, .done, nil: break
      }
    }
    return settled([], at: now)
  }

  /// The account has authenticated: interests that were refused because its signature was missing are sent again.
  public mutating func shown(_ account: PublicKey, at now: Instant) -> [Action] {
    var actions: [Action] = []
    for (key, entry) in entries where entry.wish.account == account {
      guard case .refused(until: .some) = entry.phase else { continue }
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

  /// An event came for a request.
  ///
  /// - Returns: the key of its interest; nil when the interest was removed.
  public mutating func delivered(_ request: RequestKey, at now: Instant) -> String? {
    guard let key = keys[request] else { return nil }
    entries[known: key].events += 1
    entries[known: key].delivered += 1
    entries[known: key].lastSign = now
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
    case .full:
      pause(key, failure.message, milliseconds: limits.fullMilliseconds, at: now)
    case .notAuthenticated, .notProtected, .ownRelay: refuse(key, failure.message)
    case .notSigned:
      let wait = min(
        limits.unsignedMilliseconds << UInt64(min(entry.unsignedCount, 8)), limits.unsignedCeilingMilliseconds)
      let chance = UInt64.random(in: 0...wait / 2, using: &generator)
      entries[known: key].unsignedCount += 1
      refuse(key, failure.message, until: now.advanced(milliseconds: wait + chance))
    case .closedByRelay:
      var retries = entry.retries
      if let milliseconds = retries.delay(after: failure.reason?.word, limits, using: &generator) {
        entries[known: key].retries = retries
        pause(key, failure.message, milliseconds: milliseconds, at: now)
      } else {
        refuse(key, failure.message)
      }
    }
    return settled([.changed(key)], at: now)
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
    entry.isOverdue || heldSince != nil ? nil : entry.lastSign.advanced(milliseconds: limits.patienceMilliseconds)
  }

  // MARK: What follows

  /// Starts what may be started, in the order of the interests, and sets the timer.
  private mutating func settled(_ actions: [Action], at now: Instant) -> [Action] {
    var actions = actions
    if isOpen {
      let idle = entries.filter { $0.value.phase == .idle }.sorted { $0.value.number < $1.value.number }
      for (key, entry) in idle {
        guard keys.count < limits.startedMaximum else {
          let reason = "\(limits.startedMaximum) subscriptions are open there already"
          if entry.reason != reason {
            entries[known: key].reason = reason
            actions.append(.changed(key))
          }
          continue
        }
        let request = RequestKey(nextKey)
        nextKey += 1
        keys[request] = key
        entries[known: key].phase = .started(request, hasEnded: false)
        entries[known: key].lastSign = now
        entries[known: key].delivered = 0
        entries[known: key].isOverdue = false
        entries[known: key].reason = nil
        actions += [.start(request, key, entry.wish), .changed(key)]
      }
    }
    let due = entries.values.compactMap { entry -> Instant? in
      switch entry.phase {
      case .pausing(let until), .refused(let until?), .closed(let until?): until
      case .started(_, hasEnded: false): patienceEnd(of: entry)
      default: nil
      }
    }.min()
    if due != timer {
      timer = due
      actions.append(due.map { .setTimer($0) } ?? .cancelTimer)
    }
    return actions
  }
}
