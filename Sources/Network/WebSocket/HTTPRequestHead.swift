/// The head of an HTTP/1 request that an ``HTTPRequestReader`` has accepted.
public struct HTTPRequestHead: Sendable, Hashable {
  /// The method as it came, such as `GET`; any token.
  public let method: String
  /// The target as it came: a path with its query, a whole URL, or `*`. Visible ASCII.
  public let target: String
  /// The target's path with its percent-encoding removed, so that `%2F` is a slash too; begins with `/`, or is `*`. It
  /// has no control characters.
  public let path: String
  /// The text after the target's first `?`, as it came.
  public let query: String?
  /// The digit after `HTTP/1.`: 0 or 1. A digit above 1 is read as 1.
  public let minorVersion: Int
  /// The host that the request is for: the `Host` field, or the host of a target that is a whole URL. May be empty.
  public let host: String
  /// The fields in their order, names in lower case. A value has no control characters except tabs.
  public let fields: [HTTPField]
  /// The user whose process has connected, as the server's delegate found out at accept; nil: not known. It does not
  /// come from the client.
  public internal(set) var user: UInt32?

  /// The values of a field, one for each time it occurs; `name` in lower case.
  public func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// The comma-separated words of a field, in lower case; `name` in lower case.
  public func tokens(of name: String) -> [String] {
    values(of: name).flatMap { value in
      value.split(separator: ",").map { HTTPText.trimmed(Array($0.utf8)[...]).lowercased() }
    }
  }

  /// Whether the request asks for a WebSocket. Whether it can have one is decided by accepting it.
  public var wantsWebSocket: Bool { tokens(of: "upgrade").contains("websocket") }

  /// ``host`` in lower case, without its port and without the brackets of an IPv6 address.
  ///
  /// A server that serves only its own machine checks it: a page on the internet whose name resolves to 127.0.0.1 sends
  /// that name.
  public var hostName: String {
    let text = host.lowercased()
    if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
    return String(text.prefix { $0 != ":" })
  }
}

/// Rules for the texts of an HTTP head.
enum HTTPText {
  /// The text without the spaces and tabs at both ends.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  /// Whether a byte is allowed in a token (RFC 9110, 5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// The value of a hexadecimal digit.
  static func nibble(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte - 0x30 }
    let letter = byte | 0x20
    return letter &- 0x61 < 6 ? letter - 0x61 + 10 : nil
  }

  /// Removes percent-encoding; nil if a percent sign is not followed by two digits, or if the bytes are not UTF-8 or
  /// contain control characters.
  static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      var byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < bytes.endIndex, let high = nibble(bytes[index + 1]), let low = nibble(bytes[index + 2])
        else { return nil }
        byte = high << 4 | low
        index += 2
      }
      guard byte >= 0x20, byte != 0x7F else { return nil }
      decoded.append(byte)
      index += 1
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// Whether it is a host with or without a port (RFC 9110, 7.2), or empty, which is allowed too.
  static func isHost(_ text: String) -> Bool {
    let bytes = Array(text.utf8)[...]
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end > 1 else { return false }
      let isAddress = bytes[1..<end].allSatisfy { nibble($0) != nil || $0 == UInt8(ascii: ":") || $0 == 0x2E }
      return isAddress && isPort(bytes[(end + 1)...])
    }
    let name = bytes.prefix { $0 != UInt8(ascii: ":") }
    let isName = name.allSatisfy { isLetter($0) || isDigit($0) || "-._~!$&'()*+;=%".utf8.contains($0) }
    return isName && isPort(bytes[name.endIndex...])
  }

  /// Nothing, or a colon and at most five digits.
  private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let colon = bytes.first else { return true }
    return colon == UInt8(ascii: ":") && bytes.count <= 6 && bytes.dropFirst().allSatisfy(isDigit)
  }
}
