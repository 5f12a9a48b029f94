/// How many columns text takes on a terminal; tables are aligned by it.
enum DisplayWidth {
  /// The columns of `text`, from which control characters were removed.
  static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + width($1) } }

  /// `text` cut to `columns`, with `…` at the end if something was cut.
  static func cut(_ text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    var result = ""
    var used = 0
    for character in text {
      let width = of(String(character))
      if used + width > columns - 1 { break }
      result.append(character)
      used += width
    }
    return result + "…"
  }

  /// `text` in lines of at most `columns`, broken at blanks; a longer word has a line of its own.
  ///
  /// - Parameter firstColumns: the room of the first line, if other text precedes it; the first line may then stay
  ///   empty.
  static func wrap(_ text: String, to columns: Int, firstColumns: Int? = nil) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let room = lines.isEmpty ? firstColumns ?? columns : columns
      if line.isEmpty, lines.isEmpty, firstColumns != nil, of(String(word)) > room {
        lines.append("")
        line = String(word)
      } else if !line.isEmpty, of(line) + 1 + of(String(word)) > room {
        lines.append(line)
        line = String(word)
      } else {
        line += line.isEmpty && lines.isEmpty ? String(word) : " " + word
      }
    }
    return lines + [line]
  }

  /// As many characters of `text` as fit into `columns`; at least one, so that a caller that cuts repeatedly ends.
  static func prefix(_ text: String, _ columns: Int) -> String {
    var used = 0
    let end = text.indices.first { index in
      used += of(String(text[index]))
      return used > columns
    }
    guard let end, end > text.startIndex else { return end == nil ? text : String(text.prefix(1)) }
    return String(text[..<end])
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    // East Asian wide and full-width forms, and emoji.
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
