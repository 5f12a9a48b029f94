internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Copies the write-ahead log into the file on a thread and a connection of its own, while the writer goes on writing.
///
/// SQLite would do it in the transaction that passes the bound, and whoever waits for that one would wait for the disk, 100 ms and
/// more. Beside a writer that never pauses the log is not begun anew; from `patience` times the bound on the writer does the
/// rest itself, which is little then.
final class Checkpointer: Sendable {
  private struct State {
    /// Pages the writer had written when the last copy was begun.
    var writtenPageCount = 0
    var isRunning = false
  }

  /// How many bounds the log may grow before the writer stops for it.
  static let patience = 4

  private let queue: DatabaseQueue
  private let pageCount: Int
  private let state = Mutex(State())

  /// Begins when `pageCount` pages were written since the last time.
  init(path: String, pageCount: Int) throws {
    self.pageCount = pageCount
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0") }
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The writer has committed.
  func committed(_ database: Database) {
    var (written, highest): (CInt, CInt) = (0, 0)
    sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &written, &highest, 0)
    let isDue = state.withLock { state in
      guard !state.isRunning, Int(written) - state.writtenPageCount >= pageCount else { return false }
      state = State(writtenPageCount: Int(written), isRunning: true)
      return true
    }
    guard isDue else { return }
    queue.asyncWriteWithoutTransaction { [self] database in
      // What cannot be copied now is the next time; a fault of the disk meets the writer as well, who tells it.
      _ = try? database.checkpoint(.passive)
      state.withLock { $0.isRunning = false }
    }
  }

  /// Closes its connection; waits for what is going on.
  func close() throws { try queue.close() }
}
