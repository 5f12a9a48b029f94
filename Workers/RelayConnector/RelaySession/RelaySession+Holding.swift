public import Clocks

// A relay that is held back: its socket is not read, because what it has sent before is not taken here yet.
//
// What it answers meanwhile stays in the kernel, so nothing that it owes can be seen, and no time of its silence
// passes: deadlines for its answers stand still, and move on by as much when the socket is read again. Rejected: to
// begin them again then. A relay that floods is held back and read many times a second, and would never be late.

/// Until when a relay may owe an answer.
struct Allowance: Sendable {
  /// When its time is over, if it is read all the time.
  private(set) var deadline: Instant
  /// From when that is counted.
  private var begin: Instant
  /// When whoever waits does so no longer, whether the relay was read or not; nil when that is not known.
  let end: Instant?

  init(until deadline: Instant, end: Instant? = nil, at now: Instant) {
    (self.deadline, self.end) = (deadline, end)
    begin = now
  }

  /// When it is over; nil for never, as things are.
  func due(isHeld: Bool) -> Instant? {
    let end = end ?? Instant(nanoseconds: .max)
    let due = isHeld ? end : min(deadline, end)
    return due.nanoseconds == .max ? nil : due
  }

  /// The relay has until then.
  mutating func move(to deadline: Instant, at now: Instant) {
    self.deadline = deadline
    begin = now
  }

  /// The relay was not read from `since` until now.
  mutating func stoodStill(since: Instant, at now: Instant) {
    deadline = deadline.advanced(nanoseconds: now.nanoseconds - min(now, max(since, begin)).nanoseconds)
    begin = now
  }
}

extension RelaySession {
  /// Nobody takes what is delivered any more: the relay must wait.
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

  /// Whether the relay's time stands still.
  var isHeld: Bool { heldSince != nil }

  /// Notes whether the relay is held back from now on, and lets its deadlines move on if it is so no longer.
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
    for key in requests.all.keys { requests.all[key]?.allowance.stoodStill(since: since, at: now) }
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
  /// The relay was not read from `since` until now: its own steps get as much longer, the signer's do not.
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
