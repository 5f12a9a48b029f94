internal import Clocks
internal import EventLoop
internal import WebSocket

/// Why a handshake is over.
enum HandshakeFailure: Error {
  case refused(TLSRefusal)
  case ended(LoopFault)
  case late
  case cancelled

  /// The fault that a client reports.
  func fault(_ endpoint: WebSocketEndpoint) -> WebSocketFault {
    func fault(_ code: WebSocketFault.Code, _ detail: String, _ cause: LoopFault? = nil) -> WebSocketFault {
      WebSocketFault(code, endpoint: "\(endpoint)", detail: detail, cause: cause)
    }
    switch self {
    case .refused(let refusal): return fault(refusal == .cut ? .cut : .tls, refusal.words(host: endpoint.host))
    case .ended(let cause): return fault(.cut, "in the middle of the TLS handshake: \(cause)", cause)
    case .late: return fault(.timedOut, "\(endpoint.host) did not finish the TLS handshake in time")
    case .cancelled: return fault(.cancelled, "given up while connecting")
    }
  }

  /// The fault that a server reports, about a client at an address.
  func fault(peer: String) -> WebSocketFault {
    func fault(_ code: WebSocketFault.Code, _ detail: String, _ cause: LoopFault? = nil) -> WebSocketFault {
      WebSocketFault(code, endpoint: peer, detail: detail, cause: cause)
    }
    switch self {
    case .refused(let refusal): return fault(refusal == .cut ? .cut : .tls, refusal.wordsOfServer)
    case .ended(let cause): return fault(.cut, "in the middle of the TLS handshake: \(cause)", cause)
    case .late: return fault(.timedOut, "the TLS handshake was not finished in time")
    case .cancelled: return fault(.cancelled, "given up in the middle of the TLS handshake")
    }
  }
}

/// The handshake over a stream. Bytes after the handshake stay unread in the stream.
@EventLoopActor
final class HandshakeExchange {
  private let stream: ByteStream
  private let engine: TLSEngine
  private let timer = LoopTimer()
  private var continuation: CheckedContinuation<HandshakeFailure?, Never>?
  /// Set if the exchange is cancelled before it begins.
  private var isCancelled = false

  init(_ stream: ByteStream, _ engine: TLSEngine) {
    self.stream = stream
    self.engine = engine
  }

  /// The encrypted stream, which does not read yet. After a failure an alert tells the other side why, and the stream
  /// is closed.
  func run(until deadline: Instant) async -> Result<TLSStream, HandshakeFailure> {
    if let failure = await exchange(until: deadline) {
      engine.takeOutput { stream.write($0) }
      stream.flushAndClose()
      return .failure(failure)
    }
    // The stream may have failed since, when the last flight was written.
    return stream.isClosed ? .failure(.refused(.cut)) : .success(TLSStream(stream, engine))
  }

  /// Nil when the stream is encrypted.
  private func exchange(until deadline: Instant) async -> HandshakeFailure? {
    let failure = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.continuation = continuation
        start(deadline)
      }
    } onCancel: {
      EventLoopActor.task { self.cancel() }
    }
    timer.cancel()
    stream.stopReading()
    stream.onInput = nil
    stream.onEnd = nil
    return failure
  }

  private func start(_ deadline: Instant) {
    if isCancelled || stream.isClosed {
      finish(isCancelled ? .cancelled : .refused(.cut))
      return
    }
    stream.onInput = { [unowned self] bytes in receive(UnsafeRawBufferPointer(bytes)) }
    stream.onEnd = { [unowned self] fault in finish(fault.map { .ended($0) } ?? .refused(.cut)) }
    timer.set(at: deadline) { [unowned self] in finish(.late) }
    advance()
    stream.startReading()
  }

  private func cancel() {
    isCancelled = true
    finish(.cancelled)
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard continuation != nil else { return 0 }
    return bytes.count - engine.lend(bytes) { advance() }
  }

  private func advance() {
    switch engine.shakeHands() {
    case .needsInput: engine.takeOutput { stream.write($0) }
    case .refused(let refusal): finish(.refused(refusal))
    case .done:
      engine.takeOutput { stream.write($0) }
      finish(nil)
    }
  }

  private func finish(_ failure: HandshakeFailure?) {
    // At once: bytes after the last flight do not belong to the handshake.
    stream.stopReading()
    continuation?.resume(returning: failure)
    continuation = nil
  }
}
