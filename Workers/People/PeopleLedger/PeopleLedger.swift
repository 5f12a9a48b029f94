public import Storage

// What the worker `people` keeps on disk: `people.db` in its directory. A change of a list is here before it is answered,
// and its version is here before the publish queue has it.

/// Versions of lists, and the changes that were made to them here.
public struct PeopleLedger: Sendable {
  private static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE list (
        number INTEGER PRIMARY KEY, account BLOB NOT NULL, kind INTEGER NOT NULL, identifier BLOB NOT NULL,
        UNIQUE (account, kind, identifier));
      CREATE TABLE version (
        list INTEGER NOT NULL, id BLOB NOT NULL, createdAt INTEGER NOT NULL, isOurs INTEGER NOT NULL,
        waits INTEGER NOT NULL, event BLOB NOT NULL, PRIMARY KEY (list, id)) WITHOUT ROWID;
      """)
  ]

  let file: StorageFile
  private let ledger: LedgerFile
  /// The result of the rescue, if the file was damaged.
  public let rescue: LedgerRescue?

  /// Opens the ledger in a directory. Blocks this thread. `now` is in seconds since 1970, for a damaged file's name.
  public init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(
      path: directory + "/people.db", .small, Self.migrations, table: "version", noun: "versions of lists")
    (file, _, rescue) = try ledger.open(now: now) { _ throws(StorageFault) in }
  }

  /// Marks the file as damaged: the next start rescues it.
  public func markDamaged() { ledger.markDamaged() }

  /// Closes the file. No call may follow.
  public func close() throws(StorageFault) { try file.close() }

  /// How many lists and versions are kept, and how many accepted versions the publish queue does not have yet.
  public func counts() async throws(StorageFault) -> (lists: Int, versions: Int, waiting: Int) {
    try await file.read { session in
      (
        Int(try session.count("SELECT count(*) FROM list")), Int(try session.count("SELECT count(*) FROM version")),
        Int(try session.count("SELECT count(*) FROM version WHERE waits <> 0"))
      )
    }
  }
}
