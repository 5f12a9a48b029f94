/// Rows of cells in aligned columns. The last column takes what room is left and is cut to it.
struct TextTable {
  enum Alignment {
    case left, right
  }
  struct Column {
    var title: String
    var alignment = Alignment.left
    /// Longer cells are cut.
    var columnsMaximum = 24
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

  private let columns: [Column]
  private var rows: [[Cell]] = []
  private static let gap = "  "

  init(_ columns: [Column]) { self.columns = columns }

  mutating func append(_ row: [Cell]) {
    precondition(row.count == columns.count, "a row has a cell for each column")
    rows.append(row)
  }

  /// The lines, headings first.
  func lines(_ style: Style) -> [String] {
    var widths = columns.indices.map { index in
      let widest = rows.map { DisplayWidth.of($0[index].text) }.max() ?? 0
      return max(DisplayWidth.of(columns[index].title), min(widest, columns[index].columnsMaximum))
    }
    if let last = widths.indices.last {
      let before = widths.dropLast().reduce(0) { $0 + $1 + Self.gap.count }
      widths[last] = max(style.columns - before, 8)
    }
    let heading = columns.map { Cell($0.title, .strong) }
    return ([heading] + rows).map { line($0, widths, style) }
  }

  private func line(_ row: [Cell], _ widths: [Int], _ style: Style) -> String {
    var pieces: [String] = []
    // Empty cells at the end leave no blanks behind.
    let count = (row.lastIndex { !$0.text.isEmpty } ?? -1) + 1
    for index in 0..<count {
      let text = DisplayWidth.cut(row[index].text, to: widths[index])
      let blanks = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(text)))
      let painted = style.paint(text, row[index].tone)
      let isRight = columns[index].alignment == .right
      pieces.append(isRight ? blanks + painted : index == count - 1 ? painted : painted + blanks)
    }
    return pieces.joined(separator: Self.gap)
  }
}
