internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// Copies the write-ahead log into the file (a checkpoint) on a thread and a connection of its own, while the writer
/// continues to write.
///
/// SQLite itself would checkpoint in the transaction that passes the bound, and the caller of that transaction would
/// wait for the disk, 100 ms and more. The checkpoint on the other thread never restarts the log while the writer does
/// not pause. So from `patience` times the bound on, the writer does the rest itself, which is little by then. If
/// readers are active at every moment, that checkpoint cannot finish either, and the log would grow for as long. Then
/// the writer waits for the readers of an older state and restarts the log. New readers do not make the writer wait
/// longer. It does not wait for a snapshot that is being copied: the log grows until the copy is complete.
///
/// If commits do not wait for the disk, the same thread synchronizes the log every few MiB. A commit that does have to
/// wait then waits for few pages of other commits, and a loss of power takes no more than these pages.
final class Checkpointer: Sendable {
  private struct State {
    /// Pages the writer had written when the last checkpoint began.
    var writtenPageCount = 0
    var isRunning = false
    /// Whether the log has grown beyond its limit.
    var isOverlong = false
    /// Snapshots that are open for a copy (``StorageSnapshot``).
    var snapshotCount = 0
    /// Pages the writer had written when this thread last began to synchronize the log.
    var syncedPageCount = 0
    var isSyncing = false
    /// Pages the writer had written when all of them were on the disk; nil while it is not known what an earlier
    /// process has left in the log.
    var durablePageCount: Int?
  }

  /// At how many times the bound the writer pauses for the log.
  static let patience = 4

  private let queue: DatabaseQueue
  private let pageCount: Int
  /// Pages after which this thread synchronizes the log; nil if each commit does it.
  private let unsyncedMaximum: Int?
  private let logPath: String
  private let state = Mutex(State())

  /// Opens the connection. A checkpoint begins each time the writer has written `checkpointPageCount` pages.
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

  /// The writer has committed, and everything committed so far must be on the disk when this returns.
  ///
  /// - Parameter didWait: whether the commit itself has waited for the disk.
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
    if state.withLock({ $0.isOverlong && $0.snapshotCount == 0 }) {
      // `try?`: if a reader takes longer than the connection waits, the writer waits again after the next checkpoint.
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
      // `try?`: the next checkpoint copies what this one cannot. A fault of the disk also reaches the writer, which
      // reports it.
      let log = try? database.checkpoint(.passive)
      state.withLock { state in
        state.isRunning = false
        state.isOverlong = log?.walFrameCount ?? 0 > pageCount * Self.patience
      }
    }
  }

  /// Has the log synchronized if much of it is not on the disk.
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
      // SQLite's own descriptor gets the same fault, and reports it to the commit that waits for the disk.
      do throws(StorageFault) {
        try synchronizeLog()
        state.withLock { $0.durablePageCount = max($0.durablePageCount ?? 0, written) }
      } catch {}
      state.withLock { $0.isSyncing = false }
    }
  }

  /// Waits until the log is on the disk. SQLite has synchronized the log's name already, when it created the log.
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

  /// A snapshot was opened for a copy.
  func snapshotOpened() { state.withLock { $0.snapshotCount += 1 } }

  /// It is no longer needed. The next checkpoint copies what the snapshot has kept in the log, so that the writer does
  /// not have to.
  func snapshotClosed() {
    state.withLock { state in
      state.snapshotCount -= 1
      state.isOverlong = false
    }
  }

  /// Closes its connection, after a checkpoint or synchronization in progress.
  func close() throws { try queue.close() }
}
