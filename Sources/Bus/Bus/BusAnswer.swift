internal import DequeModule
public import EventLoop
public import Frames

/// A payload in the form in which it travels.
public struct BusPayload: Sendable, Hashable {
  /// The bytes.
  public var bytes: [UInt8]
  /// Whether the layout is the method's own; otherwise it is JSON.
  public var isRaw: Bool

  /// A payload; JSON by default.
  public init(_ bytes: [UInt8], isRaw: Bool = false) {
    self.bytes = bytes
    self.isRaw = isRaw
  }

  /// A value as JSON.
  public init(json value: some Encodable) { self.init(JSONPayload.encode(value)) }

  /// An empty payload.
  public static let empty = BusPayload([])

  /// Reads the payload as JSON.
  public func decoded<Value: Decodable>(as type: Value.Type) throws(Refusal) -> Value {
    try JSONPayload.decode(type, from: bytes)
  }
}

/// The answer to a request, part by part. Parts use this side's credit until ``next()`` takes them, so a slow reader
/// slows the producer. In a client they use the credit of this answer alone, so that its other requests are still
/// answered; in a worker they use the credit of its connection.
@EventLoopActor
public final class BusAnswer {
  /// The request's id on its connection.
  public let id: UInt64
  /// Called when the worker reports progress; the payload is the method's own.
  public var onProgress: (@EventLoopActor (BusPayload) -> Void)?
  /// Whether the worker has acknowledged a long request.
  public private(set) var isAccepted = false

  private unowned let connection: BusConnection
  private var parts = Deque<(payload: BusPayload, credit: Int?)>()
  private var ending: Result<Void, Refusal>?
  private var waiter: CheckedContinuation<Void, Never>?
  private let destination: Endpoint
  private var grants: CreditLedger?

  init(id: UInt64, destination: Endpoint, connection: BusConnection) {
    self.id = id
    self.destination = destination
    self.connection = connection
    grants = connection.partWindow.map { CreditLedger(answerWindow: $0) }
  }

  /// A part of an answer, and whether it is the last.
  public struct Part: Sendable, Hashable {
    /// The contents.
    public let payload: BusPayload
    /// Whether it came with the terminal answer.
    public let isLast: Bool
  }

  /// The next part; nil after the last one. The terminal answer's own payload counts as a part unless it is empty.
  ///
  /// - Throws: the refusal that ended the request.
  public func next() async throws(Refusal) -> BusPayload? { try await nextPart()?.payload }

  /// Like ``next()``, for a caller that must distinguish the terminal answer's payload from the parts before it.
  public func nextPart() async throws(Refusal) -> Part? {
    while true {
      if let part = parts.popFirst() {
        if let credit = part.credit { didTake(byteCount: credit) }
        return Part(payload: part.payload, isLast: part.credit == nil)
      }
      switch ending {
      case .success: return nil
      case .failure(let refusal): throw refusal
      case nil: await withCheckedContinuation { waiter = $0 }
      }
    }
  }

  /// Cancels the request; ``next()`` then throws `cancelled`, unless the answer was faster.
  public func cancel() {
    guard ending == nil else { return }
    connection.sendFree(FrameHeader(type: .cancel, re: id))
  }

  /// Cancels the request and drops its answer: what has arrived is dropped and its credit returned, and ``next()``
  /// throws `refusal` from now on. For an answer that will not be read to its end.
  public func abandon(_ refusal: Refusal) {
    if ending == nil {
      connection.sendFree(FrameHeader(type: .cancel, re: id))
      connection.forget(self)
      // The hub may still send what it holds of the answer; this side drops it.
      if grants != nil { grant(Credit(frames: .max, bytes: .max)) }
    }
    ending = .failure(refusal)
    while let part = parts.popFirst() {
      if let credit = part.credit { didTake(byteCount: credit) }
    }
    wake()
  }

  /// A part was consumed: its credit is returned, to this answer if it has credit of its own.
  private func didTake(byteCount: Int) {
    guard grants != nil else {
      connection.didConsume(byteCount: byteCount)
      return
    }
    grants?.didConsume(byteCount: byteCount)
    if ending == nil, let credit = grants?.announcement() { grant(credit) }
  }

  private func grant(_ credit: Credit) {
    connection.sendFree(FrameHeader(type: .credit, re: id), credit.payload)
  }

  func receivedPart(_ header: FrameHeader, _ bytes: [UInt8]) {
    let isLast = !header.flags.contains(.more)
    if !isLast || !bytes.isEmpty {
      let payload = BusPayload(bytes, isRaw: header.flags.contains(.raw))
      parts.append((payload, isLast ? nil : bytes.count))
    }
    if isLast { ending = .success(()) }
    wake()
  }

  func receivedRefusal(_ refusal: Refusal) {
    if ending == nil { ending = .failure(refusal) }
    wake()
  }

  func receivedProgress(_ bytes: [UInt8]) { onProgress?(BusPayload(bytes)) }
  func receivedAcceptance() { isAccepted = true }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
