public import Nostr

/// A filter prepared for many events. It also matches words (NIP-50), which `FilterMatcher` does not, and checks the
/// recipients of gift wraps.
public struct SearchingMatcher: Sendable {
  private let matcher: FilterMatcher
  private let search: SearchQuery?
  private let recipients: Recipients?

  /// The filter.
  public var filter: Filter { matcher.filter }

  /// Prepares a filter.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - recipients: the only recipients whose gift wraps match; nil: all.
  public init(_ filter: Filter, for recipients: Recipients? = nil) {
    matcher = FilterMatcher(filter)
    search = filter.search.map { SearchQuery($0) }.flatMap { $0.isEmpty ? nil : $0 }
    self.recipients = recipients
  }

  /// Whether the event meets every condition except `limit`.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - text: makes its words; called only when the result depends on them.
  public func matches(_ event: IndexedEvent, text: () -> SearchedText) -> Bool {
    matchesAllButWords(event) && search?.matches(text()) ?? true
  }

  /// The same for a caller that has already matched the words.
  public func matchesAllButWords(_ event: IndexedEvent) -> Bool {
    matcher.matches(event) && recipients?.allow(event) ?? true
  }

  /// Whether recipients are checked for events of this kind.
  public func isRestricted(_ kind: UInt16) -> Bool { recipients?.concern(kind) ?? false }

  /// Whether an event matches, if its tags and words are not needed to decide; else nil.
  public func matchesHead(_ event: ScannedEvent) -> Bool? {
    guard matcher.matchesHead(event) else { return false }
    guard !matcher.looksAtTags, search == nil else { return nil }
    return isRestricted(event.kind) ? nil : true
  }
}
