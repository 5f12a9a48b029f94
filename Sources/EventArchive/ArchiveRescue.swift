internal import Cryptography
internal import Glibc
internal import Nostr
public import Storage

// A damaged database is put aside under another name, never removed, and a new one is filled with what can still be
// read of it. Every event proves itself by its signature, so what the damage has changed is told from what it has not.
// Deletions are events as well, and come again in their old order and under their old seqs, so that whoever resumes by
// seq misses nothing that was saved.
//
//     events.db.is-damaged      a rescue is to be done; once it has begun, where the damaged file is put
//     events.db.damaged-TIME    the damaged file
//     events.db.new             what is being filled; takes its place when it is whole
//
// A death on the way leaves the mark, and the next start begins again with the same damaged file.

/// What was saved of a damaged database.
public struct ArchiveRescue: Sendable, Hashable {
  /// Where the damaged file is now.
  public let quarantinePath: String
  /// Events in the new one.
  public internal(set) var savedCount = 0
  /// Events that could be read, and are not what was signed any more.
  public internal(set) var damagedCount = 0
  /// Why reading ended before the end, if it did.
  public internal(set) var reason: String?
}

extension EventArchive {
  /// Opens the archive; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what
  /// can be read.
  ///
  /// Waits on this thread: every event of a damaged file is verified again.
  ///
  /// - Parameters:
  ///   - settings: how it is opened.
  ///   - path: the database file.
  ///   - segmentEventCount: events of a segment.
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - progress: called on this thread now and then while a damaged file is read, with what was saved so far.
  public static func openOrRescue(
    path: String, settings: StorageSettings = StorageSettings(durability: .normal),
    segmentEventCount: Int = EventArchive.standardSegmentEventCount, now: Int64,
    progress: (ArchiveRescue) -> Void = { _ in }
  ) throws(StorageFault) -> (EventArchive, ArchiveRescue?) {
    func open(_ path: String) throws(StorageFault) -> EventArchive {
      try EventArchive(path: path, settings: settings, segmentEventCount: segmentEventCount)
    }
    let mark = DamageMark(database: path)
    if !mark.isSet {
      do throws(StorageFault) { return (try open(path), nil) } catch {
        guard error.kind == .corrupt else { throw error }
      }
    }
    let aside = try mark.asidePath(now: now)
    var rescue = ArchiveRescue(quarantinePath: aside)
    // Both are there when only the mark was left to be taken away.
    let isFilled = access(path, F_OK) == 0 && access(aside, F_OK) == 0
    if !isFilled {
      try putAside(path, aside)
      let unfinished = path + ".new"
      for suffix in fileSuffixes + [SeqLedger.suffix] { unlink(unfinished + suffix) }
      let archive = try open(unfinished)
      try archive.refill(from: aside, given: try SeqLedger(database: path).reserved, &rescue, now: now, progress)
      try archive.close()
      unlink(unfinished + SeqLedger.suffix)
      guard rename(unfinished, path) == 0 else { throw cannotMove(path) }
    }
    let archive = try open(path)
    if isFilled { rescue.savedCount = Int(archive.eventCount) }
    mark.clear()
    return (archive, rescue)
  }

  /// Says that the file was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { DamageMark(database: path).set() }

  /// The database's own last: while it is at its place, not all was put aside.
  private static let fileSuffixes = ["-wal", "-shm", ""]

