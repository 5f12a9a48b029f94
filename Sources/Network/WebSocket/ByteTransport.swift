public import Clocks
public import EventLoop

/// The stream a WebSocket stands on: bare TCP, or what encrypts it. The contract is `ByteStream`'s, word for word.
@EventLoopActor
public protocol ByteTransport: AnyObject {
  /// Called with what has arrived and was not used yet; returns how many bytes it used.
  var onInput: (@EventLoopActor (UnsafeMutableRawBufferPointer) -> Int)? { get set }
  /// Called once when the stream is over, unless it was closed from here.
  var onEnd: (@EventLoopActor (LoopFault?) -> Void)? { get set }
  /// Called when output that had been waiting has all gone.
  var onDrained: (@EventLoopActor () -> Void)? { get set }
  /// Whether it was closed or is over.
  var isClosed: Bool { get }
  /// Bytes that wait to be taken by the kernel.
  var pendingByteCount: Int { get }
  /// Starts, or continues, reading.
  func startReading()
  /// Stops reading, down to the socket: the other side's window closes.
  func stopReading()
  /// Offers unused input to `onInput` again.
  func offerRest()
  /// Appends bytes to the output; they are copied.
  func write(_ bytes: UnsafeRawBufferPointer)
  /// Takes no more output, and tells the other side that none comes, once what waits has gone. Input continues.
  func finishWriting()
  /// Writes what the kernel takes at once, then closes.
  func flushAndClose()
  /// Closes without calling back.
  func close()
}

extension ByteStream: ByteTransport {}

/// Puts encryption between a TCP connection and a WebSocket, which need not know what it is.
@EventLoopActor
public protocol TransportSecurity: Sendable {
  /// Makes an encrypted stream of a fresh connection, having checked that the other side is the endpoint's host. Owns
  /// `stream` from here on, also when it throws. The stream that it makes does not read yet, and has lost nothing that
  /// came.
  func secure(
    _ stream: ByteStream, to endpoint: WebSocketEndpoint, deadline: Instant
  ) async throws(WebSocketFault) -> any ByteTransport
}

/// Encrypts connections that were accepted, for a server that need not know how.
@EventLoopActor
public protocol ServerSecurity: Sendable {
  /// Makes an encrypted stream of a connection that was just accepted. Owns `stream` from here on, also when it throws.
  /// The stream that it makes does not read yet, and has lost nothing that came. Ends when its task is cancelled.
  func accept(_ stream: ByteStream, deadline: Instant) async throws(WebSocketFault) -> any ByteTransport
}
