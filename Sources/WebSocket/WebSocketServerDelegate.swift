public import EventLoop

/// What a server is used by.
@EventLoopActor
public protocol WebSocketServerDelegate: AnyObject {
  /// Says what becomes of a request.
  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision

  /// Hands over a WebSocket that was accepted. It does not read until it is started, and ends when nobody holds it.
  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress)

  /// Tells that a connection could not be accepted, for want of descriptors or memory. What waits is tried again; see
  /// `StreamListener`.
  func accepting(failedBy fault: LoopFault)
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
