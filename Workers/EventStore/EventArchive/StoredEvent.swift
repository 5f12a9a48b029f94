public import Nostr

/// An event as the archive returns it.
public struct StoredEvent: Sendable {
  /// Its number in the order of commits.
  public let seq: Int64
  /// Compact JSON.
  public let json: [UInt8]
  /// What filters look at.
  public let indexed: IndexedEvent
  /// When it expires, seconds since 1970 (NIP-40); nil for never.
  public let expiration: Int64?

  /// Its position in the order in which filters are answered.
  public var position: QueryPosition { QueryPosition(time: indexed.createdAt, id: indexed.id) }

  init(seq: Int64, _ event: VerifiedEvent) {
    self.seq = seq
    json = event.json
    indexed = event.indexed
    expiration = event.expiration
  }

  init(seq: Int64, _ bytes: UnsafeRawBufferPointer, _ scanned: ScannedEvent, _ indexed: IndexedEvent) {
    self.seq = seq
    json = Array(bytes)
    self.indexed = indexed
    expiration = scanned.expiration(in: bytes)
  }

  func isExpired(_ now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
}

/// A position in the order in which filters are answered: newest first, and of one second the lowest id first (NIP-01).
/// The next page begins after it.
public struct QueryPosition: Hashable, Sendable {
  /// `created_at`.
  public let time: Int64
  /// The id.
  public let id: EventID

  /// A position.
  public init(time: Int64, id: EventID) {
    self.time = time
    self.id = id
  }

  /// Whether this position comes before another.
  public func precedes(_ other: QueryPosition) -> Bool { (other.time, id) < (time, other.id) }
}
