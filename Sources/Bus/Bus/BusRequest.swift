public import EventLoop
public import Frames

/// A request that a worker must answer exactly once, by ``respond(_:)``, ``refuse(_:)`` or
/// ``handOver(to:otherwise:)``.
///
/// Its credit is returned to the hub with the answer, with ``accept()``, or with the first request that its handler
/// makes. So the window of a worker limits its requests that are not answered, not accepted, and not waiting for a
/// request of their own.
@EventLoopActor
public final class BusRequest {
  /// The method's name.
  public let method: String
  /// The arguments.
  public let payload: BusPayload
  /// The endpoint of the caller.
  public let caller: Endpoint
  /// The number of the caller's role, as the hub wrote it; nil when the hub did not. 0 is the supervisor, which
  /// delivers a dead letter again.
  public let callerRole: UInt16?
  /// The caller's id for it.
  public let id: UInt64
  /// 1 at the first delivery, higher after a death.
  public let attempt: UInt16
  /// How many milliseconds from now the answer is useful; 0 = no limit.
  public let ttlMilliseconds: UInt32
  /// Connects it with the frame that caused it.
  public let trace: UInt64
  /// Whether the caller cancelled it, or the hub answered it instead of this worker.
  public private(set) var isCancelled = false
  /// Called once when `isCancelled` becomes true.
  public var onCancel: (@EventLoopActor () -> Void)?

  private weak var connection: BusConnection?
  private let methodNumber: UInt16
  private var isAnswered = false
  private var holdsCredit = true
  private var window: AnswerWindow
  private var line = SenderQueue()
  /// Parts that fit into the window and wait in the connection's line.
  private var partsInLineCount = 0

  /// The request that the running task serves; nil outside of a handler and the tasks that it started.
  static var current: BusRequest? { BusTrace.served }

  init(_ header: FrameHeader, _ bytes: [UInt8], method: String, on connection: BusConnection) {
    self.method = method
    self.connection = connection
    payload = BusPayload(bytes, isRaw: header.flags.contains(.raw))
    caller = header.source
    callerRole = header.callerRole == 0 && header.source != .hub ? nil : header.callerRole
    id = header.id
    attempt = header.attempt
    ttlMilliseconds = header.ttlMilliseconds
    trace = header.trace
    methodNumber = header.method
    window = AnswerWindow(connection.welcome.answerWindow)
  }

  /// Ends the request with its result.
  public func respond(_ payload: BusPayload = .empty) {
    finish(header(.response, payload.isRaw ? .raw : []), payload.bytes)
  }

  /// Ends the request with a reason.
  public func refuse(_ refusal: Refusal) { finish(header(.error, []), JSONPayload.encode(refusal)) }

  /// Passes the request to another worker of this worker's role, which is the one to ask: the hub gives it the request
  /// as if it had come for it. For a handler that has done nothing yet; the request ends here. The caller receives
  /// `refusal` when it addressed this very worker, or when the hub knows no such worker.
  public func handOver(to worker: String, otherwise refusal: Refusal) {
    finish(header(.nack, []), JSONPayload.encode(HandOver(to: worker, otherwise: refusal)))
  }

  /// Sends a part of the answer; waits until the caller has room for it, while other answers continue.
  ///
  /// - Throws: `cancelled` when no caller waits for the answer; `full` when too many frames wait on the connection;
  ///   `bad-request` when the part is too long for a frame.
  public func send(part: BusPayload) async throws(Refusal) {
    guard let connection, isWanted else { throw Self.unwanted }
    releaseCredit()
    try await awaitWindow(byteCount: part.bytes.count, on: connection)
    partsInLineCount += 1
    defer { partsInLineCount -= 1 }
    do throws(Refusal) { try await connection.awaitTurn(byteCount: part.bytes.count, owner: self) } catch {
      // The parts behind it may use its room: no CREDIT would arrive for a part that was never sent.
      window.didNotSend(byteCount: part.bytes.count)
      moveLine()
      throw error
    }
    connection.sendFree(header(.response, part.isRaw ? [.more, .raw] : .more), part.bytes)
  }

  /// Sends a part if there is room now.
  ///
  /// - Returns: false when there is no room, or no caller waits for the answer.
  public func sendNow(part: BusPayload) -> Bool {
    guard let connection, isWanted, line.isEmpty, window.hasRoom else { return false }
    releaseCredit()
    guard connection.sendNow(header(.response, part.isRaw ? [.more, .raw] : .more), part.bytes) else { return false }
    window.didSend(byteCount: part.bytes.count)
    return true
  }

  /// Takes responsibility for a long request: the hub then does not treat this worker as stuck.
  public func accept() {
    guard let connection, !isAnswered else { return }
    releaseCredit()
    connection.sendFree(FrameHeader(type: .ack, destination: caller, re: id, attempt: attempt, method: methodNumber))
  }

