internal import Cryptography
internal import Frames
internal import JSON
internal import Wording

/// A payload for people: JSON indented, short lists on one line.
public enum PayloadText {
  /// The lines of a JSON payload; text that is not JSON, made safe.
  public static func pretty(_ bytes: [UInt8], _ style: Style) -> [String] {
    guard let json = try? JSONText(bytes) else {  // Not JSON is an answer here, not a fault.
      return [VisibleText.make(String(decoding: bytes, as: UTF8.self))]
    }
    var printer = Printer(json: json, style: style)
    printer.write(json.root, indent: 0)
    return printer.lines + [printer.line]
  }

  /// The text that represents a payload of raw bytes where text is printed.
  public static func raw(byteCount: Int, _ style: Style) -> String {
    style.paint("(\(Amount.count(byteCount, "byte")) of the method's own layout; --raw writes them)", .dim)
  }

  /// A payload on one line, exactly as it came except for blanks between its parts. Text that is not JSON becomes a
  /// JSON string, so that a reader of JSON lines never gets anything else.
  public static func line(_ bytes: [UInt8]) -> [UInt8] {
    if let json = try? JSONText(bytes) { return json.compact }  // As above.
    return JSONLine.string(String(decoding: bytes, as: UTF8.self))
  }

  /// A payload of raw bytes where JSON is expected: `{"base64":"…"}`.
  public static func base64Line(_ bytes: [UInt8]) -> [UInt8] {
    JSONLine.object([("base64", JSONLine.string(Base64.encode(bytes)))])
  }

  private struct Printer {
    let json: JSONText
    let style: Style
    var lines: [String] = []
    var line = ""

    mutating func write(_ node: JSONText.Node, indent: Int) {
      switch node {
      case .scalar(let range): line += text(range)
      case .array(let elements) where elements.isEmpty: line += "[]"
      case .object(let members) where members.isEmpty: line += "{}"
      case .array(let elements):
        if let short = inline(node, within: style.columns - indent - DisplayWidth.of(line)) {
          line += short
          return
        }
        line += "["
        for (index, element) in elements.enumerated() {
          startLine(indent + 2)
          write(element, indent: indent + 2)
          if index < elements.count - 1 { line += "," }
        }
        startLine(indent)
        line += "]"
      case .object(let members):
        line += "{"
        for (index, member) in members.enumerated() {
          startLine(indent + 2)
          line += style.paint(text(member.key), .strong) + ": "
          write(member.value, indent: indent + 2)
          if index < members.count - 1 { line += "," }
        }
        startLine(indent)
        line += "}"
      }
    }

    /// A list of plain values on one line, if it fits.
    private func inline(_ node: JSONText.Node, within columns: Int) -> String? {
      guard case .array(let elements) = node else { return nil }
      var texts: [String] = []
      var width = 2
      for element in elements {
        guard case .scalar(let range) = element else { return nil }
        texts.append(text(range))
        width += DisplayWidth.of(texts[texts.count - 1]) + 2
        if width > columns { return nil }
      }
      return "[" + texts.joined(separator: ", ") + "]"
    }

    private mutating func startLine(_ indent: Int) {
      lines.append(line)
      line = String(repeating: " ", count: indent)
    }

    private func text(_ range: Range<Int>) -> String {
      VisibleText.make(String(decoding: json.bytes[range], as: UTF8.self))
    }
  }
}
