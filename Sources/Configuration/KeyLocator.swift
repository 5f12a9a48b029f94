/// Knows on which line each key of a TOML text stands.
///
/// The parser tells positions only for errors of syntax, while nearly all that is wrong with a configuration is wrong
/// in meaning: an unknown key, a value out of bounds. So this reads the text a second time and notes, for every table,
/// key and array element, the line where it begins. It relies on the parser having accepted the text: it checks
/// nothing, and text that is not TOML gives lines that mean little, but it always comes to an end.
///
/// Headers, dotted and quoted keys, inline tables, arrays over several lines, arrays of tables and all four kinds of
/// string are followed. A table opened by several headers (`[worker]` implied by `[worker.a]`) keeps its first line.
///
/// The same walk finds what must not reach the parser; see ``Hazard``.
struct KeyLocator: Sendable {
  private(set) var lines: [ConfigurationPath: Int]
  /// The first place where the parser would end the process, if there is one.
  private(set) var hazard: Hazard?

  /// A fault of syntax that the parser meets with a failed assertion instead of an error, in release builds too: a
  /// table header that begins with a letter no key can have (`[.worker]`, `[é]`), and a `}` or a blank beyond ASCII, as
  /// copied text has them, where an array's element or end should be (`relays = ["…", }`). A typing mistake must not
  /// end a supervisor that was asked to reload.
  struct Hazard: Hashable, Sendable {
    /// Bytes before the fault.
    let offset: Int
    /// Counted from 1.
    let line: Int
    /// In code points, counted from 1.
    let column: Int
    /// What should have been there.
    let message: String
  }

  /// Reads `text` once, from start to end.
  init(_ text: String) {
    var scanner = KeyScanner(bytes: Array(text.utf8))
    scanner.scanDocument()
    lines = scanner.lines
    hazard = scanner.hazard
  }

  /// The line of `path`, or of the nearest thing around it that has one; nil if not even its top table is in the text.
  func line(of path: ConfigurationPath) -> Int? {
    var path = path
    while !path.steps.isEmpty {
      if let line = lines[path] { return line }
      path = path.parent
    }
    return nil
  }
}

/// The walk over the bytes, used once by ``KeyLocator``.
private struct KeyScanner {
  /// The parser refuses deeper nesting than this; so deep text cannot get here but from a test.
  static let nestingMaximum = 256

  let bytes: [UInt8]
  var position = 0
  var line = 1
  var lines: [ConfigurationPath: Int] = [:]
  var hazard: KeyLocator.Hazard?
  /// How many elements each array of tables has so far.
  var tableArrays: [ConfigurationPath: Int] = [:]

