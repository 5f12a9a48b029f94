// What somebody types into a search field (NIP-50): words, "phrases in quotes", -exclusions, and extensions such as
// `language:de`. None of the extensions is known here, so all are passed over, as the NIP asks. There is no syntax that could
// be wrong: a quote that is not closed reaches to the end.

/// A search, read.
public struct SearchQuery: Hashable, Sendable {
  /// Each must be found; a term of several words as a phrase.
  public private(set) var terms: [SearchWords] = []
  /// None may be found.
  public private(set) var exclusions: [SearchWords] = []
  /// Whether it asks for a word too long to be in any index: then nothing is found.
  public private(set) var isImpossible = false

  /// Terms and exclusions that are looked at; further ones are passed over.
  public static let termCountMaximum = 32

  /// Reads what somebody has typed.
  public init(_ text: String) {
    var rest = Substring(text)
    while true {
      rest = rest.drop { $0.isWhitespace }
      guard !rest.isEmpty, terms.count + exclusions.count < Self.termCountMaximum else { return }
      var isExcluded = false
      if rest.first == "-" {
        isExcluded = true
        rest.removeFirst()
      }
      if rest.first == "\"" {
        rest.removeFirst()
        let phrase = rest.prefix { $0 != "\"" }
        rest = rest[phrase.endIndex...].dropFirst()
        add(phrase, isExcluded: isExcluded)
      } else {
        let word = rest.prefix { !$0.isWhitespace && $0 != "\"" }
        rest = rest[word.endIndex...]
        if !Self.isExtension(word) { add(word, isExcluded: isExcluded) }
      }
    }
  }

  /// `key:value`, two words separated by a colon. An address (`https://…`) and a `nostr:` URI (NIP-21) are none.
  private static func isExtension(_ word: Substring) -> Bool {
    let key = word.prefix { $0.isASCII && $0.isLetter }
    guard !key.isEmpty, key != "nostr", word[key.endIndex...].first == ":" else { return false }
    return word[key.endIndex...].dropFirst().first.map { $0.isLetter || $0.isNumber } ?? false
  }

  private mutating func add(_ text: Substring, isExcluded: Bool) {
    let words = SearchWords(String(text))
    if words.isEmpty {
      let isLong = text.utf8.count > SearchWords.wordByteCountMaximum && text.contains { $0.isLetter || $0.isNumber }
      if isLong, !isExcluded { isImpossible = true }
      return
    }
    if isExcluded {
      if !exclusions.contains(words) { exclusions.append(words) }
    } else if !terms.contains(words) {
      terms.append(words)
    }
  }

  /// Whether it asks for nothing: no words, or extensions alone. Then it is as if there were no search.
  public var isEmpty: Bool { terms.isEmpty && exclusions.isEmpty && !isImpossible }

  /// Whether an event with this text is found.
  public func matches(_ text: SearchedText) -> Bool {
    !isImpossible && terms.allSatisfy { text.contains($0) } && !exclusions.contains { text.contains($0) }
  }

  /// The same as an expression of SQLite's FTS5; nil without a term to be found. Words have letters and digits only, so
  /// within their quotes nothing can be taken for syntax.
  public var expression: String? {
    guard !terms.isEmpty, !isImpossible else { return nil }
    func quoted(_ words: SearchWords) -> String { "\"\(String(decoding: words.utf8, as: UTF8.self))\"" }
    let wanted = "(\(terms.map(quoted).joined(separator: " AND ")))"
    return exclusions.isEmpty ? wanted : "\(wanted) NOT (\(exclusions.map(quoted).joined(separator: " OR ")))"
  }
}
