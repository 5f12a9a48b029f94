/// The id of an event: the SHA-256 of its canonical form, 32 bytes (NIP-01). Holding one proves nothing about the event.
public struct EventID: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes as four big-endian words, so that hashing and comparing stay cheap.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Bytes of an id.
  public static let byteCount = 32

  /// Reads 64 hexadecimal digits, lower case only as NIP-01 demands; nil for anything else.
  public init?(hex: some Collection<UInt8>) {
    guard hex.count == 2 * Self.byteCount else { return nil }
    var digits = hex.makeIterator()
    func word() -> UInt64? {
      var word: UInt64 = 0
      for _ in 0..<16 {
        // Of the hexadecimal digits only A to F lie between these two.
        guard let byte = digits.next(), byte < 0x3A || byte >= 0x61, let digit = hexadecimalValue(byte) else {
          return nil
        }
        word = word << 4 | UInt64(digit)
      }
      return word
    }
    guard let first = word(), let second = word(), let third = word(), let fourth = word() else { return nil }
    words = (first, second, third, fourth)
  }

  /// Reads 64 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) { self.init(hex: text.utf8) }

  /// The 64 lower-case hexadecimal digits.
  public var description: String {
    [words.0, words.1, words.2, words.3].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Whether all 32 bytes are the same.
  public static func == (left: EventID, right: EventID) -> Bool { left.words == right.words }

  /// Feeds the 32 bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
