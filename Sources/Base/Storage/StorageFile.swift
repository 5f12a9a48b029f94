internal import GRDB
internal import GRDBSQLite
internal import Synchronization

// A worker's database: one SQLite file in WAL mode, one writer, some readers, each on threads of their own.
//
// What GRDB gives: the pool of connections, snapshots that readers see while the writer writes, statements that are
// kept, and migrations. What is added here: faults in a worker's words, versions that refuse a file from the future,
// and statements that bind and read numbers and bytes without a value in between, which a batch of a thousand events
// needs.
//
// Results come back as continuations: a task of the loop that awaits one goes on on the loop.

/// One step of a database's history. Steps are never changed once they have been released; a new one is added.
public struct StorageMigration: Sendable {
  /// The version the file has after it, 1, 2, ….
  public let version: Int
  /// SQL statements.
  public let sql: String

  /// A step.
  public init(version: Int, _ sql: String) {
    self.version = version
    self.sql = sql
  }
}

/// How a database file is opened.
public struct StorageSettings: Sendable {
  /// When a commit counts as written.
  public enum Durability: Sendable {
    /// After `fsync`: for what was accepted from a caller.
    case full
    /// When the log was synchronized next, which is after every ``StorageSettings/syncedPageCount`` pages: a loss of
    /// power may take the last commits, never the order; for what can be fetched again. A single transaction can ask
    /// for more.
    case normal
  }

  /// When a commit counts as written.
  public var durability: Durability
  /// Connections that read, 1 to 16.
  public var readerCount: Int
  /// Memory each connection may use for pages, in bytes.
  public var cacheByteCount: Int
  /// Pages of 4 KiB in the write-ahead log before it is copied into the file, beside the writer; at four times as many
  /// he does it himself.
  public var checkpointPageCount = 4_000
  /// Pages of the write-ahead log that may wait for the disk where commits do not (`normal`): beside the writer they
  /// are synchronized then, so that a commit that is to be synchronized finds few of others in its way. 4 MiB.
  public var syncedPageCount = 1_024
  /// Whether the file is known to be damaged: then one that ends too early is read as far as it goes.
  public var isDamaged = false
  /// Whether commits are counted beside the file, so that it is known when some are missing.
  var countsCommits = false
  /// Whether its tables are compared with those that the migrations make.
  var checksTables = false
  /// Bytes of a file up to which all of it is looked through when it is opened.
  var checkedByteMaximum: Int64 = 0

  /// Settings; what is left out is as usual.
  public init(durability: Durability, readerCount: Int = 4, cacheByteCount: Int = 16 << 20) {
    (self.durability, self.readerCount, self.cacheByteCount) = (durability, readerCount, cacheByteCount)
  }

  /// For a file of few rows, all of which its owner reads when it opens it and keeps in memory: what was said to be
  /// written is there after any end.
  public static let small = StorageSettings(durability: .full, readerCount: 1, cacheByteCount: 64 << 10)
}

/// An open database file.
public final class StorageFile: Sendable {
  /// The file's path.
  public let path: String
  private let pool: DatabasePool
  private let checkpointer: Checkpointer
  private let durability: StorageSettings.Durability
  private let counter: CommitCounter?
  /// Commits that were counted, and that the file has not.
  public let missingCommitCount: Int64
  private let isClosed = Mutex(false)

