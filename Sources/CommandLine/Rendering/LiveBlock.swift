import Wording

// What a terminal shows during work in progress: a few lines at the end of the output that change in place.
//
//     note  2026-11-21 …               the output, line by line, as if nothing were below it
//     asked    wss://nos.lol           12 events
//   ▸ waiting  wss://down.example      no such host
//
// The cursor stays at the beginning of the last line (▸). A terminal that has become narrower has broken the lines into
// more rows; the number of rows is computed from what was drawn, so that all of them are removed. Lines are
// overwritten, and each is cleared to its end, but they are not erased first: nothing flickers.
//
// Rejected: the cursor after the last line, because terminals differ about its place when the line exactly fills a row;
// the cursor at the first line, which tmux loses when it moves broken rows into its history; the alternate screen,
// which removes the output along with it.

/// One line about work in progress.
public struct LiveLine: Sendable, Equatable {
  let pieces: [Piece]

  struct Piece: Sendable, Equatable {
    var text: String
    var tone = Tone.plain
  }

  /// A line in one tone; foreign text is made safe here.
  public init(_ text: String, _ tone: Tone = .plain) { self.init([Piece(text: VisibleText.make(text), tone: tone)]) }

  /// A line of pieces whose text is safe already.
  init(_ pieces: [Piece]) { self.pieces = pieces }

  /// The line as it is written, in at most `columns`, and the columns that it takes.
  func drawn(_ columns: Int, _ style: Style) -> (text: String, width: Int) {
    var (text, used) = ("", 0)
    for piece in pieces where used < columns {
      let part = DisplayWidth.cut(piece.text, to: columns - used)
      text += style.paint(part, piece.tone)
      used += DisplayWidth.of(part)
      if part != piece.text { break }
    }
    return (text, used)
  }
}

/// The lines at the end of a terminal's output, and how to overwrite them. Pure: it returns the text to write.
public struct LiveBlock: Sendable {
  /// The columns that each shown line takes.
  private var widths: [Int] = []

  /// The maximum number of lines; a caller with more to show sums up the others.
  public static let lineMaximum = 8
  /// Columns that stay free at the right: after a full row, the cursor may or may not be in the next row.
  static let marginColumns = 1

  /// Nothing is shown.
  public init() {}

  /// Whether lines are shown.
  public var isShown: Bool { !widths.isEmpty }

  /// Shows these lines instead of those that are shown.
  ///
  /// - Parameters:
  ///   - lines: at most ``lineMaximum``; lines above it are left out. They must fit into the terminal. An empty list
  ///     does the same as ``erase(columns:)``.
  ///   - columns: the terminal's present width.
  ///   - style: whether colours are used.
  public mutating func show(_ lines: [LiveLine], columns: Int, _ style: Style) -> String {
    guard !lines.isEmpty else { return erase(columns: columns) }
    let drawn = lines.prefix(Self.lineMaximum).map { $0.drawn(max(1, columns - Self.marginColumns), style) }
    // Also removes what is below the last line.
    let text = home(columns) + drawn.map(\.text).joined(separator: "\u{1B}[K\n") + "\u{1B}[J\r"
    widths = drawn.map(\.width)
    return text
  }

  /// Removes the lines; the cursor is then where the first one began.
  ///
  /// - Parameter columns: the terminal's present width.
  public mutating func erase(columns: Int) -> String {
    guard isShown else { return "" }
    defer { widths = [] }
    return home(columns) + "\u{1B}[J"
  }

  /// Moves to the beginning of the first line from that of the last.
  private func home(_ columns: Int) -> String {
    let rows = widths.dropLast().reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
    return rows > 0 ? "\r\u{1B}[\(rows)A" : "\r"
  }
}
