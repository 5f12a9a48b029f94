internal import EventLoop
internal import Glibc
internal import RoostClient
internal import Rendering

/// The lines at the end of the terminal's output that show work in progress (`LiveBlock`), and everything written
/// around them.
///
/// They are drawn on standard error. Each write of text above them, to either descriptor, also removes them and draws
/// them again, so that the terminal never appears without them. They are redrawn at most every `intervalMilliseconds`.
/// The first drawing comes that long after the first change, so quicker work shows nothing.
@EventLoopActor
final class LiveDisplay {
  private var block = LiveBlock()
  private var content: (@EventLoopActor () -> [LiveLine])?
  private let timer = LoopTimer()
  private var isDue = false
  private var isHeld = false
  private let style = Terminal.style(of: STDERR_FILENO)

  /// The least time between two drawings, in milliseconds: short enough to look alive, long enough to read the lines.
  static let intervalMilliseconds: UInt64 = 200

  /// Whether standard error is a terminal that can show the lines.
  static let isPossible =
    Terminal.isTerminal(STDERR_FILENO) && ProcessEnvironment.current()["TERM"] != "dumb"
    && Terminal.size(of: STDERR_FILENO) != nil

  /// The terminal's present width.
  static var columns: Int { Terminal.size(of: STDERR_FILENO)?.columns ?? Style.columnMinimum }

  /// Shows `content` from now on, if that is possible; calls it at each drawing.
  func begin(_ content: @escaping @EventLoopActor () -> [LiveLine]) { if Self.isPossible { self.content = content } }

  /// The content may have changed.
  func changed() {
    guard content != nil, !isDue else { return }
    isDue = true
    timer.set(afterMilliseconds: Self.intervalMilliseconds) { [weak self] in self?.draw() }
  }

  /// Removes the lines, for good.
  func end() {
    content = nil
    timer.cancel()
    isDue = false
    guard !isHeld else { return }
    write(block.erase(columns: Self.columns))
  }

  /// Removes the lines, and the `^C` that the terminal echoes at the cursor.
  func interrupted() {
    let isShown = block.isShown
    end()
    if !isShown, Self.isPossible, !Terminal.isPipe(STDOUT_FILENO) { write("\r\u{1B}[K") }
  }

  /// Writes a line to standard error, above the lines.
  func tell(_ line: String) {
    guard !isHeld, block.isShown else { return write(line + "\n") }
    write(block.erase(columns: Self.columns) + line + "\n" + shown())
  }

  // MARK: Standard output

  /// The bytes to write so that `bytes` appear above the lines. Nothing is drawn until ``release()``: the writer may be
  /// delayed in the middle of its write.
  func hold(_ bytes: [UInt8]) -> [UInt8] {
    isHeld = true
    guard block.isShown else { return bytes }
    return Array(block.erase(columns: Self.columns).utf8) + bytes + Array(shown().utf8)
  }

  /// The bytes of `hold(_:)` are written.
  func release() {
    isHeld = false
    guard content == nil else { return }
    // The display ended meanwhile.
    write(block.erase(columns: Self.columns))
  }

  // MARK: Drawing

  private func draw() {
    isDue = false
    // The write in progress contains the lines as they were; these are newer, so draw them later.
    if isHeld { return changed() }
    write(shown())
  }

  private func shown() -> String {
    guard let content, let size = Terminal.size(of: STDERR_FILENO) else { return "" }
    // The cursor could not go back over a block as high as the terminal.
    let lines = content().prefix(max(1, size.rows - 1))
    return block.show(Array(lines), columns: size.columns, style)
  }

  private func write(_ text: String) {
    if !text.isEmpty { _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) } }
  }
}
