import Addresses
import Clocks
import EventLoop
import Nostr
import RelaySession
import TestSupport
import Testing
import WebSocket

/// The smallest shell that makes a ``RelaySession`` live: it dials, reads, sends and keeps the timer, and takes notes.
@EventLoopActor
final class RelayShell {
  var session: RelaySession
  private(set) var events: [RequestKey: [[UInt8]]] = [:]
  private(set) var ended: [RequestKey: RelayMessage.Completeness] = [:]
  private(set) var answers: [PublishKey: (isAccepted: Bool, reason: RelayReason)] = [:]
  private(set) var requestFailures: [RequestKey: WorkFailure] = [:]
  private(set) var publishFailures: [PublishKey: WorkFailure] = [:]
  private(set) var notices: [RelayReason] = []
  private(set) var challenges: [String] = []
  private(set) var garbage: [RelayMessageFault] = []

  private var connection: WebSocketConnection?
  private var dialling: (attempt: UInt64, task: Task<Void, Never>)?
  private let timer = LoopTimer()

  init(_ url: RelayURL) { session = RelaySession(url: url, seed: 1) }

  func apply(_ step: (inout RelaySession, Instant) -> [SessionAction]) {
    for action in step(&session, EventLoop.process.now) {
      perform(action, in: UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  private func perform(_ action: SessionAction, in message: UnsafeRawBufferPointer) {
    switch action {
    case .connect(let attempt): dial(attempt)
    case .abandonConnect(let attempt):
      if dialling?.attempt == attempt { dialling?.task.cancel() }
    case .close(let code, let reason): connection?.close(code: code, reason: reason)
    case .checkConnection(let milliseconds): connection?.check(withinMilliseconds: milliseconds)
    case .send(let text):
      do throws(WebSocketFault) {
        try connection?.send(text: text)
      } catch {
        Issue.record("\(error)")
      }
    case .deliver(let key, let range): events[key, default: []].append(Array(message[range]))
    case .endStoredEvents(let key, let completeness, _): ended[key] = completeness
    case .failRequest(let key, let failure): requestFailures[key] = failure
    case .answer(let key, let isAccepted, let reason): answers[key] = (isAccepted, reason)
    case .failPublish(let key, let failure): publishFailures[key] = failure
    case .reportNotice(let text): notices.append(text)
    case .passReconciliation: Issue.record("this shell reconciles nothing")
    case .reportLeftOut, .passNotice, .reportPolicy, .requestSent: break
    case .reportChallenge(let text): challenges.append(text)
    case .authenticate, .makeProbe: Issue.record("this shell has no signer")
    case .pauseReading: connection?.pauseReading()
    case .resumeReading: connection?.resumeReading()
    case .setTimer(let due): timer.set(at: due) { [weak self] in self?.apply { $0.timerFired(at: $1) } }
    case .cancelTimer: timer.cancel()
    }
  }

  private func dial(_ attempt: UInt64) {
    let url = session.url
    let endpoint = WebSocketEndpoint(
      host: url.host, port: url.port, isSecure: url.isSecure, requestTarget: url.requestTarget)
    let task = EventLoopActor.task { [weak self] in
      do throws(WebSocketFault) {
        let connection = try await WebSocketConnection.connect(to: endpoint)
        self?.adopt(connection, attempt)
      } catch {
        let failure = ConnectFailure(message: error.description, isNameFailure: error.code == .nameLookup)
        self?.apply { $0.connectFailed(attempt: attempt, failure, at: $1) }
      }
    }
    dialling = (attempt, task)
  }

  private func adopt(_ fresh: WebSocketConnection, _ attempt: UInt64) {
    guard dialling?.attempt == attempt, session.phase == .connecting else {
      fresh.abort()
      return
    }
    connection = fresh
    apply { $0.connected(attempt: attempt, at: $1) }
    fresh.start { [weak self] _, bytes in
      self?.receive(bytes)
    } onEnd: { [weak self] end in
      self?.connection = nil
      self?.apply { $0.disconnected(reason: end.description, at: $1) }
    }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    let now = EventLoop.process.now
    var actions: [SessionAction]
    do throws(RelayMessageFault) {
      actions = session.received(try RelayMessage(bytes), byteCount: bytes.count, at: now)
    } catch {
      garbage.append(error)
      actions = session.receivedGarbage(byteCount: bytes.count, at: now)
    }
    for action in actions { perform(action, in: bytes) }
  }

  // MARK: Short forms

  func request(_ key: UInt64, _ filters: String, _ mode: RequestMode = .stored) throws {
    let filters = try RawFilters(json: Array(filters.utf8))
    apply {
      $0.requestStarted(RequestKey(key), filters, mode, .single, deadline: $1.advanced(milliseconds: 20_000), at: $1)
    }
  }

  func publish(_ key: UInt64, _ event: [UInt8]) throws {
    let glance = try event.withUnsafeBytes { bytes throws(EventGlanceFault) in try EventGlance(bytes) }
    apply {
      $0.publishStarted(
        PublishKey(key), event: event, id: glance.id, deadline: $1.advanced(milliseconds: 20_000), at: $1)
    }
  }
}
