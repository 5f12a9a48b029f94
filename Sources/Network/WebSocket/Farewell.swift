internal import EventLoop

// How a server leaves. To close a socket while the other side still sends throws away what that has not read yet: the
// kernel answers its bytes with a reset, and the reset overtakes our answer. So the last words are written, the stream
// is ended in our direction only, and what still comes is read and dropped, until the other side ends its own. All of
// that is bounded: in time while our words wait to be taken, in time and bytes after that.

/// The last words of a connection, and the wait until they are read. Holds itself until it is over.
@EventLoopActor
final class Farewell {
  private let transport: any ByteTransport
  private let timer = LoopTimer()
  private let lingerMilliseconds: UInt64
  private let onGone: @EventLoopActor () -> Void
  private var droppedByteCount = 0
  private var isOver = false

  /// Bytes that are read and dropped; one who sends more does not listen.
  private static let droppedByteCountMaximum = 1 << 20

  /// Takes a transport over.
  ///
  /// - Parameters:
  ///   - bytes: the last words.
  ///   - writeMilliseconds: time for the other side to take them.
  ///   - lingerMilliseconds: time from then on for it to close.
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

  /// Cuts it short.
  func finish() {
    guard !isOver else { return }
    isOver = true
    timer.cancel()
    transport.close()
    onGone()
  }
}
