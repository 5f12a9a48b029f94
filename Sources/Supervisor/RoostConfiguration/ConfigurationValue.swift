/// A value of the configuration file, without its place there.
///
/// It has two uses: the tree of the file before the schema has checked it, and the settings that a worker is sent,
/// which are JSON: `{"relays":["wss://relay.example"],"ephemeral":true,"requestTimeoutMilliseconds":30000}`. TOML's
/// dates and times have no case here; the reader reports them.
public enum ConfigurationValue: Sendable, Hashable {
  /// Text.
  case string(String)
  /// A whole number of 64 bits.
  case integer(Int)
  /// Any other number.
  case number(Double)
  /// `true` or `false`.
  case boolean(Bool)
  /// Values in order.
  case array([ConfigurationValue])
  /// Values by key; the order of the file is not kept.
  case table([String: ConfigurationValue])

  /// The value at `key` of a table; nil for any other value.
  public subscript(key: String) -> ConfigurationValue? {
    if case .table(let entries) = self { entries[key] } else { nil }
  }

  /// The name of this kind of value, with its article, for complaints: `a string`.
  var kind: String {
    switch self {
    case .string: "a string"
    case .integer: "an integer"
    case .number: "a number"
    case .boolean: "a boolean"
    case .array: "an array"
    case .table: "a table"
    }
  }
}

extension ConfigurationValue: Codable {
  /// Takes the JSON value unchanged; numbers without a fraction become integers.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {  // Each "not this" is an answer, not a fault.
      self = .boolean(value)
    } else if let value = try? container.decode(Int.self) {  // As above.
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {  // As above.
      self = .number(value)
    } else if let value = try? container.decode(String.self) {  // As above.
      self = .string(value)
    } else if let value = try? container.decode([ConfigurationValue].self) {  // As above.
      self = .array(value)
    } else {
      self = .table(try container.decode([String: ConfigurationValue].self))
    }
  }

  /// Writes the bare JSON value, without a wrapper that names its kind.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .boolean(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .table(let value): try container.encode(value)
    }
  }
}

extension ConfigurationValue: CustomStringConvertible {
  /// The value as TOML on one line; tables are inline, their keys in alphabetical order.
  public var description: String {
    switch self {
    case .string(let value): return ConfigurationValue.quoted(value)
    case .integer(let value): return String(value)
    case .number(let value): return String(value)
    case .boolean(let value): return String(value)
    case .array(let values): return "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .table(let entries):
      guard !entries.isEmpty else { return "{}" }
      let pairs = entries.sorted { $0.key < $1.key }.map { "\(ConfigurationPath.written($0.key)) = \($0.value)" }
      return "{ " + pairs.joined(separator: ", ") + " }"
    }
  }

  /// `text` as a TOML basic string: quotes, backslashes and control characters escaped.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
