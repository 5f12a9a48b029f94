internal import CLibUV
internal import Glibc

// A connected byte stream: a unix pipe or a TCP connection.
//
// Input. All streams of the loop share one 256 KB read buffer. What the consumer leaves (the start of a frame) is
// copied to the stream's own `rest`, and put in front of the next read. So an idle stream holds no input memory, and
// the memory of a slow sender grows with the bytes it has sent, never with a length it has announced. `inputLimit`
// bounds the rest: if a consumer can use none of that many bytes, its peer breaks the protocol.
//
// Turns. A stream gets two reads in a turn. libuv would make up to 32: 8 MB from a peer that writes as fast as it is
// read, and no other stream would be served in that time. Beside one flooding TCP stream, the round trip of a byte
// through another stream took 9.6 ms, and now takes 0.6 ms; the flood's rate fell from 1,480 MB/s to 1,460.
//
// Output. `write` appends to one buffer, which one write(2) sends at the end of the turn (or at 64 KB). Only what the
// kernel does not take is handed to `uv_write`, while a second buffer collects. One call per turn instead of one per
// frame is ten times as fast. `pendingByteCount` is the waiting output; the owner bounds it by credit, and
// `outputLimit` ends the stream to a peer that exceeds every bound. An empty output buffer that had grown releases its
// memory.
//
// End. If a peer closes, a write often fails before its last bytes were read. Those bytes are read first: an answer
// that was written before the peer died counts, and a failed write to the dead peer must not discard it.

/// A byte stream on the loop: reads into the loop's buffer, coalesces writes, bounds both.
@EventLoopActor
public final class ByteStream {
  /// Called with everything that has arrived and was not used yet; returns how many bytes it used. During the call
  /// only, the bytes are valid and may be changed in place.
  public var onInput: (@EventLoopActor (UnsafeMutableRawBufferPointer) -> Int)?
  /// Called once when the stream ends for any reason except ``close()``: with a fault, or nil at a proper end of file.
  public var onEnd: (@EventLoopActor (LoopFault?) -> Void)?
  /// Called when all waiting output has gone to the kernel: once after each time when ``pendingByteCount`` was above 0
  /// at the end of a turn or the kernel was full, and never inside a call from the consumer. So a writer that stops at
  /// some number of waiting bytes learns when to continue.
  public var onDrained: (@EventLoopActor () -> Void)?
  /// Bounds how much this stream reads in a turn, together with other streams; without it, only `readsPerTurn` bounds
  /// it.
  public var readShare: ReadShare?
  /// Set while the stream's input is processed.
  public var inputMark: InputMark?
  /// Bytes of unused input above which the stream ends with ENOBUFS.
  public var inputLimit = 2 << 20
  /// Bytes of waiting output above which the stream ends with ENOBUFS.
  public var outputLimit = 64 << 20
  /// How many bytes of output waited when the stream ended because of `outputLimit`; nil otherwise.
  public private(set) var overflowByteCount: Int?

  /// Whether an empty output buffer keeps its memory, up to 128 KB: faster for a stream that is always busy, too much
  /// for thousands of streams. Set it before the first write.
  public var keepsOutputMemory = true {
    didSet { if output.count == 0 { output = emptyOutput() } }
  }

  private enum Transport {
    case pipe(Handle<uv_pipe_t>)
    case tcp(Handle<uv_tcp_t>)
  }
  private let transport: Transport
  private var stream: UnsafeMutablePointer<uv_stream_t>?
  private let writeRequest = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
  private var isReading = false
  private var wantsReading = false
  private var isMarked = false
  /// Why nothing can be written, while the rest of the input is still read; nil while writing works.
  private var writeFault: LoopFault?
  private var rest = InputRest()
  private var readTurn: UInt64 = 0
  private var readCount = 0
  private var output = OutputBuffer()
  private var inFlight: OutputBuffer?

  /// Bytes of output at which the buffer is written before the turn ends.
  private static let flushThreshold = 64 << 10
  /// The most input to read after writing failed; a peer that sends more is not dead, it only reads nothing.
  private static let lastWordsMaximum = 8 << 20
  /// Reads of one stream in one turn of the loop, of up to 256 KB each; libuv would make 32.
  static let readsPerTurn = 2
  /// Size of the unused input at which a stream begins to read into a buffer of its own.
  private static let ownBufferThreshold = 64 << 10

