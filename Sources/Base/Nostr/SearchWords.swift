internal import Cryptography

// Words as they are searched for. Text is taken apart here and not by SQLite's tokeniser, so that an event that is just
// passing is held against a search by the same rule as the million that are stored; and because SQLite's takes a whole
// Japanese sentence for one word. SQLite is given what comes out: words of folded letters and digits, and symbols, one
// blank between them.

/// The words of a text, folded, in its order.
///
/// Scripts that put no blanks between words have a word for each character, and so have symbols beyond ASCII (⚡, ₿); a
/// run of them that is searched for is a phrase.
public struct SearchWords: Hashable, Sendable {
  /// The words in UTF-8, with one blank between them.
  public private(set) var utf8: [UInt8] = []

  /// Bytes of a text that are looked at; what stands behind them is not found.
  public static let textByteCountMaximum = 64 << 10
  /// Longer words, such as keys in hexadecimal and Bech32, are left out of an index: nobody searches for half of one,
  /// and a filter finds them whole.
  public static let wordByteCountMaximum = 48

  /// No words.
  public init() {}

  /// The words of a text.
  public init(_ text: String) {
    self.init()
    append(text)
  }

  /// Whether there is none.
  public var isEmpty: Bool { utf8.isEmpty }

  /// Adds the words of another text.
  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(utf8: $0) }
  }

  /// Adds the words of a text in UTF-8, up to the most bytes that are looked at.
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

  /// Whether another's words stand here, one behind the other.
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
