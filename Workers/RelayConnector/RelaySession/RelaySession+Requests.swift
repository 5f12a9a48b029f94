public import Clocks
public import Cryptography
public import Nostr

/// The requests of a session: waiting in order, or sent under a subscription id.
struct Requests {
  struct Request {
    let filters: RawFilters
    let mode: RequestMode
    let kind: RequestClass
    /// The account that authenticates if the relay asks for it.
    let account: PublicKey?
    var allowance: Allowance
    /// Whether the request waits until `account` has authenticated.
    var isHeld = false
    /// Whether its account was to authenticate before it was sent, since the relay says that it wants that.
    var isAhead = false
    /// Since when it waits for a free subscription; nil while something else is missing.
    var queuedSince: Instant?
    /// The subscription id it was sent under; nil while it waits.
    var subscription: String?
    var sentAt: Instant?
    /// The last NOTICE before it was sent; nil while it waits.
    var noticeMark: RecentNotices.Mark?
    var hasEndedStored = false
    /// The number of events received for it.
    var eventCount = 0
    /// What makes it a reconciliation; nil for a REQ.
    var reconciliation: ReconciliationState?
    /// What makes it a question to another Roost: the object that is sent; nil for a REQ.
    var publications: [UInt8]?
    /// Whether it asks for the number of events only (NIP-45).
    var isCount = false

    /// Whether it has one answer, and nothing to close.
    var hasOneAnswer: Bool { publications != nil || isCount }

    /// When its time is over. A live request that was sent has no deadline.
    func due(isHeld: Bool) -> Instant? { subscription != nil && mode == .live ? nil : allowance.due(isHeld: isHeld) }
  }

  var all: [RequestKey: Request] = [:]
  var queue = SubscriptionQueue()
  /// The open REQs.
  var keys: [String: RequestKey] = [:]
  /// The open reconciliations. Their ids are separate from those of REQs (NIP-77).
  var reconciliationKeys: [String: RequestKey] = [:]

  var hasWaiting: Bool { !queue.isEmpty }
  func nextDeadline(isHeld: Bool) -> Instant? { all.values.lazy.compactMap { $0.due(isHeld: isHeld) }.min() }

  /// Forgets a request, in whatever state it is.
  mutating func remove(_ key: RequestKey) -> Request? {
    guard let request = all.removeValue(forKey: key) else { return nil }
    if let subscription = request.subscription {
      forget(subscription)
      queue.closed(request.kind)
    } else {
      queue.withdraw(key, request.kind)
    }
    return request
  }

  /// A subscription id no longer means a request.
  mutating func forget(_ subscription: String) {
    keys[subscription] = nil
    reconciliationKeys[subscription] = nil
  }
}

extension RelaySession {
  /// The number of requests that are waiting or sent.
  public var requestCount: Int { requests.all.count }
  /// The number of subscriptions that are open.
  public var subscriptionCount: Int { requests.queue.openCount }
  /// The number of requests that wait to be sent.
  public var queuedCount: Int { requests.queue.count }

  /// Starts a request for events. Ends with `endStoredEvents(isOver: true)`, `failRequest`, or a cancel.
  ///
  /// `key` must be free. The request must be sent before `deadline`, and a `stored` request must also receive its EOSE
  /// before it. The deadline is suspended while the relay is held back. If an attempt to connect fails meanwhile, the
  /// request fails at once. If the relay asks for it (`auth-required`), `account` authenticates and the REQ is sent
  /// again. `kind` says which of the requests that wait is sent next, and which is dropped when too many wait.
  public mutating func requestStarted(
    _ key: RequestKey, _ filters: RawFilters, _ mode: RequestMode, _ kind: RequestClass, account: PublicKey? = nil,
    deadline: Instant, at now: Instant
  ) -> [SessionAction] {
    let request = Requests.Request(
      filters: filters, mode: mode, kind: kind, account: shownKey.key(for: account),
      allowance: Allowance(until: deadline, at: now))
    return begin(key, request, at: now)
  }

