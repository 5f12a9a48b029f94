/// Names of accounts. They are names of files and words on a command line, and nobody must take one for another.
public enum AccountName {
  /// Most bytes.
  public static let byteCountMaximum = 32
  /// What a name is, for people.
  public static let form = "1 to 32 lower case letters, digits, '-' and '_', the first a letter or digit, and no key"

  /// Whether it may be one. What begins as a key does may not: somebody may have pasted one.
  public static func isValid(_ text: String) -> Bool {
    func isPlain(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) }
    guard let first = text.utf8.first, isPlain(first), text.utf8.count <= byteCountMaximum else { return false }
    guard text.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) else {
      return false
    }
    return !["nsec1", "ncryptsec1", "npub1"].contains { text.hasPrefix($0) }
  }
}
