import Nostr

/// The filters of a subscription, ready to be matched with what the relay sends.
struct SubscriptionFilters {
  let filters: [Filter]
  private let matchers: [FilterMatcher]

  init(_ filters: [Filter]) {
    self.filters = filters
    matchers = filters.map { FilterMatcher($0) }
  }

  /// Whether a filter matches the event. An event that cannot be read counts as a match: the program that verifies it
  /// will report what is wrong, and which relay sent it.
  func asks(for event: UnsafeRawBufferPointer) -> Bool {
    guard let scanned = try? ScannedEvent(event) else { return true }
    let indexed = IndexedEvent(scanned, in: event)
    return matchers.contains { $0.matches(indexed) }
  }
}
