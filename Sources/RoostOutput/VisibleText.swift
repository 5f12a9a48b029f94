/// Text of others made safe to print: a worker, a relay or an event must not be able to drive the reader's terminal.
///
/// Control characters (C0, DEL, C1) and the marks that reorder or hide text are written as escapes, as in source code:
/// `\n`, `\e`, `\u{202E}`. Everything else stays as it is.
public enum VisibleText {
  /// `text` with nothing in it that a terminal would act on.
  public static func make(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return String(text) }
    var result = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar) { result += escape(scalar) } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }

  /// A line of JSON with nothing in it that a terminal would act on, and the same value: what is hidden can only stand
  /// in strings, and is written there as `\uXXXX`.
  public static func makeJSON(_ line: [UInt8]) -> [UInt8] {
    // Below 0x20 nothing stands in JSON but as an escape; what is hidden is DEL or not ASCII.
    guard line.contains(where: { $0 >= 0x7F }) else { return line }
    let text = String(decoding: line, as: UTF8.self)
    guard text.unicodeScalars.contains(where: isHidden) else { return line }
    var result: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard isHidden(scalar) else {
        result.append(contentsOf: Array(String(scalar).utf8))
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        result.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
      }
    }
    return result
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    // Soft hyphen, zero-width and direction marks, line and paragraph separators,
    // embeddings, isolates, byte order mark.
    case 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
    // Letters that show nothing, and notes between the lines.
    case 0x115F, 0x1160, 0x3164, 0xFFA0, 0xFFF9...0xFFFB: true
    case 0xE0000...0xE007F: true  // Tags: invisible text.
    default: false
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\u{1B}": "\\e"
    default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
}
