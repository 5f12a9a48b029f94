internal import Glibc

// The one way in which workers open their ledgers. A ledger is checked when it is opened, and a file beside it counts
// its commits (`CommitCounter`). A damaged one is set aside and replaced by a new file (`RescuableFile`), in three
// steps:
//
// 1. every row that SQLite can still read is copied unchanged into a new file with the schema version of the damaged
//    one (`TableSalvage`);
// 2. the new file is migrated to the present schema, like any older file;
// 3. the ledger's owner mends it: it removes rows that are not sound, and restores what follows from the other rows.
//
// So an owner never reads a damaged file. A text file beside the damaged one reports the result, and `roost doctor`
// finds it there. A cache is not rescued: it is removed and begun again.
//
// Rejected: to continue SQLite's write-ahead log after a damaged place, in order to save the commits after it. Their
// pages build on the pages of the lost commit.

/// A ledger's database file, and how it is rescued from damage.
public struct LedgerFile: Sendable {
  /// The database file.
  public let path: String
  private let settings: StorageSettings
  private let migrations: [StorageMigration]
  private let table: String
  private let noun: String

  /// A file up to this size, in bytes, is checked as a whole when it is opened, which takes about 0.1 s. In a larger
  /// file, damage is found when the page with it is read.
  public static let checkedByteMaximum: Int64 = 32 << 20

  /// A ledger.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - settings: how the file is opened.
  ///   - migrations: the steps of its schema, from version 1 to the present one.
  ///   - table: its main table; reports count the rows of this table.
  ///   - noun: what these rows are called in reports, in the plural.
  public init(path: String, _ settings: StorageSettings, _ migrations: [StorageMigration], table: String, noun: String)
  {
    var settings = settings
    settings.countsCommits = true
    settings.checksTables = true
    settings.checkedByteMaximum = Self.checkedByteMaximum
    (self.path, self.settings, self.migrations, self.table, self.noun) = (path, settings, migrations, table, noun)
  }

  /// Whether SQLite's log has something: the process before did not close the file. Asked before the file is opened.
  private var hasLog: Bool {
    var status = stat()
    return stat(path + "-wal", &status) == 0 && status.st_size > 0
  }

  /// Opens the file without a rescue, and creates it if it does not exist.
  ///
  /// - Throws: `newer` for a file of a later version, `corrupt`, `inaccessible`, `busy`, `full`, `interrupted`.
  public func storage() throws(StorageFault) -> StorageFile {
    try StorageFile(path: path, settings, migrations: migrations)
  }

  /// Marks the file as found damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { RescuableFile(path: path).markDamaged() }

  /// Opens the ledger. If it is damaged, or was marked by ``markDamaged()``, sets it aside and makes a new one from
  /// what can be read. Blocks this thread.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - open: opens the ledger at a path, and reads what must be sound for a start; returns that, and the ledger's
  ///     file.
  ///   - mend: receives the path of a new file with all rows that could be read. Removes the rows that are not sound,
  ///     counts them in the report, and closes the file.
  /// - Returns: what `open` has read, and a report if the file was damaged or lacks commits.
  /// - Throws: what the two closures throw, except `corrupt` from the first `open`.
  public func open<Opened>(
    now: Int64, _ open: (_ path: String) throws(StorageFault) -> (Opened, StorageFile),
    mend: (_ path: String, _ rescue: inout LedgerRescue) throws(StorageFault) -> Void
  ) throws(StorageFault) -> (Opened, LedgerRescue?) {
    var rescue: LedgerRescue?
    let file = RescuableFile(path: path, companions: [CommitCounter.suffix])
    let ((opened, storage), quarantine) = try file.open(now: now) { path throws(StorageFault) in
      try open(path)
    } refill: { unfinished, damaged throws(StorageFault) in
      var report = LedgerRescue(quarantinePath: damaged.path, noun: noun)
      let total = try salvage(damaged, to: unfinished, &report)
      try mend(unfinished, &report)
      try conclude(unfinished, total, &report)
      LossNote.write(report.text, beside: damaged.path)
      rescue = report
    }
    if let quarantine {
      if let rescue { return (opened, rescue) }
      // An earlier start filled the new file, but died before it could report that.
      var report = LedgerRescue(quarantinePath: quarantine.path, noun: noun)
      report.savedCount = Self.number(storage, "SELECT count(*) FROM \(table)") ?? 0
      return (opened, report)
    }
    guard storage.missingCommitCount > 0 else { return (opened, nil) }
    var report = LedgerRescue(quarantinePath: nil, noun: noun)
    report.missingCommitCount = storage.missingCommitCount
    // If the process dies between these two steps, the loss is reported twice; it is never left unreported.
    LossNote.write(report.text, missingFrom: path, now: now)
    try storage.settleMissingCommits()
    return (opened, report)
  }

  /// Opens a ledger whose rows do not depend on each other: every row that can be read is kept, and nothing is mended.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - load: reads what must be sound for a start.
  public func open<Loaded>(
    now: Int64, load: (StorageFile) throws(StorageFault) -> Loaded
  ) throws(StorageFault) -> (StorageFile, Loaded, LedgerRescue?) {
    let (opened, rescue) = try open(now: now) { path throws(StorageFault) in
      let file = try LedgerFile(path: path, settings, migrations, table: table, noun: noun).storage()
      return ((file, try load(file)), file)
    } mend: { _, _ in
    }
    return (opened.0, opened.1, rescue)
  }

