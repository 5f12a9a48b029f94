import Addresses
import Clocks
import Contracts
import Cryptography
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelayDials
import RelaySession
import RelayQuarantine
import WebSocket
import WorkerKit

/// One relay: its session machine, and the socket and timer that the machine commands.
@EventLoopActor
final class RelayLink {
  let url: RelayURL
  /// Its name in the budget of dials.
  let key: DialKey
  private(set) var session: RelaySession
  /// Whether it may dial, dials, or has a connection.
  private(set) var hasSocket = false {
    didSet { if hasSocket, !oldValue { dialledAt = EventLoop.process.now } }
  }
  private var dialledAt = Instant(nanoseconds: 0)

  private unowned let owner: any RelayLinkOwner
  private let quarantine: QuarantineService
  private let mark: InputMark?
  private var hasStrikes: Bool
  private let deadlines: WebSocketDeadlines
  private var limits: WebSocketLimits
  private let security: (any TransportSecurity)?
  /// The key that the relay sees in place of an account.
  private let throwAwayKey: SecretKey?
  private let log: Logger
  private let timer = LoopTimer()
  private var connection: WebSocketConnection?
  private var connecting: Task<Void, Never>?
  private var lastPhase: RelaySession.Phase?
  private var lastAuthenticated: [PublicKey] = []
  private var holderCount = 0
  /// Actions in their order. To perform one may cause others; those go to the end.
  private var commands: [SessionAction] = []
  private var isPerforming = false
  private var isToResume = false
  /// The number of events that match no filter.
  private var strayCount: UInt64 = 0
  private var useless = UselessEvents()
  /// What fetching stored events has come to.
  var stored: (pageCount: UInt64, ends: [String: UInt64]) = (0, [:])
  /// Whether the last attempt failed because the relay is foreign.
  private var isHeldAsForeign = false
  /// Whether any work for the relay took its name from the user.
  private(set) var hadOwnWork = false
  private var openSince: (instant: Instant, seconds: Int64)?
  private var openMilliseconds: UInt64 = 0
  private var (invalidEventCount, newEventCount) = (UInt64(0), UInt64(0))
  private var forgeries = Forgeries()
  /// What is logged of messages, while that is wanted.
  private var traffic = TrafficLog()

  init(
    url: RelayURL, key: DialKey, security: (any TransportSecurity)?, quarantine: QuarantineService,
    connectMilliseconds: UInt64, messageByteCountMaximum: Int, authenticate: ConnectorSettings.Authentication,
    throwAwayKey: @autoclosure () -> SecretKey, log: Logger, owner: any RelayLinkOwner
  ) {
    self.url = url
    self.key = key
    self.quarantine = quarantine
    mark = quarantine.mark(for: url)
    hasStrikes = quarantine.hasStrikes(url)
    self.security = security
    self.owner = owner
    self.log = log
    var deadlines = WebSocketDeadlines()
    deadlines.connectMilliseconds = connectMilliseconds
    deadlines.nameLookupMilliseconds = connectMilliseconds
    deadlines.handshakeMilliseconds = connectMilliseconds
    self.deadlines = deadlines
    limits = WebSocketLimits(messageByteCountMaximum: messageByteCountMaximum)
    var random = SystemRandomNumberGenerator()
    self.throwAwayKey = authenticate == .throwAway ? throwAwayKey() : nil
    let shownKey = ShownKey(authenticate, throwAway: self.throwAwayKey)
    session = RelaySession(url: url, shownKey: shownKey, seed: random.next())
  }

  /// Whether requests or publishes are under way.
  var hasWork: Bool { session.requestCount > 0 || session.publishCount > 0 }

