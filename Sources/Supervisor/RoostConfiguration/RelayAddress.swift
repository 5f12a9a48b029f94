/// A relay's URL in the one form by which two spellings of the same relay are known to be equal.
///
/// Scheme and host in lower case, without the scheme's own port (80 for `ws`, 443 for `wss`), without a final dot of
/// the host and without a final slash of the path. The path's and the query's letters stay as they are: they are the
/// relay's to interpret.
struct RelayAddress: Hashable, Sendable {
  let text: String
  /// Without brackets.
  let host: String
  /// The scheme's own unless the URL has one.
  let port: UInt16

  /// Takes a URL.
  ///
  /// - Throws: ``Complaints`` with one complaint that says what is wrong.
  init(_ url: String) throws(Complaints) {
    guard let mark = url.range(ofText: "://") else {
      throw Complaints("\"\(url)\" is not a relay's URL; it begins with wss:// or ws://")
    }
    let scheme = url[..<mark.lowerBound].lowercased()
    let rest = url[mark.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    // First of all, because the other complaints quote the URL.
    guard !authority.contains("@") else {
      throw Complaints("a relay's URL holds no user name or password; this file is no place for them")
    }
    guard scheme == "ws" || scheme == "wss" else {
      let nearest = scheme == "https" ? "wss" : scheme == "http" ? "ws" : nil
      throw Complaints(
        "\"\(url)\" is not a relay's URL; it begins with wss:// or ws://",
        nearest: nearest.map { $0 + url[mark.lowerBound...] })
    }
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw Complaints("\"\(url)\" contains a blank or a letter beyond ASCII; write the host in punycode (xn--…)")
    }
    guard !rest.contains("#") else { throw Complaints("\"\(url)\" has a fragment (#…), which no relay is ever sent") }
    let (name, port) = try RelayAddress.split(authority, of: url)
    let standardPort: UInt16 = scheme == "ws" ? 80 : 443
    var result = scheme + "://" + name
    if let port, port != standardPort { result += ":\(port)" }
    host = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
    self.port = port ?? standardPort
    text = result + RelayAddress.withoutFinalSlash(rest[authority.endIndex...])
  }

  /// The host in lower case, and the port if there is one.
  private static func split(_ authority: Substring, of url: String) throws(Complaints) -> (String, UInt16?) {
    var host = authority
    var port: Substring?
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { throw Complaints("\"\(url)\" lacks the ']' of its host") }
      host = authority[...end]
      let after = authority[authority.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else {
        throw Complaints("\"\(url)\" has letters after its host's ']'")
      }
      port = after.isEmpty ? nil : after.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      port = authority[authority.index(after: colon)...]
    }
    if host.hasSuffix(".") { host = host.dropLast() }
    guard !host.isEmpty, host != "[]" else { throw Complaints("\"\(url)\" names no host") }
    guard let port else { return (host.lowercased(), nil) }
    guard port.allSatisfy({ $0.isNumber }), let number = UInt16(port), number > 0 else {
      throw Complaints("\"\(url)\": the port goes from 1 to 65535")
    }
    return (host.lowercased(), number)
  }

  private static func withoutFinalSlash(_ target: Substring) -> String {
    let path = target.prefix { $0 != "?" }
    let query = target[path.endIndex...]
    return String(path.hasSuffix("/") ? path.dropLast() : path) + query
  }
}

extension Notation where Value == String {
  /// A relay's URL, kept as it was written.
  static let relay = Notation { value, context throws(Complaints) in
    let url = try Notation.text("a relay's URL").parse(value, context)
    _ = try RelayAddress(url)
    return url
  } render: {
    .string($0)
  }
}

extension String {
  /// Where `text` stands first.
  fileprivate func range(ofText text: String) -> Range<String.Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