  /// Opens a ledger whose rows do not depend on each other, and removes what removed rows have left behind, if the
  /// process before ended without closing the file.
  ///
  /// - Parameter now: seconds since 1970, for the name of a damaged file.
  public func openScrubbed(now: Int64) throws(StorageFault) -> (StorageFile, LedgerRescue?) {
    let isUnclean = hasLog
    let (file, _, rescue) = try open(now: now) { _ throws(StorageFault) in }
    guard isUnclean else { return (file, rescue) }
    do throws(StorageFault) { _ = try file.scrubNow() } catch {
      // There is no room for it, say. What is removed next takes these traces along.
      guard error.mayPass else {
        // The next start rescues what it can.
        if error.kind == .corrupt { markDamaged() }
        throw error
      }
    }
    return (file, rescue)
  }

  /// Opens a cache: a damaged one is removed and begun again, since everything in it can be fetched again.
  ///
  /// - Returns: the file, and the reason if it was begun again.
  public func openCache() throws(StorageFault) -> (StorageFile, dropped: String?) {
    do throws(StorageFault) { return (try storage(), nil) } catch {
      guard error.kind == .corrupt else { throw error }
      for suffix in ["-wal", "-shm", "-journal", DatabaseHeader.copySuffix, CommitCounter.suffix, ""] {
        unlink(path + suffix)
      }
      return (try storage(), error.reason)
    }
  }

  // MARK: A damaged file

  /// Copies what can be read into a new file.
  ///
  /// - Returns: how many rows the main table had; nil if that cannot be found out.
  private func salvage(
    _ damaged: Quarantine, to unfinished: String, _ rescue: inout LedgerRescue
  ) throws(StorageFault) -> Int? {
    if damaged.isEmpty {
      rescue.reason = Quarantine.emptyReason
      try fill(unfinished, migrations) { _ throws(StorageFault) in }
      return nil
    }
    var settings = StorageSettings(durability: .normal)
    (settings.isDamaged, settings.readerCount) = (true, 1)
    let old: StorageFile
    do throws(StorageFault) { old = try StorageFile(path: damaged.path, settings, migrations: []) } catch {
      rescue.reason = error.reason
      try fill(unfinished, migrations) { _ throws(StorageFault) in }
      return nil
    }
    let version = CommitCounter.version(ofDatabase: path) ?? Self.number(old, "PRAGMA user_version") ?? 0
    let form = migrations.filter { $0.version <= version }
    try fill(unfinished, form.isEmpty ? migrations : form) { new throws(StorageFault) in
      // Reads the tables as the new file describes them; if that fails, as the damaged file does.
      do throws(StorageFault) { try old.describeTables(as: new) } catch { rescue.reason = error.reason }
      let deadline = ContinuousClock.now.advanced(by: .seconds(TableSalvage.searchSeconds))
      for table in try TableSalvage.tables(of: new) {
        if let reason = try table.copy(from: old, to: new, searchingUntil: deadline) { rescue.reason = reason }
      }
    }
    let total =
      Self.number(old, "SELECT count(*) FROM \(table) NOT INDEXED") ?? Self.number(old, "SELECT count(*) FROM \(table)")
    // The reading is finished; the damaged file stays for inspection.
    do throws(StorageFault) { try old.close() } catch { rescue.reason = rescue.reason ?? error.reason }
    return total
  }

  /// Creates a file with these migrations, and lets `body` fill it. Its count of commits continues from that of the
  /// damaged file.
  private func fill(
    _ path: String, _ migrations: [StorageMigration], _ body: (StorageFile) throws(StorageFault) -> Void
  ) throws(StorageFault) {
    var settings = settings
    settings.countsCommits = false
    let new = try StorageFile(path: path, settings, migrations: migrations)
    if let count = CommitCounter.count(ofDatabase: self.path) {
      try new.writeNow { try $0.execute("PRAGMA application_id = \(count)") }
    }
    try body(new)
    try new.close()
  }

  private func conclude(_ path: String, _ total: Int?, _ rescue: inout LedgerRescue) throws(StorageFault) {
    let new = try StorageFile(path: path, settings, migrations: migrations)
    rescue.savedCount = Self.number(new, "SELECT count(*) FROM \(table)") ?? 0
    rescue.lostCount = total.map { max(0, $0 - rescue.savedCount) }
    try new.close()
  }

  private static func number(_ file: StorageFile, _ sql: String) -> Int? {
    // `try?`: a damaged file may not have the number; it is then unknown.
    try? file.readNow { session in
      let statement = try session.statement(sql)
      guard try statement.step() else { return nil }
      defer { statement.reset() }
      return Int(clamping: statement.number(0))
    }
  }
}

/// The report of a loss, kept beside the database until the operator removes it: `jobs.db.damaged-TIME.text` beside a
/// damaged file that was set aside, or `jobs.db.missing-TIME` when only commits are missing. If it cannot be written,
/// the log still has the report.
enum LossNote {
  static func write(_ text: String, beside quarantine: String) { write(text, to: quarantine + ".text") }

  static func write(_ text: String, missingFrom path: String, now: Int64) { write(text, to: "\(path).missing-\(now)") }

  private static func write(_ text: String, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(text.utf8)
    _ = Glibc.write(file, bytes, bytes.count)
  }
}
