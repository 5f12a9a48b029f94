/// A field in the head of an HTTP message.
public struct HeaderField: Hashable, Sendable {
  /// The name, in any case.
  public let name: String
  /// The value, without the white space around it.
  public let value: String

  /// A field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether the field has this name; the case of ASCII letters does not matter (RFC 9110, 5.1).
  public func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased()
  }
}
