// A page: many events in one part of an answer, RAW. `store.query` and `store.observe` send pages to callers that set
// `pages`, so that a frame, its credit and its way through the hub are not paid for each event.
//
//    0  i64  seq: the event's place in the order of commits; 0 = ephemeral, it has none
//    8  u32  byteCount
//   12  u16  kind
//   14  u16  0
//   16       byteCount bytes: the event itself, as compact JSON, as it is stored
//
// Records follow each other to the end of the part. All numbers are little-endian. The kind is also in the event's
// bytes; it is repeated in the header because a program that forwards events needs only the kind.
//
// The store sends a page when the next event would make it longer than ``EventPage/byteTarget``, or when no further
// event is available immediately: a page never waits for more events.

/// Reads the records of one page in place, without a copy.
public struct EventPage: Sendable {
  /// One event of a page.
  public struct Record: Sendable, Hashable {
    /// Its place in the order of commits; nil for an ephemeral event, which is not stored.
    public let seq: Int64?
    /// Its kind.
    public let kind: UInt16
    /// The range of its bytes in the page.
    public let bytes: Range<Int>
  }

  /// Why a page cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset in the page, in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// The end of a sentence.
    public var description: String { "the record at byte \(offset) of the page \(reason)" }
  }

  /// The size of a record's header, in bytes.
  public static let headerByteCount = 16
  /// The maximum number of bytes of a page, unless a single event has more, or a frame has room for less.
  public static let byteTarget = 64 << 10

  /// Reads all records of a page.
  ///
  /// - Throws: at a truncated record; a page is read completely or not at all.
  public static func read(_ page: [UInt8]) throws(Problem) -> [Record] {
    var records: [Record] = []
    var offset = 0
    while offset < page.count {
      let body = offset + headerByteCount
      guard body <= page.count else { throw Problem(offset: offset, reason: "ends in its header") }
      let count = Int(LittleEndian.number(page, offset + 8, 4))
      guard count <= page.count - body else {
        throw Problem(offset: offset, reason: "says it has \(count) bytes, and the page has \(page.count - body) more")
      }
      guard LittleEndian.number(page, offset + 14, 2) == 0 else {
        throw Problem(offset: offset, reason: "is of a later layout")
      }
      let seq = Int64(bitPattern: LittleEndian.number(page, offset, 8))
      records.append(
        Record(
          seq: seq == 0 ? nil : seq, kind: UInt16(LittleEndian.number(page, offset + 12, 2)), bytes: body..<body + count
        ))
      offset = body + count
    }
    return records
  }

  /// Adds a record to a page.
  ///
  /// - Parameters:
  ///   - seq: the event's seq; nil for an ephemeral one.
  ///   - kind: its kind.
  ///   - event: its bytes.
  ///   - page: the page.
  public static func append(
    seq: Int64?, kind: UInt16, _ event: UnsafeRawBufferPointer, to page: inout [UInt8]
  ) {
    LittleEndian.append(UInt64(bitPattern: seq ?? 0), 8, to: &page)
    LittleEndian.append(UInt64(event.count), 4, to: &page)
    LittleEndian.append(UInt64(kind), 4, to: &page)
    page.append(contentsOf: event)
  }
}
