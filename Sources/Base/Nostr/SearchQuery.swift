// The text of a search field (NIP-50): words, "phrases in quotes", -exclusions, and extensions such as `language:de`.
// No extension is known here, so all are ignored, as the NIP requires. No syntax is wrong: a quote that is not closed
// extends to the end. Signs that are not words (`&`, `!!`) are ignored beside words. A search of nothing but signs
// finds nothing, because a person who searches for `!!` does not want all events.

/// A parsed search.
public struct SearchQuery: Hashable, Sendable {
  /// Each must be found; a term of several words is a phrase.
  public private(set) var terms: [SearchWords] = []
  /// None may be found.
  public private(set) var exclusions: [SearchWords] = []
  /// Whether it asks for something that no index contains, so that nothing is found: a word that is too long, or signs
  /// without any word.
  public private(set) var isImpossible = false

  /// The most terms and exclusions that are used; further ones are ignored.
  public static let termCountMaximum = 32

  /// Parses the typed text.
  public init(_ text: String) {
    var rest = Substring(text)
    // Whether any piece had no word, and whether such a piece was to be found rather than excluded.
    var (hasWordless, wantsWordless) = (false, false)
    while terms.count + exclusions.count < Self.termCountMaximum, let piece = Self.nextPiece(&rest) {
      guard !add(piece.text, isExcluded: piece.isExcluded) else { continue }
      hasWordless = true
      if !piece.isExcluded { wantsWordless = true }
    }
    if terms.isEmpty, wantsWordless || hasWordless && exclusions.isEmpty { isImpossible = true }
  }

  /// Removes the next word or phrase from a text, and skips extensions; nil at its end.
  private static func nextPiece(_ rest: inout Substring) -> (text: Substring, isExcluded: Bool)? {
    while true {
      rest = rest.drop { $0.isWhitespace }
      guard !rest.isEmpty else { return nil }
      let isExcluded = rest.first == "-"
      if isExcluded { rest.removeFirst() }
      if rest.first == "\"" {
        rest.removeFirst()
        let phrase = rest.prefix { $0 != "\"" }
        rest = rest[phrase.endIndex...].dropFirst()
        return (phrase, isExcluded)
      }
      let word = rest.prefix { !$0.isWhitespace && $0 != "\"" }
      rest = rest[word.endIndex...]
      if !isExtension(word) { return (word, isExcluded) }
    }
  }

  /// `key:value`, two words separated by a colon. An address (`https://…`) or a `nostr:` URI (NIP-21) is not an
  /// extension.
  private static func isExtension(_ word: Substring) -> Bool {
    let key = word.prefix { $0.isASCII && $0.isLetter }
    guard !key.isEmpty, key != "nostr", word[key.endIndex...].first == ":" else { return false }
    return word[key.endIndex...].dropFirst().first.map { $0.isLetter || $0.isNumber } ?? false
  }

  /// Adds a term or exclusion; false for a text without a word.
  private mutating func add(_ text: Substring, isExcluded: Bool) -> Bool {
    let words = SearchWords(String(text))
    if words.isEmpty {
      let isLong = text.utf8.count > SearchWords.wordByteCountMaximum && text.contains { $0.isLetter || $0.isNumber }
      if isLong, !isExcluded { isImpossible = true }
      return isLong
    }
    if isExcluded {
      if !exclusions.contains(words) { exclusions.append(words) }
    } else if !terms.contains(words) {
      terms.append(words)
    }
    return true
  }

  /// Whether it asks for nothing: only blanks or extensions. Then it counts as no search.
  public var isEmpty: Bool { terms.isEmpty && exclusions.isEmpty && !isImpossible }
}
