public import Clocks
public import Cryptography
public import Nostr

/// Which key a relay sees when it asks for authentication (NIP-42).
public enum ShownKey: Sendable, Hashable {
  /// The account of the work, if the work names one.
  case account
  /// This key, which belongs to no account, for all work.
  case throwAway(PublicKey)
  /// None.
  case never

  /// The key that authenticates for work of this account.
  func key(for account: PublicKey?) -> PublicKey? {
    switch self {
    case .account: account
    case .throwAway(let key): key
    case .never: nil
    }
  }
}

/// The accounts that have authenticated on one connection, or are about to (NIP-42).
struct Authentications {
  enum State {
    /// The relay has sent no challenge yet.
    case awaitingChallenge(until: Instant)
    /// The signer is signing the challenge with this number.
    case signing(challenge: Int, until: Instant)
    /// AUTH was sent; the relay's OK has not come.
    case sent(EventID, challenge: Int, until: Instant)
    /// The account has authenticated.
    case shown(challenge: Int, since: Instant)
    /// The authentication failed.
    case failed(WorkFailure, challenge: Int)

    /// When the current step times out. The steps of the relay have no deadline while the relay is held back.
    func deadline(isHeld: Bool) -> Instant? {
      switch self {
      case .signing(_, let until): until
      case .awaitingChallenge(let until), .sent(_, _, let until): isHeld ? nil : until
      case .shown, .failed: nil
      }
    }
  }

  var states: [PublicKey: State] = [:]
  /// How many challenges the relay has sent.
  var challengeCount = 0
  /// How many authentications were started.
  var attemptCount = 0

  /// How far the session is in asking the relay for its challenge; nil while there is no reason to.
  var probe: Probe?

  func nextDeadline(isHeld: Bool) -> Instant? {
    let next = states.values.lazy.compactMap { $0.deadline(isHeld: isHeld) }.min()
    guard !isHeld, let due = probe?.deadline else { return next }
    return min(due, next ?? due)
  }
}

/// What the session does about a refusal with `auth-required`.
enum AuthenticationDemand {
  /// The account is authenticating: the work waits.
  case begun
  /// The account has authenticated since the work was sent: the work is sent again.
  case met
  /// The account cannot authenticate, or it would not help.
  case failed(WorkFailure)
}

extension RelaySession {
  /// The accounts that have authenticated on this connection.
  public var authenticatedAccounts: [PublicKey] {
    guard case .open(let connection) = state else { return [] }
    return connection.authentications.states.compactMap { account, state in
      if case .shown = state { account } else { nil }
    }
  }

  /// The signer has signed the challenge for the account. `event` is the JSON object whose id is `id`.
  public mutating func authenticationSigned(
    _ account: PublicKey, challenge: String, event: [UInt8], id: EventID, at now: Instant
  ) -> [SessionAction] {
    guard case .open(var connection) = state, let number = signing(account, challenge) else { return [] }
    var actions: [SessionAction] = []
    if challenge == self.challenge {
      let until = now.advanced(milliseconds: limits.authenticationMilliseconds)
      connection.authentications.states[account] = .sent(id, challenge: number, until: until)
      state = .open(connection)
      actions.append(.send(ClientMessage.authenticate(event)))
    } else {
      // The relay has sent another challenge since, so this signature is worthless.
      connection.authentications.states[account] = nil
      state = .open(connection)
      if case .failed(let failure) = show(account, at: now, &actions) { fail(account, failure, &actions) }
    }
    return settled(actions, at: now)
  }

  /// The challenge could not be signed. `message` says why, as the end of a sentence.
  public mutating func authenticationFailed(
    _ account: PublicKey, challenge: String, message: String, at now: Instant
  ) -> [SessionAction] {
    guard signing(account, challenge) != nil else { return [] }
    var actions: [SessionAction] = []
    failUnsigned(account, message, &actions)
    return settled(actions, at: now)
  }