  init(pipe: Handle<uv_pipe_t>) {
    transport = .pipe(pipe)
    adopt(pipe.stream)
    pipe.setOwner(self)
  }

  init(tcp: Handle<uv_tcp_t>) {
    transport = .tcp(tcp)
    adopt(tcp.stream)
    tcp.setOwner(self)
  }

  /// Takes ownership of a connected unix socket (or one end of a socketpair), and closes it, even when this throws.
  public convenience init(descriptor: Int32) throws(LoopFault) {
    let handle = Handle<uv_pipe_t>()
    uv_pipe_init(EventLoop.process.raw, handle.raw, 0)
    let status = uv_pipe_open(handle.raw, descriptor)
    if status < 0 {
      handle.close()
      Glibc.close(descriptor)
      throw LoopFault(code: status, doing: "open descriptor \(descriptor) as a stream")
    }
    self.init(pipe: handle)
  }

  /// Takes ownership of an accepted TCP connection, as ``init(descriptor:)`` does.
  convenience init(acceptedTCP descriptor: Int32) throws(LoopFault) {
    let handle = Handle<uv_tcp_t>()
    uv_tcp_init(EventLoop.process.raw, handle.raw)
    let status = uv_tcp_open(handle.raw, descriptor)
    if status < 0 {
      handle.close()
      Glibc.close(descriptor)
      throw LoopFault(code: status, doing: "open descriptor \(descriptor) as a stream")
    }
    uv_tcp_nodelay(handle.raw, 1)
    self.init(tcp: handle)
  }

  isolated deinit { close() }

  private func adopt(_ stream: UnsafeMutablePointer<uv_stream_t>) { self.stream = stream }

  /// The underlying descriptor, for socket options and peer credentials; the stream keeps ownership. -1 once closed.
  public var descriptor: Int32 {
    guard stream != nil else { return -1 }
    var descriptor: Int32 = -1
    switch transport {
    case .pipe(let handle): uv_fileno(handle.handle, &descriptor)
    case .tcp(let handle): uv_fileno(handle.handle, &descriptor)
    }
    return descriptor
  }

  /// The address of the other end of a TCP connection; nil for a pipe, and once the peer has disconnected.
  public var peerAddress: SocketAddress? {
    guard case .tcp = transport, stream != nil else { return nil }
    return SocketAddress(remoteEndOf: descriptor)
  }

  /// The address of this end of a TCP connection; nil for a pipe, and once the stream is closed.
  public var localAddress: SocketAddress? {
    guard case .tcp = transport, stream != nil else { return nil }
    return SocketAddress(localEndOf: descriptor)
  }

  /// Whether ``close()`` was called or the stream has ended.
  public var isClosed: Bool { stream == nil }

  // MARK: Reading

  /// Starts or continues reading. Input that the last call left unused is offered again with the next bytes.
  public func startReading() {
    wantsReading = true
    guard let stream, !isReading else { return }
    isReading = true
    let status = uv_read_start(
      stream,
      { handle, _, buffer in
        EventLoopActor.assumeOnLoop {
          guard let stream = owner(of: handle?.pointee.data, as: ByteStream.self), let buffer else { return }
          // Without a buffer libuv ends its round of reads, and polls the stream again in the next turn.
          if stream.mayRead() { stream.provideBuffer(buffer) }
        }
      },
      { handle, count, _ in
        EventLoopActor.assumeOnLoop {
          guard let stream = owner(of: handle?.pointee.data, as: ByteStream.self) else { return }
          stream.didRead(count)
        }
      })
    if status < 0 { end(LoopFault(code: status, doing: "read")) }
  }

  /// Stops reading: the kernel's buffer fills, and the sender has to wait.
  public func stopReading() {
    wantsReading = false
    guard let stream, isReading else { return }
    isReading = false
    uv_read_stop(stream)
  }

  /// Offers unused input to `onInput` again, for a consumer that could not use it before but can now.
  public func offerRest() {
    guard rest.count > 0, stream != nil else { return }
    offerTakenRest()
  }

  /// The rest is moved out for the call, because the consumer may close the stream during it.
  private func offerTakenRest() {
    var taken = rest
    rest = InputRest()
    taken.withBytes { bytes in offer(bytes) }
    if stream == nil { taken.free() } else { rest = taken }
  }

