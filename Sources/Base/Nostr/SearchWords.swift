internal import Cryptography

// The words of a text, as searches use them. Text is split here and not by SQLite's tokeniser, so that a passing event
// matches a search by the same rule as the million stored ones, and because SQLite's tokeniser treats a whole Japanese
// sentence as one word. SQLite gets the result: words of folded letters and digits, and symbols, separated by one
// blank.

/// The words of a text, folded, in order.
///
/// In scripts without blanks between words, each character is a word; so is each symbol beyond ASCII (⚡, ₿). A search
/// for several of these in a row is a phrase.
public struct SearchWords: Hashable, Sendable {
  /// The words in UTF-8, with one blank between them.
  public private(set) var utf8: [UInt8] = []

  /// Bytes of a text that are read; words after them are not found.
  public static let textByteCountMaximum = 64 << 10
  /// Longer words, such as keys in hexadecimal and Bech32, are left out of an index: people do not search for half of
  /// one, and a filter finds whole ones.
  public static let wordByteCountMaximum = 48

  /// No words.
  public init() {}

  /// The words of a text.
  public init(_ text: String) {
    self.init()
    append(text)
  }

  /// Whether there are no words.
  public var isEmpty: Bool { utf8.isEmpty }

  /// Adds the words of another text.
  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(utf8: $0) }
  }

  /// Adds the words of a text in UTF-8, up to the limit of bytes.
  public mutating func append(utf8 text: UnsafeBufferPointer<UInt8>) {
    var end = min(text.count, Self.textByteCountMaximum)
    // Not in the middle of a character.
    while end > 0, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
    let text = UnsafeBufferPointer(rebasing: text[..<end])
    if text.allSatisfy({ $0 < 0x80 }) { appendASCII(text) } else { appendFolded(text) }
  }

  private mutating func appendASCII(_ text: UnsafeBufferPointer<UInt8>) {
    var start = 0
    while start < text.count {
      var end = start
      while end < text.count, Self.isLetter(text[end]) { end += 1 }
      if end > start, end - start <= Self.wordByteCountMaximum {
        separate()
        for byte in text[start..<end] { utf8.append(byte &- 0x41 < 26 ? byte | 0x20 : byte) }
      }
      start = end + 1
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 }

  private mutating func appendFolded(_ text: UnsafeBufferPointer<UInt8>) {
    var word: [UInt8] = []
    for scalar in FoldedText(text).scalars {
      let kind = FoldedText.characterClass(scalar)
      if kind != .letter { finish(&word) }
      guard kind != .gap, let scalar = Unicode.Scalar(UInt32(bitPattern: scalar)) else { continue }
      word.append(contentsOf: Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter))
      if kind == .word { finish(&word) }
    }
    finish(&word)
  }

  private mutating func finish(_ word: inout [UInt8]) {
    if !word.isEmpty, word.count <= Self.wordByteCountMaximum {
      separate()
      utf8 += word
    }
    word.removeAll(keepingCapacity: true)
  }

  private mutating func separate() {
    if !utf8.isEmpty { utf8.append(0x20) }
  }

  /// Whether another's words occur here, in sequence.
  public func contains(_ phrase: SearchWords) -> Bool {
    let (text, sought) = (utf8, phrase.utf8)
    guard !sought.isEmpty, sought.count <= text.count else { return false }
    return text.withUnsafeBufferPointer { text in
      sought.withUnsafeBufferPointer { sought in
        (0...(text.count - sought.count)).contains { start in
          guard start == 0 || text[start - 1] == 0x20, text[start] == sought[0] else { return false }
          let end = start + sought.count
          guard end == text.count || text[end] == 0x20 else { return false }
          return (1..<sought.count).allSatisfy { text[start + $0] == sought[$0] }
        }
      }
    }
  }
}
