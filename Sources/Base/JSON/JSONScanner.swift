// JSON without a tree.
//
// A relay's message is read once, from left to right, over the bytes as they arrived: the wanted parts (a label, an id)
// are extracted, the rest (the event itself) is skipped and described by its range. Nothing is copied or allocated, and
// the original bytes stay unchanged. That matters here, because the hash is computed over the bytes of an event.
//
// The grammar is RFC 8259, strictly: with a lenient reader in front of a strict one, two programs can see two different
// events in one text. Limits: the depth, because the scanner calls itself for each level, and the caller's buffer,
// beyond which no byte is read. UTF-8 is not checked here: a WebSocket text message has been checked already, a file
// has not.
//
// Rejected: FoundationEssentials' JSONDecoder (25 times slower, and it does not keep the bytes), simdjson (as fast as
// this needs to be, but a C++ library with padding rules of its own, for a grammar of one page).

/// Why a text is not the JSON that was expected, and where.
public struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of fault.
  public enum Problem: Hashable, Sendable {
    /// The text ends too early.
    case endOfText
    /// This was expected, but another byte is there: `':'`, `a value`, `the end`.
    case expected(String)
    /// A byte below 0x20 inside a string.
    case controlCharacter
    /// A backslash followed by something that is not an escape.
    case badEscape
    /// A `\uD800`…`\uDFFF` that is not half of a pair.
    case loneSurrogate
    /// Arrays and objects are nested deeper than this.
    case tooDeep(Int)
    /// Bytes that are not UTF-8.
    case notUTF8
    /// A malformed number, or one outside the requested range.
    case badNumber
  }

  /// What is wrong.
  public let problem: Problem
  /// The offset of the offending byte from the start of the caller's buffer.
  public let byteOffset: Int

  /// A fault at a byte.
  public init(_ problem: Problem, at byteOffset: Int) {
    self.problem = problem
    self.byteOffset = byteOffset
  }

  /// `expected ':' at byte 17`.
  public var description: String {
    let what =
      switch problem {
      case .endOfText: "the text ends too early"
      case .expected(let thing): "expected \(thing)"
      case .controlCharacter: "a control character inside a string"
      case .badEscape: "an unknown escape"
      case .loneSurrogate: #"a \ud800 to \udfff, half of a surrogate pair and no character,"#
      case .tooDeep(let depthMaximum): "more than \(depthMaximum) levels of nesting"
      case .notUTF8: "not UTF-8"
      case .badNumber: "not a number that can stand here"
      }
    return "\(what) at byte \(byteOffset)"
  }
}

/// Reads JSON from left to right over bytes it does not own.
///
/// The buffer must stay valid while the scanner is used; every range it returns is in offsets from the buffer's start.
/// After a fault the position is unspecified: do not read on.
@frozen
public struct JSONScanner {
  /// The text.
  public let bytes: UnsafeRawBufferPointer
  /// The offset of the next byte to be read.
  @inlinable public var position: Int { offset }
  /// Bytes of white space passed so far.
  @inlinable public var whiteSpaceByteCount: Int { blankCount }
  /// Whether a string so far had a byte above 0x7F, so that the text may not be valid UTF-8.
  @inlinable public var hasSeenNonASCII: Bool { sawNonASCII }

  @usableFromInline var offset: Int
  @usableFromInline var blankCount = 0
  @usableFromInline var sawNonASCII = false
  /// How many of the arrays and objects that ``readArray(_:)`` and ``readObject(_:)`` entered are still open.
  @usableFromInline var depth = 0
  @usableFromInline let depthMaximum: Int

  /// Deepest nesting of arrays and objects that the scanner follows. An event inside a relay message needs four.
  public static let depthMaximum = 64

  /// A scanner at `position` of `bytes`.
  @inlinable
  public init(
    _ bytes: UnsafeRawBufferPointer, at position: Int = 0, depthMaximum: Int = JSONScanner.depthMaximum
  ) {
    precondition(position >= 0 && position <= bytes.count, "a scanner starts inside its text")
    self.bytes = bytes
    self.offset = position
    self.depthMaximum = depthMaximum
  }

