public import Clocks
public import EventLoop
public import WebSocket

/// TLS for relays at `wss://`, by OpenSSL: version 1.2 or 1.3, the certificate checked against the machine's
/// authorities and the host's name or address.
///
/// One of it serves all connections of a process; it holds the authorities, about 1.5 MB. A connection takes some 20 KB
/// during its life (decision 0010).
@EventLoopActor
public final class TLSClient: TransportSecurity {
  let context: TLSContext

  /// A client that trusts whom the machine trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR`, or what the system has), and the
  /// authorities of one more file.
  ///
  /// - Parameter authorityFile: certificates in PEM.
  /// - Throws: when that file cannot be read or has no certificate in it. A machine without authorities is no fault
  ///   here: then every certificate is refused, and the refusal says so.
  public init(authorityFile: String? = nil) throws(TrustFault) {
    context = try TLSContext(authorityFile: authorityFile)
  }

  /// Encrypts a fresh connection; see `TransportSecurity`.
  ///
  /// - Throws: `tls` for a certificate that is not good or another side that speaks no proper TLS, in words for a
  ///   person; `cut`, `timed-out`, `cancelled`.
  public func secure(
    _ stream: ByteStream, to endpoint: WebSocketEndpoint, deadline: Instant
  ) async throws(WebSocketFault) -> any ByteTransport {
    let isAddress = SocketAddress(literal: endpoint.host, port: endpoint.port) != nil
    let engine = TLSEngine(context, host: endpoint.host, isAddress: isAddress)
    let exchange = HandshakeExchange(stream, engine)
    if let failure = await exchange.run(until: deadline) {
      // An alert tells the other side why.
      engine.takeOutput { stream.write($0) }
      stream.flushAndClose()
      throw failure.fault(endpoint)
    }
    // It can have failed since, when the last flight was written.
    if stream.isClosed { throw HandshakeFailure.refused(.cut).fault(endpoint) }
    return TLSStream(stream, engine)
  }
}

/// Why a handshake is over.
private enum HandshakeFailure {
  case refused(TLSRefusal)
  case ended(LoopFault)
  case late
  case cancelled

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
}

/// The handshake over a stream. What came behind it stays, unread, in the stream.
@EventLoopActor
private final class HandshakeExchange {
  private let stream: ByteStream
  private let engine: TLSEngine
  private let timer = LoopTimer()
  private var continuation: CheckedContinuation<HandshakeFailure?, Never>?
  /// Set when it is over before anybody waits.
  private var isCancelled = false

  init(_ stream: ByteStream, _ engine: TLSEngine) {
    self.stream = stream
    self.engine = engine
  }

  /// Nil when the stream is encrypted. It does not read then.
  func run(until deadline: Instant) async -> HandshakeFailure? {
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
    // Here and now: what comes behind the last flight is not the handshake's.
    stream.stopReading()
    continuation?.resume(returning: failure)
    continuation = nil
  }
}
