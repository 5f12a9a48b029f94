internal import Frames

/// Foreign text made safe to print: a worker, a relay or an event must not be able to control the reader's terminal.
///
/// `ControlCharacters`, including the marks that reorder or hide text, are written as escapes, as in source code: `\n`,
/// `\e`, `\u{202E}`. Everything else is unchanged.
public enum VisibleText {
  /// `text` without characters that a terminal would act on.
  public static func make(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: ControlCharacters.contains) else { return String(text) }
    var result = ""
    for scalar in text.unicodeScalars {
      if ControlCharacters.contains(scalar) { result += escape(scalar) } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }

  /// A line of JSON without characters that a terminal would act on, and with the same value: hidden characters can
  /// occur only in strings, and are written there as `\uXXXX`.
  public static func makeJSON(_ line: [UInt8]) -> [UInt8] {
    // JSON contains characters below 0x20 only as escapes; hidden characters are DEL or not ASCII.
    guard line.contains(where: { $0 >= 0x7F }) else { return line }
    let text = String(decoding: line, as: UTF8.self)
    guard text.unicodeScalars.contains(where: ControlCharacters.contains) else { return line }
    var result: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard ControlCharacters.contains(scalar) else {
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

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\u{1B}": "\\e"
    default: ControlCharacters.escape(scalar)
    }
  }
}
