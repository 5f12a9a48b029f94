internal import Cryptography
internal import JSON

/// The state of one pass over an event's text.
struct EventReading {
  private var scanner: JSONScanner
  /// A bit for each of the seven keys that has been read.
  private var seen: Set7 = []
  private var id: EventID?
  private var pubkey: PublicKey?
  private var signatureDigits = 0..<0
  private var createdAt: Int64 = 0
  private var kind: UInt16 = 0
  private var tags = 0..<0
  private var content = JSONString(content: 0..<0, hasEscapes: false, isCanonical: true)
  private var isCanonical = true
  private var hasOtherKeys = false
  /// Whether `sig` is skipped like any other key, because the event is not signed.
  private var passesSignature = false

  init(_ bytes: UnsafeRawBufferPointer) { scanner = JSONScanner(bytes) }

  private struct Set7: OptionSet {
    let rawValue: UInt8
    static let id = Set7(rawValue: 1)
    static let pubkey = Set7(rawValue: 2)
    static let createdAt = Set7(rawValue: 4)
    static let kind = Set7(rawValue: 8)
    static let tags = Set7(rawValue: 16)
    static let content = Set7(rawValue: 32)
    static let signature = Set7(rawValue: 64)
    static let all = Set7(rawValue: 127)
  }

  mutating func read() throws -> ScannedEvent {
    let (range, isCompact) = try readObject()
    guard seen == .all, let id, let pubkey else { throw EventFault.missingKey(missingKey(of: .all)) }
    return ScannedEvent(
      id: id, pubkey: pubkey, createdAt: createdAt, kind: kind, signatureDigits: signatureDigits, tags: tags,
      content: content, range: range, isCanonical: isCanonical, isCompact: isCompact)
  }

  /// Reads an event that has no signature yet, or never will. See ``UnsignedEvent/init(json:author:)``.
  mutating func readUnsigned(author: PublicKey?) throws -> UnsignedEvent {
    passesSignature = true
    _ = try readObject()
    let needed: Set7 = [.createdAt, .kind, .tags, .content]
    guard let pubkey = pubkey ?? author else { throw EventFault.missingKey("pubkey") }
    guard seen.isSuperset(of: needed) else { throw EventFault.missingKey(missingKey(of: needed)) }
    var reader = TagReader(tags: tags, in: scanner.bytes)
    let event = UnsignedEvent(
      pubkey: pubkey, createdAt: createdAt, kind: kind, tags: reader.strings(),
      content: content.string(in: scanner.bytes))
    if let id {
      let right = event.id
      guard id == right else { throw EventFault.wrongID(right) }
    }
    return event
  }

  /// Reads the object, and checks that nothing follows it and that it is UTF-8.
  @inline(__always)
  private mutating func readObject() throws -> (range: Range<Int>, isCompact: Bool) {
    _ = try scanner.peek()
    let start = scanner.position
    let whiteSpaceBefore = scanner.whiteSpaceByteCount
    try scanner.expect(UInt8(ascii: "{"))
    if try !scanner.take(UInt8(ascii: "}")) {
      repeat { try readMember() } while try scanner.take(UInt8(ascii: ","))
      try scanner.expect(UInt8(ascii: "}"))
    }
    let range = start..<scanner.position
    let isCompact = !hasOtherKeys && scanner.whiteSpaceByteCount == whiteSpaceBefore
    try scanner.expectEnd()
    if scanner.hasSeenNonASCII { try checkUTF8(range) }
    return (range, isCompact)
  }

  private func missingKey(of needed: Set7) -> String {
    let names: [(Set7, String)] = [
      (.id, "id"), (.pubkey, "pubkey"), (.createdAt, "created_at"), (.kind, "kind"), (.tags, "tags"),
      (.content, "content"), (.signature, "sig"),
    ]
    return names.first { needed.contains($0.0) && !seen.contains($0.0) }?.1 ?? "id"
  }

  private func checkUTF8(_ range: Range<Int>) throws {
    let text = UnsafeRawBufferPointer(rebasing: scanner.bytes[range]).bindMemory(to: UInt8.self)
    do { _ = try UTF8Span(validating: text.span) } catch { throw EventFault.notUTF8 }
  }

  // MARK: Members

  private mutating func readMember() throws {
    if try readSpelledMember() { return }
    let key = try scanner.scanString()
    try scanner.expect(UInt8(ascii: ":"))
    // Any other reader takes "\u0069d" for "id", so this one does too.
    try readMember(named: key.string(in: scanner.bytes), isUsual: !key.hasEscapes)
  }

  /// The seven keys in their usual spelling, recognised a word at a time; returns false, and passes nothing, for
  /// anything else.
  @inline(__always)
  private mutating func readSpelledMember() throws -> Bool {
    if scanner.takeExactly(0x3A_22_6469_22, 5) { /* "id": */
      try readID()
    } else if scanner.takeExactly(0x22_7965_6B62_7570_22, 8, 0x3A, 1) { /* "pubkey": */
      try readPublicKey()
    } else if scanner.takeExactly(0x6465_7461_6572_63_22, 8, 0x3A22_7461_5F, 5) { /* "created_at": */
      try readTime()
    } else if scanner.takeExactly(0x3A_22_646E_696B_22, 7) { /* "kind": */
      try readKind()
    } else if scanner.takeExactly(0x3A_22_7367_6174_22, 7) { /* "tags": */
      try readTags()
    } else if scanner.takeExactly(0x746E_6574_6E6F_63_22, 8, 0x3A22, 2) { /* "content": */
      try readContent()
    } else if scanner.takeExactly(0x3A_22_6769_73_22, 6) { /* "sig": */
      try readSignature()
    } else {
      return false
    }
    return true
  }

