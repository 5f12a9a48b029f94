internal import EventLoop

// How a server ends a connection. If it closes a socket while the other side still sends, the other side loses what it
// has not read yet: the kernel answers its bytes with a reset, and the reset overtakes the server's answer. So the
// server writes its last bytes, ends only its own direction of the stream, and reads and drops what still arrives until
// the other side ends its direction. All of that is bounded: in time while the last bytes wait, in time and bytes after
// that.

/// The last bytes of a connection, and the wait until the other side has read them. Retains itself until it is over.
@EventLoopActor
final class Farewell {
  private let transport: any ByteTransport
  private let timer = LoopTimer()
  private let lingerMilliseconds: UInt64
  private let onGone: @EventLoopActor () -> Void
  private var droppedByteCount = 0
  private var isOver = false

  /// The maximum of bytes that are read and dropped; a client that sends more does not read.
  private static let droppedByteCountMaximum = 1 << 20

  /// Takes a transport over.
  ///
  /// - Parameters:
  ///   - bytes: the last bytes.
  ///   - writeMilliseconds: the time for the other side to take them.
  ///   - lingerMilliseconds: the time after that for it to close.
  ///   - onGone: called once, when the transport is closed.
  @discardableResult
  init(
    _ bytes: [UInt8] = [], on transport: any ByteTransport, writeMilliseconds: UInt64, lingerMilliseconds: UInt64,
    onGone: @escaping @EventLoopActor () -> Void
  ) {
    self.transport = transport
    self.lingerMilliseconds = lingerMilliseconds
    self.onGone = onGone
    if transport.isClosed {
      isOver = true
      onGone()
      return
    }
    // The timer's body holds this object; the transport does not.
    timer.set(afterMilliseconds: writeMilliseconds) { self.finish() }
    transport.onInput = { [weak self] bytes in self?.drop(bytes.count) ?? bytes.count }
    transport.onEnd = { [weak self] _ in self?.finish() }
    transport.onDrained = { [weak self] in self?.linger() }
    bytes.withUnsafeBytes { transport.write($0) }
    transport.finishWriting()
    if transport.pendingByteCount == 0 { linger() }
    transport.startReading()
    transport.offerRest()
  }

  private func linger() {
    if !isOver { timer.set(afterMilliseconds: lingerMilliseconds) { self.finish() } }
  }

  private func drop(_ count: Int) -> Int {
    droppedByteCount += count
    if droppedByteCount > Self.droppedByteCountMaximum { finish() }
    return count
  }

  /// Ends it early.
  func finish() {
    guard !isOver else { return }
    isOver = true
    timer.cancel()
    transport.close()
    onGone()
  }
}
