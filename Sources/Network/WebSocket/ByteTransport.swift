public import Clocks
public import EventLoop

/// The stream below a WebSocket: plain TCP, or an encrypted stream. The contract is exactly that of `ByteStream`.
@EventLoopActor
public protocol ByteTransport: AnyObject {
  /// Called with bytes that have arrived and were not used yet; returns how many bytes it used.
  var onInput: (@EventLoopActor (UnsafeMutableRawBufferPointer) -> Int)? { get set }
  /// Called once when the stream is over, unless this side closed it.
  var onEnd: (@EventLoopActor (LoopFault?) -> Void)? { get set }
  /// Called when all output that waited has been written.
  var onDrained: (@EventLoopActor () -> Void)? { get set }
  /// Whether it was closed or is over.
  var isClosed: Bool { get }
  /// Bytes that wait for the kernel to take them.
  var pendingByteCount: Int { get }
  /// Starts, or continues, reading.
  func startReading()
  /// Stops reading from the socket itself, so that the other side's TCP window closes.
  func stopReading()
  /// Offers unused input to `onInput` again.
  func offerRest()
  /// Appends bytes to the output; they are copied.
  func write(_ bytes: UnsafeRawBufferPointer)
  /// Accepts no more output, and ends this direction of the stream once the waiting output is written. Input continues.
  func finishWriting()
  /// Writes what the kernel takes at once, then closes.
  func flushAndClose()
  /// Closes without calling back.
  func close()
}

extension ByteStream: ByteTransport {}

/// Adds encryption between a TCP connection and a WebSocket, which need not know the kind of encryption.
@EventLoopActor
public protocol TransportSecurity: Sendable {
  /// Makes an encrypted stream of a fresh connection, after checking that the other side is the endpoint's host. Owns
  /// `stream` from here on, even when it throws. The new stream does not read yet, and has lost no input.
  func secure(
    _ stream: ByteStream, to endpoint: WebSocketEndpoint, deadline: Instant
  ) async throws(WebSocketFault) -> any ByteTransport
}

/// Encrypts accepted connections, for a server that need not know how.
@EventLoopActor
public protocol ServerSecurity: Sendable {
  /// Makes an encrypted stream of a connection that was just accepted. Owns `stream` from here on, even when it throws.
  /// The new stream does not read yet, and has lost no input. Ends when its task is cancelled.
  func accept(_ stream: ByteStream, deadline: Instant) async throws(WebSocketFault) -> any ByteTransport
}