  /// Opens the file, makes it if it is not there (mode 0600), and brings it to the last version of `migrations`;
  /// without any it is taken as it is.
  ///
  /// - Throws: `newer` for a file from the future, `corrupt`, `inaccessible`, `busy`, `full`.
  public init(path: String, _ settings: StorageSettings, migrations: [StorageMigration]) throws(StorageFault) {
    self.path = path
    durability = settings.durability
    var configuration = Configuration()
    configuration.maximumReaderCount = settings.readerCount
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { database in
      // First of all: the others look at the schema.
      if settings.isDamaged { try database.execute(sql: Self.damagedPragma) }
      let synchronous = settings.durability == .full ? "FULL" : "NORMAL"
      try database.execute(
        sql: """
          PRAGMA synchronous = \(synchronous);
          PRAGMA cache_size = -\(settings.cacheByteCount >> 10);
          PRAGMA wal_autocheckpoint = \(settings.checkpointPageCount * Checkpointer.patience);
          PRAGMA journal_size_limit = \(settings.checkpointPageCount * 3 * 4_096);
          PRAGMA temp_store = MEMORY;
          """)
    }
    counter =
      settings.countsCommits
      ? try CommitCounter(database: path, knownVersion: migrations.last?.version ?? 0) : nil
    if settings.checkedByteMaximum > 0, !DatabaseHeader.isPlausible(ofFile: path) {
      throw StorageFault(.corrupt, path: path, "its first bytes are not those of a database of ours")
    }
    if settings.isDamaged { DatabaseHeader.mend(ofFile: path) }
    do {
      pool = try DatabasePool(path: path, configuration: configuration)
      if settings.durability == .full {
        // The pool makes the writer's connection NORMAL when it begins the log, whatever was set before.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      }
      missingCommitCount = try pool.writeWithoutTransaction { [counter] database in
        let isAsMade = try Self.check(database, path, settings, migrations, counter)
        let isChanged = try Self.migrate(database, path, migrations)
        if !settings.isDamaged, isAsMade {
          // The tables are to stand in the file itself, of whose first page a copy is kept.
          if isChanged { try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
          DatabaseHeader.keepCopy(of: database, at: path)
        }
        return try counter?.begin(database) ?? 0
      }
      checkpointer = try Checkpointer(path: path, settings)
    } catch {
      throw StorageFault(error, path: path)
    }
  }

  /// SQLite's way to be told that a file shorter than it should be is to be read all the same.
  static let damagedPragma = "PRAGMA writable_schema = ON"

  /// Looks through all of a file, unless it is large.
  ///
  /// - Returns: whether its tables are those that the migrations make, as far as that is looked at.
  private static func check(
    _ database: Database, _ path: String, _ settings: StorageSettings, _ migrations: [StorageMigration],
    _ counter: CommitCounter?
  ) throws -> Bool {
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    let isNew = try version == 0 && Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
    if !isNew, let objection = counter?.objection(toVersion: version) {
      throw StorageFault(.corrupt, path: path, objection)
    }
    if !isNew, !settings.isDamaged, DatabaseHeader.hasChanged(database, at: path) {
      throw StorageFault(.corrupt, path: path, "its tables are not described as they were")
    }
    // A bit that changes in a column's name makes another name of it, which SQLite takes for what was meant. Where
    // SQLite itself was asked to change a table it has counted that, and it is no damage.
    let difference =
      !isNew && settings.checksTables ? try TableForm.firstDifference(database, migrations, version) : nil
    let changeCount = try Int.fetchOne(database, sql: "PRAGMA schema_version")
    if let difference, DatabaseHeader.copiedChangeCount(at: path) ?? changeCount == changeCount {
      throw StorageFault(.corrupt, path: path, "its table \(difference) is not described as it was made")
    }
    let pageCount = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
    guard pageCount * 4_096 <= settings.checkedByteMaximum else { return difference == nil }
    let verdict = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") ?? "ok"
    if verdict != "ok" { throw StorageFault(.corrupt, path: path, verdict) }
    return difference == nil
  }

  /// Brings the file to the last form. Returns whether its tables have changed.
  private static func migrate(_ database: Database, _ path: String, _ migrations: [StorageMigration]) throws -> Bool {
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    let known = migrations.last?.version ?? 0
    guard migrations.isEmpty || version <= known else {
      throw StorageFault(
        .newer, path: path,
        "was written by a later version of this program (its form is \(version), and \(known) is known here)")
    }
    for migration in migrations where migration.version > version {
      try database.inTransaction(.immediate) {
        try database.execute(sql: migration.sql)
        try database.execute(sql: "PRAGMA user_version = \(migration.version)")
        return .commit
      }
    }
    return version < known
  }

  /// Has a damaged file's tables described as those of a sound one of the same version are.
  func describeTables(as sound: StorageFile) throws(StorageFault) {
    do {
      let forms = try sound.pool.read { try TableForm.all($0) }
      try pool.writeWithoutTransaction { try TableForm.write(forms, to: $0) }
    } catch {
      throw StorageFault(error, path: path)
    }
  }

  /// Does `body` in one transaction on the writer's thread, after those asked for before. What it throws undoes all of
  /// it.
  ///
  /// - Parameters:
  ///   - isSynced: whether it is on the disk, with all before it, when this returns: of a file that is `full` all are.
  ///   - body: what is done.
  ///   - onCommit: called on the same thread when the commit has succeeded, before the next transaction begins.
  public func write<Value: Sendable>(
    isSynced: Bool = false, _ body: @escaping @Sendable (StorageSession) throws -> Value,
    onCommit: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws(StorageFault) -> Value {
    let (path, checkpointer, counter, isSynced) = (path, checkpointer, counter, isSynced && durability == .normal)
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, StorageFault>, Never>) in
      pool.asyncWriteWithoutTransaction { database in
        continuation.resume(
          returning: Self.transaction(database, path, checkpointer, counter, isSynced: isSynced, body, onCommit))
      }
    }
    return try result.get()
  }

  /// The same, waiting on this thread: for a start, and for tests.
  public func writeNow<Value>(
    isSynced: Bool = false, _ body: (StorageSession) throws -> Value, onCommit: (Value) -> Void = { _ in }
  ) throws(StorageFault) -> Value {
    let isSynced = isSynced && durability == .normal
    return try pool.writeWithoutTransaction {
      Self.transaction($0, path, checkpointer, counter, isSynced: isSynced, body, onCommit)
    }.get()
  }

  private static func transaction<Value>(
    _ database: Database, _ path: String, _ checkpointer: Checkpointer, _ counter: CommitCounter?,
    isSynced: Bool, _ body: (StorageSession) throws -> Value, _ onCommit: (Value) -> Void
  ) -> Result<Value, StorageFault> {
    do {
      // Not by a statement that is kept: this one is done when it is compiled, and never again.
      if isSynced { try database.execute(sql: "PRAGMA synchronous = FULL") }
      defer {
        // It cannot fail outside a transaction; what it would leave is more synchronized than asked for.
        if isSynced { _ = try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
      }
      var before = 0
      let value = try inTransaction(database) {
        // Behind BEGIN, which fails on a connection that is closed: SQLite does not look whether it is one.
        before = Checkpointer.writtenPageCount(database)
        let changesBefore = database.totalChangesCount
        let value = try body(StorageSession(database, path))
        // What has changed nothing is no commit.
        if database.totalChangesCount != changesBefore { try counter?.willCommit(database) }
        return value
      }
      counter?.ended(isCommitted: true)
      if isSynced {
        // Where the transaction has changed nothing its commit waits for nothing, and what it has seen may be lost yet.
        let didWait = Checkpointer.writtenPageCount(database) > before
        try checkpointer.committedSynced(database, didWait: didWait)
      } else {
        checkpointer.committed(database)
      }
      onCommit(value)
      return .success(value)
    } catch {
      counter?.ended(isCommitted: false)
      return .failure(StorageFault(error, path: path))
    }
  }

  /// The loss of commits is written down elsewhere, and is not told again.
  func settleMissingCommits() throws(StorageFault) { try counter?.settle() }

  /// The statements around it are kept: compiled again each time, they would be a fifth of a small transaction.
  private static func inTransaction<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
    try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let value = try body()
      try database.cachedStatement(sql: "COMMIT").execute()
      return value
    } catch {
      // What made it fail is told; a fault of the disk may have undone it already.
      _ = try? database.rollback()
      throw error
    }
  }

