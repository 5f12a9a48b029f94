internal import EventLoop
internal import Frames
internal import Glibc

/// Standard input in pieces, as they come, without stopping the loop.
///
/// A pipe or a terminal is watched; a regular file is always ready and cannot be watched, so it is read directly. libuv
/// makes a watched descriptor non-blocking, and that would affect the shell that shares it: so the same file is opened
/// a second time. If that is impossible (a socket), the shared descriptor is used.
@EventLoopActor
final class StandardInput {
  private let descriptor: Int32
  private var watcher: DescriptorWatcher?
  private var isPaused = true
  private var waiter: CheckedContinuation<Void, Never>?
  private var piece = [UInt8](repeating: 0, count: pieceByteCount)

  private static let pieceByteCount = 64 << 10

  init() {
    let reopened = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC | O_NOCTTY)
    var status = stat()
    let isFile = fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    if isFile, reopened >= 0 {
      // A second descriptor would begin at the start of the file, and not where the process before stopped reading.
      close(reopened)
      descriptor = STDIN_FILENO
    } else {
      descriptor = reopened >= 0 ? reopened : STDIN_FILENO
    }
    guard !isFile else { return }
    do throws(LoopFault) {
      let watcher = try DescriptorWatcher(descriptor: descriptor) { [unowned self] in becameReadable() }
      watcher.pause()
      self.watcher = watcher
    } catch {
      // Not watchable (such as /dev/null): so it never blocks either.
      watcher = nil
    }
  }

  /// The next bytes; empty at the end.
  func next() async throws(Refusal) -> [UInt8] {
    while true {
      if let watcher {
        if isPaused { watcher.resume() }
        isPaused = false
        await withCheckedContinuation { waiter = $0 }
      }
      let count = read(descriptor, &piece, piece.count)
      if count >= 0 { return Array(piece[..<count]) }
      guard errno == EINTR || errno == EAGAIN else {
        throw Refusal(.failed, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// While no caller waits, the descriptor is not watched: it would be reported again and again.
  private func becameReadable() {
    guard let waiter else {
      watcher?.pause()
      isPaused = true
      return
    }
    self.waiter = nil
    waiter.resume()
  }
}