  /// Reports progress to the caller and the hub. Skipped when there is no credit.
  public func progress(_ payload: BusPayload = .empty) {
    guard let connection, !isAnswered else { return }
    _ = connection.sendNow(header(.progress, []), payload.bytes)
  }

  func receivedCancel() {
    guard !isCancelled else { return }
    isCancelled = true
    dismissSenders()
    let callback = onCancel
    onCancel = nil
    callback?()
  }

  /// The caller has consumed parts.
  func receivedCredit(_ credit: Credit, attempt: UInt16) {
    guard attempt == self.attempt else { return }
    window.receivedGrant(credit)
    moveLine()
  }

  /// Notes that the running task makes a request on behalf of the one that it serves, if it serves one.
  ///
  /// The credit of the served request is returned, so that there is room for requests to this worker meanwhile. One of
  /// them may come from the worker that this one waits for.
  static func beginNested() -> Bool {
    guard let current, current.isWanted else { return false }
    current.releaseCredit()
    return true
  }

  // MARK: Room for parts

  /// The error for a sender when no caller waits for the part.
  static var unwanted: Refusal {
    Refusal(.cancelled, "the caller no longer waits for this answer", outcome: .unknown)
  }

  private var isWanted: Bool { !isCancelled && !isAnswered }

  /// Waits until one more part fits into the answer's window, after the parts that came before.
  private func awaitWindow(byteCount: Int, on connection: BusConnection) async throws(Refusal) {
    if line.isEmpty, window.hasRoom {
      window.didSend(byteCount: byteCount)
      return
    }
    try connection.checkWaiting()
    connection.partsWaitingCount += 1
    let hasTurn = await withCheckedContinuation { line.append(byteCount: byteCount, $0) }
    connection.partsWaitingCount -= 1
    line.didLeave()
    if let ending = connection.ending { throw ending }
    guard hasTurn, isWanted else { throw Self.unwanted }
    moveLine()
  }

  /// Releases waiting senders until the window is full. From here on their parts count as sent.
  private func moveLine() {
    while let byteCount = line.firstByteCount, window.hasRoom {
      window.didSend(byteCount: byteCount)
      line.releaseFirst()
    }
  }

  private func dismissSenders() {
    line.dismiss()
    if partsInLineCount > 0 { connection?.dismissSenders(of: self) }
  }

  private func header(_ type: FrameType, _ flags: FrameFlags) -> FrameHeader {
    FrameHeader(type: type, flags: flags, destination: caller, re: id, attempt: attempt, method: methodNumber)
  }

  private func finish(_ header: FrameHeader, _ bytes: [UInt8]) {
    guard let connection, !isAnswered else { return }
    isAnswered = true
    dismissSenders()
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
  /// The endpoint of the sender.
  public let source: Endpoint
  /// 1 at the first delivery, higher after a death; 0 when deliveries are not counted.
  public let attempt: UInt16
  /// Whether its sender waits for ``acknowledge()`` or ``reject(retryAfterMilliseconds:)``. If the event is released
  /// and neither was called, it is rejected permanently.
  public let needsAck: Bool

  private let receipt: Receipt?

  init(_ header: FrameHeader, _ bytes: [UInt8], on connection: BusConnection) {
    name = connection.name(of: header.method)
    payload = BusPayload(bytes, isRaw: header.flags.contains(.raw))
    source = header.source
    attempt = header.attempt
    needsAck = header.flags.contains(.needsAck)
    receipt = needsAck ? Receipt(header, byteCount: bytes.count, on: connection) : nil
  }

  /// The event was handled: it will not be delivered again.
  public func acknowledge() { receipt?.settle(.ack) }

  /// The event was not handled: it is delivered again after so many milliseconds, or never (0).
  public func reject(retryAfterMilliseconds: UInt32) {
    receipt?.settle(.nack, ttlMilliseconds: retryAfterMilliseconds)
  }
}

extension BusEvent {
  /// The acknowledgement that the sender waits for. An event that is released without one was not handled. Its sender
  /// then learns this, and the hub does not wait for this worker, which it would otherwise end as stuck.
  @EventLoopActor
  private final class Receipt {
    private weak var connection: BusConnection?
    private let source: Endpoint
    private let id: UInt64
    private let attempt: UInt16
    private let byteCount: Int
    private var isSettled = false

    init(_ header: FrameHeader, byteCount: Int, on connection: BusConnection) {
      self.connection = connection
      self.byteCount = byteCount
      (source, id, attempt) = (header.source, header.id, header.attempt)
    }

    isolated deinit { settle(.nack) }

    func settle(_ type: FrameType, ttlMilliseconds: UInt32 = 0) {
      guard !isSettled else { return }
      isSettled = true
      connection?.sendFree(
        FrameHeader(type: type, destination: source, re: id, ttlMilliseconds: ttlMilliseconds, attempt: attempt))
      connection?.didConsume(byteCount: byteCount)
    }
  }
}
