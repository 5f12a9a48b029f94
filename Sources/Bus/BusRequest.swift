public import EventLoop
public import Frames

/// A request that a worker is to answer: exactly once, by ``respond(_:)`` or ``refuse(_:)``.
///
/// Its credit goes back to the hub with the answer, or with ``accept()``: so a worker has at most its window of requests
/// that it has neither answered nor accepted.
@EventLoopActor
public final class BusRequest {
  /// The method's name.
  public let method: String
  /// The arguments.
  public let payload: BusPayload
  /// Who asks.
  public let caller: Endpoint
  /// The caller's number for it.
  public let id: UInt64
  /// 1 at the first delivery, more after a death.
  public let attempt: UInt16
  /// Milliseconds the answer is of use, counted from now; 0 = no limit.
  public let ttlMilliseconds: UInt32
  /// Ties it to what caused it.
  public let trace: UInt64
  /// Whether the caller gave up, or the hub answered in our place.
  public private(set) var isCancelled = false
  /// Called once when that happens.
  public var onCancel: (@EventLoopActor () -> Void)?

  private weak var connection: BusConnection?
  private let methodNumber: UInt16
  private var isAnswered = false
  private var holdsCredit = true

  init(_ header: FrameHeader, _ bytes: [UInt8], method: String, on connection: BusConnection) {
    self.method = method
    self.connection = connection
    payload = BusPayload(bytes, isRaw: header.flags.contains(.raw))
    caller = header.source
    id = header.id
    attempt = header.attempt
    ttlMilliseconds = header.ttlMilliseconds
    trace = header.trace
    methodNumber = header.method
  }

  /// Ends the request with its result.
  public func respond(_ payload: BusPayload = .empty) {
    finish(header(.response, payload.isRaw ? .raw : []), payload.bytes)
  }

  /// Ends the request with a reason.
  public func refuse(_ refusal: Refusal) { finish(header(.error, []), JSONPayload.encode(refusal)) }

  /// Sends a part of the answer; waits for the caller to have room.
  ///
  /// - Throws: `cancelled` when nobody waits for it any more.
  public func send(part: BusPayload) async throws(Refusal) {
    guard let connection, !isCancelled, !isAnswered else {
      throw Refusal(.cancelled, "nobody waits for this answer any more", outcome: .unknown)
    }
    releaseCredit()
    try await connection.send(header(.response, part.isRaw ? [.more, .raw] : .more), part.bytes)
  }

  /// Sends a part if there is room at once.
  ///
  /// - Returns: false when there is none, or nobody waits any more.
  public func sendNow(part: BusPayload) -> Bool {
    guard let connection, !isCancelled, !isAnswered else { return false }
    releaseCredit()
    return connection.sendNow(header(.response, part.isRaw ? [.more, .raw] : .more), part.bytes)
  }

  /// Takes responsibility for a request that will take long: the hub then does not count it as stuck.
  public func accept() {
    guard let connection, !isAnswered else { return }
    releaseCredit()
    connection.sendFree(FrameHeader(type: .ack, destination: caller, re: id, attempt: attempt, method: methodNumber))
  }

  /// Shows the caller, and the hub, that the work moves. Left out when there is no credit.
  public func progress(_ payload: BusPayload = .empty) {
    guard let connection, !isAnswered else { return }
    _ = connection.sendNow(header(.progress, []), payload.bytes)
  }

  func receivedCancel() {
    guard !isCancelled else { return }
    isCancelled = true
    let callback = onCancel
    onCancel = nil
    callback?()
  }

  private func header(_ type: FrameType, _ flags: FrameFlags) -> FrameHeader {
    FrameHeader(type: type, flags: flags, destination: caller, re: id, attempt: attempt, method: methodNumber)
  }

  private func finish(_ header: FrameHeader, _ bytes: [UInt8]) {
    guard let connection, !isAnswered else { return }
    isAnswered = true
    onCancel = nil
    releaseCredit()
    let maximum = connection.welcome.frameLimit - FrameHeader.lengthMinimum
    if bytes.count > maximum {
      let refusal = Refusal(
        .failed, "the answer has \(bytes.count) bytes; a frame carries at most \(maximum)", outcome: .done)
      connection.sendFree(self.header(.error, []), JSONPayload.encode(refusal))
    } else {
      connection.sendFree(header, bytes)
    }
    connection.finished(self)
  }

  private func releaseCredit() {
    guard holdsCredit else { return }
    holdsCredit = false
    connection?.didConsume(byteCount: payload.bytes.count)
  }
}

/// An event, of a topic or sent to this worker.
@EventLoopActor
public final class BusEvent {
  /// The topic or method, by name.
  public let name: String
  /// The contents.
  public let payload: BusPayload
  /// Who sent it.
  public let source: Endpoint
  /// 1 at the first delivery, more after a death; 0 when nobody keeps count.
  public let attempt: UInt16
  /// Whether ``acknowledge()`` or ``reject(retryAfterMilliseconds:)`` must follow.
  public let needsAck: Bool

  private weak var connection: BusConnection?
  private let id: UInt64
  private var isSettled = false

  init(_ header: FrameHeader, _ bytes: [UInt8], on connection: BusConnection) {
    name = connection.name(of: header.method)
    payload = BusPayload(bytes, isRaw: header.flags.contains(.raw))
    source = header.source
    attempt = header.attempt
    needsAck = header.flags.contains(.needsAck)
    id = header.id
    self.connection = connection
  }

  /// The event is done with: it will not come again.
  public func acknowledge() { settle(FrameHeader(type: .ack, destination: source, re: id, attempt: attempt)) }

  /// The event is not taken: it comes again after so many milliseconds, or never (0).
  public func reject(retryAfterMilliseconds: UInt32) {
    settle(
      FrameHeader(
        type: .nack, destination: source, re: id, ttlMilliseconds: retryAfterMilliseconds, attempt: attempt))
  }

  private func settle(_ header: FrameHeader) {
    guard needsAck, !isSettled else { return }
    isSettled = true
    connection?.sendFree(header)
    connection?.didConsume(byteCount: payload.bytes.count)
  }
}
