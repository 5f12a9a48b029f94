public import EventLoop

/// What a server is used by.
@EventLoopActor
public protocol WebSocketServerDelegate: AnyObject {
  /// Says whose process connects, by its uid, if that can be told; asked at accept, before anything is read, because
  /// later the other end may be gone. It stands in ``HTTPRequestHead/user``.
  func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32?

  /// Says what becomes of a request.
  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision

  /// Says whether a client must show itself first; asked once for each request that is proper.
  func admission(of head: HTTPRequestHead, from peer: SocketAddress) -> WebSocketAdmission

  /// Hands over a WebSocket that was accepted. It does not read until it is started, and ends when nobody holds it.
  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress)

  /// Tells that a connection could not be accepted, for want of descriptors or memory. What waits is tried again; see
  /// `StreamListener`.
  func accepting(failedBy fault: LoopFault)
}

extension WebSocketServerDelegate {
  /// Nobody asks.
  public func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? { nil }

  /// Every client is inside.
  public func admission(of head: HTTPRequestHead, from peer: SocketAddress) -> WebSocketAdmission { .inside }
}

/// Whether a client must show itself before it has what others have.
public enum WebSocketAdmission: Sendable, Hashable {
  /// It has all of it.
  case inside
  /// It must, within so many milliseconds, or it is closed with 1008; nil: it may wait. Its connection counts among
  /// those outside (``WebSocketServerLimits/outsideMaximum``) until ``WebSocketConnection/admit()``.
  case outside(milliseconds: UInt64?)
}

/// What becomes of a request.
public enum HTTPDecision {
  /// A WebSocket, if the request is a proper one for that: else the client is told what was wrong. With further fields
  /// for the 101.
  case upgrade(fields: [HTTPField] = [])
  /// An answer in plain HTTP.
  case respond(HTTPAnswer)
  /// An answer that comes later, by the responder, which the closure is given at once.
  case later(@EventLoopActor (HTTPResponder) -> Void)

  /// No, with a status and a line of plain text.
  public static func refuse(_ status: Int, _ reason: String) -> HTTPDecision {
    .respond(HTTPAnswer(status: status, text: reason))
  }
}

/// Answers one request, once. One that is let go without an answer answers 500.
@EventLoopActor
public final class HTTPResponder {
  private var send: (@EventLoopActor (HTTPAnswer) -> Void)?

  init(_ send: @escaping @EventLoopActor (HTTPAnswer) -> Void) { self.send = send }

  isolated deinit { send?(HTTPAnswer(status: 500, text: "there is no answer to this request")) }

  /// Answers. Nothing happens the second time, and when it is too late
  /// (``WebSocketServerLimits/answerMilliseconds``).
  public func respond(_ answer: HTTPAnswer) {
    let send = send
    self.send = nil
    send?(answer)
  }
}
