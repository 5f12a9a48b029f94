import Clocks
import Testing

@testable import RoostConfiguration

@Suite("TOML at random; a failure names its seed")
struct TOMLRandomTests {
  @Test("Whatever tree is written, in whatever forms, is read back", arguments: [UInt64](1...40))
  func roundTrip(seed: UInt64) throws {
    var author = TOMLAuthor(seed: seed)
    for _ in 0..<50 {
      let tree = author.table(depth: 0)
      let text = author.text(of: tree)
      let read = try TOMLReader.document(of: Array(text.utf8)).tree
      #expect(read == tree, "seed \(seed)\n\(text)")
      let withReturns = text.replacing("\n", with: "\r\n")
      #expect(try TOMLReader.document(of: Array(withReturns.utf8)).tree == tree, "seed \(seed)")
    }
  }

  @Test("Any bytes are read or refused at a place within them", arguments: [UInt64](1...40))
  func endsAlways(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("[]{}=.,#\"'\\\n\r \tab1u_-+e0x:TZé\u{0}".utf8) + [0xFF]
    for _ in 0..<500 {
      let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        alphabet.randomElement(using: &generator) ?? 0
      }
      checkRefusal(of: bytes, "seed \(seed)")
    }
  }

  @Test("A written text that is damaged is read or refused at a place within it", arguments: [UInt64](1...20))
  func damage(seed: UInt64) {
    var author = TOMLAuthor(seed: seed)
    let replacements = Array("[]{}=.,#\"'\\\n az09-_\u{0}é".utf8)
    for _ in 0..<100 {
      var bytes = Array(author.text(of: author.table(depth: 0)).utf8)
      let place = Int.random(in: 0...bytes.count, using: &author.generator)
      let end = min(bytes.count, place + Int.random(in: 0...3, using: &author.generator))
      bytes.replaceSubrange(place..<end, with: [replacements.randomElement(using: &author.generator) ?? 0])
      checkRefusal(of: bytes, "seed \(seed)")
    }
  }

  @Test(
    "A hundred thousand brackets of any kind end no process", arguments: ["[", "{a=", "a.", "[[", "'''", "\"\"\"\\\n"])
  func brackets(piece: String) {
    for start in ["", "a = "] {
      checkRefusal(of: Array((start + String(repeating: piece, count: 100_000)).utf8), piece)
    }
  }

  private func checkRefusal(of bytes: [UInt8], _ remark: String) {
    do throws(TOMLFault) {
      _ = try TOMLReader.document(of: bytes)
    } catch {
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let isWithin = lines.indices.contains(error.place.line - 1)
      #expect(isWithin && 1...lines[error.place.line - 1].count + 1 ~= error.place.column, "\(remark): \(bytes)")
      #expect(
        !error.message.isEmpty && !error.message.unicodeScalars.contains { $0.value < 0x20 }, "\(remark): \(bytes)")
    }
  }
}

/// Writes trees of values as TOML, choosing among the ways there are.
private struct TOMLAuthor {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

  // MARK: Trees

  mutating func table(depth: Int) -> [String: ConfigurationValue] {
    let keys = (0..<Int.random(in: 0...4, using: &generator)).map { _ in key() }
    var entries: [String: ConfigurationValue] = [:]
    for key in keys { entries[key] = value(depth: depth + 1) }
    return entries
  }

  private mutating func key() -> String {
    ["a", "b", "c-d", "1", "", "a b", "x.y", "ø", "\"", "'", "\\", "\n", "#", "true"].randomElement(using: &generator)
      ?? ""
  }