  // MARK: Structure

  /// The next byte that is not white space, without passing it.
  @inlinable @inline(__always)
  public mutating func peek() throws(JSONFault) -> UInt8 {
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte > 0x20 { return byte }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
      offset += 1
      blankCount += 1
    }
    if offset < bytes.count { throw JSONFault(.expected("a value"), at: offset) }
    throw JSONFault(.endOfText, at: offset)
  }

  /// Passes `byte` if it comes next, after white space; returns whether it did.
  @inlinable @inline(__always)
  public mutating func take(_ byte: UInt8) throws(JSONFault) -> Bool {
    guard try peek() == byte else { return false }
    offset += 1
    return true
  }

  /// Passes `byte`, which must come next after white space.
  @inlinable @inline(__always)
  public mutating func expect(_ byte: UInt8) throws(JSONFault) {
    guard try take(byte) else {
      throw JSONFault(.expected("'\(Character(UnicodeScalar(byte)))'"), at: offset)
    }
  }

  /// Makes sure that nothing but white space follows.
  public mutating func expectEnd() throws(JSONFault) {
    while offset < bytes.count {
      let byte = bytes[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
        throw JSONFault(.expected("the end"), at: offset)
      }
      offset += 1
    }
  }

  // MARK: Scalars

  /// Reads a string without copying or unescaping its contents.
  @inlinable
  public mutating func scanString() throws(JSONFault) -> JSONString {
    guard try take(UInt8(ascii: "\"")) else { throw JSONFault(.expected("a string"), at: offset) }
    let start = offset
    var hasEscapes = false
    var isCanonical = true
    while true {
      skipPlainBytes()
      guard offset < bytes.count else { throw JSONFault(.endOfText, at: offset) }
      switch bytes[offset] {
      case UInt8(ascii: "\""):
        offset += 1
        return JSONString(content: start..<(offset - 1), hasEscapes: hasEscapes, isCanonical: isCanonical)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        if try !skipEscape() { isCanonical = false }
      case 0..<0x20: throw JSONFault(.controlCharacter, at: offset)
      default:
        if bytes[offset] > 0x7F { sawNonASCII = true }
        offset += 1
      }
    }
  }

  /// Passes bytes that stand for themselves in a string, eight at a time; most of an event is such bytes. May stop
  /// early, near the end of the text.
  @inlinable @inline(__always)
  mutating func skipPlainBytes() {
    guard let base = bytes.baseAddress else { return }
    var seen: UInt64 = 0
    while offset + 8 <= bytes.count {
      let word = UInt64(littleEndian: (base + offset).loadUnaligned(as: UInt64.self))
      // In each of the three terms, a byte's top bit is set if the byte matches. A borrow may also set it in bytes
      // above the first match, never below.
      let quote = word ^ Self.eachByte(0x22)
      let backslash = word ^ Self.eachByte(0x5C)
      let found =
        ((quote &- Self.eachByte(1)) & ~quote | (backslash &- Self.eachByte(1)) & ~backslash
          | (word &- Self.eachByte(0x20)) & ~word) & Self.eachByte(0x80)
      if found == 0 {
        seen |= word
        offset += 8
        continue
      }
      let plainBits = found.trailingZeroBitCount & ~7
      offset += plainBits / 8
      seen |= word & ((1 << UInt64(plainBits)) &- 1)
      break
    }
    if seen & Self.eachByte(0x80) != 0 { sawNonASCII = true }
  }

  @inlinable @inline(__always)
  static func eachByte(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }

  /// Reads `true` or `false`.
  public mutating func scanBoolean() throws(JSONFault) -> Bool {
    switch try peek() {
    case UInt8(ascii: "t"):
      try skipWord("true")
      return true
    case UInt8(ascii: "f"):
      try skipWord("false")
      return false
    default: throw JSONFault(.expected("true or false"), at: offset)
    }
  }

  /// Any number of this many digits fits into an `Int`.
  @usableFromInline static let safeDigitCount = 18

  /// Reads an integer from 0 to 2^63-1, written in digits only, as NIP-01 writes kinds and times.
  @inlinable
  public mutating func scanUnsignedInteger() throws(JSONFault) -> Int {
    guard isDigit(try peek()) else { throw JSONFault(.expected("a whole number"), at: offset) }
    let start = offset
    var value = 0
    while offset < bytes.count, isDigit(bytes[offset]) {
      let digit = Int(bytes[offset] &- 0x30)
      if offset - start < Self.safeDigitCount {
        value = value &* 10 &+ digit
      } else {
        let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
        let (sum, carried) = product.addingReportingOverflow(digit)
        if overflowed || carried { throw JSONFault(.badNumber, at: start) }
        value = sum
      }
      offset += 1
    }
    if bytes[start] == 0x30, offset - start > 1 { throw JSONFault(.badNumber, at: start) }
    if offset < bytes.count, isNumberTail(bytes[offset]) { throw JSONFault(.badNumber, at: start) }
    return value
  }

  // MARK: Short cuts

  /// Passes `count` bytes if they equal those of `text`, whose first byte is the lowest; returns whether it did. May
  /// return false near the end of the text even if they are equal.
  @inlinable @inline(__always)
  public mutating func takeExactly(_ text: UInt64, _ count: Int) -> Bool {
    guard offset + 8 <= bytes.count, let base = bytes.baseAddress else { return false }
    let word = UInt64(littleEndian: (base + offset).loadUnaligned(as: UInt64.self))
    guard (word ^ text) << UInt64(64 - 8 * count) == 0 else { return false }
    offset += count
    return true
  }

  /// The same for a text of more than eight bytes.
  @inlinable @inline(__always)
  public mutating func takeExactly(_ text: UInt64, _ count: Int, _ rest: UInt64, _ restCount: Int) -> Bool {
    let start = offset
    if takeExactly(text, count) && takeExactly(rest, restCount) { return true }
    offset = start
    return false
  }

  /// The address of `count` bytes between two quotes at this position; nil if the quotes are not there. The bytes
  /// themselves are not checked.
  @inlinable @inline(__always)
  public func quoted(_ count: Int) -> UnsafeRawPointer? {
    guard offset + count + 2 <= bytes.count, bytes[offset] == UInt8(ascii: "\""),
      bytes[offset + count + 1] == UInt8(ascii: "\"")
    else { return nil }
    return bytes.baseAddress.map { $0 + offset + 1 }
  }

  /// Passes what ``quoted(_:)`` found.
  @inlinable @inline(__always)
  public mutating func skipQuoted(_ count: Int) { offset += count + 2 }

  // MARK: Arrays and objects

  /// Reads an object, which must come next. Gives each member's name to `body`, which must pass the value.
  @inlinable
  public mutating func readObject(
    _ body: (JSONString, inout JSONScanner) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    try enter(UInt8(ascii: "{"))
    if try !take(UInt8(ascii: "}")) {
      repeat {
        let name = try scanString()
        try expect(UInt8(ascii: ":"))
        try body(name, &self)
      } while try take(UInt8(ascii: ","))
      try expect(UInt8(ascii: "}"))
    }
    depth -= 1
  }

  /// Reads an array, which must come next. Calls `body` for each value; it must pass one value each time.
  @inlinable
  public mutating func readArray(_ body: (inout JSONScanner) throws(JSONFault) -> Void) throws(JSONFault) {
    try enter(UInt8(ascii: "["))
    if try !take(UInt8(ascii: "]")) {
      repeat { try body(&self) } while try take(UInt8(ascii: ","))
      try expect(UInt8(ascii: "]"))
    }
    depth -= 1
  }

  @inlinable
  mutating func enter(_ opening: UInt8) throws(JSONFault) {
    try expect(opening)
    if depth == depthMaximum { throw JSONFault(.tooDeep(depthMaximum), at: offset - 1) }
    depth += 1
  }

  // MARK: Skipping

  /// Passes one value of any kind and returns its range, without the white space before it.
  @discardableResult
  public mutating func skipValue() throws(JSONFault) -> Range<Int> {
    let first = try peek()
    let start = offset
    switch first {
    case UInt8(ascii: "\""): _ = try scanString()
    case UInt8(ascii: "{"): try readObject { _, scanner throws(JSONFault) in try scanner.skipValue() }
    case UInt8(ascii: "["): try readArray { scanner throws(JSONFault) in try scanner.skipValue() }
    case UInt8(ascii: "t"): try skipWord("true")
    case UInt8(ascii: "f"): try skipWord("false")
    case UInt8(ascii: "n"): try skipWord("null")
    default: try skipNumber()
    }
    return start..<offset
  }

  private mutating func skipWord(_ word: StaticString) throws(JSONFault) {
    let start = offset
    for index in 0..<word.utf8CodeUnitCount {
      guard offset < bytes.count else { throw JSONFault(.endOfText, at: offset) }
      guard bytes[offset] == word.utf8Start[index] else { throw JSONFault(.expected("a value"), at: start) }
      offset += 1
    }
    if offset < bytes.count, isNumberTail(bytes[offset]) { throw JSONFault(.expected("a value"), at: start) }
  }

  private mutating func skipNumber() throws(JSONFault) {
    let start = offset
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    let whole = skipDigits()
    if whole == 0 { throw JSONFault(.expected("a value"), at: start) }
    if whole > 1, bytes[offset - whole] == 0x30 { throw JSONFault(.badNumber, at: start) }
    if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
      offset += 1
      if skipDigits() == 0 { throw JSONFault(.badNumber, at: start) }
    }
    if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
        offset += 1
      }
      if skipDigits() == 0 { throw JSONFault(.badNumber, at: start) }
    }
    if offset < bytes.count, isNumberTail(bytes[offset]) { throw JSONFault(.badNumber, at: start) }
  }

  private mutating func skipDigits() -> Int {
    let start = offset
    while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
    return offset - start
  }

  /// At a backslash: passes the escape, after checking that it is one. Surrogate pairs are checked when the string is
  /// unescaped.
  ///
  /// - Returns: whether the escape is written as NIP-01 requires.
  @inlinable @inline(__always)
  mutating func skipEscape() throws(JSONFault) -> Bool {
    guard offset + 1 < bytes.count else { throw JSONFault(.endOfText, at: bytes.count) }
    let letter = bytes[offset + 1]
    // Tested first, and not through a jump table, which processors predict badly: nearly all escapes are one of these.
    if letter == UInt8(ascii: "n") || letter == UInt8(ascii: "\"") || letter == UInt8(ascii: "\\") {
      offset += 2
      return true
    }
    switch letter {
    case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      offset += 2
      return true
    case UInt8(ascii: "/"):
      offset += 2
      return false
    case UInt8(ascii: "u"): return try skipUnicodeEscape()
    default: throw JSONFault(.badEscape, at: offset)
    }
  }

  @usableFromInline
  mutating func skipUnicodeEscape() throws(JSONFault) -> Bool {
    let start = offset
    offset += 2
    var unit: UInt16 = 0
    var isLowerCase = true
    for _ in 0..<4 {
      guard offset < bytes.count else { throw JSONFault(.endOfText, at: offset) }
      guard let digit = hexadecimalValue(bytes[offset]) else { throw JSONFault(.badEscape, at: start) }
      if bytes[offset] &- 0x41 < 6 { isLowerCase = false }
      unit = unit << 4 | UInt16(digit)
      offset += 1
    }
    // Control characters that have no short escape.
    return isLowerCase && unit < 0x20 && ![0x08, 0x09, 0x0A, 0x0C, 0x0D].contains(unit)
  }

  @inlinable @inline(__always)
  func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// Bytes that would join two tokens into one: `12x`, `truefalse`, `1.2.3`.
  @inlinable
  func isNumberTail(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte | 0x20) &- 0x61 < 26 || byte == 0x2E || byte == 0x2B || byte == 0x2D
  }
}

/// The value of a hexadecimal digit of either case; nil for any other byte.
@inline(__always)
func hexadecimalValue(_ byte: UInt8) -> UInt8? {
  if byte &- 0x30 < 10 { return byte &- 0x30 }
  let letter = (byte | 0x20) &- 0x61
  return letter < 6 ? letter + 10 : nil
}