  private static func putAside(_ path: String, _ aside: String) throws(StorageFault) {
    for suffix in fileSuffixes where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, aside + suffix) == 0 else { throw cannotMove(path) }
    }
  }

  private static func cannotMove(_ path: String) -> StorageFault {
    StorageFault(
      .inaccessible, path: path, "it is damaged and cannot be put aside: \(String(cString: strerror(errno)))")
  }

  private func refill(
    from path: String, given: Int64?, _ rescue: inout ArchiveRescue, now: Int64, _ progress: (ArchiveRescue) -> Void
  ) throws(StorageFault) {
    let old: StorageFile
    do throws(StorageFault) {
      old = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: ArchiveSchema.migrations)
    } catch {
      rescue.reason = error.reason
      return try goOn(after: (given ?? 0) + SeqLedger.unknownGap)
    }
    var (seq, step) = (Int64(0), Int64(1))
    let last = given ?? Self.lastSeq(old)
    let verifier = EventVerifier()
    while true {
      do throws(StorageFault) {
        let page = try Self.page(old, after: seq)
        guard let end = page.last?.seq else { break }
        var events: [(seq: Int64, event: VerifiedEvent)] = []
        for row in page {
          // A seq beyond the last is part of the damage.
          let seq = min(row.seq, last)
          if let event = row.event(verifier, now: now) { events.append((seq, event)) } else { rescue.damagedCount += 1 }
        }
        rescue.savedCount += try restore(events, now: now)
        while hasSegmentWork { try writeSegmentSliceNow() }
        (seq, step) = (end, 1)
      } catch {
        guard error.path == path else { throw error }
        // A page of the file cannot be read: on behind it, in longer and longer steps.
        rescue.reason = error.reason
        seq += step
        step *= 2
        guard seq < last else { break }
      }
      progress(rescue)
    }
    try goOn(after: max(seq, last) + SeqLedger.unknownGap)
    do throws(StorageFault) { try old.close() } catch { rescue.reason = error.reason }
  }

  private struct Row {
    let seq: Int64
    let flags: Int64
    let json: [UInt8]

    func event(_ verifier: EventVerifier, now: Int64) -> VerifiedEvent? {
      json.withUnsafeBytes { bytes in
        do throws(EventFault) {
          return try VerifiedEvent(
            bytes, ScannedEvent(bytes), verifier: verifier, receivedAt: now, isKept: flags & 1 != 0)
        } catch { return nil }
      }
    }
  }

  private static let pageCount: Int64 = 200

  private static func page(_ file: StorageFile, after seq: Int64) throws(StorageFault) -> [Row] {
    try file.readNow { session in
      let statement = try session.statement("SELECT seq, flags, json FROM event WHERE seq > ? ORDER BY seq LIMIT ?")
      statement.bind(seq, at: 1)
      statement.bind(pageCount, at: 2)
      var rows: [Row] = []
      while true {
        do {
          guard try statement.step() else { return rows }
        } catch {
          // What came before the damage is good.
          if rows.isEmpty { throw error }
          return rows
        }
        rows.append(Row(seq: statement.number(0), flags: statement.number(1), json: statement.bytes(2)))
      }
    }
  }

  /// The last seq of a damaged file, as far as it says; 0 when it does not.
  private static func lastSeq(_ file: StorageFile) -> Int64 {
    var last: Int64 = 0
    for sql in ["SELECT value FROM property WHERE name = 'last-seq'", "SELECT max(seq) FROM event"] {
      do throws(StorageFault) {
        last = try file.readNow { session in
          let statement = try session.statement(sql)
          guard try statement.step() else { return last }
          defer { statement.reset() }
          return max(last, statement.number(0))
        }
      } catch { continue }
    }
    return last
  }

  /// Stores events under the seqs they had. Returns how many are stored.
  private func restore(_ events: [(seq: Int64, event: VerifiedEvent)], now: Int64) throws(StorageFault) -> Int {
    try file.writeNow(
      { session in
        var (writer, outcomes) = (writer(session), [StoreOutcome]())
        for (seq, event) in events {
          writer.skip(to: seq - 1)
          outcomes += try writer.write([.event(event)], now: now)
        }
        try writer.finish()
        return Written(outcomes: outcomes, change: writer.change)
      }, onCommit: { apply($0) }
    ).outcomes.count { if case .stored = $0 { true } else { false } }
  }

  private func goOn(after seq: Int64) throws(StorageFault) {
    _ = try file.writeNow(
      { session in
        var writer = writer(session)
        writer.skip(to: seq)
        try writer.finish()
        return Written(outcomes: [], change: writer.change)
      }, onCommit: { apply($0) })
  }
}
