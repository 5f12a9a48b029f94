public import JSON

/// The id and kind that a raw event claims, read without the rest. Nothing is verified.
///
/// For code that must name an event before, or without, trusting it: a connector that waits for the OK for an id, a
/// gate that checks whether it has seen the id. An event that has `id` or `kind` twice is refused, because a later
/// reader may use the other one.
public struct EventGlance: Hashable, Sendable {
  /// The id it claims.
  public let id: EventID
  /// The kind it claims, 0 to 65,535.
  public let kind: UInt16

  /// Reads one event object from `bytes`, which must contain nothing else but white space around it.
  ///
  /// - Throws: ``EventGlanceFault``, with the offset of the byte if there is one.
  public init(_ bytes: UnsafeRawBufferPointer) throws(EventGlanceFault) {
    do {
      self = try Self.read(bytes)
    } catch let fault as JSONFault {
      throw .notJSON(fault)
    } catch let fault as EventGlanceFault {
      throw fault
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
  }

  private init(id: EventID, kind: UInt16) {
    self.id = id
    self.kind = kind
  }

  private static func read(_ bytes: UnsafeRawBufferPointer) throws -> EventGlance {
    var scanner = JSONScanner(bytes)
    var id: EventID?
    var kind: UInt16?
    try scanner.expect(UInt8(ascii: "{"))
    if try !scanner.take(UInt8(ascii: "}")) {
      repeat {
        let key = try scanner.scanString()
        try scanner.expect(UInt8(ascii: ":"))
        if key.equals("id", in: bytes) {
          if id != nil { throw EventGlanceFault.repeatedKey("id") }
          let text = try scanner.scanString()
          guard !text.hasEscapes, let value = EventID(hex: bytes[text.content]) else { throw EventGlanceFault.badID }
          id = value
        } else if key.equals("kind", in: bytes) {
          if kind != nil { throw EventGlanceFault.repeatedKey("kind") }
          guard let value = UInt16(exactly: try scanner.scanUnsignedInteger()) else { throw EventGlanceFault.badKind }
          kind = value
        } else {
          try scanner.skipValue()
        }
      } while try scanner.take(UInt8(ascii: ","))
      try scanner.expect(UInt8(ascii: "}"))
    }
    try scanner.expectEnd()
    guard let id else { throw EventGlanceFault.missingKey("id") }
    guard let kind else { throw EventGlanceFault.missingKey("kind") }
    return EventGlance(id: id, kind: kind)
  }
}

/// Why a text does not even look like an event.
public enum EventGlanceFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not JSON, or not an object.
  case notJSON(JSONFault)
  /// `id` is not 64 lower-case hexadecimal digits.
  case badID
  /// `kind` is not a number from 0 to 65,535.
  case badKind
  /// A required key is missing.
  case missingKey(String)
  /// A key occurs twice.
  case repeatedKey(String)

  /// The end of a sentence: `not an event: its id is …`.
  public var description: String {
    switch self {
    case .notJSON(let fault): "not an event: \(fault)"
    case .badID: "not an event: its id is not 64 lower-case hexadecimal digits"
    case .badKind: "not an event: its kind is not a number from 0 to 65535"
    case .missingKey(let key): "not an event: it has no \"\(key)\""
    case .repeatedKey(let key): "not an event: it has \"\(key)\" twice"
    }
  }
}
