internal import Cryptography
public import Nostr

// Range-based set reconciliation (NIP-77). Each side describes ranges of its sorted set by fingerprints. A range whose
// fingerprints differ is cut into sixteen, until it is small enough to be listed; a range whose fingerprints agree is
// done. So two sets with much in common find their difference in a few messages, whose size depends on the difference.
//
// The asking side learns what each side lacks. The answering side learns nothing, and keeps nothing between two
// messages except its records. So one value serves both sides, and the caller counts the rounds.
//
// A message has a limit. What does not fit is described by one fingerprint, from the point where the message stops to
// the end of everything, and is handled in the next round.

/// One side of a reconciliation. A value that does not change: it answers any number of messages, in any order, from
/// the same records.
public struct Reconciler: Sendable {
  /// What the asking side learns from a message. When a limit has cut a message off, what follows the cut may be
  /// reported again: a caller that collects ids keeps sets.
  public struct Step: Hashable, Sendable {
    /// The next message to send; nil when the difference is known.
    public var next: [UInt8]?
    /// Ids of this side that the other side lacks, in order.
    public var haves: [EventID] = []
    /// Where they are among this side's records.
    public var haveIndices: [Int] = []
    /// Ids of the other side that this side lacks. A hostile side may name ids that are present here, or that exist
    /// nowhere.
    public var needs: [EventID] = []
  }

  /// The records of this side.
  public let records: ReconcileRecords
  /// The most bytes of a message.
  public let messageByteMaximum: Int

  /// The standard limit: written as hexadecimal digits, such a message is accepted by relays.
  public static let standardMessageByteMaximum = 60_000
  /// The lowest limit: the answer for any range fits, with everything that must surround it.
  public static let messageByteMinimum = 4_096

  /// The number of parts into which a range is cut.
  private static let partCount = 16
  /// Ranges with at least this many records are cut and not listed.
  private static let listCountMaximum = 2 * partCount
  /// A list ends with the id that reaches into so many bytes before the limit, as in the reference implementation. They
  /// have room for that id, the list's bound and count, and the fingerprint for what did not fit.
  private static let reserveByteCount = 200
  /// The most bytes of the fingerprint for what did not fit.
  private static let restByteMaximum = ReconcileWriter.boundByteMaximum + IDSum.fingerprintByteCount

  /// A side with these records.
  ///
  /// - Parameters:
  ///   - records: the records of this side.
  ///   - messageByteMaximum: bytes of a message before it is written as hexadecimal digits, at least
  ///     ``messageByteMinimum``.
  public init(_ records: ReconcileRecords, messageByteMaximum: Int = Reconciler.standardMessageByteMaximum) {
    precondition(messageByteMaximum >= Self.messageByteMinimum, "a message has room for one range")
    self.records = records
    self.messageByteMaximum = messageByteMaximum
  }

  /// The first message of the asking side.
  public func initiate() -> [UInt8] {
    var writer = ReconcileWriter()
    describe(0..<records.count, to: .end, SHA256(), in: &writer)
    return writer.bytes
  }

  /// The answering side: the answer to a message. A message of another version is answered with the version spoken
  /// here, and nothing else.
  ///
  /// - Throws: why the message cannot be read.
  public func answer(to message: [UInt8]) throws(ReconcileFault) -> [UInt8] {
    if let version = message.first, version != NegentropyMessage.version { return [NegentropyMessage.version] }
    var walk = Walk(records.count)
    var reader = try ReconcileReader(message)
    try read(&reader, &walk) { (_, range, bound, walk) in list(range, to: bound, &walk) }
    return walk.writer.bytes
  }

  /// The asking side: what an answer reveals, and the next message.
  ///
  /// - Throws: why it cannot be read. `otherVersion` means that the other side speaks at most that version.
  public func received(_ message: [UInt8]) throws(ReconcileFault) -> Step {
    var step = Step()
    var walk = Walk(records.count)
    var reader = try ReconcileReader(message)
    try read(&reader, &walk) { (ids, range, bound, walk) in
      compare(ids, range, &step)
      walk.writer.skip(to: bound)
    }
    if walk.writer.bytes.count > 1 { step.next = walk.writer.bytes }
    return step
  }

  // MARK: One message

