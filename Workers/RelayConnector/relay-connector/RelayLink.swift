import Addresses
import Clocks
import Contracts
import Cryptography
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelaySession
import RelayQuarantine
import WebSocket

/// What the owner of links is told.
@EventLoopActor
protocol RelayLinkOwner: AnyObject {
  /// An event came; its bytes are valid during the call.
  func link(_ link: RelayLink, delivered key: RequestKey, _ event: UnsafeRawBufferPointer)
  /// EOSE came; with `isOver` the key is free.
  func link(_ link: RelayLink, endedStored key: RequestKey, isOver: Bool)
  /// A request is over; its key is free.
  func link(_ link: RelayLink, failed key: RequestKey, _ failure: WorkFailure)
  /// The relay's OK; the key is free.
  func link(_ link: RelayLink, answered key: PublishKey, isAccepted: Bool, _ reason: RelayReason)
  /// A publish is over without an OK; its key is free.
  func link(_ link: RelayLink, failed key: PublishKey, _ failure: WorkFailure)
  /// The relay says something that may be about this work.
  func link(_ link: RelayLink, noticed key: WorkKey, _ reason: RelayReason)
  /// The challenge is to be signed (NIP-42).
  func link(_ link: RelayLink, authenticate account: PublicKey, _ challenge: String)
  /// Where this Roost's own relays listen.
  var own: OwnAddresses { get }
  /// The connection has led to one of them, and was closed. It is of no use to dial again.
  func linkLedHome(_ link: RelayLink)
  /// The relay has closed the connection with ``Dismissals/closeCode``.
  func linkDismissed(_ link: RelayLink, reason: String)
  /// Why the relay is not to be dialled, if it has asked for that.
  func dismissal(of relay: RelayURL) -> String?
  /// Whether all who want the relay have its name from other people.
  func isForeign(_ link: RelayLink) -> Bool
  /// The relay is held back from now on, or read again.
  func link(_ link: RelayLink, isHeld: Bool)
  /// The connection is in another phase, or (`isNewPhase` false) somebody has shown himself on it.
  func linkChanged(_ link: RelayLink, isNewPhase: Bool)
}

/// One relay: its session machine, and the socket and timer that the machine commands.
@EventLoopActor
final class RelayLink {
  let url: RelayURL
  private(set) var session: RelaySession

  private unowned let owner: any RelayLinkOwner
  private let quarantine: QuarantineService
  private let mark: InputMark?
  private var hasStrikes: Bool
  private let deadlines: WebSocketDeadlines
  private var limits: WebSocketLimits
  private let security: (any TransportSecurity)?
  private let log: Logger
  private let timer = LoopTimer()
  private var connection: WebSocketConnection?
  private var connecting: Task<Void, Never>?
  private var lastPhase: RelaySession.Phase?
  private var lastAuthenticated: [PublicKey] = []
  private var holderCount = 0
  /// Commands in their order; one that is carried out may bring others, which belong behind those that wait.
  private var commands: [SessionAction] = []
  private var isPerforming = false
  private var isToResume = false
  /// Events that no filter had asked for.
  private var strayCount: UInt64 = 0
  /// Whether the last attempt failed because the relay is foreign.
  private var isHeldAsForeign = false
  private var openSince: (instant: Instant, seconds: Int64)?
  private var openMilliseconds: UInt64 = 0

  init(
    url: RelayURL, security: (any TransportSecurity)?, quarantine: QuarantineService, connectMilliseconds: UInt64,
    messageByteCountMaximum: Int, log: Logger, owner: any RelayLinkOwner
  ) {
    self.url = url
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
    session = RelaySession(url: url, seed: random.next())
  }

  /// Whether requests or publishes are under way.
  var hasWork: Bool { session.requestCount > 0 || session.publishCount > 0 }

