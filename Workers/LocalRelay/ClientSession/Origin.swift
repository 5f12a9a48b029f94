/// The origin of a page in a browser, in the one spelling that browsers use (RFC 6454, 6.2): lower case, without a
/// path, without the scheme's default port. `null`, which a page without an origin sends, is not accepted.
public struct Origin: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// `https://client.example`.
  public let text: String

  /// The form of an origin, for error messages.
  public static let form =
    "an origin: a scheme, a host and perhaps a port, without a path, such as \"https://client.example\""
  /// The longest text, in bytes: a host name has up to 253.
  public static let byteCountMaximum = 300

  /// Reads an origin, with or without a slash at the end. Nil if the text is not an origin.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.byteCountMaximum, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    let parts = text.lowercased().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 || (parts.count == 4 && parts[3].isEmpty), parts[1].isEmpty, parts[0].hasSuffix(":") else {
      return nil
    }
    let scheme = String(parts[0].dropLast())
    var authority = String(parts[2])
    guard let first = scheme.utf8.first, first &- 0x61 < 26, scheme.utf8.allSatisfy(Self.isSchemeByte),
      !authority.isEmpty, authority.utf8.allSatisfy(Self.isAuthorityByte)
    else { return nil }
    for (name, port) in [("http", ":80"), ("https", ":443")] where scheme == name && authority.hasSuffix(port) {
      authority.removeLast(port.utf8.count)
    }
    self.text = scheme + "://" + authority
  }

  /// Compares the texts.
  public static func < (left: Origin, right: Origin) -> Bool { left.text < right.text }
  /// The text.
  public var description: String { text }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    byte &- 0x61 < 26 || byte &- 0x30 < 10 || "+-.".utf8.contains(byte)
  }

  private static func isAuthorityByte(_ byte: UInt8) -> Bool {
    byte &- 0x61 < 26 || byte &- 0x30 < 10 || "-._[]:".utf8.contains(byte)
  }
}
