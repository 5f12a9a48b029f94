public import Nostr

/// An event as it comes out of the archive.
public struct StoredEvent: Sendable {
  /// Its place in the order of commits.
  public let seq: Int64
  /// Compact JSON.
  public let json: [UInt8]
  /// What filters look at.
  public let indexed: IndexedEvent

  /// Where it stands among the results of a filter.
  public var position: QueryPosition { QueryPosition(time: indexed.createdAt, id: indexed.id) }
}

/// A place in the order in which filters are answered: newest first, and of one second the lowest id first (NIP-01). The next
/// page begins behind it.
public struct QueryPosition: Hashable, Sendable {
  /// `created_at`.
  public let time: Int64
  /// The id.
  public let id: EventID

  /// A place.
  public init(time: Int64, id: EventID) {
    self.time = time
    self.id = id
  }

  /// Whether it is answered before another.
  public func precedes(_ other: QueryPosition) -> Bool { (other.time, id) < (time, other.id) }
}
