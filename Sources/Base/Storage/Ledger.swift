// What the workers' ledgers have in common: how a batch is written, and what happens when the file is missing or
// damaged. A ledger decides nothing; a machine says what to write, and each batch is one transaction, written
// completely or not at all.

/// A worker's durable state: one database file, synchronized with each commit (`synchronous=FULL`).
public protocol Ledger: Sendable {
  /// What one transaction writes.
  associatedtype Batch: Sendable
  /// What the transaction returns.
  associatedtype Written: Sendable

  /// The worker that owns the ledger, under its name in `roost restart`.
  static var worker: String { get }
  /// The file at a path, and how it is opened.
  static func ledgerFile(_ path: String) -> LedgerFile
  /// The open file.
  var file: StorageFile { get }
  /// Writes a batch, within a transaction.
  func write(_ batch: Batch, in session: StorageSession) throws -> Written
}

extension Ledger {
  /// The database file.
  public var path: String { file.path }

  /// Closes the file; a later use fails.
  public func close() throws(StorageFault) { try file.close() }

  /// Writes a batch in one transaction. When this returns, the batch survives a loss of power; when it throws, nothing
  /// of the batch was written.
  ///
  /// - Throws: `failed` if the file was removed or moved: what is written into it would be lost at the next start.
  public func write(_ batch: Batch) async throws(StorageFault) -> Written {
    try await transaction { session in try write(batch, in: session) }
  }

  /// The same, but blocks this thread: for the end of a process, and for tests.
  public func writeNow(_ batch: Batch) throws(StorageFault) -> Written {
    try file.writeNow { session in try write(batch, in: session) }
  }

  /// Runs `body` in one transaction.
  ///
  /// - Parameters:
  ///   - body: the work of the transaction.
  ///   - onCommit: called when the commit has succeeded, before the next transaction begins.
  /// - Throws: `failed` if the file was removed or moved.
  public func transaction<Value: Sendable>(
    _ body: @escaping @Sendable (StorageSession) throws -> Value,
    onCommit: @escaping @Sendable (Value) -> Void = { _ in }
  ) async throws(StorageFault) -> Value {
    try await file.write(
      { session in
        guard !session.isFileGone else { throw Self.gone(session.path) }
        return try body(session)
      }, onCommit: onCommit)
  }

  /// Nothing is accepted into a file that no process will find again.
  private static func gone(_ path: String) -> StorageFault {
    StorageFault(
      .failed, path: path,
      "was removed or moved while it was in use; put it back, or begin a new one by 'roost restart \(worker)'")
  }

  /// Marks the file as damaged: the next start rescues what it can.
  public func markDamaged() { Self.ledgerFile(path).markDamaged() }

  /// Opens the ledger. If it is damaged, or was marked by ``markDamaged()``, sets it aside and makes a new one from
  /// what can be read. Blocks this thread.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - open: opens the ledger in a sound file.
  ///   - contents: reads what must be sound for a start.
  ///   - mend: in one transaction over all rows that could be read, removes the rows that are not sound, and counts
  ///     them.
  public static func openOrRescue<Contents>(
    path: String, now: Int64, open: (_ path: String) throws(StorageFault) -> Self,
    contents: (Self) throws(StorageFault) -> Contents,
    mend: (StorageSession, inout LedgerRescue) throws -> Void
  ) throws(StorageFault) -> (Self, Contents, LedgerRescue?) {
    let (opened, rescue) = try ledgerFile(path).open(now: now) { path throws(StorageFault) in
      let ledger = try open(path)
      return ((ledger, try contents(ledger)), ledger.file)
    } mend: { path, rescue throws(StorageFault) in
      let ledger = try open(path)
      rescue = try ledger.file.writeNow { session in
        var report = rescue
        try mend(session, &report)
        return report
      }
      try ledger.close()
    }
    return (opened.0, opened.1, rescue)
  }
}
