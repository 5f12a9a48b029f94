public import Clocks
public import Cryptography
public import Nostr

/// The requests of a session: waiting in order, or sent under a subscription id.
struct Requests {
  struct Request {
    let filters: RawFilters
    let mode: RequestMode
    /// The account that authenticates if the relay asks for it.
    let account: PublicKey?
    var allowance: Allowance
    /// Whether the request waits until `account` has authenticated.
    var isHeld = false
    /// The subscription id it was sent under; nil while it waits.
    var subscription: String?
    var sentAt: Instant?
    /// The last NOTICE before it was sent; nil while it waits.
    var noticeMark: RecentNotices.Mark?
    var hasEndedStored = false
    /// The number of events received for it.
    var eventCount = 0

    /// When its time is over. A live request that was sent has no deadline.
    func due(isHeld: Bool) -> Instant? { subscription != nil && mode == .live ? nil : allowance.due(isHeld: isHeld) }
  }

  var all: [RequestKey: Request] = [:]
  var waiting: [RequestKey] = []
  var keys: [String: RequestKey] = [:]

  var hasWaiting: Bool { !waiting.isEmpty }
  func nextDeadline(isHeld: Bool) -> Instant? { all.values.lazy.compactMap { $0.due(isHeld: isHeld) }.min() }

  /// Forgets a request, in whatever state it is.
  mutating func remove(_ key: RequestKey) -> Request? {
    guard let request = all.removeValue(forKey: key) else { return nil }
    if let subscription = request.subscription {
      keys[subscription] = nil
    } else {
      waiting.removeAll { $0 == key }
    }
    return request
  }
}

extension RelaySession {
  /// The number of requests that are waiting or sent.
  public var requestCount: Int { requests.all.count }

  /// Starts a request for events. Ends with `endStoredEvents(isOver: true)`, `failRequest`, or a cancel.
  ///
  /// `key` must be free. The request must be sent before `deadline`, and a `stored` request must also receive its EOSE
  /// before it. The deadline is suspended while the relay is held back. If an attempt to connect fails meanwhile, the
  /// request fails at once. If the relay asks for it (`auth-required`), `account` authenticates and the REQ is sent
  /// again.
  public mutating func requestStarted(
    _ key: RequestKey, _ filters: RawFilters, _ mode: RequestMode, account: PublicKey? = nil, deadline: Instant,
    at now: Instant
  ) -> [SessionAction] {
    precondition(requests.all[key] == nil, "request \(key.rawValue) is under way already")
    guard requests.waiting.count < limits.waitingRequestMaximum else {
      let message = "\(limits.waitingRequestMaximum) requests wait for \(url) already"
      return [.failRequest(key, WorkFailure(.full, message))]
    }
    if let failure = unreachableForNow(at: now) { return [.failRequest(key, failure)] }
    requests.all[key] = Requests.Request(
      filters: filters, mode: mode, account: account, allowance: Allowance(until: deadline, at: now))
    requests.waiting.append(key)
    return settled([], at: now)
  }

  /// Moves the deadline of a request: the request makes progress, or its caller is the slow one. A key that is not
  /// under way is ignored.
  public mutating func deadlineMoved(_ key: RequestKey, to deadline: Instant, at now: Instant) -> [SessionAction] {
    guard requests.all[key] != nil else { return [] }
    requests.all[key]?.allowance.move(to: deadline, at: now)
    return settled([], at: now)
  }

  /// The caller gives up the request. No further action names the key. A key that is not under way is ignored: the end
  /// of the request and this call may have crossed.
  public mutating func requestCancelled(_ key: RequestKey, at now: Instant) -> [SessionAction] {
    guard let request = requests.remove(key) else { return [] }
    return settled(closeMessage(request), at: now)
  }

  mutating func launchRequests(at now: Instant, _ actions: inout [SessionAction]) {
    guard case .open(var connection) = state else { return }
    var held: [RequestKey] = []
    for (index, key) in requests.waiting.enumerated() {
      guard requests.keys.count < limits.openSubscriptionMaximum else {
        held += requests.waiting[index...]
        break
      }
      guard var request = requests.all[key] else { continue }
      if request.isHeld {
        held.append(key)
        continue
      }
      let subscription = connection.names.next()
      request.subscription = subscription
      request.eventCount = 0
      request.sentAt = now
      request.noticeMark = notices.mark
      requests.all[key] = request
      requests.keys[subscription] = key
      actions.append(.send(ClientMessage.request(subscription: subscription, request.filters)))
    }
    requests.waiting = held
    state = .open(connection)
  }

