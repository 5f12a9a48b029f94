internal import GRDB
internal import GRDBSQLite
internal import Synchronization

// A worker's database: one SQLite file in WAL mode, with one writer and several readers, each on a thread of its own.
//
// GRDB provides the pool of connections, snapshots for readers while the writer writes, cached statements, and
// migrations. This file adds faults in terms that a worker needs, versions (a file of a later version is refused), and
// statements that bind and read numbers and bytes without an intermediate value, which a batch of a thousand events
// needs.
//
// Results come back through continuations: a task of the loop that awaits one resumes on the loop.

/// One step of a database's history. A released step never changes; a change is a new step.
public struct StorageMigration: Sendable {
  /// The version of the file after the step: 1, 2, ….
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
    /// When the log was next synchronized, which happens after every ``StorageSettings/syncedPageCount`` pages: for
    /// what can be fetched again. A loss of power may take the last commits, but never changes their order. A single
    /// transaction can request more.
    case normal
  }

  /// When a commit counts as written.
  public var durability: Durability
  /// Connections that read, 1 to 16.
  public var readerCount: Int
  /// Memory that each connection may use for pages, in bytes.
  public var cacheByteCount: Int
  /// Pages of 4 KiB in the write-ahead log before another thread copies it into the file; at four times as many the
  /// writer does it itself.
  public var checkpointPageCount = 4_000
  /// Pages of the write-ahead log that may be unsynchronized if commits do not wait for the disk (`normal`). Then
  /// another thread synchronizes them, so that a commit that must be synchronized waits for few pages of other commits.
  /// 4 MiB.
  public var syncedPageCount = 1_024
  /// Whether the file is known to be damaged: if so, a file that ends too early is read up to its end.
  public var isDamaged = false
  /// Whether commits are counted beside the file, so that missing commits are noticed.
  var countsCommits = false
  /// Whether the file's tables are compared with those that the migrations make.
  var checksTables = false
  /// Size in bytes up to which the whole file is checked when it is opened.
  var checkedByteMaximum: Int64 = 0

  /// Settings with the usual defaults.
  public init(durability: Durability, readerCount: Int = 4, cacheByteCount: Int = 16 << 20) {
    (self.durability, self.readerCount, self.cacheByteCount) = (durability, readerCount, cacheByteCount)
  }

  /// For a file of few rows that its owner reads completely at the opening and keeps in memory. What was reported as
  /// written survives any end of the process.
  public static let small = StorageSettings(durability: .full, readerCount: 1, cacheByteCount: 64 << 10)
}

/// An open database file.
public final class StorageFile: Sendable {
  /// The file's path.
  public let path: String
  let pool: DatabasePool
  let checkpointer: Checkpointer
  private let durability: StorageSettings.Durability
  private let counter: CommitCounter?
  /// Commits that were counted but are not in the file.
  public let missingCommitCount: Int64
  private let isClosed = Mutex(false)

