public import Nostr

/// A filter made ready to be asked many times, with its words (NIP-50), which a `FilterMatcher` leaves to others.
public struct SearchingMatcher: Sendable {
  private let matcher: FilterMatcher
  private let search: SearchQuery?

  /// The filter.
  public var filter: Filter { matcher.filter }

  /// Makes a filter ready.
  public init(_ filter: Filter) {
    matcher = FilterMatcher(filter)
    search = filter.search.map { SearchQuery($0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the event meets every condition but `limit`.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - text: its words; asked for only when the answer depends on them.
  public func matches(_ event: IndexedEvent, text: () -> SearchedText) -> Bool {
    guard matcher.matches(event) else { return false }
    return search?.matches(text()) ?? true
  }
}