  /// Takes a request into the queue.
  mutating func begin(_ key: RequestKey, _ request: Requests.Request, at now: Instant) -> [SessionAction] {
    precondition(requests.all[key] == nil, "request \(key.rawValue) is under way already")
    if let failure = unreachableForNow(at: now) { return [.failRequest(key, failure)] }
    var actions: [SessionAction] = []
    switch requests.queue.admit(key, request.kind, maximum: limits.waitingRequestMaximum) {
    case .taken: break
    case .takenFor(let dropped):
      requests.all[dropped] = nil
      actions.append(.failRequest(dropped, fullQueue))
    case .refused: return [.failRequest(key, fullQueue)]
    }
    requests.all[key] = request
    return settled(actions, at: now)
  }

  private var fullQueue: WorkFailure {
    let count = limits.waitingRequestMaximum
    return WorkFailure(.full, "\(count) requests of the same importance or more wait for \(url) already")
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

  /// Sends what may be sent: by class and order, within the bounds and the pace of the relay.
  mutating func launchRequests(at now: Instant, _ actions: inout [SessionAction]) {
    for kind in RequestClass.allCases {
      for key in requests.queue.order(of: kind) {
        guard let request = requests.all[key], !request.isHeld else { continue }
        if kind == .single { lendOnlyPlace(&actions) }
        guard requests.queue.mayOpen(kind, places: policy.subscriptions.value) else {
          noteQueued(kind, at: now)
          break
        }
        guard now >= nextRequest else { break }
        if authenticatesAhead(key, request, at: now, &actions) { continue }
        launch(key, request, at: now, &actions)
      }
    }
  }

  /// A relay with a single subscription: a live request that has what was stored gives it to a single event. Its caller
  /// asks again, and gets it after that.
  private mutating func lendOnlyPlace(_ actions: inout [SessionAction]) {
    guard policy.subscriptions.value == 1, requests.keys.count == 1, let key = requests.keys.values.first,
      let request = requests.all[key], request.kind == .live, request.hasEndedStored
    else { return }
    _ = requests.remove(key)
    actions += closeMessage(request)
    actions.append(
      .failRequest(key, WorkFailure(.full, "\(url) has one subscription, and it is needed for a single event")))
  }

  private mutating func launch(
    _ key: RequestKey, _ request: Requests.Request, at now: Instant, _ actions: inout [SessionAction]
  ) {
    guard case .open(var connection) = state else { return }
    let subscription = connection.names.next(lengthMaximum: policy.subscriptionNameLengthMaximum)
    let message =
      request.reconciliation?.opening(subscription)
      ?? request.publications.map { ClientMessage.publications(subscription: subscription, $0) }
      ?? (request.isCount
        ? ClientMessage.count(subscription: subscription, request.filters)
        : ClientMessage.request(subscription: subscription, request.filters))
    guard message.count <= policy.messageBytes.value else {
      _ = requests.remove(key)
      actions.append(.failRequest(key, tooLarge(message.count)))
      return
    }
    var request = request
    request.subscription = subscription
    if request.reconciliation != nil { sentOpening(&request, at: now) }
    request.eventCount = 0
    request.sentAt = now
    request.queuedSince = nil
    request.noticeMark = notices.mark
    requests.all[key] = request
    if request.reconciliation == nil {
      requests.keys[subscription] = key
    } else {
      requests.reconciliationKeys[subscription] = key
    }
    requests.queue.opened(key, request.kind)
    connection.pace.sent(spacing: policy.spacing, at: now)
    state = .open(connection)
    actions += [.requestSent(key), .send(message)]
  }

  func tooLarge(_ byteCount: Int) -> WorkFailure {
    WorkFailure(
      .tooLarge, "the request is a message of \(byteCount) bytes, and \(url) takes \(policy.messageBytes.value)")
  }

  /// When the next REQ may go.
  private var nextRequest: Instant {
    guard case .open(let connection) = state else { return Instant(nanoseconds: 0) }
    return connection.pace.next(spacing: policy.spacing, isLearned: policy.isSpacingLearned)
  }

  /// When the pace lets the next REQ go; nil when none waits for that alone.
  func nextLaunch(at now: Instant) -> Instant? {
    guard case .open = state, nextRequest > now else { return nil }
    let isReady = RequestClass.allCases.contains { kind in
      requests.queue.mayOpen(kind, places: policy.subscriptions.value)
        && requests.queue.order(of: kind).contains { requests.all[$0]?.isHeld == false }
    }
    return isReady ? nextRequest : nil
  }

  /// Requests of a class wait for a free subscription from now on.
  private mutating func noteQueued(_ kind: RequestClass, at now: Instant) {
    for key in requests.queue.order(of: kind) where requests.all[key]?.queuedSince == nil {
      requests.all[key]?.queuedSince = now
    }
  }

  /// Where the relay says that it answers only after an authentication (NIP-11), the account of the request
  /// authenticates first. If that fails, the request is sent all the same: the relay may not mean it.
  private mutating func authenticatesAhead(
    _ key: RequestKey, _ request: Requests.Request, at now: Instant, _ actions: inout [SessionAction]
  ) -> Bool {
    guard policy.requiresAuthentication, let account = request.account, !request.isAhead, !hasShown(account) else {
      return false
    }
    requests.all[key]?.isAhead = true
    guard case .begun = show(account, at: now, &actions) else { return false }
    requests.all[key]?.isHeld = true
    return true
  }

  mutating func expireRequests(at now: Instant, _ actions: inout [SessionAction]) {
    let due = requests.all.filter { $0.value.due(isHeld: isHeld).map { $0 <= now } ?? false }.keys
    for key in due.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let request = requests.remove(key) else { continue }
      actions += closeMessage(request)
      actions.append(.failRequest(key, expiry(sentAfter: request.noticeMark, .notStarted)))
    }
    guard case .open = state, !isHeld else { return }
    let late = requests.queue.order.filter { queueEnd(of: $0).map { $0 <= now } ?? false }
    for key in late {
      _ = requests.remove(key)
      let seconds = limits.queueMilliseconds / 1_000
      let message =
        "\(url) had no free subscription within \(seconds) s: \(subscriptionCount) are open, of "
        + "\(policy.subscriptions.value)"
      actions.append(.failRequest(key, WorkFailure(.noSlot, message)))
    }
  }

