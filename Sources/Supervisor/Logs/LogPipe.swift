public import EventLoop
internal import Glibc

// The supervisor's end of a worker's standard output or error.
//
// It is always read, whatever happens to the lines: a worker that writes must never wait for the supervisor. It is read
// in small portions, at most `readByteCountMaximum` a turn, so that a worker that writes without end cannot keep the
// loop from the others.
//
// When the worker has ended, its last lines may still be in the pipe, and a child that it left behind may hold the
// other end open for ever. So the pipe is read to its end, but for no longer than `drainMilliseconds`.

/// Reads one pipe of a worker into the log book.
@EventLoopActor
public final class LogPipe {
  /// The maximum of bytes read in one turn of the loop.
  public static let readByteCountMaximum = 64 << 10
  /// How long a pipe is still read after its worker has ended, in milliseconds.
  public static let drainMilliseconds: UInt64 = 1_000

  /// Called once when nothing more will come, unless ``close()`` was called.
  public var onEnd: (@EventLoopActor () -> Void)?
  /// Lines that were longer than the limit.
  public var cutLineCount: UInt64 { splitter.cutLineCount }
  /// Whether the pipe is at its end and its descriptor closed.
  public var isClosed: Bool { descriptor < 0 }

  private var descriptor: Int32
  private let worker: String
  private let source: LogSource
  private let book: WorkerLogs
  private let journal: Journal
  private var splitter: LineSplitter
  private var watcher: DescriptorWatcher?
  private let drainTimer = LoopTimer()

  /// The buffer that all pipes read into; it is empty between two reads.
  private static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readByteCountMaximum, alignment: 64)

  /// Reads `descriptor` from now on. Owns it and closes it in any case, even when this throws. Makes it non-blocking;
  /// for a pipe that affects this end only.
  ///
  /// - Throws: the loop's fault if it cannot watch the descriptor.
  public init(descriptor: Int32, worker: String, source: LogSource, book: WorkerLogs) throws(LoopFault) {
    self.descriptor = descriptor
    self.worker = worker
    self.source = source
    self.book = book
    journal = book.journal(of: worker)
    splitter = LineSplitter(lineByteCountMaximum: book.lineByteCountMaximum)
    do throws(LoopFault) {
      watcher = try DescriptorWatcher(descriptor: descriptor) { [unowned self] in readSome() }
    } catch {
      close()
      throw error
    }
    // libuv promises a non-blocking descriptor for sockets only.
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
  }

  isolated deinit { close() }

  /// The worker has ended: reads its last lines, then closes the pipe.
  public func workerEnded() {
    guard !isClosed else { return }
    drainTimer.set(afterMilliseconds: Self.drainMilliseconds) { [weak self] in self?.finish() }
  }

  /// Stops reading and closes the descriptor; what is still in the pipe is lost.
  public func close() {
    watcher?.close()
    watcher = nil
    drainTimer.cancel()
    if descriptor >= 0 { _ = Glibc.close(descriptor) }
    descriptor = -1
  }

  private func readSome() {
    var total = 0
    while total < Self.readByteCountMaximum, !isClosed {
      let count = read(descriptor, Self.buffer.baseAddress, Self.readByteCountMaximum - total)
      if count > 0 {
        total += count
        take(UnsafeRawBufferPointer(rebasing: Self.buffer[..<count]))
        continue
      }
      let code = errno
      if count < 0 && code == EINTR { continue }
      if count < 0 && code == EAGAIN { break }
      // The end; or a fault, after which nothing can come either.
      finish()
      return
    }
    if total > 0 { book.settle(journal, worker: worker) }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    splitter.received(bytes) { book.received($0, from: source, in: journal) }
  }

  private func finish() {
    guard !isClosed else { return }
    splitter.ended { book.received($0, from: source, in: journal) }
    book.settle(journal, worker: worker)
    let callback = onEnd
    close()
    callback?()
  }
}
