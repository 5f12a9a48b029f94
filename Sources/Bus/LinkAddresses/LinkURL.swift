internal import Addresses
internal import Frames

// A link comes from a stranger's program, or out of a person's clipboard. It is shown, clicked, given to an extractor
// and put into pages, and each of these reads an address in its own way. So a link has one spelling from here on, and
// an address that two programs could read differently is refused: `https://good.example\@evil.example` leads browsers
// and libraries to different hosts.
//
// Foreign letters and the characters that would end an attribute or a command's word are written as percent escapes,
// so that the text is printable ASCII. A host of other letters is refused: linkstr sends it as `xn--…`.

/// A link: an address of `https` or `http` with a host, in one spelling.
///
/// Scheme and host are in lower case, a default port is left out, and the rest is as it was given, in ASCII.
public struct LinkURL: Hashable, Sendable, CustomStringConvertible {
  /// The whole address.
  public let text: String
  /// Whether it is `https`.
  public let isSecure: Bool
  /// The host in lower case, without brackets: a name or an IP address.
  public let host: String
  /// The path, with the slash at its beginning; may be empty.
  let path: String
  /// What is between `?` and `#`; may be empty.
  let query: String

  /// The longest address, in bytes, before and after it is normalised. Longer ones are refused.
  public static let byteCountMaximum = 4_096

  /// Reads an address; white space around it is dropped.
  public init(_ text: String) throws(LinkURLFault) {
    let bytes = try Self.plain(text)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .scheme(nil) }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    guard scheme == "https" || scheme == "http" else {
      let isWord = (1...20).contains(scheme.utf8.count) && scheme.utf8.allSatisfy { $0 &- 0x61 < 26 }
      throw .scheme(isWord ? scheme : nil)
    }
    guard bytes[colon...].starts(with: "://".utf8) else { throw .scheme(nil) }
    let rest = bytes[(colon + 3)...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    isSecure = scheme == "https"
    let (host, port) = try Self.authority(rest[..<end], defaultPort: isSecure ? 443 : 80)
    let tail = Self.escaped(rest[end...])
    self.host = host
    let name = host.contains(":") ? "[\(host)]" : host
    self.text = "\(scheme)://\(name)\(port.map { ":\($0)" } ?? "")\(tail)"
    guard self.text.utf8.count <= Self.byteCountMaximum else { throw .tooLong(byteCount: self.text.utf8.count) }
    let withoutFragment = tail.prefix { $0 != "#" }
    path = String(withoutFragment.prefix { $0 != "?" })
    query = String(withoutFragment.drop { $0 != "?" }.dropFirst())
  }

  /// Reads the address of a media file that an extractor found: only `https` is taken.
  public static func media(_ text: String) throws(LinkURLFault) -> LinkURL {
    let url = try LinkURL(text)
    guard url.isSecure else { throw .notSecure }
    return url
  }

  /// The address.
  public var description: String { text }
  /// Whether both have one text.
  public static func == (left: LinkURL, right: LinkURL) -> Bool { left.text == right.text }
  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  // MARK: What classes of links look at

  /// The parts of the path that are not empty.
  public var segments: [Substring] { path.split(separator: "/") }

  /// The value of the first member of the query with this name; not unescaped.
  public func queryValue(_ name: String) -> Substring? {
    for member in query.split(separator: "&") where member.prefix(while: { $0 != "=" }) == name {
      return member.drop { $0 != "=" }.dropFirst()
    }
    return nil
  }

  // MARK: Reading

  /// The bytes without white space around them; none of them is hidden or a backslash.
  private static func plain(_ text: String) throws(LinkURLFault) -> [UInt8] {
    let scalars = text.unicodeScalars
    let isVisible: (Unicode.Scalar) -> Bool = { !$0.properties.isWhitespace }
    guard let first = scalars.firstIndex(where: isVisible), let last = scalars.lastIndex(where: isVisible) else {
      throw .empty
    }
    let trimmed = scalars[first...last]
    let bytes = Array(String(trimmed).utf8)
    guard bytes.count <= byteCountMaximum else { throw .tooLong(byteCount: bytes.count) }
    for scalar in trimmed {
      if scalar == "\\" { throw .backslash }
      if scalar.properties.isWhitespace || ControlCharacters.contains(scalar) { throw .hiddenCharacter }
    }
    return bytes
  }

