internal import Cryptography
internal import Nostr
public import Storage

// A faulty disk changes bytes without an error, and SQLite keeps no checksums. Every event contains its own hash, so
// the archive checks all stored events, a slice at a time when there is nothing else to do, and starts again a day
// after the end. An event that does not match its id is removed; its relays, its author or a file may bring it again.
// Signatures are not checked, because that costs a hundred times as much: a client that verifies the event notices a
// damaged signature.
//
// Words and ids in the indexes come from an event's content, and a damaged event has other content. So its index
// entries stay, and readers skip them, because their seq has no event and is never given again.

/// The result of one slice of the check of stored events.
public struct ScrubSlice: Sendable, Hashable {
  /// Seqs of damaged events, which are removed.
  public let removed: [Int64]
  /// Whether all events were checked, and nothing is to be done for a while.
  public let isComplete: Bool

  /// The result of a slice.
  public init(removed: [Int64], isComplete: Bool) {
    self.removed = removed
    self.isComplete = isComplete
  }
}

extension EventArchive {
  /// The events of one slice: about 5 ms of a reader's time.
  static let scrubCount = 500
  /// Once a slice has read this many bytes of JSON, it takes no further event.
  static let scrubByteCount = 4 << 20
  /// The time from the end of one pass to the start of the next, in seconds.
  public static let scrubSeconds: Int64 = 86_400
  /// The most damaged events of a slice. More mean that the file is damaged and must be rescued.
  public static let scrubDamageMaximum = 32

  private struct Look: Sendable {
    var reached: Int64 = 0
    var isComplete = false
    var isResting = false
    var damaged: [Int64] = []
  }

  /// Checks the next slice.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Throws: `corrupt` when more than ``scrubDamageMaximum`` events of it are damaged.
  public func scrub(now: Int64) async throws(StorageFault) -> ScrubSlice {
    let look = try await file.read { session in try Self.look(session, now: now) }
    guard try isToBeWritten(look) else { return ScrubSlice(removed: [], isComplete: true) }
    return try await file.write(
      { [self] session in try discard(look, now: now, session) }, onCommit: { [self] in discarded($0) }
    ).slice
  }

  /// The same, waiting on this thread.
  public func scrubNow(now: Int64) throws(StorageFault) -> ScrubSlice {
    let look = try file.readNow { session in try Self.look(session, now: now) }
    guard try isToBeWritten(look) else { return ScrubSlice(removed: [], isComplete: true) }
    return try file.writeNow({ session in try discard(look, now: now, session) }, onCommit: { discarded($0) }).slice
  }

  private func isToBeWritten(_ look: Look) throws(StorageFault) -> Bool {
    guard look.damaged.count <= Self.scrubDamageMaximum else {
      throw StorageFault(
        .corrupt, path: path,
        "\(look.damaged.count) events are not what was stored, the first of them \(look.damaged[0])")
    }
    return !look.isResting
  }

  private static func look(_ session: StorageSession, now: Int64) throws -> Look {
    let start = try session.property("scrubbed-seq") ?? 0
    var look = Look(reached: start)
    if start == 0, let end = try session.property("scrub-ended"), (0..<scrubSeconds).contains(now - end) {
      look.isResting = true
      return look
    }
    let statement = try session.statement(
      "SELECT seq, json FROM event WHERE seq > ? ORDER BY seq LIMIT ?", start, scrubCount)
    defer { statement.reset() }
    let verifier = EventVerifier()
    var (count, byteCount) = (0, 0)
    while byteCount < scrubByteCount, try statement.step() {
      look.reached = statement.number(0)
      count += 1
      let isSound = statement.withBytes(1) { bytes in
        byteCount += bytes.count
        return isIdentified(bytes, verifier)
      }
      if !isSound { look.damaged.append(look.reached) }
    }
    look.isComplete = byteCount < scrubByteCount && count < scrubCount
    return look
  }

  private static func isIdentified(_ bytes: UnsafeRawBufferPointer, _ verifier: EventVerifier) -> Bool {
    do throws(EventFault) {
      let event = try ScannedEvent(bytes)
      return verifier.identify(event, in: bytes) == event.id
    } catch { return false }
  }

  private struct Discarded: Sendable {
    let written: Written
    let slice: ScrubSlice
    let losses: ArchiveLosses
  }

  private func discard(_ look: Look, now: Int64, _ session: StorageSession) throws -> Discarded {
    var writer = writer(session)
    let verifier = EventVerifier()
    for seq in look.damaged {
      // It may have been mended or removed meanwhile.
      let isDamaged = try writer.json(seq).map { json in
        json.withUnsafeBytes { !Self.isIdentified($0, verifier) }
      }
      if isDamaged == true { try writer.discard(seq) }
    }
    try session.write(property: "scrubbed-seq", look.isComplete ? 0 : look.reached)
    if look.isComplete { try session.write(property: "scrub-ended", now) }
    var losses = keptLosses
    if !writer.change.discarded.isEmpty {
      losses.damagedCount += Int64(writer.change.discarded.count)
      try session.write(property: "damaged-count", losses.damagedCount)
      try session.write(property: "damaged-time", now)
    }
    try writer.finish()
    return Discarded(
      written: Written(outcomes: [], change: writer.change),
      slice: ScrubSlice(removed: writer.change.discarded, isComplete: look.isComplete), losses: losses)
  }

  private func discarded(_ discarded: Discarded) {
    apply(discarded.written)
    guard !discarded.slice.removed.isEmpty else { return }
    keptLosses = discarded.losses
    // Their ids are not known, so all recent events are dropped.
    recent.forget()
  }
}

extension ArchiveWriter {
  /// Removes an event whose content cannot be trusted.
  mutating func discard(_ seq: Int64) throws {
    change.eventCount -= 1
    change.discarded.append(seq)
    countGone(seq)
    try removeRow(seq)
    try run("DELETE FROM seen WHERE seq = ?", seq)
    try run("DELETE FROM unchecked WHERE seq = ?", seq)
  }
}
