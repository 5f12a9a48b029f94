public import Clocks

// A relay that is held back: the session does not read its socket, because the data that the relay sent before has not
// been processed yet.
//
// The answers that the relay sends meanwhile stay in the kernel, so nothing can be said about what it owes. The
// deadlines for its answers are suspended, and move by the time that the socket was not read. Rejected: to start the
// deadlines again then. A relay that floods is held back and read again many times a second, and would never be late.

/// Until when a relay may owe an answer.
struct Allowance: Sendable {
  /// The deadline, if the socket is read all the time.
  private(set) var deadline: Instant
  /// From when that time is counted.
  private var begin: Instant
  /// When the caller stops waiting, whether or not the socket was read; nil when that is not known.
  let end: Instant?

  init(until deadline: Instant, end: Instant? = nil, at now: Instant) {
    (self.deadline, self.end) = (deadline, end)
    begin = now
  }

  /// When the time is over; nil for never, in the present state.
  func due(isHeld: Bool) -> Instant? {
    let end = end ?? Instant(nanoseconds: .max)
    let due = isHeld ? end : min(deadline, end)
    return due.nanoseconds == .max ? nil : due
  }

  /// Gives the relay until `deadline`.
  mutating func move(to deadline: Instant, at now: Instant) {
    self.deadline = deadline
    begin = now
  }

  /// The socket was not read from `since` until now.
  mutating func stoodStill(since: Instant, at now: Instant) {
    deadline = deadline.advanced(nanoseconds: now.nanoseconds - min(now, max(since, begin)).nanoseconds)
    begin = now
  }
}

extension RelaySession {
  /// Deliveries are not taken for now: the session stops reading from the relay.
  public mutating func deliveryStalled(at now: Instant) -> [SessionAction] {
    if isStalled { return [] }
    isStalled = true
    if case .open = state { return settled([.pauseReading], at: now) }
    return []
  }

  /// Deliveries are taken again.
  public mutating func deliveryResumed(at now: Instant) -> [SessionAction] {
    if !isStalled { return [] }
    isStalled = false
    if case .open = state { return settled([.resumeReading], at: now) }
    return []
  }

  /// Whether the deadlines of the relay are suspended.
  var isHeld: Bool { heldSince != nil }

  /// Notes whether the relay is held back from now on. When it no longer is, moves its deadlines.
  mutating func noteHolding(at now: Instant) {
    var isOpen = false
    if case .open = state { isOpen = true }
    guard isStalled, isOpen else {
      if let since = heldSince { goOn(since: since, at: now) }
      heldSince = nil
      return
    }
    if heldSince == nil { heldSince = now }
  }

  private mutating func goOn(since: Instant, at now: Instant) {
    for (key, request) in requests.all {
      requests.all[key]?.allowance.stoodStill(since: since, at: now)
      guard let queued = request.queuedSince else { continue }
      let pause = now.nanoseconds - min(now, max(since, queued)).nanoseconds
      requests.all[key]?.queuedSince = queued.advanced(nanoseconds: pause)
    }
    for (id, publication) in publishes.all {
      for index in publication.claims.indices {
        publishes.all[id]?.claims[index].allowance.stoodStill(since: since, at: now)
      }
    }
    guard case .open(var connection) = state else { return }
    connection.authentications.stoodStill(since: since, limits, at: now)
    state = .open(connection)
  }
}

extension Authentications {
  /// The socket was not read from `since` until now: the relay's steps get that much longer, the signer's steps do not.
  fileprivate mutating func stoodStill(since: Instant, _ limits: SessionLimits, at now: Instant) {
    func moved(_ until: Instant, _ milliseconds: UInt64) -> Instant {
      let length = milliseconds * 1_000_000
      let begin = Instant(nanoseconds: until.nanoseconds > length ? until.nanoseconds - length : 0)
      var allowance = Allowance(until: until, at: begin)
      allowance.stoodStill(since: since, at: now)
      return allowance.deadline
    }
    for (account, state) in states {
      switch state {
      case .awaitingChallenge(let until):
        states[account] = .awaitingChallenge(until: moved(until, limits.authenticationMilliseconds))
      case .sent(let id, let challenge, let until):
        states[account] = .sent(id, challenge: challenge, until: moved(until, limits.authenticationMilliseconds))
      case .signing, .shown, .failed: break
      }
    }
    if case .due(let instant)? = probe { probe = .due(moved(instant, limits.challengeMilliseconds)) }
  }
}