  /// Host and port; the port is nil if it is the default.
  private static func authority(
    _ bytes: ArraySlice<UInt8>, defaultPort: UInt16
  ) throws(LinkURLFault) -> (host: String, port: UInt16?) {
    if bytes.contains(UInt8(ascii: "@")) { throw .credentials }
    let text = String(decoding: bytes, as: UTF8.self)
    var name = Substring(text)
    if text.hasPrefix("[") {
      guard let bracket = text.firstIndex(of: "]") else { throw .badHost }
      name = text[...bracket]
    } else {
      name = text.prefix { $0 != ":" }
    }
    guard !name.isEmpty else { throw .noHost }
    let host = try host(name)
    let rest = text[name.endIndex...]
    guard !rest.isEmpty else { return (host, nil) }
    let digits = rest.dropFirst()
    guard rest.hasPrefix(":"), !digits.isEmpty, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
      let port = UInt16(digits), port > 0
    else { throw .badPort }
    return (host, port == defaultPort ? nil : port)
  }

  private static func host(_ name: Substring) throws(LinkURLFault) -> String {
    if name.hasPrefix("[") {
      guard let address = IPAddress(String(name.dropFirst().dropLast())), address.isVersion6 else { throw .badHost }
      return "\(address)"
    }
    // The Kelvin sign becomes a k in lower case, and would be accepted as one.
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else { throw .badHost }
    let host = name.lowercased()
    guard isHostName(host) else { throw .badHost }
    // What ends in a number is an IPv4 address, and must be a full one: 127.1 and 0x7f.1 have several readings.
    if let last = host.split(separator: ".").last, isNumber(last), IPAddress(host) == nil { throw .badHost }
    return host
  }

  private static func isNumber(_ label: Substring) -> Bool {
    let digits = label.hasPrefix("0x") ? label.dropFirst(2) : label
    let isDigit: (UInt8) -> Bool = { $0 &- 0x30 < 10 || label.hasPrefix("0x") && $0 &- 0x61 < 6 }
    return digits.utf8.allSatisfy(isDigit)
  }

  /// Path, query and fragment in printable ASCII; escapes that are there stay.
  private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
    var result: [UInt8] = []
    for (index, byte) in zip(bytes.indices, bytes) {
      let isEscape =
        byte == UInt8(ascii: "%") && bytes[index...].dropFirst().prefix(2).count(where: isHexadecimal) == 2
      if isEscape || isPlain(byte) { result.append(byte) } else { append(escapeOf: byte, to: &result) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// `text` as one value in a query.
  public static func queryEscaped(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) { result.append(byte) } else { append(escapeOf: byte, to: &result) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func append(escapeOf byte: UInt8, to result: inout [UInt8]) {
    let digits = Array("0123456789ABCDEF".utf8)
    result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6 }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~".utf8.contains(byte)
  }

  /// Brackets are not allowed by RFC 3986, but many sites have them in queries.
  private static func isPlain(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || "!$&'()*+,;=:@/?#[]".utf8.contains(byte)
  }
}

/// Why a text is not a link. Reveals nothing of the text but a scheme.
public enum LinkURLFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nothing but white space.
  case empty
  /// Longer than ``LinkURL/byteCountMaximum``.
  case tooLong(byteCount: Int)
  /// Another scheme than `https` and `http`, or nil if it has no scheme.
  case scheme(String?)
  /// A user name or password before the host.
  case credentials
  /// No host.
  case noHost
  /// A host that is neither a name nor an address.
  case badHost
  /// A port that is not a number of 1 to 65,535.
  case badPort
  /// White space, a control character, or a character that shows nothing.
  case hiddenCharacter
  /// A backslash, which some programs read as a slash.
  case backslash
  /// A media file that would be loaded without encryption.
  case notSecure

  /// The end of a sentence: `it begins with ftp:, and a link begins with https:// or http://`.
  public var description: String {
    switch self {
    case .empty: "it is empty"
    case .tooLong(let count): "it has \(count) bytes, and at most \(LinkURL.byteCountMaximum) are taken"
    case .scheme(let scheme?): "it begins with \(scheme):, and a link begins with https:// or http://"
    case .scheme(nil): "it does not begin with https:// or http://"
    case .credentials: "it has a user name or password before the @"
    case .noHost: "it names no host after the //"
    case .badHost: "its host is neither a name nor an IP address (other alphabets are written as xn--…)"
    case .badPort: "its port is not a number from 1 to 65535"
    case .hiddenCharacter: "it has a space or a character that cannot be seen"
    case .backslash: "it has a backslash"
    case .notSecure: "it is not encrypted (https://)"
    }
  }
}
