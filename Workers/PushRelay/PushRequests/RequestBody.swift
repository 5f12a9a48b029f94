public import Frames
internal import JSON
internal import Nostr

// A body is read once, strictly, into a small tree: UTF-8, an object at the top, exactly RFC 8259, no repeated member,
// at most 16 levels, no number too large for a Double. Unknown members are ignored. Known members are read by their
// type, so that the refusal names the wrong field and the reason.
//
// Rejected: JSONDecoder alone. It guesses UTF-16, silently takes one of two members of the same name, and checks no
// numbers in members that are not decoded. The tests compare this reader with it and with `JSONFlaw`.

/// The JSON object in a request's body.
public struct RequestBody: Hashable, Sendable {
  /// The members, by name.
  public let members: [String: JSONValue]

  /// Most bytes of a body, other than contacts and rules, which are lists (``PushRoute/listByteCountMaximum``).
  public static let byteCountMaximum = 16_384
  /// Deepest nesting; the object itself is the first level.
  public static let depthMaximum = 16
  /// Letters of a member's name that an error message repeats.
  private static let nameLengthMaximum = 64

  /// An empty object.
  public init() { members = [:] }

  /// A part of a body: the object in a member.
  init(part members: [String: JSONValue]) { self.members = members }

  /// Reads a body.
  ///
  /// - Throws: `payload_too_large`, `invalid_request` with what is wrong and where.
  public init(_ bytes: [UInt8], byteCountMaximum: Int = RequestBody.byteCountMaximum) throws(PushRefusal) {
    guard bytes.count <= byteCountMaximum else { throw Self.tooLarge(byteCountMaximum) }
    guard !bytes.isEmpty else { throw .invalid("the body is empty: send a JSON object") }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw .invalid("the body begins with a byte order mark: send UTF-8 without one")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw .invalid("the body is not UTF-8") }
    members = try bytes.withUnsafeBytes { Self.object($0) }.get()
  }

  /// The refusal of a body that is larger than its route accepts, made before the body is read.
  public static func tooLarge(_ byteCountMaximum: Int) -> PushRefusal {
    let message =
      byteCountMaximum == 0 ? "this request takes no body" : "the body is larger than \(byteCountMaximum) bytes"
    return PushRefusal(.payloadTooLarge, message)
  }

  /// Detects a body that `Content-Length` announced and that did not arrive.
  ///
  /// - Throws: `body_dropped`, so that the proxy's operator learns the cause; otherwise only the signature would be
  ///   wrong.
  public static func checkArrival(announcedByteCount: Int?, received bytes: [UInt8]) throws(PushRefusal) {
    guard let announcedByteCount, announcedByteCount > 0, bytes.isEmpty else { return }
    throw PushRefusal(
      .bodyDropped,
      "a body of \(announcedByteCount) bytes was announced and none came: something on the way drops it; "
        + "use POST /unregister, or DELETE /register?device_id=…")
  }

  // MARK: Reading

  private static func object(_ bytes: UnsafeRawBufferPointer) -> Result<[String: JSONValue], PushRefusal> {
    var scanner = JSONScanner(bytes)
    do {
      guard try scanner.peek() == UInt8(ascii: "{") else { throw PushRefusal.invalid("the body is no JSON object") }
      let value = try value(&scanner, depth: 1)
      try scanner.expectEnd()
      guard case .object(let members) = value else { preconditionFailure("what begins with a brace is an object") }
      return .success(members)
    } catch let refusal as PushRefusal {
      return .failure(refusal)
    } catch let fault as JSONFault {
      return .failure(.invalid("the body is not JSON: \(fault)"))
    } catch {
      preconditionFailure("reading has no other errors: \(error)")
    }
  }

  private static func value(_ scanner: inout JSONScanner, depth: Int) throws -> JSONValue {
    switch try scanner.peek() {
    case UInt8(ascii: "{"): return try object(&scanner, depth: depth)
    case UInt8(ascii: "["): return try array(&scanner, depth: depth)
    case UInt8(ascii: "\""): return .string(try text(&scanner))
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool(try scanner.scanBoolean())
    case UInt8(ascii: "n"):
      try scanner.skipValue()
      return .null
    default: return try number(&scanner)
    }
  }

  private static func object(_ scanner: inout JSONScanner, depth: Int) throws -> JSONValue {
    try checkDepth(depth)
    try scanner.expect(UInt8(ascii: "{"))
    var members: [String: JSONValue] = [:]
    if try scanner.take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      let name = try text(&scanner)
      try scanner.expect(UInt8(ascii: ":"))
      let value = try value(&scanner, depth: depth + 1)
      guard members.updateValue(value, forKey: name) == nil else {
        throw PushRefusal.invalid("'\(name.prefix(nameLengthMaximum))' occurs twice in the body")
      }
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"))
    return .object(members)
  }

  private static func array(_ scanner: inout JSONScanner, depth: Int) throws -> JSONValue {
    try checkDepth(depth)
    try scanner.expect(UInt8(ascii: "["))
    var values: [JSONValue] = []
    if try scanner.take(UInt8(ascii: "]")) { return .array(values) }
    repeat { values.append(try value(&scanner, depth: depth + 1)) } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    return .array(values)
  }

  private static func checkDepth(_ depth: Int) throws {
    guard depth <= depthMaximum else {
      throw PushRefusal.invalid("the body has more than \(depthMaximum) levels of nesting")
    }
  }

  private static func text(_ scanner: inout JSONScanner) throws -> String {
    let string = try scanner.scanString()
    guard string.hasEscapes else { return String(decoding: scanner.bytes[string.content], as: UTF8.self) }
    var value: [UInt8] = []
    try string.unescape(in: scanner.bytes, into: &value, loneSurrogates: .refused)
    return String(decoding: value, as: UTF8.self)
  }

  private static func number(_ scanner: inout JSONScanner) throws -> JSONValue {
    let range = try scanner.skipValue()
    let digits = String(decoding: scanner.bytes[range], as: UTF8.self)
    if let whole = Int64(digits) { return .integer(whole) }
    guard let number = Double(digits), number.isFinite else {
      throw PushRefusal.invalid("the body has a number that no program can hold")
    }
    // `1e3` is as much a whole number as `1000`. Beyond 2^53 a fraction may have been rounded away.
    guard number.magnitude <= 9_007_199_254_740_992, let whole = Int64(exactly: number) else { return .number(number) }
    return .integer(whole)
  }
}

