internal import Glibc

// The one way in which the workers' ledgers are opened. A ledger is looked through when it is opened, its commits are
// counted beside it (`CommitCounter`), and a damaged one is put aside and made again (`RescuableFile`):
//
//   1. every row that hangs on sound pages is copied as it is into a sound file of the same form (`TableSalvage`);
//   2. that is brought to the present form, as any older file is;
//   3. its owner mends it: takes out what is not what it says, and fills in what follows from the rest.
//
// So an owner never reads a damaged file. What came of it stands in a text beside the damaged file, where
// `roost doctor` finds it. A cache is not rescued: it is removed, and begun again.
//
// Rejected: to begin the log again behind a damaged place, to save the commits behind it. Their pages build on those of
// the commit that is lost.

/// A ledger's database file, and how it comes back from damage.
public struct LedgerFile: Sendable {
  /// The database file.
  public let path: String
  private let settings: StorageSettings
  private let migrations: [StorageMigration]
  private let table: String
  private let noun: String

  /// Bytes of a file up to which it is looked through when it is opened: some 0.1 s of work. Damage in a larger one is
  /// met when it is read.
  public static let checkedByteMaximum: Int64 = 32 << 20

  /// A ledger.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - settings: how it is opened.
  ///   - migrations: its forms.
  ///   - table: its first table, whose rows are counted.
  ///   - noun: what these are called, in the plural.
  public init(path: String, _ settings: StorageSettings, _ migrations: [StorageMigration], table: String, noun: String)
  {
    var settings = settings
    settings.countsCommits = true
    settings.checksTables = true
    settings.checkedByteMaximum = Self.checkedByteMaximum
    (self.path, self.settings, self.migrations, self.table, self.noun) = (path, settings, migrations, table, noun)
  }

  /// The file, opened; it is made if it is not there.
  ///
  /// - Throws: `newer` for a file from the future, `corrupt`, `inaccessible`, `busy`, `full`, `interrupted`.
  public func storage() throws(StorageFault) -> StorageFile {
    try StorageFile(path: path, settings, migrations: migrations)
  }

  /// Says that it was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { RescuableFile(path: path).markDamaged() }

  /// Opens it; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what can be
  /// read. Waits on this thread.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - open: opens the ledger at a path, and reads what has to be sound for a start; gives its file as well.
  ///   - mend: given the path of a sound file with all that could be read, takes out what is not what it says, and
  ///     counts that; closes it.
  /// - Returns: what `open` gave, and what became of a damaged file, or of one that lacks commits.
  /// - Throws: what the two throw, but for `corrupt` of the first `open`.
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
      // The last start filled the new file, and died before it said so.
      var report = LedgerRescue(quarantinePath: quarantine.path, noun: noun)
      report.savedCount = Self.number(storage, "SELECT count(*) FROM \(table)") ?? 0
      return (opened, report)
    }
    guard storage.missingCommitCount > 0 else { return (opened, nil) }
    var report = LedgerRescue(quarantinePath: nil, noun: noun)
    report.missingCommitCount = storage.missingCommitCount
    // Told twice where a death lies between the two, never not at all.
    LossNote.write(report.text, missingFrom: path, now: now)
    try storage.settleMissingCommits()
    return (opened, report)
  }

  /// Opens one whose rows stand for themselves: all that can be read is there again.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - load: reads what has to be sound for a start.
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

  /// Opens a cache: a damaged one is removed and begun again, since all of it can be had again.
  ///
  /// - Returns: the file, and why it was begun again, if it was.
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
  /// - Returns: how many rows the first table had; nil when that cannot be said.
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
      // Where that fails the tables are read as they are described.
      do throws(StorageFault) { try old.describeTables(as: new) } catch { rescue.reason = error.reason }
      for table in try TableSalvage.tables(of: new) {
        if let reason = try table.copy(from: old, to: new) { rescue.reason = reason }
      }
    }
    let total =
      Self.number(old, "SELECT count(*) FROM \(table) NOT INDEXED") ?? Self.number(old, "SELECT count(*) FROM \(table)")
    // What was read is read; the damaged file is left to whoever looks at it.
    do throws(StorageFault) { try old.close() } catch { rescue.reason = rescue.reason ?? error.reason }
    return total
  }

  /// Makes a file of a form, and has it filled. It goes on counting where the damaged one was.
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
    // `try?`: what a damaged file does not say is not known.
    try? file.readNow { session in
      let statement = try session.statement(sql)
      guard try statement.step() else { return nil }
      defer { statement.reset() }
      return Int(clamping: statement.number(0))
    }
  }
}

/// What is told of a loss, beside the file, until somebody removes it: `jobs.db.damaged-TIME.text` goes with the
/// damaged file, `jobs.db.missing-TIME` stands for itself. Where it cannot be written the log has told it.
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
