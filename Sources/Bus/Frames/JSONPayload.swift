internal import FoundationEssentials
internal import JSON

/// JSON in payloads: the only reader and writer, so that all workers write it in the same way.
public enum JSONPayload {
  /// The bytes of `value`; keys are sorted, so equal values give equal bytes.
  public static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let marks = RawJSONMarks()
    encoder.userInfo[RawJSONMarks.key] = marks
    do { return marks.replaced(in: Array(try encoder.encode(value))) } catch {
      // Our payload types hold nothing that JSON cannot express; a non-finite number would be a bug of ours.
      preconditionFailure("a payload could not be written as JSON: \(error)")
    }
  }

  /// Reads a payload.
  ///
  /// - Throws: ``Refusal`` `bad-payload`, with the field that was missing or wrong.
  public static func decode<Value: Decodable>(
    _ type: Value.Type, from payload: some Sequence<UInt8>
  ) throws(Refusal) -> Value {
    let bytes = Array(payload)
    let data = Data(bytes)
    let decoder = JSONDecoder()
    decoder.userInfo[RawJSON.payloadKey] = bytes
    do { return try decoder.decode(type, from: data) } catch let refusal as Refusal {
      // A refusal of the type itself describes the fault better.
      throw refusal
    } catch {
      throw Refusal(.badPayload, describe(error, in: data), outcome: .notStarted)
    }
  }

  private static func describe(_ error: any Error, in data: Data) -> String {
    guard let error = error as? DecodingError else { return "the JSON cannot be read: \(error)" }
    func place(_ path: [any CodingKey]) -> String {
      let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
      return path.isEmpty ? "the JSON" : "'\(text.hasPrefix(".") ? String(text.dropFirst()) : text)'"
    }
    switch error {
    case .keyNotFound(let key, let context): return "\(place(context.codingPath + [key])) is missing"
    case .typeMismatch(let type, let context): return "\(place(context.codingPath)) is not \(word(for: type))"
    case .valueNotFound(let type, let context): return "\(place(context.codingPath)) is null, not \(word(for: type))"
    case .dataCorrupted(let context):
      // For half a surrogate pair, and for a number out of range, the decoder says that the text is not JSON.
      switch JSONFlaw.first(in: Array(data)) {
      case .notJSON(let fault)?: return "the payload is not JSON: \(fault)"
      case let flaw?: return flaw.description
      case nil where context.codingPath.isEmpty: return "a number in it is not a whole number in its range"
      case nil: return "\(place(context.codingPath)) cannot have this value"
      }
    @unknown default: return "the JSON cannot be read"
    }
  }

  private static func word(for type: Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number in its range"
    case is any BinaryFloatingPoint.Type: "a number"
    case is any RandomAccessCollection.Type: "a list"
    case is any ExpressibleByDictionaryLiteral.Type: "an object"
    default: "of the right form"
    }
  }
}

/// Any JSON value, for data that is passed on unread.
public enum JSONValue: Codable, Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number within 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Texts first: most values are texts, and each type that does not fit costs a thrown error.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {  // Not a fault: it has another type.
      self = .string(value)
    } else if let value = try? container.decode(Int64.self) {  // As above.
      self = .integer(value)
    } else if let value = try? container.decode(Bool.self) {  // As above.
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {  // As above.
      self = .number(value)
    } else if let value = try? container.decode([JSONValue].self) {  // As above.
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes the value as itself.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// The member of an object; nil when there is no such member or this is not an object.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[key]
  }
}
