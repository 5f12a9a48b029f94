internal import EventLoop

// libcurl reads an address in its own way, and leniently. The decisions here (which certificate counts, which host a
// bound is for) must see the host that libcurl dials, so only addresses with a single reading are accepted.

/// An address of `http` or `https`, split into its parts.
struct HTTPAddress: Hashable, Sendable {
  /// The address as given.
  let text: String
  /// Whether it is `https`.
  let isSecure: Bool
  /// The host in lower case, without brackets: a name or an IP address.
  let host: String
  /// The port, default or not.
  let port: UInt16

  /// The longest address, in bytes.
  static let byteCountMaximum = 4_096

  /// Reads an address.
  ///
  /// - Throws: `bad-request` with what is wrong: another scheme, a user name, a part after #, anything that is not
  ///   printable ASCII, no proper host or port.
  init(_ text: String) throws(HTTPFault) {
    func bad(_ complaint: String) -> HTTPFault {
      HTTPFault(.badRequest, url: printable(text), detail: "this is no address that can be asked: \(complaint)")
    }
    guard text.utf8.count <= Self.byteCountMaximum else {
      throw bad("it has more than \(Self.byteCountMaximum) bytes")
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
      throw bad("it holds white space, a backslash or a character outside ASCII")
    }
    guard !text.contains("#") else { throw bad("it has a part after #") }
    guard let mark = text.firstRange(of: "://") else { throw bad("it does not begin with https:// or http://") }
    switch text[..<mark.lowerBound].lowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: throw bad("it begins with \(text[..<mark.upperBound].prefix(20)), not with https:// or http://")
    }
    let authority = text[mark.upperBound...].prefix { $0 != "/" && $0 != "?" }
    if authority.contains("@") { throw bad("it holds a user name or password before the @") }
    guard let (host, port) = Self.split(authority) else { throw bad("\"\(authority)\" is no host with a port") }
    self.host = host
    self.port = port ?? (isSecure ? 443 : 80)
    self.text = text
  }

  /// `host`, `host:port`, `[address]` or `[address]:port`; nil for anything else.
  private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
    var name = authority
    var rest: Substring = ""
    if authority.hasPrefix("[") {
      guard let bracket = authority.firstIndex(of: "]") else { return nil }
      name = authority[..<bracket].dropFirst()
      rest = authority[bracket...].dropFirst()
      guard SocketAddress(literal: String(name), port: 0)?.isIPv6 == true else { return nil }
    } else {
      name = authority.prefix { $0 != ":" }
      rest = authority[name.endIndex...]
      let isName = name.utf8.allSatisfy { byte in
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._".utf8.contains(byte)
      }
      guard isName, (1...253).contains(name.utf8.count) else { return nil }
    }
    guard !rest.isEmpty else { return (name.lowercased(), nil) }
    let digits = rest.dropFirst()
    guard rest.hasPrefix(":"), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let port = UInt16(digits), port > 0 else {
      return nil
    }
    return (name.lowercased(), port)
  }
}