  /// Whether the stream may read once more in this turn: a peer that writes as fast as this stream reads must not delay
  /// the other streams.
  private func mayRead() -> Bool {
    let turn = EventLoop.process.turn
    if turn != readTurn { (readTurn, readCount) = (turn, 0) }
    readCount += 1
    return readCount <= (readShare == nil ? Self.readsPerTurn : 1)
  }

  private func offer(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    guard let inputMark else { return onInput?(bytes) ?? 0 }
    return inputMark.noted { onInput?(bytes) ?? 0 }
  }

  private func provideBuffer(_ buffer: UnsafeMutablePointer<uv_buf_t>) {
    let shared = EventLoop.process.readBuffer
    let space: UnsafeMutableRawBufferPointer
    if rest.count >= Self.ownBufferThreshold {
      space = rest.spaceForMore()
    } else {
      rest.copy(to: shared)
      space = UnsafeMutableRawBufferPointer(rebasing: shared[rest.count...])
    }
    let allowance = readShare?.byteCount(in: EventLoop.process.turn, at: EventLoop.process.now) ?? .max
    buffer.pointee.base = space.baseAddress?.assumingMemoryBound(to: CChar.self)
    buffer.pointee.len = min(space.count, allowance)
  }

  private func didRead(_ count: Int) {
    if count == 0 || count == Int(UV_ENOBUFS.rawValue) { return }
    if count < 0 {
      let isEnd = count == Int(UV_EOF.rawValue)
      end(isEnd ? nil : LoopFault(code: Int32(count), doing: "read"))
      return
    }
    if rest.count >= Self.ownBufferThreshold {
      rest.didAppend(count)
      offerTakenRest()
    } else {
      let bytes = UnsafeMutableRawBufferPointer(rebasing: EventLoop.process.readBuffer[..<(rest.count + count)])
      let used = offer(bytes)
      rest.replace(with: UnsafeRawBufferPointer(rebasing: bytes[used...]))
    }
    guard stream != nil else {
      // Closed during the call: the unused bytes were kept after `close()` had freed the rest, and no consumer will
      // read them.
      rest.free()
      return
    }
    if rest.count > inputLimit {
      end(LoopFault(code: UV_ENOBUFS.rawValue, doing: "hold \(rest.count) bytes of unusable input"))
    }
  }

  // MARK: Writing

  /// Bytes given to the kernel or to libuv.
  private var flushedByteCount: UInt64 = 0

  /// Bytes the kernel has taken so far. Meaningless once the stream is closed.
  public var writtenByteCount: UInt64 { flushedByteCount - UInt64(queuedByteCount) }

  /// Bytes that wait for the kernel.
  public var pendingByteCount: Int { output.count + queuedByteCount }

  /// The bytes that libuv holds, by libuv's own count: a large rest leaves piece by piece, and a peer that is reading
  /// it must not be mistaken for one that is not.
  private var queuedByteCount: Int { stream.map { uv_stream_get_write_queue_size($0) } ?? 0 }

  /// Appends bytes to the output; they are copied, and written at the end of the turn. Does nothing on a closed stream.
  public func write(_ bytes: UnsafeRawBufferPointer) {
    write(byteCount: bytes.count) { $0.copyMemory(from: bytes) }
  }

  /// Appends `byteCount` bytes that `fill` writes in place; it must write them all.
  @inline(__always)
  public func write(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    if stream == nil || writeFault != nil || isFinishing { return }
    fill(output.append(byteCount: byteCount))
    if output.count >= Self.flushThreshold { flush() }
    if !isMarked, output.count > 0 {
      isMarked = true
      EventLoop.process.willFlush(self)
    }
  }

  func flushMarked() {
    isMarked = false
    flush()
    // Deferred: a consumer that writes more each time, to a peer that takes it, would otherwise occupy the loop
    // forever.
    guard onDrained != nil, inFlight == nil, output.count == 0 else { return }
    EventLoop.process.atTurnEnd { [weak self] in self?.tellDrained() }
  }

  private func tellDrained() {
    if stream != nil, pendingByteCount == 0 { onDrained?() }
  }

  private func emptyOutput() -> OutputBuffer { OutputBuffer(keepsMemory: keepsOutputMemory) }

