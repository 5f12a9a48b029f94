internal import Synchronization
public import Frames

// The JSON Schema of a payload's type: names, types, and which members are optional. Nothing is written down twice. The
// type is decoded from a special decoder that records what `init(from:)` reads, and returns empty values.
//
// Rejected: macros, which would slow every build for something that is needed once; a schema beside each type, which
// would get out of date.

/// The JSON Schema (draft 2020-12) of payload types.
public struct PayloadSchema {
  /// Schemas of the object types found so far, by name: `Job`, `RelayStates.Relay`.
  public private(set) var definitions: [String: JSONValue] = [:]
  /// Adds ranges and texts to a member's schema. It receives the type's name and the member's name.
  public var describe: (_ type: String, _ member: String) -> [String: JSONValue] = { _, _ in [:] }
  private var underWay: Set<String> = []

  /// An empty set of schemas.
  public init() {}

  /// The schema of a type. For an object type it is a reference into ``definitions``.
  public mutating func schema(of type: any Decodable.Type) -> JSONValue {
    if let simple = Self.simple(type) { return simple }
    if let list = type as? any ListType.Type {
      return .object(["type": .string("array"), "items": schema(of: list.elementType)])
    }
    if let map = type as? any MapType.Type {
      return .object(["type": .string("object"), "additionalProperties": schema(of: map.valueType)])
    }
    if let choice = type as? any CaseIterable.Type, let words = Self.words(of: choice) {
      return .object(["type": .string("string"), "enum": .array(words.map { .string($0) })])
    }
    let name = Self.name(of: type)
    if definitions[name] == nil, underWay.insert(name).inserted {
      let shape = PayloadShape(of: type)
      underWay.remove(name)
      guard !shape.isText else { return .object(["type": .string("string")]) }
      definitions[name] = .object([:])
      definitions[name] = object(name, shape)
    }
    return .object(["$ref": .string("#/definitions/\(name)")])
  }

  private mutating func object(_ name: String, _ shape: PayloadShape) -> JSONValue {
    var members: [String: JSONValue] = [:]
    for member in shape.members {
      var value = schema(of: member.type)
      let more = describe(name, member.name)
      if !more.isEmpty, case .object(var fields) = value {
        fields.merge(more) { $1 }
        value = .object(fields)
      }
      members[member.name] = value
    }
    var schema: [String: JSONValue] = ["type": .string("object"), "properties": .object(members)]
    let required = shape.members.filter { !$0.isOptional }.map { JSONValue.string($0.name) }
    if !required.isEmpty { schema["required"] = .array(required) }
    return .object(schema)
  }

  /// A type's name without its module: `RelayStates.Relay`.
  public static func name(of type: Any.Type) -> String {
    let parts = String(reflecting: type).split(separator: ".")
    return parts.dropFirst().joined(separator: ".")
  }

  private static func simple(_ type: any Decodable.Type) -> JSONValue? {
    switch type {
    case is String.Type: .object(["type": .string("string")])
    case is Bool.Type: .object(["type": .string("boolean")])
    case is any UnsignedInteger.Type: .object(["type": .string("integer"), "minimum": .integer(0)])
    case is any BinaryInteger.Type: .object(["type": .string("integer")])
    case is any BinaryFloatingPoint.Type: .object(["type": .string("number")])
    case is JSONValue.Type, is RawJSON.Type: .object([:])
    default: nil
    }
  }
}

/// The members of an object type.
public struct PayloadShape: Sendable {
  // @unchecked: a type is a constant; only a conformance bound to an actor could say otherwise, and payloads have none.
  /// One member.
  public struct Member: @unchecked Sendable {
    /// Its name.
    public let name: String
    /// Its type.
    public let type: any Decodable.Type
    /// Whether it may be absent.
    public let isOptional: Bool
  }

  /// The members, in the order in which the type reads them.
  public let members: [Member]
  /// Whether the type is a text in JSON, such as `RefusalCode`.
  public let isText: Bool

  private static let known = Mutex<[ObjectIdentifier: PayloadShape]>([:])

