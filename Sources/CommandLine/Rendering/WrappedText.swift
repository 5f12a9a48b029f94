import Wording

/// Foreign text in lines of a width: harmless to the terminal, with its paragraphs, and with whole words where they
/// fit.
enum WrappedText {
  /// The lines.
  ///
  /// - Parameters:
  ///   - text: any text. Its lines stay lines; several empty ones become one.
  ///   - columns: the width; a longer word is cut into pieces.
  ///   - lineMaximum: the maximum number of lines; the last one ends with `…` if more was left out.
  static func lines(_ text: String, columns: Int, lineMaximum: Int) -> [String] {
    var lines: [String] = []
    // Looks only at as much text as could be shown.
    let looked = text.prefix(columns * (lineMaximum + 1))
    for paragraph in looked.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      let wrapped = wrap(VisibleText.make(paragraph), columns)
      if wrapped.isEmpty, lines.last?.isEmpty ?? true { continue }
      lines += wrapped.isEmpty ? [""] : wrapped
      if lines.count > lineMaximum { break }
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    guard lines.count > lineMaximum || looked.endIndex < text.endIndex else { return lines }
    lines = Array(lines.prefix(lineMaximum))
    if let last = lines.last { lines[lines.count - 1] = DisplayWidth.cut(last, to: columns - 1).trimmedDots + "…" }
    return lines
  }

  private static func wrap(_ paragraph: String, _ columns: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in paragraph.split(separator: " ") {
      var word = String(word)
      let width = DisplayWidth.of(line) + (line.isEmpty ? 0 : 1) + DisplayWidth.of(word)
      if width <= columns {
        line += line.isEmpty ? word : " " + word
        continue
      }
      if !line.isEmpty { lines.append(line) }
      while DisplayWidth.of(word) > columns {
        let piece = DisplayWidth.prefix(word, columns)
        lines.append(piece)
        word = String(word.dropFirst(piece.count))
      }
      line = word
    }
    return line.isEmpty ? lines : lines + [line]
  }
}

extension String {
  /// The text without a `…` at its end.
  fileprivate var trimmedDots: String { hasSuffix("…") ? String(dropLast()) : self }
}
