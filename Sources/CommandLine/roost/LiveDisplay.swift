internal import EventLoop
internal import Glibc
internal import RoostClient
internal import Rendering

/// The lines at the end of the terminal's output that tell what is under way (`LiveBlock`), and all that is written
/// around them.
///
/// They are drawn on standard error. What is written above them, to either descriptor, takes them away and puts them
/// there again in the same write, so that nobody sees the terminal without them. Drawn again at most every
/// `intervalMilliseconds`, and for the first time so long after the first change: what is quicker shows nothing.
@EventLoopActor
final class LiveDisplay {
  private var block = LiveBlock()
  private var content: (@EventLoopActor () -> [LiveLine])?
  private let timer = LoopTimer()
  private var isDue = false
  private var isHeld = false
  private let style = Terminal.style(of: STDERR_FILENO)

  /// Least time between two drawings, in milliseconds: often enough to look alive, and slow enough to be read.
  static let intervalMilliseconds: UInt64 = 200

  /// Whether there is a terminal that can show it.
  static let isPossible =
    Terminal.isTerminal(STDERR_FILENO) && ProcessEnvironment.current()["TERM"] != "dumb"
    && Terminal.size(of: STDERR_FILENO) != nil

  /// The terminal's width now.
  static var columns: Int { Terminal.size(of: STDERR_FILENO)?.columns ?? Style.columnMinimum }

  /// From now on `content` is shown, where it is possible; asked for whenever it is drawn.
  func begin(_ content: @escaping @EventLoopActor () -> [LiveLine]) { if Self.isPossible { self.content = content } }

  /// The content may have changed.
  func changed() {
    guard content != nil, !isDue else { return }
    isDue = true
    timer.set(afterMilliseconds: Self.intervalMilliseconds) { [weak self] in self?.draw() }
  }

  /// Takes it away, for good.
  func end() {
    content = nil
    timer.cancel()
    isDue = false
    guard !isHeld else { return }
    write(block.erase(columns: Self.columns))
  }

  /// Takes it away, and the `^C` that the terminal echoes where the cursor is.
  func interrupted() {
    let isShown = block.isShown
    end()
    if !isShown, Self.isPossible, !Terminal.isPipe(STDOUT_FILENO) { write("\r\u{1B}[K") }
  }

  /// Writes a line to standard error, above what is shown.
  func tell(_ line: String) {
    guard !isHeld, block.isShown else { return write(line + "\n") }
    write(block.erase(columns: Self.columns) + line + "\n" + shown())
  }

  // MARK: Standard output

  /// What is to be written so that `bytes` stand above what is shown. Nothing is drawn until ``release()``: the writer
  /// may be held up in the middle of it.
  func hold(_ bytes: [UInt8]) -> [UInt8] {
    isHeld = true
    guard block.isShown else { return bytes }
    return Array(block.erase(columns: Self.columns).utf8) + bytes + Array(shown().utf8)
  }

  /// They are written.
  func release() {
    isHeld = false
    guard content == nil else { return }
    // Ended meanwhile.
    write(block.erase(columns: Self.columns))
  }

  // MARK: Drawing

  private func draw() {
    isDue = false
    // Whoever writes has drawn what there was; this is newer.
    if isHeld { return changed() }
    write(shown())
  }

  private func shown() -> String {
    guard let content, let size = Terminal.size(of: STDERR_FILENO) else { return "" }
    // A block as high as the terminal could not be gone back over.
    let lines = content().prefix(max(1, size.rows - 1))
    return block.show(Array(lines), columns: size.columns, style)
  }

  private func write(_ text: String) {
    if !text.isEmpty { _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) } }
  }
}