  /// Records what a type reads; the result is cached.
  public init(of type: any Decodable.Type) {
    let key = ObjectIdentifier(type)
    if let shape = Self.known.withLock({ $0[key] }) {
      self = shape
      return
    }
    let recorder = ShapeRecorder()
    do { _ = try type.init(from: recorder) } catch {
      preconditionFailure("\(type) cannot be read from empty values: \(error)")
    }
    members = recorder.members
    isText = recorder.isSingle
    let shape = self
    Self.known.withLock { $0[key] = shape }
  }
}

/// A list of something.
private protocol ListType { static var elementType: any Decodable.Type { get } }
extension Array: ListType where Element: Decodable {
  static var elementType: any Decodable.Type { Element.self }
}
extension Set: ListType where Element: Decodable {
  static var elementType: any Decodable.Type { Element.self }
}

/// An object with arbitrary names.
private protocol MapType { static var valueType: any Decodable.Type { get } }
extension Dictionary: MapType where Key == String, Value: Decodable {
  static var valueType: any Decodable.Type { Value.self }
}

extension PayloadSchema {
  /// The words of an enum with text values; nil for another type.
  fileprivate static func words<Words: CaseIterable>(of type: Words.Type) -> [String]? {
    let words = type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
    return words.isEmpty ? nil : words
  }
}

/// Records what a type reads, one level deep, and returns empty values to it.
private final class ShapeRecorder: Decoder {
  var members: [PayloadShape.Member] = []
  var isSingle = false
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Members<Key>(recorder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { EmptyList() }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    isSingle = true
    return EmptyValue()
  }

  func note<Value: Decodable>(_ name: String, _ type: Value.Type, isOptional: Bool) {
    members.append(PayloadShape.Member(name: name, type: type, isOptional: isOptional))
  }

  struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: ShapeRecorder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      recorder.note(key.stringValue, type, isOptional: false)
      return try ShapeRecorder.empty(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      recorder.note(key.stringValue, type, isOptional: true)
      return nil
    }

    // Without these, the defaults of the protocol call `contains` and `decodeNil`, and a member would count as
    // required.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? { optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) -> Float? { optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) -> Int8? { optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) -> Int16? { optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) -> Int32? { optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? { optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) -> UInt? { optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) -> UInt8? { optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) -> UInt16? { optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) -> UInt32? { optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) -> UInt64? { optional(type, key) }

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
      recorder.note(key.stringValue, type, isOptional: true)
      return nil
    }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedDecodingContainer<NestedKey> {
      KeyedDecodingContainer(Members<NestedKey>(recorder: ShapeRecorder()))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { EmptyList() }
    func superDecoder() -> any Decoder { ShapeRecorder() }
    func superDecoder(forKey key: Key) -> any Decoder { ShapeRecorder() }
  }

  /// An empty value of a type.
  static func empty<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let words = type as? any CaseIterable.Type, let first = firstCase(words) as? Value { return first }
    return try Value(from: ShapeRecorder())
  }

  private static func firstCase<Words: CaseIterable>(_ type: Words.Type) -> Words? { type.allCases.first }
}

/// A list without elements.
private struct EmptyList: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ShapeRecorder.empty(type) }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    ShapeRecorder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
  func superDecoder() -> any Decoder { ShapeRecorder() }
}

/// Empty values: false, 0, the empty text.
private struct EmptyValue: SingleValueDecodingContainer {
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { true }
  func decode(_ type: Bool.Type) -> Bool { false }
  func decode(_ type: String.Type) -> String { "" }
  func decode(_ type: Double.Type) -> Double { 0 }
  func decode(_ type: Float.Type) -> Float { 0 }
  func decode(_ type: Int.Type) -> Int { 0 }
  func decode(_ type: Int8.Type) -> Int8 { 0 }
  func decode(_ type: Int16.Type) -> Int16 { 0 }
  func decode(_ type: Int32.Type) -> Int32 { 0 }
  func decode(_ type: Int64.Type) -> Int64 { 0 }
  func decode(_ type: UInt.Type) -> UInt { 0 }
  func decode(_ type: UInt8.Type) -> UInt8 { 0 }
  func decode(_ type: UInt16.Type) -> UInt16 { 0 }
  func decode(_ type: UInt32.Type) -> UInt32 { 0 }
  func decode(_ type: UInt64.Type) -> UInt64 { 0 }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ShapeRecorder.empty(type) }
}