  /// The number of the challenge that the signer has for this account. Nil when it has none or another one: the answer
  /// may belong to an earlier connection.
  private func signing(_ account: PublicKey, _ challenge: String) -> Int? {
    guard case .open(let connection) = state,
      case .signing(let number, _)? = connection.authentications.states[account],
      challenge == self.challenge || number < connection.authentications.challengeCount
    else { return nil }
    return number
  }

  func hasShown(_ account: PublicKey) -> Bool {
    guard case .open(let connection) = state, case .shown? = connection.authentications.states[account] else {
      return false
    }
    return true
  }

  /// What to do about a refusal. Nil if an authentication would not help, or if there is no account for it.
  mutating func demand(
    _ reason: RelayReason, _ account: PublicKey?, sentAt: Instant?, at now: Instant,
    _ actions: inout [SessionAction]
  ) -> AuthenticationDemand? {
    guard reason.word == "auth-required", let account else { return nil }
    if case .open(let connection) = state,
      case .shown(let number, let since)? = connection.authentications.states[account],
      number == connection.authentications.challengeCount
    {
      if let sentAt, sentAt < since { return .met }
      // The relay knows the account and asks for it again: another authentication would end the same.
      return .failed(WorkFailure(.notAuthenticated, "\(url) accepts AUTH and continues to ask for it", reason: reason))
    }
    return show(account, at: now, &actions)
  }

  /// Starts the authentication of an account, unless one is under way or has failed with this challenge.
  @discardableResult
  mutating func show(_ account: PublicKey, at now: Instant, _ actions: inout [SessionAction]) -> AuthenticationDemand {
    guard case .open(var connection) = state else { return .begun }
    switch connection.authentications.states[account] {
    case .awaitingChallenge, .signing, .sent: return .begun
    case .failed(let failure, let number) where number == connection.authentications.challengeCount:
      return .failed(failure)
    case .shown, .failed, nil: break
    }
    guard connection.authentications.attemptCount < limits.authenticationMaximum else {
      let message = "\(url) has asked for AUTH \(limits.authenticationMaximum) times on this connection"
      return .failed(WorkFailure(.notAuthenticated, message))
    }
    connection.authentications.attemptCount += 1
    let until = now.advanced(milliseconds: limits.authenticationMilliseconds)
    if let challenge {
      connection.authentications.states[account] = .signing(
        challenge: connection.authentications.challengeCount, until: until)
      actions.append(.authenticate(account, challenge: challenge))
    } else {
      connection.authentications.states[account] = .awaitingChallenge(until: until)
    }
    state = .open(connection)
    return .begun
  }

  mutating func receivedChallenge(_ challenge: String, at now: Instant) -> [SessionAction] {
    guard case .open(var connection) = state else { return [] }
    self.challenge = challenge
    connection.authentications.challengeCount += 1
    let waiting = connection.authentications.states.filter { _, state in
      if case .awaitingChallenge = state { true } else { false }
    }
    for account in waiting.keys {
      let until = now.advanced(milliseconds: limits.authenticationMilliseconds)
      connection.authentications.states[account] = .signing(
        challenge: connection.authentications.challengeCount, until: until)
    }
    state = .open(connection)
    let asked = waiting.keys.map { SessionAction.authenticate($0, challenge: challenge) }
    guard let leftOut = challengeBudget.take(limits, at: now) else { return settled(asked, at: now) }
    return settled(Self.leftOut(.challenge, leftOut) + [.reportChallenge(challenge)] + asked, at: now)
  }

  /// - Returns: nil if the OK does not answer an AUTH.
  mutating func receivedAuthenticationOK(
    _ id: EventID?, isAccepted: Bool, _ reason: RelayReason, at now: Instant
  ) -> [SessionAction]? {
    guard let id, case .open(let connection) = state else { return nil }
    let answered = connection.authentications.states.first { _, state in
      if case .sent(id, _, _) = state { true } else { false }
    }
    guard let account = answered?.key else { return nil }
    var actions: [SessionAction] = []
    if isAccepted {
      succeed(account, at: now)
    } else {
      noteRefusal(reason, at: now)
      fail(account, "\(url) refused AUTH\(reason.text.isEmpty ? "" : ": \(reason.text)")", reason: reason, &actions)
    }
    return settled(actions, at: now)
  }

