import Clocks
import EventLoop
import Logging
import Nostr
import RelaySession
import WebSocket

/// One relay: its session machine, and the socket and timer that the machine commands.
@EventLoopActor
final class RelayLink {
  let url: RelayURL
  private(set) var session: RelaySession
  /// What the link's owner is told; keys are the owner's own.
  var onEvent: (@EventLoopActor (RequestKey, [UInt8]) -> Void)?
  var onStoredEnd: (@EventLoopActor (RequestKey) -> Void)?
  var onRequestFailed: (@EventLoopActor (RequestKey, WorkFailure) -> Void)?
  var onAnswer: (@EventLoopActor (PublishKey, Bool, RelayReason) -> Void)?
  var onPublishFailed: (@EventLoopActor (PublishKey, WorkFailure) -> Void)?
  var onNotice: (@EventLoopActor (WorkKey, RelayReason) -> Void)?
  var onPhase: (@EventLoopActor (RelayLink) -> Void)?

  private let deadlines: WebSocketDeadlines
  private let limits: WebSocketLimits
  private let security: (any TransportSecurity)?
  private let log: Logger
  private let timer = LoopTimer()
  private var connection: WebSocketConnection?
  private var connecting: Task<Void, Never>?
  private var lastPhase: RelaySession.Phase?

  init(
    url: RelayURL, security: (any TransportSecurity)?, connectMilliseconds: UInt64, messageByteCountMaximum: Int,
    log: Logger
  ) {
    self.url = url
    self.security = security
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
    for action in actions {
      switch action {
      case .connect(let attempt): connect(attempt)
      case .abandonConnect:
        connecting?.cancel()
        connecting = nil
      case .close(let code, let reason): connection?.close(code: code, reason: reason)
      case .send(let bytes): send(bytes)
      case .deliver(let key, let range): onEvent?(key, Array(message[range]))
      case .endStoredEvents(let key, _, let isOver): if isOver { onStoredEnd?(key) }
      case .failRequest(let key, let failure): onRequestFailed?(key, failure)
      case .answer(let key, let isAccepted, let reason): onAnswer?(key, isAccepted, reason)
      case .failPublish(let key, let failure): onPublishFailed?(key, failure)
      case .reportNotice(let reason):
        log.notice("the relay says", metadata: ["relay": "\(url)", "notice": "\(reason)"])
      case .passNotice(let key, let reason): onNotice?(key, reason)
      case .reportLeftOut(let kind, let count):
        log.notice(
          "the relay talks too much; left out", metadata: ["relay": "\(url)", "\(kind.rawValue)": "\(count)"])
      case .reportChallenge: log.info("the relay wants AUTH", metadata: ["relay": "\(url)"])
      case .pauseReading: connection?.pauseReading()
      case .resumeReading: connection?.resumeReading()
      case .setTimer(let instant):
        timer.set(at: instant) { [unowned self] in tell { session, now in session.timerFired(at: now) } }
      case .cancelTimer: timer.cancel()
      }
    }
    if session.phase != lastPhase {
      lastPhase = session.phase
      onPhase?(self)
    }
  }

  private func send(_ bytes: [UInt8]) {
    do throws(WebSocketFault) { try connection?.send(text: bytes) } catch {
      // Its end is on the way, or it takes no more: either way the session hears of it as a disconnection.
      log.warning("not sent", metadata: ["relay": "\(url)", "why": "\(error)"])
      connection?.close(code: 1011, reason: "")
    }
  }

  // MARK: The connection

  private func connect(_ attempt: UInt64) {
    let endpoint = WebSocketEndpoint(
      host: url.host, port: url.port, isSecure: url.isSecure, requestTarget: url.requestTarget)
    connecting = EventLoopActor.task { [weak self, deadlines, limits, security] in
      do throws(WebSocketFault) {
        let connection = try await WebSocketConnection.connect(
          to: endpoint, limits: limits, deadlines: deadlines, security: security)
        guard let self, !Task.isCancelled else {
          connection.abort()
          return
        }
        self.connected(connection, attempt)
      } catch {
        guard let self, !Task.isCancelled else { return }
        self.log.info("not connected", metadata: ["relay": "\(self.url)", "why": "\(error.detail)"])
        let failure = ConnectFailure(
          message: error.detail, isNameFailure: error.code == .nameLookup,
          retryAfterMilliseconds: error.retryAfterMilliseconds)
        self.tell { session, now in session.connectFailed(attempt: attempt, failure, at: now) }
      }
    }
  }

  private func connected(_ connection: WebSocketConnection, _ attempt: UInt64) {
    self.connection = connection
    connecting = nil
    log.info("connected", metadata: ["relay": "\(url)"])
    tell { session, now in session.connected(attempt: attempt, at: now) }
    connection.start(
      onMessage: { [weak self] _, bytes in self?.received(bytes) },
      onEnd: { [weak self] end in self?.ended(end) })
  }

  private func received(_ bytes: UnsafeRawBufferPointer) {
    let now = EventLoop.process.now
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
    tell { session, now in session.disconnected(reason: "\(end)", at: now) }
  }
}
