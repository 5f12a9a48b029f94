// A page: many events in one part of an answer, RAW. What `store.query` and `store.observe` send to whoever asks for
// `pages`, so that a frame, its credit and its way through the hub are not paid for each event.
//
//    0  i64  seq: the event's place in the order of commits; 0 = ephemeral, it has none
//    8  u32  byteCount
//   12  u16  kind
//   14  u16  0
//   16       byteCount bytes: the event's own, compact JSON as they are kept
//
// Record follows record to the end of the part. All numbers little-endian. The kind stands beside the bytes, where they
// have it too, because whoever passes events on decides by it and reads nothing else.
//
// A page is sent when the next event would make it longer than ``EventPage/byteTarget``, or when nothing more is at
// hand at once: it never waits for company.

/// The records of one page, read where they stand: a sequence, without a copy.
public struct EventPage: Sendable {
  /// One event of a page.
  public struct Record: Sendable, Hashable {
    /// Its place in the order of commits; nil for an ephemeral one, which is not kept.
    public let seq: Int64?
    /// Its kind.
    public let kind: UInt16
    /// Where its bytes are in the page.
    public let bytes: Range<Int>
  }

  /// Why a page cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where in the page, in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// A sentence's end.
    public var description: String { "the record at byte \(offset) of the page \(reason)" }
  }

  /// Bytes of a record before its event.
  public static let headerByteCount = 16
  /// Bytes that a page has at most, unless one event alone has more, or a frame has room for less.
  public static let byteTarget = 64 << 10

  /// Reads all records of a page.
  ///
  /// - Throws: at a record that ends before it should; a page is taken whole or not at all.
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
