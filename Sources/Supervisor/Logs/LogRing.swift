public import Contracts
internal import DequeModule

/// One record in a ring.
public struct LogEntry: Sendable, Hashable {
  /// Its number among all records of the book, in order of arrival, from 1.
  public let arrival: UInt64
  /// Its number among the records of its ring, from 1, without holes.
  public let number: UInt64
  /// The record.
  public let record: LogRecord
}

/// The last records of one worker, in memory, bounded by number and by bytes.
///
/// Records are numbered, so that a reader who returns later says where it was and learns how many it missed. Records
/// that cannot be written to a file are still here.
public struct LogRing: Sendable {
  /// The maximum number of records kept.
  public static let recordCountMaximum = 500
  /// The maximum of bytes kept, as ``byteCount(of:)`` counts them. The newest record is kept whatever its size.
  public static let byteCountMaximum = 256 << 10

  /// The number of the newest record; 0 before the first.
  public private(set) var lastNumber: UInt64 = 0
  /// The bytes kept.
  public private(set) var byteCount = 0

  private var kept: Deque<LogEntry> = []

  /// An empty ring.
  public init() {}

  /// The approximate memory of a record: its text and its overhead.
  public static func byteCount(of record: LogRecord) -> Int {
    let fixed = 160
    let texts = record.message.utf8.count + record.category.utf8.count + record.worker.utf8.count
    guard let fields = record.fields else { return fixed + texts }
    return fields.reduce(fixed + texts) { $0 + $1.key.utf8.count + $1.value.utf8.count + 32 }
  }

  /// Appends a record; removes the oldest records that exceed the bounds.
  public mutating func append(_ record: LogRecord, arrival: UInt64) -> LogEntry {
    lastNumber += 1
    let entry = LogEntry(arrival: arrival, number: lastNumber, record: record)
    let size = Self.byteCount(of: record)
    while let oldest = kept.first,
      kept.count == Self.recordCountMaximum || byteCount + size > Self.byteCountMaximum
    {
      byteCount -= Self.byteCount(of: oldest.record)
      kept.removeFirst()
    }
    kept.append(entry)
    byteCount += size
    return entry
  }

  /// The records kept, the oldest first.
  public var entries: [LogEntry] { Array(kept) }

  /// The records numbered above `number`, and how many of those are no longer kept.
  public func entries(after number: UInt64) -> (entries: [LogEntry], missedCount: UInt64) {
    let gone = lastNumber - UInt64(kept.count)
    let missed = gone > number ? gone - number : 0
    let wanted = lastNumber - min(max(number, gone), lastNumber)
    return (Array(kept.suffix(Int(wanted))), missed)
  }
}
