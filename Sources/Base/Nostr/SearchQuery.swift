// What somebody types into a search field (NIP-50): words, "phrases in quotes", -exclusions, and extensions such as
// `language:de`. None of the extensions is known here, so all are passed over, as the NIP asks. There is no syntax that
// could be wrong: a quote that is not closed reaches to the end. Beside words, signs that are none (`&`, `!!`) are
// passed over; where nothing else was typed nothing is found, because whoever looks for `!!` did not ask for all there
// is.

/// A search, read.
public struct SearchQuery: Hashable, Sendable {
  /// Each must be found; a term of several words as a phrase.
  public private(set) var terms: [SearchWords] = []
  /// None may be found.
  public private(set) var exclusions: [SearchWords] = []
  /// Whether it asks for what is in no index, so that nothing is found: a word that is too long, or signs without any
  /// word.
  public private(set) var isImpossible = false

  /// Terms and exclusions that are looked at; further ones are passed over.
  public static let termCountMaximum = 32

  /// Reads what somebody has typed.
  public init(_ text: String) {
    var rest = Substring(text)
    // Whether anything held no word, and whether it was something to be found.
    var (hasWordless, wantsWordless) = (false, false)
    while terms.count + exclusions.count < Self.termCountMaximum, let piece = Self.nextPiece(&rest) {
      guard !add(piece.text, isExcluded: piece.isExcluded) else { continue }
      hasWordless = true
      if !piece.isExcluded { wantsWordless = true }
    }
    if terms.isEmpty, wantsWordless || hasWordless && exclusions.isEmpty { isImpossible = true }
  }

  /// Takes the next word or phrase off a text, extensions apart; nil at its end.
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

  /// `key:value`, two words separated by a colon. An address (`https://…`) and a `nostr:` URI (NIP-21) are none.
  private static func isExtension(_ word: Substring) -> Bool {
    let key = word.prefix { $0.isASCII && $0.isLetter }
    guard !key.isEmpty, key != "nostr", word[key.endIndex...].first == ":" else { return false }
    return word[key.endIndex...].dropFirst().first.map { $0.isLetter || $0.isNumber } ?? false
  }

  /// Adds what is asked for; false for a text that holds no word.
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

  /// Whether it asks for nothing: blanks, or extensions alone. Then it is as if there were no search.
  public var isEmpty: Bool { terms.isEmpty && exclusions.isEmpty && !isImpossible }
}
