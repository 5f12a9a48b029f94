/// The reason a relay gives in OK and CLOSED: a machine-readable word, a colon, and a sentence (NIP-01, NIP-42).
///
/// Relays omit the word, invent others, or send nothing; all of that is kept unchanged.
public struct RelayReason: Hashable, Sendable, CustomStringConvertible {
  /// The unchanged text; often empty when an event was accepted.
  public let text: String

  /// Longest reason that is kept, in bytes; the rest is cut off, and the text then ends with `…`.
  public static let byteCountMaximum = 1024

  /// Takes the relay's text, cut to ``byteCountMaximum``.
  public init(_ text: String) {
    guard text.utf8.count > Self.byteCountMaximum else {
      self.text = text
      return
    }
    var kept = ""
    for character in text.unicodeScalars {
      if kept.utf8.count + 7 > Self.byteCountMaximum { break }
      kept.unicodeScalars.append(character)
    }
    self.text = kept + "…"
  }

  /// The word before the colon: `duplicate`, `pow`, `blocked`, `rate-limited`, `invalid`, `restricted`, `mute`,
  /// `error`, `auth-required`, or one that is not standardised; nil if the text does not begin with a single lower-case
  /// word and a colon.
  public var word: String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.utf8.startIndex else { return nil }
    let word = text[..<colon]
    let isWord = word.utf8.count <= 32 && word.utf8.allSatisfy { $0 &- 0x61 < 26 || $0 == UInt8(ascii: "-") }
    return isWord ? String(word) : nil
  }

  /// Whether the word is one of those for an error (NIP-01, NIP-42). A subscription that is closed without such a word
  /// has ended, and was not refused.
  public var namesError: Bool { word.map { Self.errorWords.contains($0) } ?? false }

  private static let errorWords: Set<String> = [
    "auth-required", "blocked", "error", "invalid", "mute", "pow", "rate-limited", "restricted", "unsupported",
  ]

  /// The unchanged text.
  public var description: String { text }
}