  /// Tells the session something and does what it wants.
  func tell(_ body: (inout RelaySession, Instant) -> [SessionAction]) {
    perform(body(&session, EventLoop.process.now), message: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func perform(_ actions: [SessionAction], message: UnsafeRawBufferPointer) {
    commands += actions
    guard !isPerforming else {
      precondition(message.isEmpty, "a message is received by nobody's command")
      return
    }
    isPerforming = true
    repeat {
      while !commands.isEmpty { perform(commands.removeFirst(), message: message) }
      noteChanges()
    } while !commands.isEmpty
    isPerforming = false
    // Last: it delivers messages that have been waiting.
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
    case .send(let bytes): send(bytes)
    case .deliver(let key, let range):
      owner.link(self, delivered: key, UnsafeRawBufferPointer(rebasing: message[range]))
    case .endStoredEvents(let key, _, let isOver): owner.link(self, endedStored: key, isOver: isOver)
    case .failRequest(let key, let failure): owner.link(self, failed: key, failure)
    case .answer(let key, let isAccepted, let reason):
      owner.link(self, answered: key, isAccepted: isAccepted, reason)
    case .failPublish(let key, let failure): owner.link(self, failed: key, failure)
    case .authenticate(let account, let challenge): owner.link(self, authenticate: account, challenge)
    case .makeProbe:
      let probe = Self.probe()
      tell { session, now in session.probeMade(event: probe.json, id: probe.id, at: now) }
    case .reportNotice(let reason):
      log.notice("the relay says", metadata: ["relay": "\(url)", "notice": "\(reason)"])
    case .passNotice(let key, let reason): owner.link(self, noticed: key, reason)
    case .reportLeftOut(let kind, let count):
      log.notice(
        "the relay talks too much; left out", metadata: ["relay": "\(url)", "\(kind.rawValue)": "\(count)"])
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

  /// What asks a relay for its challenge: nobody's, kept by none, and old in a minute (NIP-01, NIP-40, NIP-70).
  private static func probe() -> Event {
    let (key, now) = (SecretKey.generate(), WallClock.seconds)
    let tags = [["-"], ["expiration", "\(now + 60)"]]
    return UnsignedEvent(pubkey: key.publicKey, createdAt: now, kind: EventKind.probe, tags: tags).signed(by: key)
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

  /// The relay has sent an event that matches no filter of the request it is for; it was left out. Told at powers of
  /// ten, since a relay may do nothing else.
  func noteStray() {
    strayCount += 1
    var power: UInt64 = 1
    while power < strayCount { power *= 10 }
    guard power == strayCount else { return }
    log.notice(
      "the relay sends events that were not asked for; they are left out",
      metadata: ["relay": "\(url)", "count": "\(strayCount)"])
  }

  // MARK: Holding the relay back

  /// Whether the relay is held back: its socket is not read.
  var isHeld: Bool { holderCount > 0 }

  /// Somebody takes nothing of this relay for now; each needs a ``release()``.
  func hold() {
    holderCount += 1
    guard holderCount == 1 else { return }
    owner.link(self, isHeld: true)
    tell { session, now in session.deliveryStalled(at: now) }
  }

  /// He takes again.
  func release() {
    guard holderCount > 0 else { return }
    holderCount -= 1
    if holderCount == 0 { goOn() }
  }

  /// Whoever holds the relay back does so no more.
  func releaseAll() {
    guard holderCount > 0 else { return }
    holderCount = 0
    goOn()
  }

  /// The order counts: with the last, what has been waiting is delivered.
  private func goOn() {
    owner.link(self, isHeld: false)
    tell { session, now in session.deliveryResumed(at: now) }
  }

  /// The relay as this process has seen it.
  var state: RelayStates.Relay {
    let counters = session.counters
    var state = RelayStates.Relay(relay: url.text, state: RelayStateWord(rawValue: session.phase.rawValue))
    if session.phase != .open, let quarantine = quarantine.quarantine(of: url) {
      state.state = .quarantined
      state.reason = quarantine.reason
      return state
    }
    state.reason = session.phase == .open || session.lastFailure.isEmpty ? nil : session.lastFailure
    state.openSince = openSince?.seconds
    state.openMilliseconds =
      openMilliseconds + (openSince.map { EventLoop.process.now.milliseconds(since: $0.instant) } ?? 0)
    state.connections = counters.connections
    state.failures = counters.connectFailures
    state.messages = counters.messages
    state.bytes = counters.messageBytes
    state.events = counters.events
    state.accepted = counters.accepted
    state.refusals = counters.refusals
    state.latencyMilliseconds = counters.lastLatencyMilliseconds
    state.authenticated = session.authenticatedAccounts.map(\.description).sorted()
    return state
  }

  /// What there is to say of it, the latest first.
  var remarks: [RelayRemark] {
    let now = EventLoop.process.now
    return session.remarks.latest.map { kind, remark in
      let seconds = Int64(clamping: now.milliseconds(since: remark.at) / 1_000)
      return RelayRemark(
        kind: RelayRemark.Kind(kind), text: Self.told(remark.reason), count: remark.count,
        at: WallClock.seconds - seconds, limit: remark.limit)
    }
    .sorted { ($1.at, $0.kind.rawValue) < ($0.at, $1.kind.rawValue) }
  }

  /// A relay's words as a line of bounded length, with nothing in it that a terminal would act on.
  private static func told(_ reason: RelayReason) -> String {
    let line = reason.text.unicodeScalars.map { scalar in
      scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) ? " " : Character(scalar)
    }
    return String(String(line).prefix(RelayRemark.textLengthMaximum))
  }

  private func send(_ bytes: [UInt8]) {
    do throws(WebSocketFault) { try connection?.send(text: bytes) } catch {
      // Its end is on the way, or it takes no more: either way the session hears of it as a disconnection.
      log.warning("not sent", metadata: ["relay": "\(url)", "why": "\(error)"])
      connection?.close(code: 1011, reason: "")
    }
  }

  // MARK: The connection

  /// Somebody wants it dialled now, whatever was before; its strikes are forgotten already.
  func retry() {
    hasStrikes = false
    tell { session, now in session.retryRequested(at: now) }
  }

  /// Somebody of this house wants the relay: what was not dialled for strangers is dialled now.
  func noteOwnWish() {
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
      // As far away as the session believes; then it hears the same again.
      let failure = ConnectFailure(message: dismissal, retryAfterMilliseconds: .max)
      tell { session, now in session.connectFailed(attempt: attempt, failure, at: now) }
      return
    }
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
      // Meanwhile somebody of this house wants it.
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
    // Noted here as well: what had waited in front of a pause comes without the socket.
    if let mark { mark.noted { handle(kind, bytes) } } else { handle(kind, bytes) }
    guard hasStrikes else { return }
    quarantine.handled(url)
    hasStrikes = quarantine.hasStrikes(url)
  }

  private func handle(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) {
    let now = EventLoop.process.now
    // Nostr is text. Nobody has looked whether a binary message is UTF-8, and what callers are given must be.
    guard kind == .text else {
      perform(session.receivedGarbage(byteCount: bytes.count, at: now), message: bytes)
      return
    }
    do throws(RelayMessageFault) {
      let message = try RelayMessage(bytes)
      perform(session.received(message, byteCount: bytes.count, at: now), message: bytes)
    } catch {
      log.debug("not understood", metadata: ["relay": "\(url)", "why": "\(error)"])
      perform(session.receivedGarbage(byteCount: bytes.count, at: now), message: bytes)
    }
  }

  private func ended(_ end: WebSocketEnd) {
    connection = nil
    log.info("disconnected", metadata: ["relay": "\(url)", "why": "\(end)"])
    if case .closedByPeer(code: Dismissals.closeCode, let reason) = end { owner.linkDismissed(self, reason: reason) }
    tell { session, now in session.disconnected(reason: "\(end)", at: now) }
  }
}

extension RelayRemark.Kind {
  /// The word for what a session has noted.
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
