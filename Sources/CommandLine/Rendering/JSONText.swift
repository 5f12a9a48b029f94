/// JSON as text: checked and taken apart without being read into values, so that what passes through keeps its every
/// digit and the order of its keys.
public struct JSONText: Sendable {
  /// A value's place in the text, and what is in it.
  public indirect enum Node: Sendable {
    /// A string, number, `true`, `false` or `null`.
    case scalar(Range<Int>)
    /// A list.
    case array([Node])
    /// An object: keys with their quotes, and values, in their order.
    case object([(key: Range<Int>, value: Node)])
  }

  /// Why a text is not JSON.
  public struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The byte at which it stops being JSON, from 0.
    public let offset: Int
    /// What is wrong there.
    public let reason: String
    /// `at byte 17: a value is missing`.
    public var description: String { "at byte \(offset): \(reason)" }
  }

  /// The text.
  public let bytes: [UInt8]
  /// The whole value.
  public let root: Node

  /// Deepest nesting accepted.
  public static let depthMaximum = 128

  /// Checks `bytes`: one JSON value, with blanks around it at most.
  public init(_ bytes: [UInt8]) throws(Problem) {
    var scanner = JSONTextScanner(bytes)
    root = try scanner.wholeValue()
    self.bytes = bytes
  }

  /// A node's text without blanks between its parts.
  public func compact(_ node: Node) -> [UInt8] {
    var result: [UInt8] = []
    write(node, to: &result)
    return result
  }

  /// The whole text on one line, without blanks between its parts.
  public var compact: [UInt8] { compact(root) }

  private func write(_ node: Node, to result: inout [UInt8]) {
    switch node {
    case .scalar(let range): result += bytes[range]
    case .array(let elements):
      result.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { result.append(UInt8(ascii: ",")) }
        write(element, to: &result)
      }
      result.append(UInt8(ascii: "]"))
    case .object(let members):
      result.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { result.append(UInt8(ascii: ",")) }
        result += bytes[member.key]
        result.append(UInt8(ascii: ":"))
        write(member.value, to: &result)
      }
      result.append(UInt8(ascii: "}"))
    }
  }

  /// The member of the outermost object with this name, which has no escapes in it; the last
  /// one when there are several.
  public subscript(name: String) -> Node? {
    guard case .object(let members) = root else { return nil }
    let key = Array("\"\(name)\"".utf8)
    return members.last { bytes[$0.key].elementsEqual(key) }?.value
  }
}

/// The grammar of RFC 8259, byte by byte.
struct JSONTextScanner {
  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func wholeValue() throws(JSONText.Problem) -> JSONText.Node {
    let node = try value()
    skipBlanks()
    guard index == bytes.count else { throw problem("there is more after the end of the value") }
    return node
  }

  private func problem(_ reason: String) -> JSONText.Problem { JSONText.Problem(offset: index, reason: reason) }
  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipBlanks() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  private mutating func value() throws(JSONText.Problem) -> JSONText.Node {
    skipBlanks()
    let start = index
    guard let byte else { throw problem("the text ends where a value should be") }
    switch byte {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw problem("this is not the start of a value")
    }
    return .scalar(start..<index)
  }

  private mutating func enter() throws(JSONText.Problem) {
    depth += 1
    guard depth <= JSONText.depthMaximum else { throw problem("nested more than \(JSONText.depthMaximum) deep") }
    index += 1
    skipBlanks()
  }

  private mutating func array() throws(JSONText.Problem) -> JSONText.Node {
    try enter()
    var elements: [JSONText.Node] = []
    while byte != UInt8(ascii: "]") {
      if !elements.isEmpty { try take(UInt8(ascii: ","), "a comma or ']' is missing") }
      elements.append(try value())
      skipBlanks()
    }
    index += 1
    depth -= 1
    return .array(elements)
  }

  private mutating func object() throws(JSONText.Problem) -> JSONText.Node {
    try enter()
    var members: [(key: Range<Int>, value: JSONText.Node)] = []
    while byte != UInt8(ascii: "}") {
      if !members.isEmpty { try take(UInt8(ascii: ","), "a comma or '}' is missing") }
      skipBlanks()
      let start = index
      guard byte == UInt8(ascii: "\"") else { throw problem("a key in quotes is missing") }
      try string()
      let key = start..<index
      skipBlanks()
      try take(UInt8(ascii: ":"), "a colon is missing after the key")
      members.append((key, try value()))
      skipBlanks()
    }
    index += 1
    depth -= 1
    return .object(members)
  }

  private mutating func take(_ expected: UInt8, _ reason: String) throws(JSONText.Problem) {
    guard byte == expected else { throw problem(reason) }
    index += 1
  }

  private mutating func word(_ word: StaticString) throws(JSONText.Problem) {
    let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard bytes[index...].starts(with: letters) else { throw problem("this is not the start of a value") }
    index += letters.count
  }

  private mutating func string() throws(JSONText.Problem) {
    let start = index
    index += 1
    while let byte, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw problem("a string contains an unescaped control character") }
      index += 1
      if byte == UInt8(ascii: "\\") { try escape() }
    }
    guard byte != nil else { throw problem("a string does not end") }
    index += 1
    guard String(validating: bytes[start..<index], as: UTF8.self) != nil else {
      throw JSONText.Problem(offset: start, reason: "a string is not UTF-8")
    }
  }

  private mutating func escape() throws(JSONText.Problem) {
    guard let byte, Self.escapes.contains(byte) else { throw problem("no such escape in a string") }
    index += 1
    guard byte == UInt8(ascii: "u") else { return }
    for _ in 0..<4 {
      guard let digit = self.byte, Character(Unicode.Scalar(digit)).isHexDigit else {
        throw problem("four hexadecimal digits follow \\u")
      }
      index += 1
    }
  }

  private static let escapes = Set("\"\\/bfnrtu".utf8)

  private mutating func number() throws(JSONText.Problem) {
    if byte == UInt8(ascii: "-") { index += 1 }
    if byte == UInt8(ascii: "0") { index += 1 } else { try digits() }
    if byte == UInt8(ascii: ".") {
      index += 1
      try digits()
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      index += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { index += 1 }
      try digits()
    }
  }

  private mutating func digits() throws(JSONText.Problem) {
    let start = index
    while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    guard index > start else { throw problem("a digit is missing") }
  }
}