  mutating func expireAuthentications(at now: Instant, _ actions: inout [SessionAction]) {
    if !isHeld { startProbe(at: now, &actions) }
    guard case .open(let connection) = state else { return }
    for (account, state) in connection.authentications.states {
      guard let deadline = state.deadline(isHeld: isHeld), deadline <= now else { continue }
      switch state {
      case .awaitingChallenge: fail(account, "\(url) has sent no challenge to sign (NIP-42)", &actions)
      case .signing: failUnsigned(account, "the signer did not answer in time", &actions)
      // Some relays send no OK for a valid AUTH. The work that was refused is sent again, and its answer shows the
      // result.
      case .sent: succeed(account, at: now)
      case .shown, .failed: break
      }
    }
  }

  // MARK: Ends

  private mutating func succeed(_ account: PublicKey, at now: Instant) {
    guard case .open(var connection) = state else { return }
    connection.authentications.states[account] = .shown(
      challenge: number(of: account, in: connection), since: now)
    state = .open(connection)
    counters.authentications += 1
    release(account)
  }

  private mutating func fail(
    _ account: PublicKey, _ message: String, reason: RelayReason? = nil, _ actions: inout [SessionAction]
  ) {
    fail(account, WorkFailure(.notAuthenticated, message, reason: reason), &actions)
  }

  /// Nothing was signed and nothing was sent to the relay, so this attempt does not count. The work that waits fails.
  /// Later work asks the signer again, also on this connection, which may last for weeks.
  private mutating func failUnsigned(_ account: PublicKey, _ message: String, _ actions: inout [SessionAction]) {
    guard case .open(var connection) = state else { return }
    connection.authentications.states[account] = nil
    connection.authentications.attemptCount -= 1
    state = .open(connection)
    failHeld(account, WorkFailure(.notSigned, message), &actions)
  }

  /// Fails all work that waits for the account, and later work too until the relay sends a new challenge.
  private mutating func fail(_ account: PublicKey, _ failure: WorkFailure, _ actions: inout [SessionAction]) {
    guard case .open(var connection) = state else { return }
    connection.authentications.states[account] = .failed(failure, challenge: number(of: account, in: connection))
    state = .open(connection)
    counters.authentications += 1
    counters.authenticationFailures += 1
    failHeld(account, failure, &actions)
  }

  private mutating func failHeld(_ account: PublicKey, _ failure: WorkFailure, _ actions: inout [SessionAction]) {
    for (key, request) in requests.all where request.isHeld && request.account == account {
      if request.isAhead, request.sentAt == nil {
        requests.all[key]?.isHeld = false
        continue
      }
      _ = requests.remove(key)
      actions.append(.failRequest(key, failure))
    }
    for (id, publication) in publishes.all where publication.isHeld && publication.account == account {
      _ = publishes.remove(id)
      actions += publication.claims.map { .failPublish($0.key, failure) }
    }
  }

  private func number(of account: PublicKey, in connection: Connection) -> Int {
    switch connection.authentications.states[account] {
    case .signing(let number, _), .sent(_, let number, _), .shown(let number, _), .failed(_, let number): number
    case .awaitingChallenge, nil: connection.authentications.challengeCount
    }
  }

  /// Lets the work that waits for the account be sent.
  private mutating func release(_ account: PublicKey) {
    for key in requests.queue.order where requests.all[key]?.account == account { requests.all[key]?.isHeld = false }
    for id in publishes.waiting where publishes.all[id]?.account == account { publishes.all[id]?.isHeld = false }
  }

  /// On another connection the authentication starts from the beginning.
  mutating func releaseHeld() {
    for key in requests.queue.order {
      requests.all[key]?.isHeld = false
      requests.all[key]?.isAhead = false
      requests.all[key]?.sentAt = nil
      requests.all[key]?.queuedSince = nil
    }
    for id in publishes.waiting { publishes.all[id]?.isHeld = false }
  }
}
