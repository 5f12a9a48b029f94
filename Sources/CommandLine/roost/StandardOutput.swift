internal import EventLoop
internal import Glibc
internal import Rendering
internal import Wording

/// Standard output, written in whole pieces in the order of the calls.
///
/// A slow reader delays the writer without stopping the loop: signals are still handled. The shell and other programs
/// share the descriptor, so it is not made non-blocking; poll(2) says when a pipe takes the next `pieceByteCount` bytes
/// at once. If the reader has gone, the program ends quietly.
@EventLoopActor
final class StandardOutput {
  private var isWriting = false
  private var line: [CheckedContinuation<Void, Never>] = []

  /// A pipe that poll(2) calls writable takes this much without blocking: PIPE_BUF.
  private static let pieceByteCount = 4_096
  /// How long one check of a full pipe may take before the loop gets its turn, in milliseconds.
  private static let lookMilliseconds: Int32 = 20

  private let isTerminal = Terminal.isTerminal(STDOUT_FILENO)
  private let display: LiveDisplay
  private let lookTimer = LoopTimer()
  /// How often to check, while nothing is written, whether the reader is still there, in milliseconds.
  private static let readerLookMilliseconds: UInt64 = 200

  /// - Parameter display: what a terminal shows below the output.
  init(above display: LiveDisplay) { self.display = display }

  /// From now on the program ends quietly when its reader goes, even if there is nothing to write: `roost logs -f |
  /// head` must not wait for the next line to notice.
  func leaveWithReader() {
    lookTimer.set(afterMilliseconds: Self.readerLookMilliseconds) { [unowned self] in
      var entry = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      if poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLERR | POLLHUP) != 0 { exit(0) }
      leaveWithReader()
    }
  }

  /// Writes all of `bytes`; waits for earlier writers, and for the reader.
  func write(_ bytes: [UInt8]) async {
    while isWriting { await withCheckedContinuation { line.append($0) } }
    isWriting = true
    let bytes = isTerminal ? display.hold(bytes) : bytes
    var written = 0
    while written < bytes.count {
      if isWritable() {
        written += writePiece(bytes[written...])
      } else {
        await EventLoopActor.sleep(milliseconds: 1)
      }
    }
    if isTerminal { display.release() }
    isWriting = false
    if !line.isEmpty { line.removeFirst().resume() }
  }

  /// Writes a line of JSON: unchanged into a file or a pipe; on a terminal with control characters escaped.
  func writeLine(_ bytes: [UInt8]) async {
    await write((isTerminal ? VisibleText.makeJSON(bytes) : bytes) + [0x0A])
  }

  /// Writes foreign text of any form, and ends its line: unchanged into a file or a pipe; on a terminal with control
  /// characters made visible.
  func writeText(_ text: String) async {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let shown = isTerminal ? lines.map { VisibleText.make($0) }.joined(separator: "\n") : text
    await write(Array((shown + "\n").utf8))
  }

  /// Writes lines of text.
  func writeLines(_ lines: [String]) async {
    if !lines.isEmpty { await write(Array((lines.joined(separator: "\n") + "\n").utf8)) }
  }

  private func isWritable() -> Bool {
    var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, Self.lookMilliseconds) > 0
  }

  private func writePiece(_ bytes: ArraySlice<UInt8>) -> Int {
    let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, min($0.count, Self.pieceByteCount)) }
    if count >= 0 { return count }
    switch errno {
    case EINTR, EAGAIN: return 0
    case EPIPE: exit(0)
    default:
      let text = "roost: cannot write the output: \(String(cString: strerror(errno)))\n"
      _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
      exit(1)
    }
  }
}
