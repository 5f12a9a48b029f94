internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// Copies the write-ahead log into the file on a thread and a connection of its own, while the writer goes on writing.
///
/// SQLite would do it in the transaction that passes the bound, and whoever waits for that one would wait for the disk,
/// 100 ms and more. Beside a writer that never pauses the log is not begun again; from `patience` times the bound on
/// the writer does the rest itself, which is little then. Where some read at any moment, that cannot come to the end
/// either, and the log would grow for as long: then the writer waits for those who read an older state, and begins it
/// again. New readers do not make him wait longer.
///
/// Where commits do not wait for the disk, the same thread brings the log there every few MiB. Whoever does want to
/// wait then waits for few pages of others, and a loss of power takes no more than these.
final class Checkpointer: Sendable {
  private struct State {
    /// Pages the writer had written when the last copy was begun.
    var writtenPageCount = 0
    var isRunning = false
    /// Whether the log has grown beyond what is given to it.
    var isOverlong = false
    /// Pages the writer had written when the log was last to be synchronized beside it.
    var syncedPageCount = 0
    var isSyncing = false
    /// Pages the writer had written of which all are on the disk; nil while it is not known what an earlier process has
    /// left in the log.
    var durablePageCount: Int?
  }

  /// How many bounds the log may grow before the writer stops for it.
  static let patience = 4

  private let queue: DatabaseQueue
  private let pageCount: Int
  /// Pages after which the log is synchronized; nil where each commit does it.
  private let unsyncedMaximum: Int?
  private let logPath: String
  private let state = Mutex(State())

  /// Begins when as many pages were written since the last time as the settings say.
  init(path: String, _ settings: StorageSettings) throws {
    pageCount = settings.checkpointPageCount
    unsyncedMaximum = settings.durability == .normal ? settings.syncedPageCount : nil
    logPath = path + "-wal"
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { database in
      if settings.isDamaged { try database.execute(sql: StorageFile.damagedPragma) }
      try database.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
    }
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Pages that the writer has written since it was opened.
  static func writtenPageCount(_ database: Database) -> Int {
    var (written, highest): (CInt, CInt) = (0, 0)
    sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &written, &highest, 0)
    return Int(written)
  }

  /// The writer has committed, and all that was committed so far is to be on the disk when this returns.
  ///
  /// - Parameter didWait: whether the commit has waited for that itself.
  func committedSynced(_ database: Database, didWait: Bool) throws(StorageFault) {
    let written = Self.writtenPageCount(database)
    if !didWait, state.withLock({ $0.durablePageCount != written }) { try synchronizeLog() }
    state.withLock { $0.durablePageCount = written }
    committed(database)
  }

  /// The writer has committed.
  func committed(_ database: Database) {
    let written = Self.writtenPageCount(database)
    synchronize(written)
    if state.withLock({ $0.isOverlong }) {
      // Who reads for longer than the connection waits is waited for again after the next copy.
      _ = try? database.checkpoint(.restart)
      state.withLock { $0.isOverlong = false }
    }
    let isDue = state.withLock { state in
      guard !state.isRunning, written - state.writtenPageCount >= pageCount else { return false }
      (state.writtenPageCount, state.isRunning) = (written, true)
      return true
    }
    guard isDue else { return }
    queue.asyncWriteWithoutTransaction { [self] database in
      // What cannot be copied now is the next time; a fault of the disk meets the writer as well, who tells it.
      let log = try? database.checkpoint(.passive)
      state.withLock { state in
        state.isRunning = false
        state.isOverlong = log?.walFrameCount ?? 0 > pageCount * Self.patience
      }
    }
  }

  /// Has the log brought to the disk if much of it is not there.
  private func synchronize(_ written: Int) {
    guard let unsyncedMaximum else { return }
    let isDue = state.withLock { state in
      guard !state.isSyncing, written - max(state.syncedPageCount, state.durablePageCount ?? 0) >= unsyncedMaximum
      else { return false }
      (state.syncedPageCount, state.isSyncing) = (written, true)
      return true
    }
    guard isDue else { return }
    queue.asyncWriteWithoutTransaction { [self] _ in
      // SQLite's own descriptor hears of a fault as well, and with it whoever waits for a commit to be on the disk.
      do throws(StorageFault) {
        try synchronizeLog()
        state.withLock { $0.durablePageCount = max($0.durablePageCount ?? 0, written) }
      } catch {}
      state.withLock { $0.isSyncing = false }
    }
  }

  /// Waits until the log is on the disk. Its name is: SQLite sees to that when it makes the log.
  private func synchronizeLog() throws(StorageFault) {
    let log = Glibc.open(logPath, O_RDONLY | O_CLOEXEC)
    if log < 0, errno == ENOENT { return }
    guard log >= 0 else { throw fault("open") }
    defer { Glibc.close(log) }
    guard fdatasync(log) == 0 else { throw fault("fdatasync") }
  }

  private func fault(_ call: String) -> StorageFault {
    StorageFault(SystemFault(call: call, subject: logPath, code: errno), path: logPath)
  }

  /// Closes its connection; waits for what is going on.
  func close() throws { try queue.close() }
}
