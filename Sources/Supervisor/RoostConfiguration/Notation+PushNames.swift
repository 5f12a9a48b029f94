// Texts of a push relay's settings whose form Apple, or the signature of a client, prescribes. A text of another form
// is mistyped, and it is better to report that before a phone waits for a push.

extension Notation where Value == String {
  /// An identifier that Apple gives to a key or a team: ten characters; or nothing (`""`).
  static let appleIdentifier = text("an identifier of ten characters") { text in
    let isIdentifier =
      text.utf8.count == 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    guard !text.isEmpty, !isIdentifier else { return nil }
    return Complaint(
      message: "\"\(text)\" is no identifier of Apple's: ten characters of A-Z and 0-9, such as \"ABC123DEFG\"")
  }

  /// An app's bundle identifier; or nothing (`""`).
  static let bundleIdentifier = text("an app's bundle identifier") { text in
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isIdentifier =
      parts.count >= 2
      && parts.allSatisfy { part in !part.isEmpty && part.utf8.allSatisfy { isWordByte($0) || $0 == 0x2D } }
    guard !text.isEmpty, !isIdentifier else { return nil }
    return Complaint(message: "\"\(text)\" is no bundle identifier, such as \"org.example.wallet\"")
  }

  /// The name that clients sign for: a host, with its port if it has one; or nothing (`""`).
  static let audience = text("a host's name") { text in
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isName = parts.first?.isEmpty == false && (parts.first?.utf8.allSatisfy { isHostByte($0) } ?? false)
    let isPort = parts.count == 1 || parts.count == 2 && UInt16(parts[1]) != nil
    guard !text.isEmpty, !(isName && isPort) else { return nil }
    return Complaint(message: "\"\(text)\" is no host's name, such as \"push.example\", without https:// and path")
  }

  /// The address at which push services can reach the operator (RFC 8292); or nothing (`""`).
  static let pushContact = text("a mailto: or https: address") { text in
    guard !text.isEmpty, !["mailto:", "https://"].contains(where: { text.hasPrefix($0) && text != $0 }) else {
      return nil
    }
    return Complaint(
      message: "\"\(text)\" is no address such as \"mailto:push@example.org\" or \"https://example.org\"")
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool { isWordByte(byte) || byte == 0x2D || byte == 0x2E }
}