// MARK: Fields

extension RequestBody {
  /// A text, if the field is there. `null` counts as missing: some libraries write it for an absent value.
  func text(_ name: String, byteCountMaximum: Int) throws(PushRefusal) -> String? {
    guard let value = present(name) else { return nil }
    guard case .string(let text) = value else { throw .invalid("'\(name)' is not a text") }
    guard text.utf8.count <= byteCountMaximum else {
      throw .invalid("'\(name)' is longer than \(byteCountMaximum) bytes")
    }
    return text
  }

  /// A text that must be there.
  func requiredText(_ name: String, byteCountMaximum: Int) throws(PushRefusal) -> String {
    guard let text = try text(name, byteCountMaximum: byteCountMaximum) else { throw .invalid("'\(name)' is missing") }
    return text
  }

  /// True or false, if the field is there.
  func flag(_ name: String) throws(PushRefusal) -> Bool? {
    guard let value = present(name) else { return nil }
    guard case .bool(let flag) = value else { throw .invalid("'\(name)' is neither true nor false") }
    return flag
  }

  /// An object, if the field is there.
  func part(_ name: String) throws(PushRefusal) -> RequestBody? {
    guard let value = present(name) else { return nil }
    guard case .object(let members) = value else { throw .invalid("'\(name)' is not an object") }
    return RequestBody(part: members)
  }

  /// A list of texts, if the field is there.
  func texts(_ name: String, countMaximum: Int, byteCountMaximum: Int) throws(PushRefusal) -> [String]? {
    guard let value = present(name) else { return nil }
    guard case .array(let values) = value else { throw .invalid("'\(name)' is not a list") }
    guard values.count <= countMaximum else { throw .invalid("'\(name)' has more than \(countMaximum) entries") }
    var texts: [String] = []
    for (index, value) in values.enumerated() {
      guard case .string(let text) = value else { throw .invalid("'\(name)[\(index)]' is not a text") }
      guard text.utf8.count <= byteCountMaximum else {
        throw .invalid("'\(name)[\(index)]' is longer than \(byteCountMaximum) bytes")
      }
      texts.append(text)
    }
    return texts
  }

  /// One of the words of `Words`, if the field is there.
  func word<Words: RawRepresentable & CaseIterable>(
    _ name: String, of type: Words.Type
  ) throws(PushRefusal) -> Words? where Words.RawValue == String {
    guard let text = try text(name, byteCountMaximum: 64) else { return nil }
    guard let word = Words(rawValue: text) else {
      let words = Words.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw .invalid("'\(name)' is not one of \(words)")
    }
    return word
  }

  func present(_ name: String) -> JSONValue? {
    guard let value = members[name], value != .null else { return nil }
    return value
  }
}

extension String {
  /// Whether it has a control character (Unicode category Cc), or a line or paragraph separator.
  var hasControlCharacters: Bool {
    unicodeScalars.contains { scalar in
      scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }
  }
}
