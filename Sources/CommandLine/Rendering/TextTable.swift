import Wording

/// Rows of cells in aligned columns.
///
/// The last column takes what room is left. What does not fit there goes beneath its row, whole: it is the column for
/// what there is to say, and a sentence that ends in the middle says nothing. Where even the others are too wide for
/// the terminal, the columns that can be spared are left out, so that no line is broken by it.
struct TextTable {
  enum Alignment {
    case left, right
  }
  struct Column {
    var title: String
    var alignment = Alignment.left
    /// Longer cells are cut; not in the last column.
    var columnsMaximum = 24
    /// Whether it is left out where the room is scarce; the leftmost goes first.
    var isSpareable = false
  }
  struct Cell {
    var text: String
    var tone = Tone.plain

    /// A cell; text of others is made safe here, so no table can forget it.
    init(_ text: String, _ tone: Tone = .plain) {
      self.text = VisibleText.make(text)
      self.tone = tone
    }
  }

  private var columns: [Column]
  private var rows: [[Cell]] = []
  private static let gap = "  "
  /// How far what goes beneath a row is set in.
  private static let indent = "    "

  init(_ columns: [Column]) { self.columns = columns }

  mutating func append(_ row: [Cell]) {
    precondition(row.count == columns.count, "a row has a cell for each column")
    rows.append(row)
  }

  /// The lines, headings first.
  func lines(_ style: Style) -> [String] {
    var table = self
    table.spare(style.columns)
    return table.fittingLines(style)
  }

  /// Leaves out columns until those before the last fit.
  private mutating func spare(_ room: Int) {
    while widths.reduce(0, { $0 + $1 + Self.gap.count }) - Self.gap.count > room,
      let index = columns.dropLast().firstIndex(where: \.isSpareable)
    {
      columns.remove(at: index)
      for row in rows.indices { rows[row].remove(at: index) }
    }
  }

  /// What each column takes, but for the last.
  private var widths: [Int] {
    columns.indices.dropLast().map { index in
      let widest = rows.map { DisplayWidth.of($0[index].text) }.max() ?? 0
      return max(DisplayWidth.of(columns[index].title), min(widest, columns[index].columnsMaximum))
    }
  }

  private func fittingLines(_ style: Style) -> [String] {
    let widths = widths
    let room = style.columns - widths.reduce(0) { $0 + $1 + Self.gap.count }
    var lines: [String] = []
    let heading = columns.map { Cell($0.title, .strong) }
    for var row in [heading] + rows {
      var below: Cell?
      if let last = row.last, DisplayWidth.of(last.text) > room {
        below = last
        row[row.count - 1] = Cell("")
      }
      lines.append(line(row, widths, style))
      // A heading without room has none to share with anything.
      guard let below, lines.count > 1 else { continue }
      let wrapped = DisplayWidth.wrap(below.text, to: style.columns - Self.indent.count)
      lines += wrapped.map { Self.indent + style.paint($0, below.tone) }
    }
    return lines
  }

  private func line(_ row: [Cell], _ widths: [Int], _ style: Style) -> String {
    var pieces: [String] = []
    // Empty cells at the end leave no blanks behind.
    let count = (row.lastIndex { !$0.text.isEmpty } ?? -1) + 1
    for index in 0..<count {
      guard index < widths.count else {
        pieces.append(style.paint(row[index].text, row[index].tone))
        continue
      }
      let text = DisplayWidth.cut(row[index].text, to: widths[index])
      let blanks = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(text)))
      let painted = style.paint(text, row[index].tone)
      let isRight = columns[index].alignment == .right
      pieces.append(isRight ? blanks + painted : index == count - 1 ? painted : painted + blanks)
    }
    return pieces.joined(separator: Self.gap)
  }
}
