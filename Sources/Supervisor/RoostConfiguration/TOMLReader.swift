// A strict reader of TOML 1.0, https://toml.io/en/v1.0.0.
//
//     bytes ─ TOMLSource ─ TOMLReader ─ TOMLDocument ─ tree of values, and the place of each
//             UTF-8,       one walk,
//             no controls  one rule a function
//
// The reader is Roost's own for two reasons. A process that must stay small reads its configuration at the start, and
// reads it again while it must not end. And most mistakes in a configuration are mistakes of meaning: the lines and
// columns of keys and values are needed long after the syntax was found good. docs/decisions has the measurements.
//
// Where TOML leaves a choice: line ends within strings become LF, so that a file means the same however it was saved; a
// byte order mark is skipped; integers have 64 bits; a number too great for a Double is refused and does not become
// infinite; two keys that Unicode calls equivalent (é in one code point and in two) are one key, because a person could
// not tell them apart. Nothing of TOML 1.1 is accepted.

/// Reads TOML, and stops at the first fault.
///
/// The reader recurses only into brackets and braces, and ``nestingMaximum`` bounds that.
package struct TOMLReader {
  /// Steps from the top to the deepest value; keys and array places both count.
  package static let nestingMaximum = 32

  let source: TOMLSource
  var position = 0
  var document: TOMLDocument

  private init(_ source: TOMLSource) {
    self.source = source
    document = TOMLDocument(source: source)
  }

  /// Reads a whole text.
  ///
  /// - Throws: ``TOMLFault``, with the first place at which the text is not TOML.
  package static func document(of bytes: [UInt8]) throws(TOMLFault) -> TOMLDocument {
    var reader = TOMLReader(try TOMLSource(bytes))
    try reader.readDocument()
    return reader.document
  }

  private mutating func readDocument() throws(TOMLFault) {
    if source.bytes.starts(with: TOMLSource.byteOrderMark) { position = TOMLSource.byteOrderMark.count }
    var table = 0
    while true {
      skipSpace()
      switch current {
      case nil: return
      case "[": table = try readHeader()
      default: try readPair(into: table)
      }
      try expectEndOfLine()
    }
  }

  /// `[a.b]` or `[[a.b]]`; returns the table that the following keys belong to.
  private mutating func readHeader() throws(TOMLFault) -> Int {
    let isElement = looksAt("[[")
    position += isElement ? 2 : 1
    let keys = try readKeys()
    guard take("]") else { throw unexpected("'.' or the ']' of the header") }
    // Nothing may be between the two brackets, not even a blank.
    if isElement, !take("]") { throw unexpected("the second ']' of the header") }
    return isElement ? try addElement(keys) : try defineTable(keys)
  }

  /// `key = value`, where the key may be dotted.
  mutating func readPair(into table: Int) throws(TOMLFault) {
    let keys = try readKeys()
    guard take("=") else { throw unexpected("'=' after the key \(TOMLReader.written(keys[...]))") }
    skipBlanks()
    let (parent, key) = try reserve(keys, in: table)
    let value = try readValue(keyOffset: key.offset, depth: document.nodes[parent].depth + 1)
    document.nodes[parent].entries[key.text] = value
  }

  private mutating func expectEndOfLine() throws(TOMLFault) {
    skipBlanks()
    if current == "#" { skipRemark() }
    guard takeLineEnd() || current == nil else { throw unexpected("the end of the line or a '#'") }
  }

  // MARK: Keys

  /// One part of a dotted key, and where it begins.
  struct Key {
    let text: String
    let offset: Int
  }

  /// A key, bare, quoted or dotted, with the blanks around its parts; at least one part.
  private mutating func readKeys() throws(TOMLFault) -> [Key] {
    var keys: [Key] = []
    repeat {
      skipBlanks()
      let start = position
      keys.append(Key(text: try readKey(), offset: start))
      skipBlanks()
    } while take(".")
    return keys
  }

  private mutating func readKey() throws(TOMLFault) -> String {
    if looksAt("\"\"\"") || looksAt("'''") { throw fault("a key cannot be a string of several lines") }
    if current == "\"" || current == "'" { return try readString() }
    let start = position
    while let current, TOMLReader.isBare(current) { position += 1 }
    guard position > start else {
      let hint = isBeyondASCII ? "; a key with other letters than a to z needs quotes" : ""
      throw unexpected("a key", hint)
    }
    return text(start..<position)
  }

  private static func isBare(_ letter: Unicode.Scalar) -> Bool {
    switch letter {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
    default: false
    }
  }

  /// Keys in the form for a complaint: `'a."b c"'`.
  static func written(_ keys: ArraySlice<Key>) -> String { "'" + path(keys) + "'" }

  static func path(_ keys: ArraySlice<Key>) -> String {
    ConfigurationPath(steps: keys.map { .key($0.text) }).description
  }

  // MARK: The walk

  /// The next byte, as a code point, so that the code can contain the grammar's letters as they are written. Everything
  /// that has a meaning in TOML is ASCII; a greater byte is part of a longer code point and equals none of those
  /// letters.
  var current: Unicode.Scalar? { letter(at: position) }

  func letter(at offset: Int) -> Unicode.Scalar? {
    offset < source.bytes.count ? Unicode.Scalar(source.bytes[offset]) : nil
  }

  var isBeyondASCII: Bool { current.map { $0.value >= 0x80 } ?? false }

  func looksAt(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { source.bytes[position...].starts(with: $0) }
  }

  /// Skips `letter` if it comes next.
  mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard current == letter else { return false }
    position += 1
    return true
  }

  /// Skips LF or CR LF if it comes next. The source has no other CR.
  mutating func takeLineEnd() -> Bool {
    if current == "\r" { position += 1 }
    return take("\n")
  }

  mutating func skipBlanks() {
    while current == " " || current == "\t" { position += 1 }
  }

  /// Skips blanks, line ends and comments: all that may be between two lines, or between two elements of an array.
  mutating func skipSpace() {
    while true {
      skipBlanks()
      if current == "#" { skipRemark() }
      guard takeLineEnd() else { return }
    }
  }

  private mutating func skipRemark() {
    while let current, current != "\n" { position += 1 }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: source.bytes[range], as: UTF8.self) }

  // MARK: Complaints

  /// A fault at the next byte, or at `offset`.
  func fault(_ message: String, at offset: Int? = nil) -> TOMLFault {
    source.fault(message, at: offset ?? position)
  }

  /// The fault that the text continues with something other than `expected`.
  func unexpected(_ expected: String, _ hint: String = "") -> TOMLFault {
    fault("expected \(expected), saw \(source.description(at: position))\(hint)")
  }
}
