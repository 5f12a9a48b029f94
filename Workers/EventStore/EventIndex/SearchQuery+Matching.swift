public import Nostr

extension SearchQuery {
  /// Whether the query finds an event with this text.
  public func matches(_ text: SearchedText) -> Bool {
    !isImpossible && terms.allSatisfy { text.contains($0) } && !exclusions.contains { text.contains($0) }
  }

  /// The same as an expression of SQLite's FTS5; nil without a term to find. Words consist of letters, digits and
  /// characters beyond ASCII only, so nothing within their quotes can be read as syntax.
  public var expression: String? {
    guard !terms.isEmpty, !isImpossible else { return nil }
    func quoted(_ words: SearchWords) -> String { "\"\(String(decoding: words.utf8, as: UTF8.self))\"" }
    let wanted = "(\(terms.map(quoted).joined(separator: " AND ")))"
    return exclusions.isEmpty ? wanted : "\(wanted) NOT (\(exclusions.map(quoted).joined(separator: " OR ")))"
  }
}