  private mutating func value(depth: Int) -> ConfigurationValue {
    switch Int.random(in: 0..<(depth < 4 ? 8 : 5), using: &generator) {
    case 0, 1: .string(content())
    case 2:
      .integer(
        oneIn(5)
          ? [Int.min, Int.max, 0].randomElement(using: &generator) ?? 0
          : Int.random(in: -9_999...9_999, using: &generator))
    case 3: .number(Double(Int.random(in: -9_999...9_999, using: &generator)) / 64 * (oneIn(4) ? 1e200 : 1))
    case 4: .boolean(Bool.random(using: &generator))
    case 5: .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth: depth + 1) })
    case 6: .array((0..<Int.random(in: 1...2, using: &generator)).map { _ in .table(table(depth: depth + 1)) })
    default: .table(table(depth: depth))
    }
  }

  private mutating func content() -> String {
    let pieces = ["a", " ", "\"", "\"\"", "'", "\\", "\n", "\t", "é", "🪶", "#", "]", "\u{0}", "\u{7F}", "="]
    return (0..<Int.random(in: 0...5, using: &generator)).reduce("") { text, _ in
      text + (pieces.randomElement(using: &generator) ?? "")
    }
  }

  // MARK: Writing

  /// Values first, then tables below headers: what stands below a header cannot return to the table above.
  mutating func text(of entries: [String: ConfigurationValue], at path: [String] = []) -> String {
    var values = ""
    var headers = ""
    for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
      let inner = path + [key]
      switch value {
      case .table(let table) where !table.isEmpty && oneIn(3): values += dotted(table, at: [key])
      case .table(let table) where !oneIn(4):
        headers += "[\(written(path: inner))]\(remark())\n" + text(of: table, at: inner)
      case .array(let elements) where !elements.isEmpty && elements.allSatisfy { $0.kind == "a table" } && !oneIn(4):
        for case .table(let table) in elements {
          headers += "[[ \(written(path: inner)) ]]\n" + text(of: table, at: inner)
        }
      default: values += "\(written(path: [key])) = \(written(value))\(remark())\n"
      }
    }
    return values + headers
  }

  private mutating func dotted(_ entries: [String: ConfigurationValue], at path: [String]) -> String {
    var result = ""
    for (key, value) in entries {
      if case .table(let table) = value, !table.isEmpty, !oneIn(3) {
        result += dotted(table, at: path + [key])
      } else {
        result += "\(written(path: path + [key]))=\(written(value))\n"
      }
    }
    return result
  }

  private mutating func remark() -> String { oneIn(4) ? "\t# \"[ é" : "" }

  private mutating func written(path: [String]) -> String {
    var parts: [String] = []
    for key in path {
      let isPlain = !key.contains { $0 == "'" || $0.isNewline }
      parts.append(isPlain && oneIn(3) ? "'\(key)'" : ConfigurationPath.written(key))
    }
    return parts.joined(separator: oneIn(3) ? " . " : ".")
  }

  private mutating func written(_ value: ConfigurationValue) -> String {
    switch value {
    case .string(let text): return written(text)
    case .integer(let number): return number >= 0 && oneIn(3) ? "0x" + String(number, radix: 16) : "\(number)"
    case .array(let values):
      var parts: [String] = []
      for value in values { parts.append(written(value)) }
      let comma = oneIn(3) ? ",\n  # remark\n" : ", "
      return "[" + parts.joined(separator: comma) + (!parts.isEmpty && oneIn(3) ? ",\n" : "") + "]"
    case .table(let entries):
      var parts: [String] = []
      for (key, value) in entries { parts.append("\(written(path: [key])) = \(written(value))") }
      return "{ " + parts.joined(separator: ", ") + " }"
    default: return "\(value)"
    }
  }

  private mutating func written(_ text: String) -> String {
    let isPrintable = !text.unicodeScalars.contains {
      ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || $0.value == 0x7F
    }
    switch Int.random(in: 0..<5, using: &generator) {
    case 0 where isPrintable && !text.contains("'") && !text.contains("\n"): return "'\(text)'"
    case 1 where isPrintable && !text.contains("'"): return "'''\n\(text)'''"
    case 2 where isPrintable && !text.contains("\"") && text.first.map { " \n\t".contains($0) } != true:
      return "\"\"\"\\\n  \n \(text.replacing("\\", with: "\\\\"))\"\"\""
    case 3: return "\"" + text.unicodeScalars.map { TOMLAuthor.escape($0) }.joined() + "\""
    default: return "\(ConfigurationValue.string(text))"
    }
  }

  /// `\U0001FAB6`
  private static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}
