/// Characters that control or deceive the reader of a terminal. They are escaped wherever foreign text is printed.
///
/// They are the control characters (those below a blank, DEL, and U+0080 to U+009F, of which U+009B begins a command
/// like ESC and [), and the marks that reorder, break or hide text.
public enum ControlCharacters {
  /// `text` on one line, without characters that move the cursor or hide text: such a character is written as `\u{1B}`.
  public static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: contains) else { return text }
    return text.unicodeScalars.map { contains($0) ? escape($0) : String($0) }.joined()
  }

  /// A character in the notation of source code: `\u{202E}`.
  public static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }

  /// Whether a character is one of these.
  public static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    // Soft hyphen, zero-width and direction marks, line and paragraph separators,
    // embeddings, isolates, byte order mark.
    case 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
    // Letters that show nothing, and interlinear annotations.
    case 0x115F, 0x1160, 0x3164, 0xFFA0, 0xFFF9...0xFFFB: true
    case 0xE0000...0xE007F: true  // Tags: invisible text.
    default: false
    }
  }
}
