public import Nostr

/// A filter made ready to be asked many times, with its words (NIP-50), which a `FilterMatcher` leaves to others, and
/// with those whose gift wraps may be given.
public struct SearchingMatcher: Sendable {
  private let matcher: FilterMatcher
  private let search: SearchQuery?
  private let recipients: Recipients?

  /// The filter.
  public var filter: Filter { matcher.filter }

  /// Makes a filter ready.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - recipients: the only ones whose gift wraps match; nil: all wraps may.
  public init(_ filter: Filter, for recipients: Recipients? = nil) {
    matcher = FilterMatcher(filter)
    search = filter.search.map { SearchQuery($0) }.flatMap { $0.isEmpty ? nil : $0 }
    self.recipients = recipients
  }

  /// Whether the event meets every condition but `limit`.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - text: its words; asked for only when the answer depends on them.
  public func matches(_ event: IndexedEvent, text: () -> SearchedText) -> Bool {
    matchesAllButWords(event) && search?.matches(text()) ?? true
  }

  /// The same for whoever has found the words already.
  public func matchesAllButWords(_ event: IndexedEvent) -> Bool {
    matcher.matches(event) && recipients?.allow(event) ?? true
  }

  /// Whether of an event of this kind it is asked whom it is for.
  public func isRestricted(_ kind: UInt16) -> Bool { recipients?.concern(kind) ?? false }

  /// Whether an event matches, when that can be said without its tags and words; else nil.
  public func matchesHead(_ event: ScannedEvent) -> Bool? {
    guard matcher.matchesHead(event) else { return false }
    guard !matcher.looksAtTags, search == nil else { return nil }
    return isRestricted(event.kind) ? nil : true
  }
}