  /// Until when a request may wait for a free subscription.
  private func queueEnd(of key: RequestKey) -> Instant? {
    requests.all[key]?.queuedSince?.advanced(milliseconds: limits.queueMilliseconds)
  }

  /// When the first of those that wait for a free subscription has waited for too long.
  var nextQueueEnd: Instant? {
    guard case .open = state, !isHeld else { return nil }
    return requests.queue.order.compactMap { queueEnd(of: $0) }.min()
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
    if let postponement {
      return WorkFailure(.relayUnreachable, "\(url) was not dialled in time: \(postponement)", outcome)
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
    guard !request.hasOneAnswer else { return [] }
    let isRequest = request.reconciliation == nil
    return [
      .send(
        isRequest
          ? ClientMessage.close(subscription: subscription)
          : ClientMessage.closeReconciliation(subscription: subscription))
    ]
  }

  // MARK: Messages

  mutating func receivedEndOfStored(
    _ subscription: String, _ completeness: RelayMessage.Completeness, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    guard let key = requests.keys[subscription], var request = requests.all[key], !request.hasEndedStored else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    noteLatency(since: request.sentAt, at: now)
    if let sent = request.sentAt {
      counters.storedLatency.add(now.milliseconds(since: sent))
      counters.latencies.stored.measured(from: sent, to: now)
    }
    remarks.ended(request.filters, eventCount: request.eventCount, completeness, at: now)
    if request.mode == .live {
      request.hasEndedStored = true
      requests.all[key] = request
      let actions: [SessionAction] = [.endStoredEvents(key, completeness: completeness, isOver: false)]
      return requests.hasWaiting ? settled(actions, at: now) : actions
    }
    _ = requests.remove(key)
    let actions: [SessionAction] = [.endStoredEvents(key, completeness: completeness, isOver: true)]
    return settled(actions + closeMessage(request), at: now)
  }

  mutating func receivedClosed(
    _ subscription: String, _ reason: RelayReason, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    // Some relays answer a NEG-OPEN or a COUNT that they do not know with CLOSED.
    guard let key = requests.keys[subscription] ?? requests.reconciliationKeys[subscription] else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    return refused(key, reason, recordCountMaximum: nil, "closed the subscription", at: now)
  }

  /// The relay has ended a request, or refused it.
  mutating func refused(
    _ key: RequestKey, _ reason: RelayReason, recordCountMaximum: Int?, _ what: String, at now: Instant
  ) -> [SessionAction] {
    let request = requests.all[known: key]
    if case .open(var connection) = state {
      connection.unclaimed = (0, 0)
      state = .open(connection)
    }
    if !request.hasEndedStored || reason.namesError {
      noteRefusal(reason, at: now)
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
    // A window with too many events says nothing about messages or their rate.
    let isWindow = request.reconciliation != nil && reason.refusesWindow(recordCountMaximum)
    let kind = isWindow ? .unknown : RefusalClass(reason)
    learn(from: kind, open: subscriptionCount - 1, byteCount: request.filters.bytes.count, at: now, &actions)
    _ = requests.remove(key)
    let message = "\(url) \(what)\(reason.text.isEmpty ? "" : ": \(reason.text)")"
    let failure = WorkFailure(.closedByRelay, message, reason: reason, recordCountMaximum: recordCountMaximum)
      .adding(said(since: request.noticeMark))
    return settled(actions + [.failRequest(key, failure)], at: now)
  }

  /// What a refusal says about the relay's bounds. `open` is the number of other subscriptions, and `byteCount` the
  /// size of what was refused, or of the largest message that may have been.
  private mutating func learn(
    from kind: RefusalClass, open: Int, byteCount: Int, at now: Instant, _ actions: inout [SessionAction]
  ) {
    let before = policy
    switch kind {
    case .subscriptions: policy.refusedSubscription(open: open)
    case .size: policy.refusedMessage(byteCount: byteCount)
    case .rate:
      // A burst that is refused as a whole is one refusal.
      let isNew = lastRateRefusal.map { now.milliseconds(since: $0) >= RequestPace.burstMilliseconds } ?? true
      if isNew { policy.refusedRate() }
      lastRateRefusal = now
    case .authentication, .restricted, .blocked, .unsupported, .invalid, .mute, .failure, .unknown: break
    }
    guard policy != before else { return }
    lastLowered = now
    actions.append(.reportPolicy)
  }

  /// The same for a NOTICE: it names no request, so one of those that wait for an answer must be meant. Of several that
  /// come at once each means another one of those that were open then, whatever was closed meanwhile.
  mutating func learn(from notice: RelayReason, at now: Instant, _ actions: inout [SessionAction]) {
    let asked = requests.all.values.filter { $0.subscription != nil && !$0.hasEndedStored }
    guard let largest = asked.map(\.filters.bytes.count).max() else { return }
    let kind = RefusalClass(notice)
    if kind == .subscriptions {
      let isNew = noticedRefusals.map { now.milliseconds(since: $0.since) >= RequestPace.burstMilliseconds } ?? true
      if isNew { noticedRefusals = (now, subscriptionCount) }
      noticedRefusals?.open -= 1
    }
    let open = noticedRefusals?.open ?? subscriptionCount
    learn(from: kind, open: open, byteCount: largest, at: now, &actions)
  }

  /// When REQs may be sent faster again, after `rate-limited`.
  var nextRateEnd: Instant? { lastRateRefusal?.advanced(milliseconds: limits.rateMemoryMilliseconds) }

  /// The relay has not said `rate-limited` for a while.
  mutating func expireRate(at now: Instant, _ actions: inout [SessionAction]) {
    guard let end = nextRateEnd, end <= now else { return }
    policy.ratePassed()
    lastRateRefusal = policy.isSpacingLearned ? now : nil
    actions.append(.reportPolicy)
  }

  /// Puts the request back into the queue. With `isHeld` it waits until the account has authenticated.
  private mutating func hold(_ key: RequestKey, isHeld: Bool, at now: Instant) {
    guard var request = requests.all[key], let subscription = request.subscription else { return }
    requests.forget(subscription)
    request.subscription = nil
    request.isHeld = isHeld
    // A reconciliation begins again when it is sent; until then the relay owes nothing.
    request.reconciliation?.isRelaysTurn = false
    if request.reconciliation != nil { request.allowance.move(to: Instant(nanoseconds: .max), at: now) }
    let until = now.advanced(milliseconds: limits.authenticationMilliseconds * 2)
    if request.allowance.deadline < until { request.allowance.move(to: until, at: now) }
    requests.all[key] = request
    requests.queue.returned(key, request.kind)
  }

  mutating func noteLatency(since sent: Instant?, at now: Instant) {
    if let sent { counters.lastLatencyMilliseconds = now.milliseconds(since: sent) }
  }
}