  /// The state of reading a message and writing its answer.
  private struct Walk {
    var writer = ReconcileWriter()
    let hasher = SHA256()
    /// The first record that is not yet handled.
    var index = 0
    let count: Int
    /// Whether the answer is full.
    var isFull = false

    init(_ count: Int) { self.count = count }
  }

  /// Reads the ranges of a message. After the answer is full, the rest is still read, so that an unreadable message is
  /// always refused. But it is not used, because all of it comes again.
  private func read(
    _ reader: inout ReconcileReader, _ walk: inout Walk,
    _ listed: (ArraySlice<UInt8>, Range<Int>, ReconcileBound, inout Walk) -> Void
  ) throws(ReconcileFault) {
    while !reader.isAtEnd {
      let bound = try reader.bound()
      let range = walk.index..<records.index(of: bound, from: walk.index)
      switch try reader.mode() {
      case .skip: if !walk.isFull { walk.writer.skip(to: bound) }
      case .fingerprint:
        let theirs = try reader.fingerprint()
        if walk.isFull { break }
        if theirs == records.fingerprint(range, walk.hasher) {
          walk.writer.skip(to: bound)
        } else if !answer(range, to: bound, &walk) {
          end(at: range.lowerBound, &walk)
        }
      case .list:
        let ids = try reader.ids()
        if !walk.isFull { listed(ids, range, bound, &walk) }
      }
      walk.index = range.upperBound
    }
  }

  /// Describes a range that differs; false when there is no room for it.
  private func answer(_ range: Range<Int>, to bound: ReconcileBound, _ walk: inout Walk) -> Bool {
    let mark = walk.writer.mark
    describe(range, to: bound, walk.hasher, in: &walk.writer)
    if walk.writer.bytes.count <= messageByteMaximum - Self.restByteMaximum { return true }
    walk.writer.rewind(to: mark)
    return false
  }

  /// Ends the answer with one fingerprint of everything from an index on.
  private func end(at index: Int, _ walk: inout Walk) {
    walk.isFull = true
    walk.writer.fingerprint(to: .end, records.fingerprint(index..<records.count, walk.hasher))
  }

  /// Cuts a range into parts, or lists it if it is small.
  private func describe(
    _ range: Range<Int>, to bound: ReconcileBound, _ hasher: SHA256, in writer: inout ReconcileWriter
  ) {
    guard range.count >= Self.listCountMaximum else {
      writer.list(to: bound, records.records[range])
      return
    }
    let (size, larger) = range.count.quotientAndRemainder(dividingBy: Self.partCount)
    var start = range.lowerBound
    for part in 0..<Self.partCount {
      let end = start + size + (part < larger ? 1 : 0)
      let partBound =
        end == range.upperBound
        ? bound : ReconcileBound(between: records.records[end - 1], records.records[end])
      writer.fingerprint(to: partBound, records.fingerprint(start..<end, hasher))
      start = end
    }
  }

  // MARK: Lists

  /// Answers a list with the ids of this side, while there is room.
  private func list(_ range: Range<Int>, to bound: ReconcileBound, _ walk: inout Walk) {
    let room = messageByteMaximum - walk.writer.bytes.count - Self.reserveByteCount
    let fitting = room < 0 ? 0 : room / EventID.byteCount + 1
    guard range.count > fitting else { return walk.writer.list(to: bound, records.records[range]) }
    let end = range.lowerBound + fitting
    if fitting > 0 {
      walk.writer.list(to: ReconcileBound(before: records.records[end]), records.records[range.lowerBound..<end])
    }
    self.end(at: end, &walk)
  }

  /// Finds the ids that only one side has, in a range that the other side has listed.
  private func compare(_ ids: ArraySlice<UInt8>, _ range: Range<Int>, _ step: inout Step) {
    var theirs = Set<EventID>()
    var order: [EventID] = []
    ids.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count, by: EventID.byteCount) {
        guard let base = bytes.baseAddress else { break }
        let id = EventID(Octets32(at: base + offset))
        if theirs.insert(id).inserted { order.append(id) }
      }
    }
    var ours = Set<EventID>()
    for index in range {
      let id = records.records[index].id
      ours.insert(id)
      guard !theirs.contains(id) else { continue }
      step.haves.append(id)
      step.haveIndices.append(index)
    }
    step.needs += order.filter { !ours.contains($0) }
  }
}
