// A run of events on its way to the store: the payload of `store.ingest` and `store.import`, RAW.
//
//    0  u8   kind: 0 event, 1 end of stored events (EOSE), 2 end of a page, 3 name of a relay, 4 filter of a
//            subscription, 5 end of a part
//    1  u8   3 × 0
//    4  u32  relay: a number that a record of kind 3 earlier in this run gave a URL; 0 = no relay
//    8  u32  subscription: the sender's own number
//   12  u32  byteCount
//   16  u64  received: nanoseconds since 1970
//   24       byteCount bytes: the event as it arrived; the relay's URL; one filter as JSON; for an end nothing, or the
//            times it covers: i64 since, i64 until
//
// All numbers are little-endian. A run contains the names of its relays, so that it means the same after a crash of the
// store, and when the hub delivers it a second time. It also contains filters: a record of kind 4 for each filter of a
// subscription, before the ends of the subscription.
//
// An end says that everything which the relay had for the filters is here: all events of the subscription before the
// end in this run, and in runs that were answered before this run was sent. A sender that sends several runs without
// waiting puts an end into the run of its events, or waits. An end with times says more: no event that was created
// between them is missing. A relay that has sent the maximum number of events it gives has not said that.
//
// Stored events are fetched in parts, and a part in pages. The end of a page covers its times for the filter as a
// whole. The end of a part makes what its pages have covered, and its own times, count for each author (or tag value)
// and kind: a list with one author more is no new question.

/// One record of a run.
public struct IngestRecord: Sendable, Hashable {
  /// The kind of a record.
  public enum Kind: UInt8, Sendable, Hashable {
    /// An event, in the bytes that arrived.
    case event = 0
    /// The relay has sent all stored events of a subscription.
    case storedEnd = 1
    /// The relay has sent a page.
    case pageEnd = 2
    /// The bytes are the URL of the relay with number `relay`, from here to the end of the run.
    case relayName = 3
    /// The bytes are one filter of `subscription` at `relay`, as JSON, from here to the end of the run.
    case subscriptionFilter = 4
    /// The last page of a part: what is covered counts for each author, or tag value, and kind from now on.
    case partEnd = 5
  }

  /// Its kind.
  public let kind: Kind
  /// The relay's number in this run; 0 for none.
  public let relay: UInt32
  /// The sender's subscription.
  public let subscription: UInt32
  /// When it arrived, nanoseconds since 1970.
  public let receivedNanoseconds: UInt64
  /// The range of its bytes in the run.
  public let bytes: Range<Int>

  /// The size of a record's header, in bytes.
  public static let headerByteCount = 24
  /// The maximum number of records of one run.
  public static let countMaximum = 16_384

  /// Why a run cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset in the run, in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// The end of a sentence.
    public var description: String { "the record at byte \(offset) \(reason)" }
  }

  /// Reads all records of a run.
  public static func read(_ run: [UInt8]) throws(Problem) -> [IngestRecord] {
    var records: [IngestRecord] = []
    var offset = 0
    while offset < run.count {
      let body = offset + headerByteCount
      guard body <= run.count else { throw Problem(offset: offset, reason: "ends in its header") }
      guard let kind = Kind(rawValue: run[offset]), run[offset + 1..<offset + 4].allSatisfy({ $0 == 0 }) else {
        throw Problem(offset: offset, reason: "has no known kind")
      }
      let count = Int(LittleEndian.number(run, offset + 12, 4))
      guard count <= run.count - body else {
        throw Problem(offset: offset, reason: "says it has \(count) bytes, and the run has \(run.count - body) more")
      }
      guard records.count < countMaximum else {
        throw Problem(offset: offset, reason: "is one too many: a run has \(countMaximum) records at most")
      }
      records.append(
        IngestRecord(
          kind: kind, relay: UInt32(LittleEndian.number(run, offset + 4, 4)),
          subscription: UInt32(LittleEndian.number(run, offset + 8, 4)),
          receivedNanoseconds: LittleEndian.number(run, offset + 16, 8), bytes: body..<body + count))
      offset = body + count
    }
    return records
  }

  /// The times that an end covers; nil when it names none.
  ///
  /// - Throws: when its bytes are not a pair of times.
  public func times(in run: [UInt8]) throws(Problem) -> ClosedRange<Int64>? {
    guard !bytes.isEmpty else { return nil }
    let offset = bytes.lowerBound - Self.headerByteCount
    guard bytes.count == 16 else {
      throw Problem(offset: offset, reason: "is an end of \(bytes.count) bytes; it has none, or 16")
    }
    let since = Int64(bitPattern: LittleEndian.number(run, bytes.lowerBound, 8))
    let until = Int64(bitPattern: LittleEndian.number(run, bytes.lowerBound + 8, 8))
    guard since <= until else { throw Problem(offset: offset, reason: "ends before it begins") }
    return since...until
  }

  /// The bytes of an end that covers these times.
  public static func bytes(of times: ClosedRange<Int64>) -> [UInt8] {
    var bytes: [UInt8] = []
    LittleEndian.append(UInt64(bitPattern: times.lowerBound), 8, to: &bytes)
    LittleEndian.append(UInt64(bitPattern: times.upperBound), 8, to: &bytes)
    return bytes
  }

  /// Adds a record to a run.
  public static func append(
    _ kind: Kind, relay: UInt32 = 0, subscription: UInt32 = 0, receivedNanoseconds: UInt64,
    _ bytes: some Collection<UInt8>, to run: inout [UInt8]
  ) {
    run.append(contentsOf: [kind.rawValue, 0, 0, 0])
    LittleEndian.append(UInt64(relay), 4, to: &run)
    LittleEndian.append(UInt64(subscription), 4, to: &run)
    LittleEndian.append(UInt64(bytes.count), 4, to: &run)
    LittleEndian.append(receivedNanoseconds, 8, to: &run)
    run.append(contentsOf: bytes)
  }
}
