internal import Cryptography
internal import Nostr
public import Storage

// A damaged database is set aside, and a new one is filled with what can still be read of it (`RescuableFile`). Every
// event is verified by its signature, so changed events are recognised. Deletions are events too: they are applied
// again in their old order, and all events keep their seqs, so a client that resumes by seq misses nothing that was
// saved.

/// What was saved from a damaged database.
public struct ArchiveRescue: Sendable, Hashable {
  /// Where the damaged file is now.
  public let quarantinePath: String
  /// When it was set aside, seconds since 1970.
  public let time: Int64
  /// Events in the new database.
  public internal(set) var savedCount = 0
  /// Events that could be read, but are no longer what was signed.
  public internal(set) var damagedCount = 0
  /// Events that were stored before and were not saved, including the damaged ones; nil when the file does not say how
  /// many it had.
  public internal(set) var lostCount: Int?
  /// Why reading ended early, if it did.
  public internal(set) var reason: String?
}

extension EventArchive {
  /// Opens the archive. If it is damaged, or was found so by ``markDamaged()``, sets it aside and makes a new one from
  /// what can be read.
  ///
  /// Waits on this thread: every event of a damaged file is verified again.
  ///
  /// - Parameters:
  ///   - settings: the settings for the file.
  ///   - path: the database file.
  ///   - segmentEventCount: the number of events of a segment.
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - progress: called on this thread now and then while a damaged file is read, with the result so far.
  public static func openOrRescue(
    path: String, settings: StorageSettings = StorageSettings(durability: .normal),
    segmentEventCount: Int = EventArchive.standardSegmentEventCount, now: Int64,
    progress: (ArchiveRescue) -> Void = { _ in }
  ) throws(StorageFault) -> (EventArchive, ArchiveRescue?) {
    var rescue: ArchiveRescue?
    let (archive, quarantine) = try Self.rescuable(path).open(now: now) { path throws(StorageFault) in
      let archive = try EventArchive(path: path, settings: settings, segmentEventCount: segmentEventCount)
      try archive.keepLosses(now: now)
      // The other things that a start reads: damage in them is found here, while everything sound can still be saved.
      _ = (try archive.relaysNow(), try archive.marksNow(), try archive.distrustedNow())
      return archive
    } refill: { unfinished, damaged throws(StorageFault) in
      var report = ArchiveRescue(quarantinePath: damaged.path, time: damaged.time)
      let archive = try EventArchive(path: unfinished, settings: settings, segmentEventCount: segmentEventCount)
      let given = try SeqLedger(database: path).reserved
      if damaged.isEmpty {
        report.reason = Quarantine.emptyReason
        try archive.goOn(afterAnyOf: given, report)
      } else {
        try archive.refill(from: damaged.path, given: given, &report, now: now, progress)
      }
      try archive.close()
      rescue = report
    }
    if let quarantine, quarantine.isRefilled {
      rescue = archive.losses.rescue ?? ArchiveRescue(quarantinePath: quarantine.path, time: quarantine.time)
    }
    return (archive, rescue)
  }

  /// Notes that the file was found damaged while in use: the next start rescues what it can.
  public func markDamaged() { Self.rescuable(path).markDamaged() }

  private static func rescuable(_ path: String) -> RescuableFile {
    RescuableFile(path: path, companions: [SeqLedger.suffix])
  }

  private func refill(
    from path: String, given: Int64?, _ rescue: inout ArchiveRescue, now: Int64, _ progress: (ArchiveRescue) -> Void
  ) throws(StorageFault) {
    var old: DamagedFile
    do throws(StorageFault) { old = try DamagedFile(path: path, given: given) } catch {
      rescue.reason = error.reason
      return try goOn(afterAnyOf: given, rescue)
    }
    let verifier = EventVerifier()
    var soundCount: Int64 = 0
    while let rows = old.next() {
      var events: [(seq: Int64, event: VerifiedEvent)] = []
      for row in rows {
        guard let event = row.event(verifier, now: now) else {
          rescue.damagedCount += 1
          continue
        }
        // A seq above the last one is part of the damage.
        events.append((min(row.seq, old.last ?? DamagedFile.seqMaximum), event))
      }
      soundCount += Int64(events.count)
      if !events.isEmpty { rescue.savedCount += try restore(events, now: now) }
      while hasSegmentWork { try writeSegmentSliceNow() }
      progress(rescue)
    }
    old.close()
    rescue.reason = old.reason
    rescue.lostCount = old.eventCount.map { Int(clamping: max(0, $0 - soundCount)) }
    try goOn(after: max(old.seq, old.last ?? 0) + SeqLedger.unknownGap, rescue)
  }

  /// Stores events under their old seqs, and returns how many are stored.
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

  /// Continues after all seqs that may have been given, and writes the result of the rescue.
  private func goOn(after seq: Int64, _ rescue: ArchiveRescue) throws(StorageFault) {
    _ = try file.writeNow(
      { session in
        var writer = writer(session)
        writer.skip(to: seq)
        try rescue.write(session)
        try writer.finish()
        return Written(outcomes: [], change: writer.change)
      }, onCommit: { apply($0) })
  }

  /// The same when the file does not say which seqs were given.
  private func goOn(afterAnyOf given: Int64?, _ rescue: ArchiveRescue) throws(StorageFault) {
    try goOn(after: (given ?? 0) + SeqLedger.unknownGap, rescue)
  }
}