  /// Opens the file, creates it if it does not exist (mode 0600), and migrates it to the last version of `migrations`.
  /// Without migrations the file is taken as it is.
  ///
  /// - Throws: `newer` for a file of a later version, `corrupt`, `inaccessible`, `busy`, `full`.
  public init(path: String, _ settings: StorageSettings, migrations: [StorageMigration]) throws(StorageFault) {
    self.path = path
    durability = settings.durability
    var configuration = Configuration()
    configuration.maximumReaderCount = settings.readerCount
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { database in
      // Must be the first statement: the others read the schema. What is removed is overwritten at once
      // (`secure_delete`), so that it can be forgotten later without a look at every free page.
      if settings.isDamaged { try database.execute(sql: Self.damagedPragma) }
      let synchronous = settings.durability == .full ? "FULL" : "NORMAL"
      try database.execute(
        sql: """
          PRAGMA synchronous = \(synchronous);
          PRAGMA cache_size = -\(settings.cacheByteCount >> 10);
          PRAGMA wal_autocheckpoint = \(settings.checkpointPageCount * Checkpointer.patience);
          PRAGMA journal_size_limit = \(settings.checkpointPageCount * 3 * 4_096);
          PRAGMA temp_store = MEMORY;
          PRAGMA secure_delete = ON;
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
        // When the pool begins the log it sets the writer's connection to NORMAL, regardless of earlier settings.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      }
      missingCommitCount = try pool.writeWithoutTransaction { [counter] database in
        let isAsMade = try Self.check(database, path, settings, migrations, counter)
        let isChanged = try Self.migrate(database, path, migrations)
        if !settings.isDamaged, isAsMade {
          // The tables must be in the file itself, because a copy of the file's first page is kept.
          if isChanged { try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
          DatabaseHeader.keepCopy(of: database, at: path)
        }
        return try counter?.begin(database) ?? 0
      }
      checkpointer = try Checkpointer(path: path, settings)
    } catch {
      throw StorageFault(error, path: path)
    }
    OpenFiles.opened(self)
  }

  deinit { OpenFiles.closed(self) }

  /// Makes SQLite read a file that is shorter than it should be.
  static let damagedPragma = "PRAGMA writable_schema = ON"

  /// Checks the whole file, unless it is large.
  ///
  /// - Returns: whether its tables are those that the migrations make; true if they were not compared.
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
    // A changed bit in a column's name makes another name, which SQLite accepts. If the tables were changed through
    // SQLite, it has counted that change, and the difference is no damage.
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

  /// Migrates the file to the last form. Returns whether its tables have changed.
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

  /// Gives a damaged file the table descriptions of a sound file of the same version.
  func describeTables(as sound: StorageFile) throws(StorageFault) {
    do {
      let forms = try sound.pool.read { try TableForm.all($0) }
      try pool.writeWithoutTransaction { try TableForm.write(forms, to: $0) }
    } catch {
      throw StorageFault(error, path: path)
    }
  }

  /// Runs `body` in one transaction on the writer's thread, after the transactions requested before it. If `body`
  /// throws, the whole transaction is undone.
  ///
  /// - Parameters:
  ///   - isSynced: whether this transaction, and all before it, must be on the disk when this returns. In a file with
  ///     `full` durability that is always so.
  ///   - body: the work of the transaction.
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

  /// The same, but blocks this thread: for a start, and for tests.
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
      // Not a cached statement: SQLite applies this pragma when it compiles it, and a cached one would never apply it
      // again.
      if isSynced { try database.execute(sql: "PRAGMA synchronous = FULL") }
      defer {
        // `try?`: it cannot fail outside a transaction; if it did, later commits would be synchronized more than
        // requested.
        if isSynced { _ = try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
      }
      var before = 0
      let value = try inTransaction(database) {
        // After BEGIN, which fails on a closed connection: the SQLite call behind this one does not check for that.
        before = Checkpointer.writtenPageCount(database)
        let changesBefore = database.totalChangesCount
        let value = try body(StorageSession(database, path))
        // A transaction that has changed nothing does not count as a commit.
        if database.totalChangesCount != changesBefore { try counter?.willCommit(database) }
        return value
      }
      counter?.ended(isCommitted: true)
      if isSynced {
        // A commit that changed nothing does not wait for the disk, but what the transaction has read may still be
        // lost.
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

  /// The loss of commits is recorded elsewhere, and must not be reported again.
  func settleMissingCommits() throws(StorageFault) { try counter?.settle() }

  /// The statements around the transaction are cached: compiling them each time would be a fifth of a small
  /// transaction.
  private static func inTransaction<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
    try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let value = try body()
      try database.cachedStatement(sql: "COMMIT").execute()
      return value
    } catch {
      // `try?`: the first error is reported; a fault of the disk may have rolled the transaction back already.
      _ = try? database.rollback()
      throw error
    }
  }

  /// Runs `body` on a reader's thread, on a snapshot of the database from its beginning.
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

  /// The same, but blocks this thread: for a start, and for tests.
  public func readNow<Value>(_ body: (StorageSession) throws -> Value) throws(StorageFault) -> Value {
    do { return try pool.read { try body(StorageSession($0, path)) } } catch { throw StorageFault(error, path: path) }
  }

  /// Closes all connections, after the work in progress; a later use fails. Afterwards everything is in the one file:
  /// the log is emptied here, since the connection that closes last may be read-only, and would leave it. A second call
  /// does nothing.
  public func close() throws(StorageFault) {
    // SQLite does not check whether the connection for this checkpoint is still open.
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    guard !wasClosed else { return }
    do {
      // `try?`: if a reader is still active, or the disk is full, the next process that opens the file empties the log.
      _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
      try checkpointer.close()
      try pool.close()
      OpenFiles.closed(self)
    } catch {
      isClosed.withLock { $0 = false }
      throw StorageFault(error, path: path)
    }
  }
}
