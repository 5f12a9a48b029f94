internal import Clocks
internal import EventLoop

// A connection from its acceptance to its answer: TLS if there is any, the head, the decision.
//
// A decision takes effect at the end of the turn, never inside the transport's call: a WebSocket may then be started at
// once, and finds the bytes after the head in the transport.

/// One connection whose request is not known yet.
@EventLoopActor
final class Arrival {
  /// The result.
  enum Outcome {
    /// A valid head; the transport does not read.
    case head(HTTPRequestHead, any ByteTransport)
    /// An invalid head, or no head in time; the transport is there for an answer.
    case refused(HTTPRequestRefusal, any ByteTransport)
    /// The connection was cut, and is closed.
    case cut(isLate: Bool)
    /// The TLS handshake failed, and the connection is closed.
    case unencrypted
  }

  private let stream: ByteStream
  private var transport: (any ByteTransport)?
  private var reader = HTTPRequestReader()
  private let timer = LoopTimer()
  private var task: Task<Void, Never>?
  private var onOutcome: (@EventLoopActor (Outcome) -> Void)?

  /// Begins. `onOutcome` is called once, and not before this returns, unless ``cut()`` comes first.
  init(
    _ stream: ByteStream, security: (any ServerSecurity)?, milliseconds: UInt64,
    onOutcome: @escaping @EventLoopActor (Outcome) -> Void
  ) {
    self.stream = stream
    self.onOutcome = onOutcome
    timer.set(afterMilliseconds: milliseconds) { [weak self] in self?.timePassed() }
    guard let security else {
      read(from: stream)
      return
    }
    let deadline = EventLoop.process.now.advanced(milliseconds: milliseconds)
    task = EventLoopActor.task { [weak self] in
      let encrypted: (any ByteTransport)?
      do throws(WebSocketFault) { encrypted = try await security.accept(stream, deadline: deadline) } catch {
        encrypted = nil
      }
      self?.secured(encrypted)
    }
  }

  private func secured(_ encrypted: (any ByteTransport)?) {
    task = nil
    guard let encrypted else {
      finish(.unencrypted)
      return
    }
    if onOutcome == nil { encrypted.close() } else { read(from: encrypted) }
  }

  private func read(from transport: any ByteTransport) {
    self.transport = transport
    transport.onInput = { [weak self] bytes in self?.receive(UnsafeRawBufferPointer(bytes)) ?? bytes.count }
    transport.onEnd = { [weak self] _ in self?.finish(.cut(isLate: false)) }
    transport.startReading()
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard onOutcome != nil, let transport else { return 0 }
    do throws(HTTPRequestRefusal) {
      let (used, head) = try reader.receive(bytes)
      if let head { settle(.head(head, transport)) }
      return used
    } catch {
      settle(.refused(error, transport))
      return bytes.count
    }
  }

  private func timePassed() {
    guard let transport, !reader.isEmpty else {
      cut(isLate: true)
      return
    }
    settle(.refused(.late, transport))
  }

  /// Gives up the connection.
  func cut(isLate: Bool) {
    task?.cancel()
    if transport == nil, task == nil { stream.close() }
    transport?.close()
    finish(.cut(isLate: isLate))
  }

  /// Reads nothing more; the outcome follows at the end of the turn, unless the connection has ended by then.
  private func settle(_ outcome: Outcome) {
    transport?.stopReading()
    timer.cancel()
    EventLoop.process.atTurnEnd { self.finish(outcome) }
  }

  private func finish(_ outcome: Outcome) {
    timer.cancel()
    let tell = onOutcome
    onOutcome = nil
    tell?(outcome)
  }
}
