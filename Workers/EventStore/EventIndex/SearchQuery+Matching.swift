public import Nostr

extension SearchQuery {
  /// Whether an event with this text is found.
  public func matches(_ text: SearchedText) -> Bool {
    !isImpossible && terms.allSatisfy { text.contains($0) } && !exclusions.contains { text.contains($0) }
  }

  /// The same as an expression of SQLite's FTS5; nil without a term to be found. Words have letters, digits and
  /// characters beyond ASCII only, so within their quotes nothing can be taken for syntax.
  public var expression: String? {
    guard !terms.isEmpty, !isImpossible else { return nil }
    func quoted(_ words: SearchWords) -> String { "\"\(String(decoding: words.utf8, as: UTF8.self))\"" }
    let wanted = "(\(terms.map(quoted).joined(separator: " AND ")))"
    return exclusions.isEmpty ? wanted : "\(wanted) NOT (\(exclusions.map(quoted).joined(separator: " OR ")))"
  }
}
