/// JSON as text: checked and split into its parts without conversion to values, so that text which only passes through
/// keeps every digit and the order of its keys.
public struct JSONText: Sendable {
  /// A value's place in the text, and its contents.
  public indirect enum Node: Sendable {
    /// A string, number, `true`, `false` or `null`.
    case scalar(Range<Int>)
    /// A list.
    case array([Node])
    /// An object: keys with their quotes, and values, in order.
    case object([(key: Range<Int>, value: Node)])
  }

  /// The text.
  public let bytes: [UInt8]
  /// The whole value.
  public let root: Node

  /// Deepest nesting that is accepted.
  public static let depthMaximum = 128

  /// Checks `bytes`: one JSON value in UTF-8, with nothing but white space around it.
  public init(_ bytes: [UInt8]) throws(JSONFault) {
    let read = bytes.withUnsafeBytes { Self.read($0) }
    root = try read.get()
    self.bytes = bytes
  }

  private static func read(_ bytes: UnsafeRawBufferPointer) -> Result<Node, JSONFault> {
    var scanner = JSONScanner(bytes, depthMaximum: depthMaximum)
    do throws(JSONFault) {
      let root = try node(&scanner)
      try scanner.expectEnd()
      if scanner.hasSeenNonASCII { try checkUTF8(bytes) }
      return .success(root)
    } catch { return .failure(error) }
  }

  private static func node(_ scanner: inout JSONScanner) throws(JSONFault) -> Node {
    switch try scanner.peek() {
    case UInt8(ascii: "{"):
      var members: [(key: Range<Int>, value: Node)] = []
      try scanner.readObject { name, scanner throws(JSONFault) in
        members.append((name.content.lowerBound - 1..<name.content.upperBound + 1, try node(&scanner)))
      }
      return .object(members)
    case UInt8(ascii: "["):
      var elements: [Node] = []
      try scanner.readArray { scanner throws(JSONFault) in elements.append(try node(&scanner)) }
      return .array(elements)
    default: return .scalar(try scanner.skipValue())
    }
  }

  private static func checkUTF8(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) {
    do throws(UTF8.ValidationError) { _ = try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span) } catch {
      throw JSONFault(.notUTF8, at: error.byteOffsets.lowerBound)
    }
  }

  /// A node's text without white space between its parts.
  public func compact(_ node: Node) -> [UInt8] {
    var result: [UInt8] = []
    write(node, to: &result)
    return result
  }

  /// The whole text on one line, without white space between its parts.
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

  /// The member of the outermost object with this name, whose key must have no escapes; the last one if there are
  /// several.
  public subscript(name: String) -> Node? {
    guard case .object(let members) = root else { return nil }
    let key = Array("\"\(name)\"".utf8)
    return members.last { bytes[$0.key].elementsEqual(key) }?.value
  }
}
