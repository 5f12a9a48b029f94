public import Cryptography

/// The id of an event: the SHA-256 of its canonical form, 32 bytes (NIP-01). A value proves nothing about the event.
public struct EventID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The 32 bytes.
  public let octets: Octets32

  /// Bytes of an id.
  public static let byteCount = Octets32.byteCount

  /// An id of these bytes.
  @inline(__always)
  public init(_ octets: Octets32) { self.octets = octets }

  /// Reads 64 hexadecimal digits, lower case only, as NIP-01 requires; nil for anything else.
  public init?(hex: some Collection<UInt8>) {
    guard let octets = Octets32(hexadecimal: hex) else { return nil }
    self.octets = octets
  }

  /// Reads 64 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) { self.init(hex: text.utf8) }

  /// The 64 lower-case hexadecimal digits.
  public var description: String { octets.description }

  /// The order of the bytes: of two replaceable events of the same second, the one with the lower id is kept (NIP-01).
  public static func < (left: EventID, right: EventID) -> Bool { left.octets < right.octets }
}