  mutating func expireRequests(at now: Instant, _ actions: inout [SessionAction]) {
    let due = requests.all.filter { $0.value.due(isHeld: isHeld).map { $0 <= now } ?? false }.keys
    for key in due.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let request = requests.remove(key) else { continue }
      actions += closeMessage(request)
      actions.append(.failRequest(key, expiry(sentAfter: request.noticeMark, .notStarted)))
    }
  }

  /// Why work ran out of time, in the present state. The mark is nil if the work was not sent.
  func expiry(sentAfter mark: RecentNotices.Mark?, _ outcome: WorkOutcome) -> WorkFailure {
    if isHeld {
      return WorkFailure(
        .timedOut, "\(url) was not read in time: what it has sent before is more than is taken here", outcome)
    }
    if mark != nil {
      return WorkFailure(.timedOut, "\(url) did not answer in time", outcome).adding(said(since: mark))
    }
    if case .open = state {
      return WorkFailure(.timedOut, "\(url) was busy with earlier work until the deadline", outcome)
    }
    let before = lastFailure.isEmpty ? "" : " (the time before: \(lastFailure))"
    return WorkFailure(
      .relayUnreachable, "\(url) could not be reached: the connection was not made in time\(before)", outcome)
  }

  /// CLOSE for a request that was sent, if there is a connection to send it on.
  mutating func closeMessage(_ request: Requests.Request) -> [SessionAction] {
    guard case .open(var connection) = state, let subscription = request.subscription else { return [] }
    connection.unclaimed = (0, 0)
    state = .open(connection)
    return [.send(ClientMessage.close(subscription: subscription))]
  }

  // MARK: Messages

  mutating func receivedEndOfStored(
    _ subscription: String, _ completeness: RelayMessage.Completeness, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    guard let key = requests.keys[subscription], var request = requests.all[key], !request.hasEndedStored else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    noteLatency(since: request.sentAt, at: now)
    remarks.ended(request.filters, eventCount: request.eventCount, completeness, at: now)
    if request.mode == .live {
      request.hasEndedStored = true
      requests.all[key] = request
      return [.endStoredEvents(key, completeness: completeness, isOver: false)]
    }
    _ = requests.remove(key)
    let actions: [SessionAction] = [.endStoredEvents(key, completeness: completeness, isOver: true)]
    return settled(actions + closeMessage(request), at: now)
  }

  mutating func receivedClosed(
    _ subscription: String, _ reason: RelayReason, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    guard let key = requests.keys[subscription], let request = requests.all[key] else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    if case .open(var connection) = state {
      connection.unclaimed = (0, 0)
      state = .open(connection)
    }
    if !request.hasEndedStored || reason.namesError {
      noteRefusal(at: now)
      if request.account == nil || reason.word != "auth-required" { remark(on: reason, .refusedRequest, at: now) }
    }
    var actions: [SessionAction] = []
    switch demand(reason, request.account, sentAt: request.sentAt, at: now, &actions) {
    case .begun:
      hold(key, isHeld: true, at: now)
      return settled(actions, at: now)
    case .met:
      hold(key, isHeld: false, at: now)
      return settled(actions, at: now)
    case .failed(let failure):
      _ = requests.remove(key)
      return settled([.failRequest(key, failure)], at: now)
    case nil: break
    }
    _ = requests.remove(key)
    let message = "\(url) closed the subscription\(reason.text.isEmpty ? "" : ": \(reason.text)")"
    let failure = WorkFailure(.closedByRelay, message, reason: reason).adding(said(since: request.noticeMark))
    return settled([.failRequest(key, failure)], at: now)
  }

  /// Puts the request back into the queue. With `isHeld` it waits until the account has authenticated.
  private mutating func hold(_ key: RequestKey, isHeld: Bool, at now: Instant) {
    guard var request = requests.all[key], let subscription = request.subscription else { return }
    requests.keys[subscription] = nil
    request.subscription = nil
    request.isHeld = isHeld
    let until = now.advanced(milliseconds: limits.authenticationMilliseconds * 2)
    if request.allowance.deadline < until { request.allowance.move(to: until, at: now) }
    requests.all[key] = request
    requests.waiting.append(key)
  }

  mutating func noteLatency(since sent: Instant?, at now: Instant) {
    if let sent { counters.lastLatencyMilliseconds = now.milliseconds(since: sent) }
  }
}
