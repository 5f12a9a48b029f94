internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Copies the write-ahead log into the file on a thread and a connection of its own, while the writer goes on writing.
///
/// SQLite would do it in the transaction that passes the bound, and whoever waits for that one would wait for the disk,
/// 100 ms and more. Beside a writer that never pauses the log is not begun anew; from `patience` times the bound on the
/// writer does the rest itself, which is little then. Where some read at any moment, that cannot come to the end
/// either, and the log would grow for as long: then the writer waits for those who read an older state, and begins it
/// anew. New readers do not make him wait longer.
final class Checkpointer: Sendable {
  private struct State {
    /// Pages the writer had written when the last copy was begun.
    var writtenPageCount = 0
    var isRunning = false
    /// Whether the log has grown beyond what is given to it.
    var isOverlong = false
  }

  /// How many bounds the log may grow before the writer stops for it.
  static let patience = 4

  private let queue: DatabaseQueue
  private let pageCount: Int
  private let state = Mutex(State())

  /// Begins when as many pages were written since the last time as the settings say.
  init(path: String, _ settings: StorageSettings) throws {
    pageCount = settings.checkpointPageCount
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { database in
      if settings.isDamaged { try database.execute(sql: StorageFile.damagedPragma) }
      try database.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
    }
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The writer has committed.
  func committed(_ database: Database) {
    var (written, highest): (CInt, CInt) = (0, 0)
    sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &written, &highest, 0)
    if state.withLock({ $0.isOverlong }) {
      // Who reads for longer than the connection waits is waited for again after the next copy.
      _ = try? database.checkpoint(.restart)
      state.withLock { $0.isOverlong = false }
    }
    let isDue = state.withLock { state in
      guard !state.isRunning, Int(written) - state.writtenPageCount >= pageCount else { return false }
      (state.writtenPageCount, state.isRunning) = (Int(written), true)
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

  /// Closes its connection; waits for what is going on.
  func close() throws { try queue.close() }
}
