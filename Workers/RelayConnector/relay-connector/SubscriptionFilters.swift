import Nostr

/// What a relay was asked for: its filters, ready to be held against what it sends.
struct SubscriptionFilters {
  let filters: [Filter]
  private let matchers: [FilterMatcher]

  init(_ filters: [Filter]) {
    self.filters = filters
    matchers = filters.map { FilterMatcher($0) }
  }

  /// Whether a filter takes the event. What cannot be read is taken as asked for: whoever verifies it says what is
  /// wrong with it, and who has sent it.
  func asks(for event: UnsafeRawBufferPointer) -> Bool {
    guard let scanned = try? ScannedEvent(event) else { return true }
    let indexed = IndexedEvent(scanned, in: event)
    return matchers.contains { $0.matches(indexed) }
  }
}
