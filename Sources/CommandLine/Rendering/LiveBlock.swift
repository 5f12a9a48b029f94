import Wording

// What a terminal shows while something is under way: a few lines at the end of the output that change in place.
//
//     note  2026-11-21 …               the output, line by line, as if nothing stood beneath it
//     asked    wss://nos.lol           12 events
//   ▸ waiting  wss://down.example      no such host
//
// The cursor stays where the last line begins (▸). A terminal that was made narrower meanwhile has broken the lines
// into more rows; into how many is reckoned from what was drawn, so that all of them go. Lines are written over, each
// cleared to its end, and not erased first: nothing flickers.
//
// Rejected: the cursor behind the last line, since terminals differ about where that is when the line just fills a row;
// the cursor at the first line, which tmux loses when it puts rows that it has broken into its history; the alternate
// screen, which takes the output away with it.

/// One line of what is under way.
public struct LiveLine: Sendable, Equatable {
  let pieces: [Piece]

  struct Piece: Sendable, Equatable {
    var text: String
    var tone = Tone.plain
  }

  /// A line in one tone; text of others is made safe here.
  public init(_ text: String, _ tone: Tone = .plain) { self.init([Piece(text: VisibleText.make(text), tone: tone)]) }

  /// A line of pieces whose text is safe already.
  init(_ pieces: [Piece]) { self.pieces = pieces }

  /// The line as it is written, in at most `columns`, and what it takes of them.
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

/// The lines that stand at the end of a terminal's output, and how to write over them. Pure: it gives back what is to
/// be written.
public struct LiveBlock: Sendable {
  /// What each line that stands there takes, in columns.
  private var widths: [Int] = []

  /// Most lines; whoever has more to show sums up the rest.
  public static let lineMaximum = 8
  /// Columns that stay free at the right: a row that is filled may already be the end of it, or not.
  static let marginColumns = 1

  /// Nothing is shown.
  public init() {}

  /// Whether something stands there.
  public var isShown: Bool { !widths.isEmpty }

  /// Shows these lines instead of those that stand there.
  ///
  /// - Parameters:
  ///   - lines: ``lineMaximum`` at most; those over it are left out. They must fit into the terminal. None is as
  ///     ``erase(columns:)``.
  ///   - columns: the terminal's width now.
  ///   - style: whether it is painted.
  public mutating func show(_ lines: [LiveLine], columns: Int, _ style: Style) -> String {
    guard !lines.isEmpty else { return erase(columns: columns) }
    let drawn = lines.prefix(Self.lineMaximum).map { $0.drawn(max(1, columns - Self.marginColumns), style) }
    // What stands below the last goes, too.
    let text = home(columns) + drawn.map(\.text).joined(separator: "\u{1B}[K\n") + "\u{1B}[J\r"
    widths = drawn.map(\.width)
    return text
  }

  /// Takes the lines away; the cursor is where the first one began.
  ///
  /// - Parameter columns: the terminal's width now.
  public mutating func erase(columns: Int) -> String {
    guard isShown else { return "" }
    defer { widths = [] }
    return home(columns) + "\u{1B}[J"
  }

  /// To the beginning of the first line, from that of the last.
  private func home(_ columns: Int) -> String {
    let rows = widths.dropLast().reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
    return rows > 0 ? "\r\u{1B}[\(rows)A" : "\r"
  }
}
