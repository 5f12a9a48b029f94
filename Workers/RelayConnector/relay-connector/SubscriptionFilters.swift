import Nostr
import RelaySubscriptions

/// The filters of a subscription, ready to be matched with what the relay sends.
struct SubscriptionFilters {
  let filters: [Filter]
  private let matchers: [FilterMatcher]

  init(_ filters: [Filter]) {
    self.filters = filters
    matchers = filters.map { FilterMatcher($0) }
  }

  /// What an event is to the subscription.
  enum Reading: Equatable {
    /// No filter matches it.
    case stray
    /// It cannot be read. It counts as a match: the program that verifies it will report what is wrong, and which relay
    /// sent it.
    case unreadable
    /// A filter matches it.
    case match(Drain.Sighting, createdAt: Int64)

    /// Whether a filter matches it.
    var isMatch: Bool { if case .match = self { true } else { false } }
  }

  /// Reads an event.
  func read(_ event: UnsafeRawBufferPointer) -> Reading {
    guard let scanned = try? ScannedEvent(event) else { return .unreadable }
    let indexed = IndexedEvent(scanned, in: event)
    guard matchers.contains(where: { $0.matches(indexed) }) else { return .stray }
    var hasher = Hasher()
    hasher.combine(bytes: event)
    return .match(Drain.Sighting(scanned.id, hash: hasher.finalize()), createdAt: scanned.createdAt)
  }
}