  /// Gives the session an input, and performs its actions.
  func tell(_ body: (inout RelaySession, Instant) -> [SessionAction]) {
    perform(body(&session, EventLoop.process.now), message: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func perform(_ actions: [SessionAction], message: UnsafeRawBufferPointer) {
    commands += actions
    guard !isPerforming else {
      precondition(message.isEmpty, "a message is received without a command")
      return
    }
    isPerforming = true
    repeat {
      while !commands.isEmpty { perform(commands.removeFirst(), message: message) }
      noteChanges()
    } while !commands.isEmpty
    isPerforming = false
    noteEnd()
    // Last, because it delivers messages that have been waiting.
    if isToResume {
      isToResume = false
      connection?.resumeReading()
    }
  }

  private func perform(_ action: SessionAction, message: UnsafeRawBufferPointer) {
    switch action {
    case .connect(let attempt): connect(attempt)
    case .abandonConnect:
      connecting?.cancel()
      connecting = nil
    case .close(let code, let reason): connection?.close(code: code, reason: reason)
    case .checkConnection(let milliseconds): connection?.check(withinMilliseconds: milliseconds)
    case .send(let bytes): send(bytes)
    case .deliver(let key, let range):
      owner.link(self, delivered: key, UnsafeRawBufferPointer(rebasing: message[range]))
    case .endStoredEvents(let key, let completeness, let isOver):
      owner.link(self, endedStored: key, completeness, isOver: isOver)
    case .passReconciliation(let key, let message): owner.link(self, reconciled: key, message)
    case .failRequest(let key, let failure): owner.link(self, failed: key, failure)
    case .answer(let key, let isAccepted, let reason):
      owner.link(self, answered: key, isAccepted: isAccepted, reason)
    case .failPublish(let key, let failure): owner.link(self, failed: key, failure)
    case .authenticate(let account, let challenge): authenticate(account, challenge)
    case .makeProbe:
      let probe = Self.probe()
      tell { session, now in session.probeMade(event: probe.json, id: probe.id, at: now) }
    case .reportNotice(let reason):
      log.notice("the relay says", metadata: ["relay": "\(url)", "notice": "\(reason)"])
    case .passNotice(let key, let reason): owner.link(self, noticed: key, reason)
    case .reportLeftOut(let kind, let count):
      log.notice(
        "the relay talks too much; left out", metadata: ["relay": "\(url)", "\(kind.rawValue)": "\(count)"])
    case .requestSent(let key):
      if LogLevels.areDetailsWanted { traffic.next = owner.trace(of: key, at: self) }
      owner.link(self, sent: key)
    case .reportPolicy: owner.linkPolicyChanged(self)
    case .reportChallenge: log.info("the relay wants AUTH", metadata: ["relay": "\(url)"])
    case .pauseReading:
      isToResume = false
      connection?.pauseReading()
    case .resumeReading: isToResume = true
    case .setTimer(let instant):
      timer.set(at: instant) { [unowned self] in tell { session, now in session.timerFired(at: now) } }
    case .cancelTimer: timer.cancel()
    }
  }

  /// The probe for a challenge: its key belongs to no account, no relay stores it, and it expires in a minute (NIP-01,
  /// NIP-40, NIP-70).
  private static func probe() -> Event {
    let (key, now) = (SecretKey.generate(), WallClock.seconds)
    let tags = [["-"], ["expiration", "\(now + 60)"]]
    return UnsignedEvent(pubkey: key.publicKey, createdAt: now, kind: EventKind.probe, tags: tags).signed(by: key)
  }

  /// Signs the challenge with the throw-away key, or has the owner have the account sign it.
  private func authenticate(_ account: PublicKey, _ challenge: String) {
    guard let throwAwayKey else { return owner.link(self, authenticate: account, challenge) }
    do throws(RelayAuthenticationFault) {
      let event = try RelayAuthentication.template(
        for: url, challenge: challenge, by: account, createdAt: WallClock.seconds
      ).signed(by: throwAwayKey)
      tell { session, now in
        session.authenticationSigned(account, challenge: challenge, event: event.json, id: event.id, at: now)
      }
    } catch {
      tell { session, now in
        session.authenticationFailed(account, challenge: challenge, message: "\(error)", at: now)
      }
    }
  }

  private func noteChanges() {
    let (phase, authenticated) = (session.phase, session.authenticatedAccounts)
    let isNewPhase = phase != lastPhase
    if !isNewPhase, authenticated == lastAuthenticated { return }
    if phase == .open, lastPhase != .open { openSince = (EventLoop.process.now, WallClock.seconds) }
    if phase != .open, let since = openSince {
      openMilliseconds += EventLoop.process.now.milliseconds(since: since.instant)
      openSince = nil
    }
    lastPhase = phase
    lastAuthenticated = authenticated
    owner.linkChanged(self, isNewPhase: isNewPhase)
  }

  private func noteEnd() {
    guard hasSocket, session.phase == .idle || session.phase == .waiting else { return }
    hasSocket = false
    owner.dialEnded(self, after: EventLoop.process.now.milliseconds(since: dialledAt))
  }

  /// The relay sent an event that matches no filter of its request; the event was dropped. Logged at powers of ten,
  /// because a relay may send nothing else.
  func noteStray() {
    strayCount += 1
    noteUseless(1)
    var power: UInt64 = 1
    while power < strayCount { power *= 10 }
    guard power == strayCount else { return }
    log.notice(
      "the relay sends events that were not asked for; they are left out",
      metadata: ["relay": "\(url)", "count": "\(strayCount)"])
  }

  /// The store has rejected events of this relay.
  ///
  /// - Returns: whether events are among them that were not rejected lately.
  func noteInvalid(_ events: [IngestResult.Invalid]) -> Bool {
    invalidEventCount += UInt64(events.count)
    noteUseless(events.count)
    let before = forgeries.count
    for event in events { if let id = event.id { forgeries.note(id) } }
    return forgeries.count > before
  }

  /// The store lacked events of this relay.
  func noteStored(_ count: Int) {
    newEventCount += UInt64(count)
    if count > 0 { useless.useful() }
  }

  private func noteUseless(_ count: Int) {
    guard useless.came(count, at: EventLoop.process.now) else { return }
    tell { session, now in session.uselessEventsCame(at: now) }
  }

  // MARK: Holding the relay back

  /// Whether the relay is held back: its socket is not read.
  var isHeld: Bool { holderCount > 0 }

  /// A caller takes no events of this relay for now. Each call needs a ``release()``.
  func hold() {
    holderCount += 1
    guard holderCount == 1 else { return }
    owner.link(self, isHeld: true)
    tell { session, now in session.deliveryStalled(at: now) }
  }

  /// The caller of `hold()` takes events again.
  func release() {
    guard holderCount > 0 else { return }
    holderCount -= 1
    if holderCount == 0 { goOn() }
  }

  /// Removes all holds.
  func releaseAll() {
    guard holderCount > 0 else { return }
    holderCount = 0
    goOn()
  }

  /// The order matters: the second line delivers what has been waiting.
  private func goOn() {
    owner.link(self, isHeld: false)
    tell { session, now in session.deliveryResumed(at: now) }
  }

  /// The state of the relay, as this process sees it.
  var state: RelayStates.Relay {
    let counters = session.counters
    var state = RelayStates.Relay(relay: url.text, state: RelayStateWord(rawValue: session.phase.rawValue))
    if session.phase != .open, let quarantine = quarantine.quarantine(of: url) {
      state.state = .quarantined
      state.reason = quarantine.reason
      return state
    }
    state.reason = session.phase == .open || session.absence.isEmpty ? nil : session.absence
    if session.phase == .idle || session.phase == .waiting, let wait = owner.dialWait(of: self) {
      (state.state, state.reason, state.waitsForBudget) = (.waiting, wait.reason, true)
    }
    state.openSince = openSince?.seconds
    state.openMilliseconds =
      openMilliseconds + (openSince.map { EventLoop.process.now.milliseconds(since: $0.instant) } ?? 0)
    state.connections = counters.connections
    state.failures = counters.connectFailures
    state.failuresInRow = counters.connectFailuresInRow > 0 ? counters.connectFailuresInRow : nil
    state.dialledMilliseconds = session.firstAttempt.map { EventLoop.process.now.milliseconds(since: $0) }
    state.messages = counters.messages
    state.bytes = counters.messageBytes
    state.events = counters.events
    state.accepted = counters.accepted
    state.refusals = counters.refusals
    if counters.refusals > 0 {
      state.refusalsByClass = Dictionary(
        uniqueKeysWithValues: counters.refusalsByClass.map { ($0.key.rawValue, $0.value) })
    }
    state.invalidEvents = invalidEventCount > 0 ? invalidEventCount : nil
    state.forgedEvents = forgeries.count > 0 ? forgeries.count : nil
    state.newEvents = newEventCount > 0 ? newEventCount : nil
    state.authentications = counters.authentications > 0 ? counters.authentications : nil
    state.authenticationFailures = counters.authenticationFailures > 0 ? counters.authenticationFailures : nil
    if stored.pageCount > 0 { state.pages = stored.pageCount }
    if !stored.ends.isEmpty { state.drains = stored.ends }
    state.latencyMilliseconds = counters.lastLatencyMilliseconds
    state.connectMilliseconds = counters.connectLatency.value
    state.storedMilliseconds = counters.storedLatency.value
    state.subscriptionMaximum = session.policy.subscriptions.value
    state.subscriptionCount = session.subscriptionCount
    state.queuedCount = session.queuedCount
    state.mayRefuseWrites = session.policy.mayRefuseWrites ? true : nil
    state.authenticated = session.authenticatedAccounts.map(\.description).sorted()
    switch session.shownKey {
    case .account: break
    case .throwAway: state.authenticate = .throwAway
    case .never: state.authenticate = .never
    }
    return state
  }

  /// The remarks about the relay, the latest first.
  var remarks: [RelayRemark] {
    let now = EventLoop.process.now
    return session.remarks.latest.map { kind, remark in
      let seconds = Int64(clamping: now.milliseconds(since: remark.at) / 1_000)
      var told = RelayRemark(
        kind: RelayRemark.Kind(kind), text: Self.told(remark.reason), count: remark.count,
        at: WallClock.seconds - seconds, limit: remark.limit)
      if told.kind == .refusedRequest || told.kind == .refusedEvent {
        told.about = RefusalClass(remark.reason).rawValue
      }
      return told
    }
    .sorted { ($1.at, $0.kind.rawValue) < ($0.at, $1.kind.rawValue) }
  }

  /// A relay's words as one line of bounded length, without control characters that a terminal would act on.
  private static func told(_ reason: RelayReason) -> String {
    let line = reason.text.unicodeScalars.map { scalar in
      scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) ? " " : Character(scalar)
    }
    return String(String(line).prefix(RelayRemark.textLengthMaximum))
  }

  private func send(_ bytes: [UInt8]) {
    if LogLevels.areDetailsWanted { traffic.sent(bytes, to: self, owner) }
    do throws(WebSocketFault) { try connection?.send(text: bytes) } catch {
      // The connection is ending, or takes no more data. In both cases the session receives a disconnection.
      log.warning("not sent", metadata: ["relay": "\(url)", "why": "\(error)"])
      connection?.close(code: 1011, reason: "")
    }
  }

  // MARK: The connection

  /// A caller wants the relay dialled now, whatever happened before. Its strikes are already forgotten.
  func retry() {
    hasStrikes = false
    tell { session, now in session.retryRequested(at: now) }
  }

  /// The wait for the next attempt ends now, unless the relay itself has named a time.
  func endBackOff() { tell { session, now in session.backOffEnded(at: now) } }

  /// The relay may be dialled now, after it had to wait.
  func dialGranted() {
    hasSocket = true
    tell { session, now in session.dialGranted(at: now) }
  }

  /// Own work for the relay has come: if the relay was not dialled because it was foreign, it is dialled now.
  func noteOwnWish() {
    hadOwnWork = true
    guard isHeldAsForeign else { return }
    isHeldAsForeign = false
    tell { session, now in session.retryRequested(at: now) }
  }

  private func connect(_ attempt: UInt64) {
    if let quarantine = quarantine.quarantine(of: url) {
      let failure = ConnectFailure(
        message: quarantine.reason, retryAfterMilliseconds: UInt64(clamping: quarantine.secondsLeft) * 1_000)
      tell { session, now in session.connectFailed(attempt: attempt, failure, at: now) }
      return
    }
    if let dismissal = owner.dismissal(of: url) {
      let failure = ConnectFailure(message: dismissal.reason, retryAfterMilliseconds: dismissal.milliseconds)
      tell { session, now in session.connectFailed(attempt: attempt, failure, at: now) }
      return
    }
    if !hasSocket, let wait = owner.waitBeforeDial(of: self) {
      tell { session, now in
        session.dialPostponed(attempt: attempt, reason: wait.reason, milliseconds: wait.milliseconds, at: now)
      }
      owner.linkPostponed(self)
      return
    }
    hasSocket = true
    limits.dialsGlobalAddressesOnly = owner.isForeign(self)
    let endpoint = WebSocketEndpoint(
      host: url.host, port: url.port, isSecure: url.isSecure, requestTarget: url.requestTarget)
    let own = owner.own
    let objection: ConnectionObjection = { own.objection(to: $0, from: $1) }
    connecting = EventLoopActor.task { [weak self, deadlines, limits, security, mark] in
      do throws(WebSocketFault) {
        let connection = try await WebSocketConnection.connect(
          to: endpoint, limits: limits, deadlines: deadlines, security: security, mark: mark, objection: objection)
        guard let self, !Task.isCancelled else {
          connection.abort()
          return
        }
        self.connected(connection, attempt)
      } catch {
        guard let self, !Task.isCancelled else { return }
        self.notConnected(error, attempt)
      }
    }
  }

  private func notConnected(_ fault: WebSocketFault, _ attempt: UInt64) {
    isHeldAsForeign = fault.code == .privateAddress
    if isHeldAsForeign, !owner.isForeign(self) {
      // Own work for the relay has come meanwhile.
      connect(attempt)
      return
    }
    let why =
      fault.detail + (isHeldAsForeign ? "; relays that other people name are not dialled there" : "")
    log.info("not connected", metadata: ["relay": "\(url)", "why": "\(why)"])
    let failure = ConnectFailure(
      message: why, isNameFailure: fault.code == .nameLookup, isOwnRelay: fault.code == .unwantedAddress,
      retryAfterMilliseconds: fault.retryAfterMilliseconds)
    tell { session, now in session.connectFailed(attempt: attempt, failure, at: now) }
    if failure.isOwnRelay { owner.linkLedHome(self) }
  }

  private func connected(_ connection: WebSocketConnection, _ attempt: UInt64) {
    self.connection = connection
    connecting = nil
    log.info("connected", metadata: ["relay": "\(url)"])
    tell { session, now in session.connected(attempt: attempt, at: now) }
    connection.start(
      onMessage: { [weak self] kind, bytes in self?.received(kind, bytes) },
      onEnd: { [weak self] end in self?.ended(end) })
  }

  private func received(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) {
    // Noted here too, because messages that waited during a pause are delivered without a read of the socket.
    if let mark { mark.noted { handle(kind, bytes) } } else { handle(kind, bytes) }
    guard hasStrikes else { return }
    quarantine.handled(url)
    hasStrikes = quarantine.hasStrikes(url)
  }

  private func handle(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) {
    let now = EventLoop.process.now
    // Nostr is text. Nothing has checked that a binary message is UTF-8, and what callers receive must be.
    guard kind == .text else {
      perform(session.receivedGarbage(byteCount: bytes.count, at: now), message: bytes)
      return
    }
    do throws(RelayMessageFault) {
      let message = try RelayMessage(bytes)
      if LogLevels.areDetailsWanted { traffic.received(message, bytes, from: self, owner) }
      perform(session.received(message, byteCount: bytes.count, at: now), message: bytes)
    } catch {
      log.debug("not understood", metadata: ["relay": "\(url)", "why": "\(error)"])
      perform(session.receivedGarbage(byteCount: bytes.count, at: now), message: bytes)
    }
  }

  private func ended(_ end: WebSocketEnd) {
    connection = nil
    traffic = TrafficLog()
    log.info("disconnected", metadata: ["relay": "\(url)", "why": "\(end)"])
    if case .closedByPeer(code: Dismissals.closeCode, let reason) = end { owner.linkDismissed(self, reason: reason) }
    tell { session, now in session.disconnected(reason: "\(end)", at: now) }
  }
}

extension RelayRemark.Kind {
  /// The word for a kind of remark.
  fileprivate init(_ kind: RecentRemarks.Kind) {
    switch kind {
    case .refusedRequest: self = .refusedRequest
    case .refusedEvent: self = .refusedEvent
    case .authWall: self = .authWall
    case .capped: self = .capped
    case .notice: self = .notice
    }
  }
}