  private mutating func readMember(named key: String, isUsual: Bool) throws {
    if !isUsual { hasOtherKeys = true }
    switch key {
    case "id": try readID()
    case "sig": try readSignature()
    case "kind": try readKind()
    case "tags": try readTags()
    case "pubkey": try readPublicKey()
    case "content": try readContent()
    case "created_at": try readTime()
    default: try skipOther()
    }
  }

  private mutating func skipOther() throws {
    hasOtherKeys = true
    try scanner.skipValue()
  }

  @inline(__always)
  private mutating func note(_ key: Set7, _ name: StaticString) throws {
    guard !seen.contains(key) else { throw EventFault.repeatedKey("\(name)") }
    seen.insert(key)
  }

  /// The address of the `count` bytes between two quotes that come next. Hexadecimal digits have no escapes, so the
  /// string need not be scanned: if all bytes are digits, it ends at the right place; if not, the event is refused.
  @inline(__always)
  private mutating func digits(_ count: Int) throws -> UnsafeRawPointer? {
    guard try scanner.peek() == UInt8(ascii: "\"") else { return nil }
    return scanner.quoted(count)
  }

  private mutating func readID() throws {
    try note(.id, "id")
    guard let octets = try digits(64).flatMap({ Octets32(hexadecimalAt: $0) }) else {
      throw EventFault.badField("id", "64 lower-case hexadecimal digits")
    }
    scanner.skipQuoted(64)
    id = EventID(octets)
  }

  private mutating func readPublicKey() throws {
    try note(.pubkey, "pubkey")
    guard let octets = try digits(64).flatMap({ Octets32(hexadecimalAt: $0) }) else {
      throw EventFault.badField("pubkey", "64 lower-case hexadecimal digits")
    }
    scanner.skipQuoted(64)
    pubkey = PublicKey(octets)
  }

  private mutating func readSignature() throws {
    if passesSignature { return try skipOther() }
    try note(.signature, "sig")
    guard try scanner.peek() == UInt8(ascii: "\"") else { throw Self.badSignature }
    // Scanned as a string, so that the text is JSON whatever the string holds; read as digits only when it is verified.
    let text = try scanner.scanString()
    guard text.content.count == 128, !text.hasEscapes else { throw Self.badSignature }
    signatureDigits = text.content
  }

  private static let badSignature = EventFault.badField("sig", "128 lower-case hexadecimal digits")

  private mutating func readTime() throws {
    try note(.createdAt, "created_at")
    guard let value = try number() else { throw EventFault.badField("created_at", "a whole number of seconds") }
    createdAt = Int64(value)
  }

  private mutating func readKind() throws {
    try note(.kind, "kind")
    guard let value = try number().flatMap({ UInt16(exactly: $0) }) else {
      throw EventFault.badField("kind", "a number from 0 to 65535")
    }
    kind = value
  }

  /// A number in plain digits; nil for any other value.
  private mutating func number() throws -> Int? {
    let first = try scanner.peek()
    guard first &- 0x30 < 10 else { return nil }
    do throws(JSONFault) { return try scanner.scanUnsignedInteger() } catch {
      if error.problem == .badNumber { return nil }
      throw error
    }
  }

  private mutating func readContent() throws {
    try note(.content, "content")
    guard try scanner.peek() == UInt8(ascii: "\"") else { throw EventFault.badField("content", "a string") }
    content = try readText()
  }

  private mutating func readTags() throws {
    try note(.tags, "tags")
    guard try scanner.peek() == UInt8(ascii: "[") else { throw Self.badTags }
    let start = scanner.position
    let whiteSpaceBefore = scanner.whiteSpaceByteCount
    try scanner.expect(UInt8(ascii: "["))
    if try !scanner.take(UInt8(ascii: "]")) {
      repeat { try readTag() } while try scanner.take(UInt8(ascii: ","))
      try scanner.expect(UInt8(ascii: "]"))
    }
    tags = start..<scanner.position
    if scanner.whiteSpaceByteCount != whiteSpaceBefore { isCanonical = false }
  }

  /// A tag has at least one string (NIP-01).
  private mutating func readTag() throws {
    guard try scanner.take(UInt8(ascii: "[")) else { throw Self.badTags }
    repeat {
      guard try scanner.peek() == UInt8(ascii: "\"") else { throw Self.badTags }
      _ = try readText()
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
  }

  private static let badTags = EventFault.badField("tags", "a list of lists of at least one string")

  /// A string that is part of the hash.
  private mutating func readText() throws -> JSONString {
    let text = try scanner.scanString()
    if !text.isCanonical {
      isCanonical = false
      try text.checkSurrogates(in: scanner.bytes)
    }
    return text
  }
}
