internal import Glibc

/// The parts of a relay's address, each canonical. See ``RelayURL``.
struct RelayURLParts {
  private(set) var isSecure = true
  private(set) var host = ""
  private(set) var port: UInt16 = 0
  /// Empty, or `/…` without a slash at its end.
  private(set) var path = ""
  /// Empty, or `?…`.
  private(set) var query = ""

  init(_ address: String) throws(RelayURLFault.Problem) {
    let text = Self.trimmed(address)
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= RelayURL.byteCountMaximum else { throw .tooLong(byteCount: text.utf8.count) }
    var rest = try readScheme(text)
    if rest.contains("#") { throw .fragment }
    if let mark = rest.firstIndex(of: "?") {
      query = try Self.canonicalised(rest[mark...])
      if query == "?" { query = "" }
      rest = rest[..<mark]
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    try readAuthority(rest[..<slash])
    try readPath(rest[slash...])
  }

  /// Host and port as the address has them.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == Self.defaultPort(isSecure: isSecure) ? name : "\(name):\(port)"
  }

  static func defaultPort(isSecure: Bool) -> UInt16 { isSecure ? 443 : 80 }

  private static func trimmed(_ text: String) -> Substring {
    let isSpace: (Unicode.Scalar) -> Bool = { $0.value <= 0x20 }
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }), let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return text[first...last]
  }

  private mutating func readScheme(_ text: Substring) throws(RelayURLFault.Problem) -> Substring {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { throw .scheme(nil) }
    let scheme = text[..<colon].lowercased()
    switch scheme {
    case "wss": isSecure = true
    case "ws": isSecure = false
    default: throw .scheme(scheme.utf8.allSatisfy { $0 &- 0x61 < 26 } ? scheme : nil)
    }
    return text[colon...].dropFirst(3)
  }

  private mutating func readAuthority(_ authority: Substring) throws(RelayURLFault.Problem) {
    if authority.contains("@") { throw .credentials }
    var name = authority
    var portText: Substring?
    if authority.hasPrefix("[") {
      guard let bracket = authority.firstIndex(of: "]") else { throw .badHost(String(authority)) }
      let after = authority[authority.index(after: bracket)...]
      if !after.isEmpty && !after.hasPrefix(":") { throw .badHost(String(authority)) }
      name = authority[...bracket]
      portText = after.isEmpty ? nil : after.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      name = authority[..<colon]
      portText = authority[colon...].dropFirst()
    }
    guard !name.isEmpty else { throw .noHost }
    // The Kelvin sign becomes a k in lower case, and would be accepted as one.
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else { throw .badHost(String(name)) }
    host = try name.hasPrefix("[") ? Self.addressVersion6(name) : Self.name(name)
    port = Self.defaultPort(isSecure: isSecure)
    if let portText {
      let isNumber = !portText.isEmpty && portText.utf8.allSatisfy { $0 &- 0x30 < 10 }
      guard isNumber, let value = UInt16(portText), value > 0 else { throw .badPort(String(portText)) }
      port = value
    }
  }

  /// A name or an IPv4 address, in lower case: labels of letters, digits, `-` and `_`, separated by single dots.
  private static func name(_ text: Substring) throws(RelayURLFault.Problem) -> String {
    let name = text.lowercased()
    guard isHostName(name) else { throw .badHost(String(text)) }
    // A host that ends in a number is an IPv4 address (WHATWG URL), and must be a full one: 127.1 and 0x7f.1 have
    // several readings.
    let labels = name.split(separator: ".")
    if let last = labels.last, isNumber(last) {
      var address = in_addr()
      guard labels.count == 4, inet_pton(AF_INET, name, &address) == 1 else { throw .badHost(String(text)) }
    }
    return name
  }

  /// Digits, or `0x` and hexadecimal digits: resolvers read both as parts of an address.
  private static func isNumber(_ label: Substring) -> Bool {
    if label.hasPrefix("0x") { return label.utf8.dropFirst(2).allSatisfy { hexadecimalValue($0) != nil } }
    return label.utf8.allSatisfy { $0 &- 0x30 < 10 }
  }

  /// An IPv6 address in the shortest spelling (RFC 5952), without its brackets.
  private static func addressVersion6(_ text: Substring) throws(RelayURLFault.Problem) -> String {
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1 else { throw .badHost(String(text)) }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count))
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private mutating func readPath(_ text: Substring) throws(RelayURLFault.Problem) {
    var path = try Self.canonicalised(text)
    // People copy addresses out of sentences and lists; no relay's path ends in one of these characters. They are
    // removed together with slashes, because removing one can leave the other at the end.
    while let last = path.utf8.last {
      guard last == 0x2F || query.isEmpty && (last == 0x2C || last == 0x2E || last == 0x3B) else { break }
      path.removeLast()
    }
    if path.contains("//") {
      throw path.contains("s://") ? .secondAddress : .emptySegment
    }
    let segments = path.split(separator: "/")
    if segments.contains(where: { $0 == "." || $0 == ".." }) { throw .badCharacter("a . or .. as a part of its path") }
    // Only for a host with a dot: a relay on the host "nostr" may well serve /nostr.
    if host.contains("."), segments.contains(where: { $0.lowercased() == host }) { throw .secondAddress }
    self.path = path
  }

  /// Percent escapes in upper case; unnecessary ones are decoded (RFC 3986, 6.2.2).
  private static func canonicalised(_ text: Substring) throws(RelayURLFault.Problem) -> String {
    var result: [UInt8] = []
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = bytes.next().flatMap(hexadecimalValue), let low = bytes.next().flatMap(hexadecimalValue) else {
          throw .badCharacter("a % that is not followed by two hexadecimal digits")
        }
        let meant = high << 4 | low
        guard meant > 0x20, meant != 0x7F else { throw .badCharacter("an escaped space or control character") }
        if isUnreserved(meant) {
          result.append(meant)
        } else {
          let digits = Array("0123456789ABCDEF".utf8)
          result.append(contentsOf: [byte, digits[Int(high)], digits[Int(low)]])
        }
        continue
      }
      guard byte > 0x20, byte < 0x7F else {
        throw .badCharacter(byte >= 0x7F ? "a character outside ASCII" : "white space or a control character")
      }
      guard isUnreserved(byte) || "!$&'()*+,;=:@/?".utf8.contains(byte) else {
        throw .badCharacter("the character \(Character(UnicodeScalar(byte)))")
      }
      result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The value of a hexadecimal digit of either case; nil for any other byte.
  private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~".utf8.contains(byte)
  }
}

/// Whether `name` can be a host name: at most 253 bytes, in labels of 1 to 63 lower-case letters, digits, `-` and `_`,
/// separated by single dots. An IPv4 address qualifies as well.
public func isHostName(_ name: String) -> Bool {
  name.utf8.count <= 253
    && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count)
        && label.utf8.allSatisfy { $0 &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D || $0 == 0x5F }
    }
}
