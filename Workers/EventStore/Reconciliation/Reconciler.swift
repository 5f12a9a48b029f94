internal import Cryptography
public import Nostr

// Range-based set reconciliation (NIP-77). Each side describes ranges of its sorted set by fingerprints. Where they
// differ, the range is cut into sixteen, until it is small enough to be listed; where they agree, it is done. So two
// sets that have most in common find what they have not in a few messages, whose size goes with the difference.
//
// The side that asks learns what each side lacks; the side that answers learns nothing, and keeps nothing between two
// messages but its records. So one value serves both, and whoever drives it counts the rounds.
//
// A message has a limit. What does not fit is described by one fingerprint to the end of everything, which begins right
// where the message stops, and is taken up in the next round.

/// One side of a reconciliation. A value without state of its own: any number of messages, in any order, are answered
/// from the same records.
public struct Reconciler: Sendable {
  /// What the asking side learns from a message. When a limit has cut a message off, what lay behind the cut and was
  /// told before may be told again: whoever collects ids keeps sets.
  public struct Step: Hashable, Sendable {
    /// What is to be sent next; nil when all is known.
    public var next: [UInt8]?
    /// Ids here that the other side has not, in order.
    public var haves: [EventID] = []
    /// Ids of the other side that are not here. A hostile side may name what is here after all, or nowhere.
    public var needs: [EventID] = []
  }

  /// The records of this side.
  public let records: ReconcileRecords
  /// Bytes of a message that are not exceeded.
  public let messageByteMaximum: Int

  /// The limit where none is given: in hexadecimal digits it passes what relays take for one message.
  public static let standardMessageByteMaximum = 60_000
  /// The lowest limit: any range's answer fits beside what must stand around it.
  public static let messageByteMinimum = 4_096

  /// Parts a range is cut into.
  private static let partCount = 16
  /// Records from which on a range is cut and not listed.
  private static let listCountMaximum = 2 * partCount
  /// Bytes of the fingerprint of what did not fit.
  private static let restByteMaximum = ReconcileWriter.boundByteMaximum + IDSum.fingerprintByteCount

  /// A side with these records.
  ///
  /// - Parameters:
  ///   - records: what this side has.
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

  /// The answering side: what a message is answered with. One of another version is answered with the version that is
  /// spoken here and nothing more.
  ///
  /// - Throws: why it cannot be read.
  public func answer(to message: [UInt8]) throws(ReconcileFault) -> [UInt8] {
    if let version = message.first, version != NegentropyMessage.version { return [NegentropyMessage.version] }
    var walk = Walk(records.count)
    var reader = try ReconcileReader(message)
    try read(&reader, &walk) { (_, range, bound, walk) in list(range, to: bound, &walk) }
    return walk.writer.bytes
  }

  /// The asking side: what an answer says, and what is sent next.
  ///
  /// - Throws: why it cannot be read, `otherVersion` among it: then the other side speaks that version at most.
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

  /// Where the reading of a message, and the writing of its answer, stand.
  private struct Walk {
    var writer = ReconcileWriter()
    let hasher = SHA256()
    /// Records before it are dealt with.
    var index = 0
    let count: Int
    /// Whether the answer is full.
    var isFull = false

    init(_ count: Int) { self.count = count }
  }

  /// Goes through the ranges of a message. Behind a full answer it is still read, so that what cannot be read is always
  /// refused; but nothing is made of it, because all of it comes again.
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

  /// Ends the answer with one fingerprint of all from an index on.
  private func end(at index: Int, _ walk: inout Walk) {
    walk.isFull = true
    walk.writer.fingerprint(to: .end, records.fingerprint(index..<records.count, walk.hasher))
  }

  /// Cuts a range into parts, or lists it when it is small.
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

  /// Answers a list with what is here, as far as it fits.
  private func list(_ range: Range<Int>, to bound: ReconcileBound, _ walk: inout Walk) {
    let around = Self.restByteMaximum + ReconcileWriter.boundByteMaximum + ReconcileWriter.numberByteMaximum
    let room = messageByteMaximum - walk.writer.bytes.count - around
    let fitting = max(0, room / EventID.byteCount)
    guard range.count > fitting else { return walk.writer.list(to: bound, records.records[range]) }
    let end = range.lowerBound + fitting
    if fitting > 0 {
      walk.writer.list(to: ReconcileBound(before: records.records[end]), records.records[range.lowerBound..<end])
    }
    self.end(at: end, &walk)
  }

  /// Tells apart what only one side has of a range that the other side has listed.
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
    for record in records.records[range] {
      ours.insert(record.id)
      if !theirs.contains(record.id) { step.haves.append(record.id) }
    }
    step.needs += order.filter { !ours.contains($0) }
  }
}