  /// Writes as much of the waiting output as the kernel takes.
  public func flush() {
    guard let stream, inFlight == nil, output.count > 0 else {
      checkOutputLimit()
      return
    }
    var buffer = output.unwritten
    let written = uv_try_write(stream, &buffer, 1)
    if written < 0 && written != UV_EAGAIN.rawValue {
      writingFailed(LoopFault(code: written, doing: "write"))
      return
    }
    output.drop(Int(max(0, written)))
    flushedByteCount += UInt64(max(0, written))
    if output.count == 0 {
      output.giveBackMemory()
      return
    }
    writeRest(to: stream)
  }

  /// The kernel is full: libuv keeps the rest until there is room, and a new buffer collects meanwhile.
  private func writeRest(to stream: UnsafeMutablePointer<uv_stream_t>) {
    var buffer = output.unwritten
    flushedByteCount += UInt64(output.count)
    inFlight = output
    output = emptyOutput()
    // The request outlives a close: it keeps the stream alive until its callback.
    writeRequest.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let status = uv_write(writeRequest, stream, &buffer, 1) { request, status in
      EventLoopActor.assumeOnLoop {
        guard let data = request?.pointee.data else { return }
        Unmanaged<ByteStream>.fromOpaque(data).takeRetainedValue().didWrite(status)
      }
    }
    if status < 0 {
      Unmanaged<ByteStream>.passUnretained(self).release()
      inFlight?.free()
      inFlight = nil
      writingFailed(LoopFault(code: status, doing: "write"))
      return
    }
    checkOutputLimit()
  }

  private func didWrite(_ status: Int32) {
    inFlight?.free()
    inFlight = nil
    guard stream != nil else {
      releaseOutput()
      return
    }
    if status < 0 {
      writingFailed(LoopFault(code: status, doing: "write"))
      return
    }
    flush()
    guard inFlight == nil, output.count == 0 else { return }
    shutIfFinished()
    onDrained?()
  }

  private func checkOutputLimit() {
    guard stream != nil, pendingByteCount > outputLimit else { return }
    overflowByteCount = pendingByteCount
    end(LoopFault(code: UV_ENOBUFS.rawValue, doing: "hold \(pendingByteCount) bytes the other side does not read"))
  }

  // MARK: Ending

  /// The peer takes no more output. What it sent before is in the kernel, and is read first; not here, because the
  /// consumer may be in the middle of a call. A stream that is not reading has no consumer waiting for input, and ends
  /// at once.
  private func writingFailed(_ fault: LoopFault) {
    guard isReading else {
      end(fault)
      return
    }
    writeFault = fault
    output.free()
    EventLoop.process.atTurnEnd { [weak self] in self?.readLastWords() }
  }

  private func readLastWords() {
    var total = 0
    while stream != nil, isReading, total < Self.lastWordsMaximum {
      var buffer = uv_buf_t()
      provideBuffer(&buffer)
      let count = read(descriptor, buffer.base, buffer.len)
      guard count > 0 else { break }
      total += count
      didRead(count)
    }
    if let writeFault { end(writeFault) }
  }

  /// Whether no more output is accepted.
  private var isFinishing = false

  /// Takes no more output, and shuts down the writing side once the waiting output has gone. Input continues.
  ///
  /// For an end that the peer surely sees: closing while the peer still sends may discard output that it has not read
  /// yet. The caller bounds the time.
  public func finishWriting() {
    flush()
    isFinishing = true
    if inFlight == nil, output.count == 0 { shutIfFinished() }
  }

  private func shutIfFinished() {
    if isFinishing, stream != nil { _ = shutdown(descriptor, Int32(SHUT_WR)) }
  }

  /// Closes without waiting for output and without a callback. Safe to call twice.
  public func close() {
    guard stream != nil else { return }
    stream = nil
    isReading = false
    onInput = nil
    onDrained = nil
    onEnd = nil
    rest.free()
    if inFlight == nil { releaseOutput() }
    switch transport {
    case .pipe(let handle): handle.close()
    case .tcp(let handle): handle.close()
    }
  }

  /// Writes as much of the waiting output as the kernel takes at once, then closes.
  public func flushAndClose() {
    flush()
    close()
  }

  private func end(_ fault: LoopFault?) {
    guard stream != nil else { return }
    let callback = onEnd
    close()
    callback?(fault)
  }

  private func releaseOutput() {
    output.free()
    writeRequest.deallocate()
  }
}
