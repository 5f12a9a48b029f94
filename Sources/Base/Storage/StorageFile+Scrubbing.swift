internal import GRDB
internal import GRDBSQLite

// Removed rows leave traces. SQLite overwrites what is removed (`secure_delete`), but not copies of rows that it made
// when it moved rows between pages, nor pages that an earlier version of Roost has freed; and the write-ahead log has
// the rows until it is written again from its beginning. So after a removal that must be complete, the file is built
// again from the rows that are left, and the log is emptied.
//
// Building a file again takes memory and time for all of it. Above ``StorageFile/rebuiltByteMaximum`` it stays as it
// is.

/// What a scrubbing has done.
public enum ScrubResult: Sendable, Hashable {
  /// Nothing that was removed is left in the file or its log.
  case clean
  /// The file is too large to be built again: what was removed is overwritten, the log is empty, but there may be old
  /// copies of rows in pages that hold other rows now.
  case tooLarge
}

extension StorageFile {
  /// A file of more bytes is not built again: it would be in memory as a whole.
  public static let rebuiltByteMaximum: Int64 = 64 << 20

  /// Removes what removed rows have left behind: builds the file again, and empties its log. Repeating it does no harm,
  /// and a death at any moment leaves the old or the new file.
  ///
  /// - Throws: `busy` if readers did not end in time; the file is whole, and the caller tries again.
  public func scrub() async throws(StorageFault) -> ScrubResult {
    let path = path
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<ScrubResult, StorageFault>, Never>) in
      pool.asyncWriteWithoutTransaction { database in
        do {
          continuation.resume(returning: .success(try Self.scrub(database, path)))
        } catch {
          continuation.resume(returning: .failure(StorageFault(error, path: path)))
        }
      }
    }
    return try result.get()
  }

  /// The same, but blocks this thread: for a start.
  public func scrubNow() throws(StorageFault) -> ScrubResult {
    do { return try pool.writeWithoutTransaction { try Self.scrub($0, path) } } catch {
      throw StorageFault(error, path: path)
    }
  }

  private static func scrub(_ database: Database, _ path: String) throws -> ScrubResult {
    let pageCount = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
    let isSmall = pageCount * 4_096 <= rebuiltByteMaximum
    if isSmall { try database.execute(sql: "VACUUM") }
    try database.execute(sql: "PRAGMA busy_timeout = \(scrubMilliseconds)")
    // SQLite's own function, because GRDB's does not say that the log could not be emptied.
    var (logCount, copiedCount): (CInt, CInt) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(
      database.sqliteConnection, "main", SQLITE_CHECKPOINT_TRUNCATE, &logCount, &copiedCount)
    try database.execute(sql: "PRAGMA busy_timeout = \(busyMilliseconds)")
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the log could not be emptied")
    }
    // The tables are elsewhere in the file now.
    if isSmall { DatabaseHeader.keepCopy(of: database, at: path) }
    return isSmall ? .clean : .tooLarge
  }

  /// How long the log's last readers may take.
  private static let scrubMilliseconds = 2_000
  /// As the connection was opened with (`busyMode`).
  private static let busyMilliseconds = 5_000
}
