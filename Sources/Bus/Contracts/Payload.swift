public import Frames

// The payloads of methods and topics: arguments, parts and answers. A type declares its form once; callers, workers,
// the access table and `docs/methods.json` all read it from there.

/// A value that travels over the bus.
public protocol Payload: Sendable {
  /// Its form on the wire.
  static var form: PayloadForm { get }

  /// Reads a payload that belongs to `method`.
  ///
  /// - Throws: `bad-payload` or `bad-request`, as `MethodArguments` describes.
  static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self

  /// The bytes, and whether they are RAW and not JSON.
  var written: (bytes: [UInt8], isRaw: Bool) { get }
}

/// The form of a payload on the wire.
public indirect enum PayloadForm: Sendable {
  /// No bytes.
  case nothing
  /// JSON of this type.
  case json(any (Decodable & SendableMetatype).Type)
  /// One signed event (NIP-01) as JSON, in the exact bytes that its author signed.
  case event
  /// The method's own layout: a name, and a drawing with one line for each field: offset, type and meaning.
  case raw(name: String, drawing: String)
  /// One of several forms; the arguments decide which.
  case either([PayloadForm])
}

extension Payload where Self: Codable {
  /// JSON of this type.
  public static var form: PayloadForm { .json(Self.self) }

  /// Reads JSON.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    try JSONPayload.decode(Self.self, from: bytes)
  }

  /// Writes JSON.
  public var written: (bytes: [UInt8], isRaw: Bool) { (JSONPayload.encode(self), false) }
}

extension MethodArguments {
  /// Reads and checks arguments.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    try Self(of: method, json: bytes, isRaw: isRaw)
  }
}

extension Array: Payload where Element == LogRecord {}

/// No payload: the answer of a method that only reports that it is done.
public struct Nothing: Payload, Hashable {
  /// No bytes.
  public static var form: PayloadForm { .nothing }

  /// The empty payload.
  public init() {}

  /// Ignores the bytes.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self { Self() }

  /// No bytes.
  public var written: (bytes: [UInt8], isRaw: Bool) { ([], false) }
}

/// A payload that its sender and its receiver handle as bytes.
public protocol BytePayload: Payload {
  /// The bytes.
  var bytes: [UInt8] { get }
  /// Whether they are RAW.
  var isRaw: Bool { get }
  /// A payload of these bytes.
  init(_ bytes: [UInt8], isRaw: Bool)
}

extension BytePayload {
  /// Takes the bytes unchanged.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    Self(bytes, isRaw: isRaw)
  }

  /// The bytes unchanged.
  public var written: (bytes: [UInt8], isRaw: Bool) { (bytes, isRaw) }
}
