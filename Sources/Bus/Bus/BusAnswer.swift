internal import DequeModule
public import EventLoop
public import Frames

/// A payload as it travelled.
public struct BusPayload: Sendable, Hashable {
  /// The bytes.
  public var bytes: [UInt8]
  /// Whether the layout is the method's own; else it is JSON.
  public var isRaw: Bool

  /// A payload; JSON unless said otherwise.
  public init(_ bytes: [UInt8], isRaw: Bool = false) {
    self.bytes = bytes
    self.isRaw = isRaw
  }

  /// A value as JSON.
  public init(json value: some Encodable) { self.init(JSONPayload.encode(value)) }

  /// Nothing.
  public static let empty = BusPayload([])

  /// Reads the payload as JSON.
  public func decoded<Value: Decodable>(as type: Value.Type) throws(Refusal) -> Value {
    try JSONPayload.decode(type, from: bytes)
  }
}

/// The answer to a request, part by part. Parts are kept on this side's credit until ``next()`` takes them, so a slow
/// reader slows whoever produces them: in a client on the credit of this answer alone, so that whatever else it asks
/// meanwhile is answered; in a worker on that of its connection.
@EventLoopActor
public final class BusAnswer {
  /// The request's id on its connection.
  public let id: UInt64
  /// Called when the worker says it moves; the payload is the method's own.
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

  /// The next part; nil after the last. The terminal answer's own payload counts as a part unless it is empty.
  ///
  /// - Throws: the refusal that ended the request.
  public func next() async throws(Refusal) -> BusPayload? { try await nextPart()?.payload }

  /// The same as ``next()``, for whoever must tell the terminal answer's payload from the parts before it.
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

  /// Gives the request up; ``next()`` then throws `cancelled`, unless the answer was quicker.
  public func cancel() {
    guard ending == nil else { return }
    connection.sendFree(FrameHeader(type: .cancel, re: id))
  }

  /// Gives the request up and takes nothing of it any more: what has arrived is dropped and its credit given back,
  /// ``next()`` throws `refusal` from now on. For an answer that nobody will read to its end.
  public func abandon(_ refusal: Refusal) {
    if ending == nil {
      connection.sendFree(FrameHeader(type: .cancel, re: id))
      connection.forget(self)
      // What the hub still holds of it may come, and is dropped.
      if grants != nil { grant(Credit(frames: .max, bytes: .max)) }
    }
    ending = .failure(refusal)
    while let part = parts.popFirst() {
      if let credit = part.credit { didTake(byteCount: credit) }
    }
    wake()
  }

  /// A part was taken: its credit goes back, to this answer if it has its own.
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
