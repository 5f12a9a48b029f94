internal import JSON
internal import LinkAddresses

/// The members of a content that the format knows, of their types and within their sizes.
struct LinkFields {
  private(set) var kind: String?
  private(set) var conversationID: String?
  private(set) var rootID: String?
  private(set) var url: String?
  private(set) var note: String?
  private(set) var timestamp: Int64?
  private(set) var sessionName: String?
  private(set) var members: [String]?
  private(set) var emoji: String?
  private(set) var isActive: Bool?

  /// What was read so far, to find a member that occurs twice.
  private var names: Set<String> = []
  /// The first member that is wrong. The text is read to its end: what is not JSON at all is reported as such.
  private var fault: LinkFault?

  /// The most bytes of a kind; longer ones are unknown.
  private static let kindByteCountMaximum = 64

  init(_ json: String) throws(LinkFault) {
    let count = json.utf8.count
    guard count <= LinkPayload.byteCountMaximum else { throw .tooLarge(byteCount: count) }
    let bytes = Array(json.utf8)
    do throws(JSONFault) {
      try read(bytes)
    } catch {
      throw .notJSON(error)
    }
    if let fault { throw fault }
  }

  private mutating func read(_ bytes: [UInt8]) throws(JSONFault) {
    var fields = self
    let outcome = bytes.withUnsafeBytes { buffer -> Result<LinkFields, JSONFault> in
      var scanner = JSONScanner(buffer)
      do throws(JSONFault) {
        try scanner.readObject { name, scanner throws(JSONFault) in
          try fields.readMember(try Self.value(of: name, in: buffer), &scanner)
        }
        try scanner.expectEnd()
        return .success(fields)
      } catch { return .failure(error) }
    }
    self = try outcome.get()
  }

  private mutating func readMember(_ name: String, _ scanner: inout JSONScanner) throws(JSONFault) {
    switch name {
    case "kind": kind = try text(name, Self.kindByteCountMaximum, &scanner)
    case "conversation_id": conversationID = try text(name, LinkPayload.idByteCountMaximum, &scanner)
    case "root_id": rootID = try text(name, LinkPayload.idByteCountMaximum, &scanner)
    case "url": url = try text(name, LinkURL.byteCountMaximum, &scanner)
    case "note": note = try text(name, LinkPayload.noteByteCountMaximum, &scanner)
    case "session_name": sessionName = try text(name, LinkPayload.nameByteCountMaximum, &scanner)
    case "emoji": emoji = try text(name, LinkPayload.emojiByteCountMaximum, &scanner)
    case "timestamp": timestamp = try seconds(name, &scanner)
    case "reaction_active": isActive = try truth(name, &scanner)
    case "member_pubkeys": members = try list(name, &scanner)
    default: try scanner.skipValue()
    }
  }

  /// Whether a value of this type comes next. A wrong one is passed and noted; `null` is passed as a missing member.
  private mutating func begin(
    _ name: String, _ expected: String, _ scanner: inout JSONScanner, _ isRight: (UInt8) -> Bool
  ) throws(JSONFault) -> Bool {
    if !names.insert(name).inserted { note(.repeatedMember(name)) }
    let first = try scanner.peek()
    if isRight(first) { return true }
    if first != UInt8(ascii: "n") { note(.wrongType(name, expected: expected)) }
    try scanner.skipValue()
    return false
  }

  private mutating func text(
    _ name: String, _ maximum: Int, _ scanner: inout JSONScanner
  ) throws(JSONFault) -> String? {
    guard try begin(name, "a text", &scanner, { $0 == UInt8(ascii: "\"") }) else { return nil }
    let value = try Self.value(of: try scanner.scanString(), in: scanner.bytes)
    if value.utf8.count > maximum { note(.tooLong(name, byteCount: value.utf8.count, maximum: maximum)) }
    return value
  }

  private mutating func seconds(_ name: String, _ scanner: inout JSONScanner) throws(JSONFault) -> Int64? {
    let expected = "a whole number of seconds"
    guard try begin(name, expected, &scanner, { $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }) else { return nil }
    let range = try scanner.skipValue()
    guard let value = Int64(String(decoding: scanner.bytes[range], as: UTF8.self)) else {
      note(.wrongType(name, expected: expected))
      return nil
    }
    return value
  }

  private mutating func truth(_ name: String, _ scanner: inout JSONScanner) throws(JSONFault) -> Bool? {
    let isRight: (UInt8) -> Bool = { $0 == UInt8(ascii: "t") || $0 == UInt8(ascii: "f") }
    return try begin(name, "true or false", &scanner, isRight) ? try scanner.scanBoolean() : nil
  }

  private mutating func list(_ name: String, _ scanner: inout JSONScanner) throws(JSONFault) -> [String]? {
    guard try begin(name, "a list of texts", &scanner, { $0 == UInt8(ascii: "[") }) else { return nil }
    var texts: [String] = []
    var count = 0
    var areTexts = true
    try scanner.readArray { scanner throws(JSONFault) in
      count += 1
      guard try scanner.peek() == UInt8(ascii: "\""), count <= LinkPayload.memberCountMaximum else {
        if try scanner.peek() != UInt8(ascii: "\"") { areTexts = false }
        try scanner.skipValue()
        return
      }
      texts.append(try Self.value(of: try scanner.scanString(), in: scanner.bytes))
    }
    if !areTexts { note(.wrongType(name, expected: "a list of texts")) }
    if count > LinkPayload.memberCountMaximum { note(.tooManyMembers(count)) }
    return texts
  }

  private mutating func note(_ fault: LinkFault) { if self.fault == nil { self.fault = fault } }

  /// The text of a string; half of a surrogate pair is refused, since programs replace it differently.
  private static func value(of string: JSONString, in bytes: UnsafeRawBufferPointer) throws(JSONFault) -> String {
    guard string.hasEscapes else { return string.string(in: bytes) }
    var value: [UInt8] = []
    try string.unescape(in: bytes, into: &value, loneSurrogates: .refused)
    return String(decoding: value, as: UTF8.self)
  }
}
