public import EventLoop

/// The user of a server.
@EventLoopActor
public protocol WebSocketServerDelegate: AnyObject {
  /// Returns the uid of the connecting process, if it can be found; called at accept, before anything is read, because
  /// the other end may be gone later. The result is in ``HTTPRequestHead/user``.
  func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32?

  /// Decides on a request.
  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision

  /// Decides whether a client must authenticate first; called once for each valid request.
  func admission(of head: HTTPRequestHead, from peer: SocketAddress) -> WebSocketAdmission

  /// Passes on an accepted WebSocket. It does not read until it is started, and ends when it is released.
  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress)

  /// Reports that a connection could not be accepted, because descriptors or memory are short. The server tries waiting
  /// connections again; see `StreamListener`.
  func accepting(failedBy fault: LoopFault)
}

extension WebSocketServerDelegate {
  /// The user is not known.
  public func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? { nil }

  /// Every client is inside.
  public func admission(of head: HTTPRequestHead, from peer: SocketAddress) -> WebSocketAdmission { .inside }
}

/// Whether a client must authenticate before it has the same limits as the others.
public enum WebSocketAdmission: Sendable, Hashable {
  /// It has these limits at once.
  case inside
  /// It must authenticate within this many milliseconds, or it is closed with 1008; nil: without a deadline. Its
  /// connection counts among those outside (``WebSocketServerLimits/outsideMaximum``) until
  /// ``WebSocketConnection/admit()``.
  case outside(milliseconds: UInt64?)
}

/// The decision on a request.
public enum HTTPDecision {
  /// A WebSocket, if the request is a valid one for that; otherwise the client learns what was wrong. With further
  /// fields for the 101.
  case upgrade(fields: [HTTPField] = [])
  /// An answer in plain HTTP.
  case respond(HTTPAnswer)
  /// An answer that comes later, through the responder that the closure receives at once.
  case later(@EventLoopActor (HTTPResponder) -> Void)

  /// A refusal, with a status and a line of plain text.
  public static func refuse(_ status: Int, _ reason: String) -> HTTPDecision {
    .respond(HTTPAnswer(status: status, text: reason))
  }
}

/// Answers one request, once. A responder that is released without an answer answers 500.
@EventLoopActor
public final class HTTPResponder {
  private var send: (@EventLoopActor (HTTPAnswer) -> Void)?

  init(_ send: @escaping @EventLoopActor (HTTPAnswer) -> Void) { self.send = send }

  isolated deinit { send?(HTTPAnswer(status: 500, text: "there is no answer to this request")) }

  /// Answers. Does nothing the second time, or when it is too late (``WebSocketServerLimits/answerMilliseconds``).
  public func respond(_ answer: HTTPAnswer) {
    let send = send
    self.send = nil
    send?(answer)
  }
}
