internal import Cryptography
public import JSON

/// Why a text is not a filter.
public enum FilterFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not JSON, or JSON of another shape.
  case notJSON(JSONFault)
  /// Bytes that are not UTF-8.
  case notUTF8
  /// A field does not have the required form; the second text says which form that is.
  case badField(String, String)
  /// An unknown field. Ignoring it would answer a wider query than the client sent.
  case unknownField(String)
  /// A field occurs twice.
  case repeatedField(String)

  /// The end of a sentence: `not a filter: its ids is not a list of 64 lower-case hexadecimal digits each`.
  public var description: String {
    switch self {
    case .notJSON(let fault): "not a filter: \(fault)"
    case .notUTF8: "not a filter: it is not UTF-8"
    case .badField(let name, let form): "not a filter: its \(name) is not \(form)"
    case .unknownField(let name): "not a filter: nothing is known of its field \"\(name)\""
    case .repeatedField(let name): "not a filter: it has \"\(name)\" twice"
    }
  }
}

extension Filter {
  /// Reads one filter object from `bytes`, which must contain nothing else but white space around it.
  public init(json bytes: UnsafeRawBufferPointer) throws(FilterFault) {
    do {
      var scanner = JSONScanner(bytes)
      self = try Filter(&scanner)
      try scanner.expectEnd()
      if scanner.hasSeenNonASCII, !bytes.isUTF8 { throw FilterFault.notUTF8 }
    } catch let fault as JSONFault {
      throw .notJSON(fault)
    } catch let fault as FilterFault {
      throw fault
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
  }

  /// Reads one filter object from `json`.
  public init(json: [UInt8]) throws(FilterFault) {
    let result = json.withUnsafeBytes { bytes -> Result<Filter, FilterFault> in
      do throws(FilterFault) { return .success(try Filter(json: bytes)) } catch { return .failure(error) }
    }
    self = try result.get()
  }

  /// Reads the filter that comes next.
  init(_ scanner: inout JSONScanner) throws {
    self.init()
    var seen: Set<String> = []
    try scanner.expect(UInt8(ascii: "{"))
    if try scanner.take(UInt8(ascii: "}")) { return }
    repeat {
      let text = try scanner.scanString()
      guard text.content.count <= Self.nameByteCountMaximum else { throw FilterFault.unknownField("…") }
      let name = text.string(in: scanner.bytes)
      guard seen.insert(name).inserted else { throw FilterFault.repeatedField(name) }
      try scanner.expect(UInt8(ascii: ":"))
      try read(name, &scanner)
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"))
  }

  private static let nameByteCountMaximum = 64

  /// The fields that a filter may have, apart from tags, which are `#` and a letter.
  public static let fieldNames = ["ids", "authors", "kinds", "since", "until", "limit", "search"]

  private mutating func read(_ name: String, _ scanner: inout JSONScanner) throws {
    switch name {
    case "ids":
      ids = try Self.list(name, Self.digits, &scanner) { try Self.octets(name, &$0) }.map(EventID.init)
    case "authors":
      authors = try Self.list(name, Self.digits, &scanner) { try Self.octets(name, &$0) }.map(PublicKey.init)
    case "kinds": kinds = try Self.list(name, "numbers from 0 to 65535", &scanner, Self.kind)
    case "since": since = try Self.number(name, "a whole number of seconds since 1970", &scanner)
    case "until": until = try Self.number(name, "a whole number of seconds since 1970", &scanner)
    case "limit": limit = Int(try Self.number(name, "a whole number from 0", &scanner))
    case "search": search = try Self.searchText(&scanner)
    default:
      guard name.utf8.first == UInt8(ascii: "#"), let letter = TagLetter(String(name.dropFirst())) else {
        throw FilterFault.unknownField(name)
      }
      tags[letter] = try Self.list(name, "texts", &scanner, Self.tagValue)
    }
  }

  private static func list<Value>(
    _ name: String, _ form: String, _ scanner: inout JSONScanner, _ element: (inout JSONScanner) throws -> Value?
  ) throws -> [Value] {
    let fault = FilterFault.badField(name, "a list of \(form)")
    guard try scanner.take(UInt8(ascii: "[")) else { throw fault }
    var values: [Value] = []
    if try scanner.take(UInt8(ascii: "]")) { return values }
    repeat {
      guard let value = try element(&scanner) else { throw fault }
      guard values.count < valueCountMaximum else {
        throw FilterFault.badField(name, "a list of at most \(valueCountMaximum) values")
      }
      values.append(value)
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    return values
  }

  private static let digits = "64 lower-case hexadecimal digits each"

  private static func octets(_ name: String, _ scanner: inout JSONScanner) throws -> Octets32? {
    guard try scanner.peek() == UInt8(ascii: "\"") else { return nil }
    let text = try scanner.scanString()
    guard !text.hasEscapes, text.content.count == 64, let base = scanner.bytes.baseAddress else {
      let reference: TagReference = name == "ids" ? .event : .key
      guard let hint = reference.misspelling(text.string(in: scanner.bytes)) else { return nil }
      throw FilterFault.badField(name, "a list of \(digits); \(hint)")
    }
    return Octets32(hexadecimalAt: base + text.content.lowerBound)
  }

  /// Refuses tag values that refer to keys, events and addresses in the form that people use (NIP-19): no event has
  /// that form in its tags, so such a filter would find nothing, without a message.
  ///
  /// Not for filters of strangers: NIP-01 permits any text.
  ///
  /// - Throws: `badField`, with the value to write instead.
  public func checkReferences() throws(FilterFault) {
    for (letter, values) in tags.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      guard let reference = TagReference(tagName: "\(letter)") else { continue }
      for value in values {
        guard let hint = reference.misspelling("\(value)") else { continue }
        throw .badField("#\(letter)", "a list in which each is \(reference.form); \(hint)")
      }
    }
  }

  private static func kind(_ scanner: inout JSONScanner) throws -> UInt16? {
    guard try scanner.peek() &- 0x30 < 10 else { return nil }
    do throws(JSONFault) { return UInt16(exactly: try scanner.scanUnsignedInteger()) } catch {
      if error.problem == .badNumber { return nil }
      throw error
    }
  }

  private static func tagValue(_ scanner: inout JSONScanner) throws -> TagValue? {
    guard try scanner.peek() == UInt8(ascii: "\"") else { return nil }
    let text = try scanner.scanString()
    guard text.hasEscapes else { return TagValue(utf8: Array(scanner.bytes[text.content])) }
    var value: [UInt8] = []
    try text.unescape(in: scanner.bytes, into: &value, loneSurrogates: .refused)
    return TagValue(utf8: value)
  }

  private static func number(_ name: String, _ form: String, _ scanner: inout JSONScanner) throws -> Int64 {
    guard try scanner.peek() &- 0x30 < 10 else { throw FilterFault.badField(name, form) }
    do throws(JSONFault) { return Int64(try scanner.scanUnsignedInteger()) } catch {
      if error.problem == .badNumber { throw FilterFault.badField(name, form) }
      throw error
    }
  }

  private static func searchText(_ scanner: inout JSONScanner) throws -> String {
    guard try scanner.peek() == UInt8(ascii: "\"") else { throw FilterFault.badField("search", "a text") }
    let text = try scanner.scanString()
    guard text.content.count <= searchByteCountMaximum else {
      throw FilterFault.badField("search", "a text of at most \(searchByteCountMaximum) bytes")
    }
    return text.string(in: scanner.bytes)
  }

  // MARK: Writing

  /// The filter as JSON, with fields in a fixed order, so that equal filters give equal bytes.
  public var json: [UInt8] {
    var json = [UInt8(ascii: "{")]
    Self.append("ids", ids, to: &json) { Self.append($0.octets, to: &$1) }
    Self.append("authors", authors, to: &json) { Self.append($0.octets, to: &$1) }
    Self.append("kinds", kinds, to: &json) { $1.append(contentsOf: "\($0)".utf8) }
    for (letter, values) in tags.sorted(by: { $0.key < $1.key }) {
      Self.append("#\(letter)", values, to: &json) { JSONString.append(utf8: $0.utf8, to: &$1) }
    }
    for (name, number) in [("since", since), ("until", until), ("limit", limit.map(Int64.init))] {
      guard let number else { continue }
      Self.begin(name, &json)
      json.append(contentsOf: "\(number)".utf8)
    }
    if let search {
      Self.begin("search", &json)
      JSONString.append(search, to: &json)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  private static func begin(_ name: String, _ json: inout [UInt8]) {
    if json.count > 1 { json.append(UInt8(ascii: ",")) }
    JSONString.append(name, to: &json)
    json.append(UInt8(ascii: ":"))
  }

  private static func append<Value>(
    _ name: String, _ values: [Value]?, to json: inout [UInt8], _ element: (Value, inout [UInt8]) -> Void
  ) {
    guard let values else { return }
    begin(name, &json)
    json.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      element(value, &json)
    }
    json.append(UInt8(ascii: "]"))
  }

  private static func append(_ octets: Octets32, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    octets.appendHexadecimal(to: &json)
    json.append(UInt8(ascii: "\""))
  }
}