  /// Does `body` on a reader's thread, with the database as it was when it begins.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (StorageSession) throws -> Value
  ) async throws(StorageFault) -> Value {
    let path = path
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, StorageFault>, Never>) in
      pool.asyncRead { database in
        do {
          continuation.resume(returning: .success(try body(StorageSession(database.get(), path))))
        } catch {
          continuation.resume(returning: .failure(StorageFault(error, path: path)))
        }
      }
    }
    return try result.get()
  }

  /// The same, waiting on this thread: for a start, and for tests.
  public func readNow<Value>(_ body: (StorageSession) throws -> Value) throws(StorageFault) -> Value {
    do { return try pool.read { try body(StorageSession($0, path)) } } catch { throw StorageFault(error, path: path) }
  }

  /// Closes all connections; a later use fails. Waits for what is going on. Then all is in the one file: the log is
  /// emptied here, since the connection that is closed last may only read, and would leave it. A second time it does
  /// nothing.
  public func close() throws(StorageFault) {
    // SQLite does not look whether the connection it is to empty the log of is one.
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    guard !wasClosed else { return }
    do {
      // Left to the next who opens the file, if somebody still reads or the disk is full.
      _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      try checkpointer.close()
      try pool.close()
    } catch {
      isClosed.withLock { $0 = false }
      throw StorageFault(error, path: path)
    }
  }
}
