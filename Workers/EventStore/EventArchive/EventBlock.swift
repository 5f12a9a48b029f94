internal import Nostr

/// Events that were read together, in order. Their bytes lie in one piece of memory, so that a thousand events on their
/// way to somebody are copied out of the database once and are not a thousand things to be kept count of.
public struct EventBlock: Sendable {
  /// One of the events.
  public struct Entry: Sendable, Hashable {
    /// Its place in the order of commits.
    public let seq: Int64
    /// Its kind.
    public let kind: UInt16
    /// Where it stands among the results of a filter.
    public let position: QueryPosition
    /// Where its JSON is in ``EventBlock/bytes``.
    public let bytes: Range<Int>
  }

  /// The JSON of the events, one behind the other; between them may be what is no event's any more.
  public private(set) var bytes: [UInt8] = []
  /// The events, in the order they were asked for.
  public private(set) var entries: [Entry] = []
  /// Whether nothing is left behind the last of them.
  public internal(set) var isLast = false

  /// None.
  public init() {}

  /// Events that were read one by one.
  init(_ events: [StoredEvent], isLast: Bool) {
    entries.reserveCapacity(events.count)
    for event in events {
      event.json.withUnsafeBytes { append(event.seq, event.indexed.kind, event.position, $0) }
    }
    self.isLast = isLast
  }

  /// How many events.
  public var count: Int { entries.count }

  /// The JSON of an event, lent.
  @inline(__always)
  public func withJSON<Value>(of entry: Entry, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
    try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[entry.bytes])) }
  }

  /// The JSON of an event, copied.
  public func json(of entry: Entry) -> [UInt8] { Array(bytes[entry.bytes]) }

  mutating func append(_ seq: Int64, _ kind: UInt16, _ position: QueryPosition, _ json: UnsafeRawBufferPointer) {
    let start = bytes.count
    bytes.append(contentsOf: json)
    entries.append(Entry(seq: seq, kind: kind, position: position, bytes: start..<bytes.count))
  }

  /// Puts what stands from an index on into the order of ids, and leaves out what is more than `limit` in all.
  mutating func orderByID(from start: Int, limit: Int) {
    if entries.count - start > 1 { entries[start...].sort { $0.position.id < $1.position.id } }
    if entries.count > limit { entries.removeSubrange(limit...) }
  }

  /// Leaves out the others.
  public mutating func keep(where isKept: (Entry) -> Bool) { entries.removeAll { !isKept($0) } }

  /// Leaves out all behind the first so many.
  public mutating func keepFirst(_ count: Int) { entries.removeSubrange(min(count, entries.count)...) }

  /// The events one by one.
  ///
  /// - Throws: `EventFault` when one cannot be read, which was read before.
  func events() throws -> [StoredEvent] {
    try entries.map { entry in
      try withJSON(of: entry) { json in
        let scanned = try ScannedEvent(json)
        return StoredEvent(seq: entry.seq, json, scanned, IndexedEvent(scanned, in: json))
      }
    }
  }
}
