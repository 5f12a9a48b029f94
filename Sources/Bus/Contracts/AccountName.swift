/// Names of accounts. They are file names and words on a command line, so two names must not look alike.
public enum AccountName {
  /// The maximum number of bytes.
  public static let byteCountMaximum = 32
  /// The form of a name, as text for people.
  public static let form = "1 to 32 lower case letters, digits, '-' and '_', the first a letter or digit, and no key"

  /// Whether the text is a valid name. A text that begins like a key is invalid, because a user may have pasted a key.
  public static func isValid(_ text: String) -> Bool {
    func isPlain(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) }
    guard let first = text.utf8.first, isPlain(first), text.utf8.count <= byteCountMaximum else { return false }
    guard text.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) else {
      return false
    }
    return !["nsec1", "ncryptsec1", "npub1"].contains { text.hasPrefix($0) }
  }
}
