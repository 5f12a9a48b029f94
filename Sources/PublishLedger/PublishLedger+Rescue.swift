internal import Contracts
internal import Nostr
internal import PublishQueue
public import Storage

// A damaged ledger is put aside, and a new one is filled with what can still be read whole (`RescuableFile`). An event
// proves itself by its id. What is lost with a relay's state is at worst one more sending, which that relay calls a
// duplicate.

extension PublishLedger {
  /// Opens the ledger; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what
  /// can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970, for the name of the damaged file.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (PublishLedger, LedgerContents, LedgerRescue?) {
    var rescue: LedgerRescue?
    let ((ledger, contents), quarantine) = try RescuableFile(path: path).open(now: now) { path throws(StorageFault) in
      let ledger = try PublishLedger(path: path)
      return (ledger, try ledger.contentsNow())
    } refill: { unfinished, damaged throws(StorageFault) in
      var report = LedgerRescue(quarantinePath: damaged.path)
      let ledger = try PublishLedger(path: unfinished)
      if damaged.isEmpty {
        report.reason = Quarantine.emptyReason
      } else {
        try ledger.refill(from: damaged.path, &report)
      }
      try ledger.close()
      rescue = report
    }
    return (ledger, contents, rescue ?? quarantine.map { LedgerRescue(quarantinePath: $0.path) })
  }

  /// Says that the file was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { RescuableFile(path: path).markDamaged() }

  private func refill(from path: String, _ rescue: inout LedgerRescue) throws(StorageFault) {
    let old: StorageFile
    do throws(StorageFault) {
      old = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: LedgerSchema.migrations)
    } catch {
      rescue.reason = error.reason
      return
    }
    for number in Self.numbers(old, &rescue) {
      do throws(StorageFault) {
        guard let saved = try Self.saved(old, number) else {
          rescue.damagedCount += 1
          continue
        }
        var batch = LedgerBatch()
        batch.accepted = [saved]
        try writeNow(batch)
        rescue.savedCount += 1
      } catch {
        guard error.path == path else { throw error }
        rescue.damagedCount += 1
        rescue.reason = error.reason
      }
    }
    do throws(StorageFault) { try old.close() } catch { rescue.reason = error.reason }
  }

  /// The numbers that a damaged file still names, from any of the places where they stand.
  private static func numbers(_ old: StorageFile, _ rescue: inout LedgerRescue) -> [Int64] {
    var numbers: Set<Int64> = []
    for sql in [
      "SELECT number FROM publication NOT INDEXED ORDER BY number",
      "SELECT number FROM publication NOT INDEXED ORDER BY number DESC",
      "SELECT publication FROM body ORDER BY publication", "SELECT publication FROM body ORDER BY publication DESC",
    ] {
      do throws(StorageFault) {
        try old.readNow { session in
          let statement = try session.statement(sql)
          while try statement.step() { numbers.insert(statement.number(0)) }
        }
      } catch { rescue.reason = error.reason }
    }
    return numbers.sorted()
  }

  /// A publication that can be read whole, with an event that is the one it names; nil when it is not that.
  private static func saved(_ old: StorageFile, _ number: Int64) throws(StorageFault) -> LedgerBatch.Acceptance? {
    try old.readNow { session in
      let ledger = LedgerSession(session)
      let statement = try session.statement("SELECT \(LedgerSession.columns) FROM publication WHERE number = ?")
      statement.bind(number, at: 1)
      guard let row = try ledger.rows(statement).first else { return nil }
      let json = try ledger.event(of: number)
      guard let json else {
        // Every relay has it, and nobody needs the event.
        return row.publication.state == .confirmed
          ? LedgerBatch.Acceptance(row.publication, event: [], isStored: row.isStored) : nil
      }
      // `try?`: what cannot be read is not the event.
      guard let event = try? Event(json: json), event.id == row.publication.id, event.unsigned.id == event.id else {
        return nil
      }
      return LedgerBatch.Acceptance(row.publication, event: json, isStored: row.isStored)
    }
  }
}
