// A run of events on its way to the store: the payload of `store.ingest` and `store.import`, RAW.
//
//    0  u8   kind: 0 event, 1 end of stored events (EOSE), 2 end of a page, 3 name of a relay, 4 filter of a
//            subscription
//    1  u8   3 × 0
//    4  u32  relay: a number that a record of kind 3 earlier in this run gave a URL; 0 = no relay
//    8  u32  subscription: the sender's own
//   12  u32  byteCount
//   16  u64  received: nanoseconds since 1970
//   24       byteCount bytes: the event as it came; the relay's URL; one filter as JSON; of an end nothing, or the
//            times it is said of: i64 since, i64 until
//
// All numbers little-endian. A run says the names of its relays itself, so that it means the same after a death of the
// store, and when the hub delivers it a second time. So it does with filters: a record of kind 4 for each filter of a
// subscription, before the subscription's ends.
//
// An end says that all is here which the relay had for the filters: all of the subscription's events before it in this
// run, and in runs that were answered before this one was sent. Whoever sends runs ahead puts an end into the run of
// its events, or waits. With times it goes further: nothing is missing that was created between them. A relay that has
// given as many events as it gives at most has not said so.

/// One record of a run.
public struct IngestRecord: Sendable, Hashable {
  /// What a record is.
  public enum Kind: UInt8, Sendable, Hashable {
    /// An event, its bytes as they came.
    case event = 0
    /// The relay has sent all that it has stored for a subscription.
    case storedEnd = 1
    /// The relay has sent a page.
    case pageEnd = 2
    /// The bytes are the URL that `relay` stands for from here to the end of the run.
    case relayName = 3
    /// The bytes are one filter of `subscription` at `relay`, as JSON, from here to the end of the run.
    case subscriptionFilter = 4
  }

  /// What it is.
  public let kind: Kind
  /// The relay's number in this run; 0 for none.
  public let relay: UInt32
  /// The sender's subscription.
  public let subscription: UInt32
  /// When it came, nanoseconds since 1970.
  public let receivedNanoseconds: UInt64
  /// Where its bytes are in the run.
  public let bytes: Range<Int>

  /// Bytes of a record before its own.
  public static let headerByteCount = 24
  /// Most records of one run.
  public static let countMaximum = 16_384

  /// Why a run cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where in the run, in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// A sentence's end.
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

  /// The times that an end is said of; nil when it says none.
  ///
  /// - Throws: when its bytes are no times.
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

  /// The bytes of an end that is said of these times.
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
