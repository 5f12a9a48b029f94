internal import Cryptography

extension Filter {
  /// Whether the event meets every condition except `limit`, which concerns the number of events, and `search`, which
  /// needs an index of words.
  public func matches(_ event: IndexedEvent) -> Bool {
    if let since, event.createdAt < since { return false }
    if let until, event.createdAt > until { return false }
    if let kinds, !kinds.contains(event.kind) { return false }
    if let authors, !authors.contains(event.pubkey) { return false }
    if let ids, !ids.contains(event.id) { return false }
    return tags.allSatisfy { letter, values in
      event.tags.contains { $0.letter == letter && values.contains($0.value) }
    }
  }
}

/// A filter prepared for many events: its lists are sets.
public struct FilterMatcher: Sendable {
  /// The filter.
  public let filter: Filter
  private let ids: Set<EventID>?
  private let authors: Set<PublicKey>?
  private let kinds: Set<UInt16>?
  private let tags: [(letter: TagLetter, values: Set<TagValue>)]

  /// Prepares a filter.
  public init(_ filter: Filter) {
    self.filter = filter
    ids = filter.ids.map { Set($0) }
    authors = filter.authors.map { Set($0) }
    kinds = filter.kinds.map { Set($0) }
    tags = filter.tags.map { ($0.key, Set($0.value)) }
  }

  /// The same answer as ``Filter/matches(_:)``.
  public func matches(_ event: IndexedEvent) -> Bool {
    guard matches(event.id, event.pubkey, event.createdAt, event.kind) else { return false }
    return tags.allSatisfy { letter, values in
      event.tags.contains { $0.letter == letter && values.contains($0.value) }
    }
  }

  /// Whether an event meets all conditions except those on tags: for a check before its tags are read.
  public func matchesHead(_ event: ScannedEvent) -> Bool {
    matches(event.id, event.pubkey, event.createdAt, event.kind)
  }

  /// Whether the filter has conditions on tags.
  public var looksAtTags: Bool { !tags.isEmpty }

  @inline(__always)
  private func matches(_ id: EventID, _ pubkey: PublicKey, _ createdAt: Int64, _ kind: UInt16) -> Bool {
    if let since = filter.since, createdAt < since { return false }
    if let until = filter.until, createdAt > until { return false }
    if let kinds, !kinds.contains(kind) { return false }
    if let authors, !authors.contains(pubkey) { return false }
    if let ids, !ids.contains(id) { return false }
    return true
  }
}