  init(bytes: [UInt8]) { self.bytes = bytes }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func looksAt(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[position...].starts(with: $0) }
  }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
  }

  private mutating func skipBlanks() {
    while let byte = current, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { advance() }
  }

  private mutating func skipLine() {
    while let byte = current, byte != UInt8(ascii: "\n") { advance() }
  }

  /// Blanks, line ends and comments: all that may stand between two values of an array.
  private mutating func skipSpace() {
    while let byte = current {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): advance()
      case UInt8(ascii: "#"): skipLine()
      default: return
      }
    }
  }

  mutating func scanDocument() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    var table = ConfigurationPath.top
    while true {
      skipSpace()
      guard let byte = current else { return }
      if byte == UInt8(ascii: "[") {
        table = scanHeader()
      } else {
        scanPair(in: table, depth: 0)
      }
      skipLine()
    }
  }

  /// `[a.b]` or `[[a.b]]`; answers with the table that the following keys belong to.
  private mutating func scanHeader() -> ConfigurationPath {
    let isArrayElement = looksAt("[[")
    let start = line
    advance(isArrayElement ? 2 : 1)
    skipBlanks()
    if let byte = current, byte != UInt8(ascii: "]"), !KeyScanner.beginsKey(byte) { noteHazard("a key") }
    let keys = scanKeys()
    var path = ConfigurationPath.top
    for (place, key) in keys.enumerated() {
      path = path.appending(key)
      note(path, at: start)
      if isArrayElement, place == keys.count - 1 {
        tableArrays[path, default: 0] += 1
      }
      if let count = tableArrays[path] {
        path = path.appending(.index(count - 1))
        note(path, at: start)
      }
    }
    return path
  }

  /// `key = value`, where the key may be dotted.
  private mutating func scanPair(in table: ConfigurationPath, depth: Int) {
    let start = line
    var path = table
    for key in scanKeys() {
      path = path.appending(key)
      note(path, at: start)
    }
    skipBlanks()
    guard current == UInt8(ascii: "=") else { return }
    advance()
    skipBlanks()
    scanValue(at: path, depth: depth)
  }

  private mutating func note(_ path: ConfigurationPath, at line: Int) {
    if lines[path] == nil { lines[path] = line }
  }

  private mutating func noteHazard(_ expected: String) {
    guard hazard == nil, let byte = current else { return }
    let start = bytes[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // Bytes that continue a code point are no columns of their own.
    let column = bytes[start..<position].count { $0 & 0xC0 != 0x80 } + 1
    let seen =
      byte < 0x20
      ? "the end of the line" : "'\(String(decoding: bytes[position...].prefix(4), as: UTF8.self).prefix(1))'"
    hazard = KeyLocator.Hazard(
      offset: position, line: line, column: column, message: "expected \(expected), saw \(seen)")
  }

  private static func beginsKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "\""),
      UInt8(ascii: "'"):
      true
    default: false
    }
  }

  private mutating func scanKeys() -> [String] {
    var keys: [String] = []
    repeat {
      if !keys.isEmpty { advance() }
      skipBlanks()
      keys.append(scanKey())
      skipBlanks()
    } while current == UInt8(ascii: ".")
    return keys
  }

  private mutating func scanKey() -> String {
    if let byte = current, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return scanString() }
    let start = position
    while let byte = current, !KeyScanner.endsBareKey(byte) { advance() }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func endsBareKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "]"), UInt8(ascii: "["), UInt8(ascii: " "),
      UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "#"), UInt8(ascii: ","),
      UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "\""), UInt8(ascii: "'"):
      true
    default: false
    }
  }

  private mutating func scanValue(at path: ConfigurationPath, depth: Int) {
    guard depth < KeyScanner.nestingMaximum else { return position = bytes.count }
    switch current {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = scanString()
    case UInt8(ascii: "["): scanArray(at: path, depth: depth)
    case UInt8(ascii: "{"): scanInlineTable(at: path, depth: depth)
    default:
      // A bare value ends at a separator; blanks inside belong to a date (`2030-01-01 12:00:00`).
      while let byte = current, ![UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains(byte),
        ![UInt8(ascii: "\n"), UInt8(ascii: "#")].contains(byte)
      { advance() }
    }
  }

  private mutating func scanArray(at path: ConfigurationPath, depth: Int) {
    advance()
    var index = 0
    while true {
      skipSpace()
      guard let byte = current else { return }
      let before = position
      switch byte {
      case UInt8(ascii: "]"): return advance()
      case UInt8(ascii: ","): advance()
      case UInt8(ascii: "}"), 0x80...:
        noteHazard("a value or the ']' of an array")
        advance()
      default:
        let element = path.appending(.index(index))
        note(element, at: line)
        scanValue(at: element, depth: depth + 1)
        index += 1
      }
      if position == before { advance() }
    }
  }

  private mutating func scanInlineTable(at path: ConfigurationPath, depth: Int) {
    advance()
    while true {
      skipSpace()
      guard let byte = current else { return }
      let before = position
      switch byte {
      case UInt8(ascii: "}"): return advance()
      case UInt8(ascii: ","): advance()
      default: scanPair(in: path, depth: depth + 1)
      }
      if position == before { advance() }
    }
  }

  /// Any of the four strings; answers with its content, which only matters for keys.
  private mutating func scanString() -> String {
    guard let quote = current else { return "" }
    let isLong = bytes[position...].starts(with: [quote, quote, quote])
    let hasEscapes = quote == UInt8(ascii: "\"")
    advance(isLong ? 3 : 1)
    var content: [UInt8] = []
    while let byte = current {
      if byte == UInt8(ascii: "\\"), hasEscapes {
        content += scanEscape()
      } else if byte == quote, !isLong {
        advance()
        break
      } else if byte == quote, bytes[position...].starts(with: [quote, quote, quote]) {
        // Up to two quotes may stand directly before the closing three.
        while current == quote { advance() }
        break
      } else if byte == UInt8(ascii: "\n"), !isLong {
        break
      } else {
        content.append(byte)
        advance()
      }
    }
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func scanEscape() -> [UInt8] {
    advance()
    guard let letter = current else { return [] }
    advance()
    switch letter {
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "u"): return scanCodePoint(digits: 4)
    case UInt8(ascii: "U"): return scanCodePoint(digits: 8)
    default: return [letter]
    }
  }

  private mutating func scanCodePoint(digits: Int) -> [UInt8] {
    let end = min(position + digits, bytes.count)
    let number = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
    advance(end - position)
    guard let number, let scalar = Unicode.Scalar(number) else { return [] }
    return Array(String(Character(scalar)).utf8)
  }
}
