import Wording

/// Rows of cells in aligned columns.
///
/// The last column takes the room that is left. A cell that does not fit there goes below its row, in full: this column
/// has the remarks, and a sentence that is cut in the middle is useless. If even the other columns are too wide for the
/// terminal, the spareable ones are left out, so that the terminal breaks no line.
struct TextTable {
  enum Alignment {
    case left, right
  }
  struct Column {
    var title: String
    var alignment = Alignment.left
    /// Longer cells are cut, except in the last column.
    var columnsMaximum = 24
    /// Whether it is left out if there is too little room; the leftmost goes first.
    var isSpareable = false
  }
  struct Cell {
    var text: String
    var tone = Tone.plain

    /// A cell; foreign text is made safe here, so that no table can forget it.
    init(_ text: String, _ tone: Tone = .plain) {
      self.text = VisibleText.make(text)
      self.tone = tone
    }
  }

  private var columns: [Column]
  private var rows: [[Cell]] = []
  private static let gap = "  "
  /// The indent of a cell below its row.
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

  /// The width of each column except the last.
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
      if let last = row.last, !last.text.isEmpty, DisplayWidth.of(last.text) > room {
        below = last
        row[row.count - 1] = Cell("")
      }
      lines.append(line(row, widths, style))
      // A heading that does not fit is left out.
      guard let below, lines.count > 1 else { continue }
      let wrapped = DisplayWidth.wrap(below.text, to: style.columns - Self.indent.count)
      lines += wrapped.map { Self.indent + style.paint($0, below.tone) }
    }
    return lines
  }

  private func line(_ row: [Cell], _ widths: [Int], _ style: Style) -> String {
    var pieces: [String] = []
    // Empty cells at the end leave no trailing blanks.
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
