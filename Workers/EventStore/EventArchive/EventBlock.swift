internal import Nostr

/// Events that were read together, in order. Their bytes are in one piece of memory, so a thousand events are copied
/// out of the database once, without a reference count for each.
public struct EventBlock: Sendable {
  /// One of the events.
  public struct Entry: Sendable, Hashable {
    /// Its seq.
    public let seq: Int64
    /// Its kind.
    public let kind: UInt16
    /// Its position in the order in which filters are answered.
    public let position: QueryPosition
    /// The range of its JSON in ``EventBlock/bytes``.
    public let bytes: Range<Int>
  }

  /// The JSON of the events, one after the other; between them may be bytes of events that were left out.
  public private(set) var bytes: [UInt8] = []
  /// The events, in the order of the query.
  public private(set) var entries: [Entry] = []
  /// Whether there are no events after the last of these.
  public internal(set) var isLast = false

  /// An empty block.
  public init() {}

  /// Events that were read one by one.
  init(_ events: [StoredEvent], isLast: Bool) {
    entries.reserveCapacity(events.count)
    for event in events {
      event.json.withUnsafeBytes { append(event.seq, event.indexed.kind, event.position, $0) }
    }
    self.isLast = isLast
  }

  /// The number of events.
  public var count: Int { entries.count }

  /// Calls `body` with the JSON of an event, without a copy.
  @inline(__always)
  public func withJSON<Value>(of entry: Entry, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
    try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[entry.bytes])) }
  }

  /// A copy of the JSON of an event.
  public func json(of entry: Entry) -> [UInt8] { Array(bytes[entry.bytes]) }

  mutating func append(_ seq: Int64, _ kind: UInt16, _ position: QueryPosition, _ json: UnsafeRawBufferPointer) {
    let start = bytes.count
    bytes.append(contentsOf: json)
    entries.append(Entry(seq: seq, kind: kind, position: position, bytes: start..<bytes.count))
  }

  /// Sorts the entries from an index on by id, and cuts the block at `limit` entries in all.
  mutating func orderByID(from start: Int, limit: Int) {
    if entries.count - start > 1 { entries[start...].sort { $0.position.id < $1.position.id } }
    if entries.count > limit { entries.removeSubrange(limit...) }
  }

  /// Keeps only these events.
  public mutating func keep(where isKept: (Entry) -> Bool) { entries.removeAll { !isKept($0) } }

  /// Keeps only the first `count` events.
  public mutating func keepFirst(_ count: Int) { entries.removeSubrange(min(count, entries.count)...) }

  /// The events one by one.
  ///
  /// - Throws: `EventFault` when an event cannot be read, although it was read before.
  func events() throws -> [StoredEvent] {
    try entries.map { entry in
      try withJSON(of: entry) { json in
        let scanned = try ScannedEvent(json)
        return StoredEvent(seq: entry.seq, json, scanned, IndexedEvent(scanned, in: json))
      }
    }
  }
}
