internal import Contracts
internal import Glibc
internal import Nostr
internal import PublishQueue
public import Storage

// A damaged ledger is put aside under another name, never removed, and a new one is filled with what can still be read
// whole. An event proves itself by its id. What is lost with a relay's state is at worst one more sending, which that
// relay calls a duplicate.

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
    if access(markPath(path), F_OK) != 0 {
      do throws(StorageFault) {
        let ledger = try PublishLedger(path: path)
        return (ledger, try ledger.contentsNow(), nil)
      } catch {
        guard error.kind == .corrupt else { throw error }
      }
    }
    let aside = "\(path).damaged-\(now)"
    for suffix in ["", "-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, aside + suffix) == 0 else {
        throw StorageFault(
          .inaccessible, path: path, "it is damaged and cannot be put aside: \(String(cString: strerror(errno)))")
      }
    }
    var rescue = LedgerRescue(quarantinePath: aside)
    let ledger = try PublishLedger(path: path)
    try ledger.refill(from: aside, &rescue)
    unlink(markPath(path))
    return (ledger, try ledger.contentsNow(), rescue)
  }

  /// Says that the file was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() {
    let mark = open(Self.markPath(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if mark >= 0 { Glibc.close(mark) }
  }

  private static func markPath(_ path: String) -> String { path + ".is-damaged" }

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
