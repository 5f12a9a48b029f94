// What the ledgers of the workers have in common: how a batch is written, and what happens when the file is gone or
// damaged. A ledger decides nothing; a machine says what is to be written, and each batch is one transaction, whole or
// not at all.

/// A worker's durable state: one database file, synchronized with each commit (`synchronous=FULL`).
public protocol Ledger: Sendable {
  /// What one transaction writes.
  associatedtype Batch: Sendable
  /// What the transaction answers.
  associatedtype Written: Sendable

  /// The worker that owns it, as `roost restart` names it.
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

  /// Closes it; a later use fails.
  public func close() throws(StorageFault) { try file.close() }

  /// Writes a batch in one transaction: when this returns, the batch outlives a loss of power; when it throws, nothing
  /// of the batch was written.
  ///
  /// - Throws: `failed` when the file was removed or moved: what is written there is lost at the next start.
  public func write(_ batch: Batch) async throws(StorageFault) -> Written {
    try await transaction { session in try write(batch, in: session) }
  }

  /// The same, waiting on this thread: for the end of a process, and for tests.
  public func writeNow(_ batch: Batch) throws(StorageFault) -> Written {
    try file.writeNow { session in try write(batch, in: session) }
  }

  /// Does `body` in one transaction.
  ///
  /// - Parameters:
  ///   - body: what is done.
  ///   - onCommit: called when the commit has succeeded, before the next transaction begins.
  /// - Throws: `failed` when the file was removed or moved.
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

  /// What is written into a file that no process finds again is not accepted.
  private static func gone(_ path: String) -> StorageFault {
    StorageFault(
      .failed, path: path,
      "was removed or moved while it was in use; put it back, or begin a new one by 'roost restart \(worker)'")
  }

  /// Marks the file as damaged: the next start rescues what it can.
  public func markDamaged() { Self.ledgerFile(path).markDamaged() }

  /// Opens the ledger; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what
  /// can be read. Waits on this thread.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - open: opens the ledger in a sound file.
  ///   - contents: reads what has to be sound for a start.
  ///   - mend: in one transaction over all that could be read, takes out what is not what it says, and counts that.
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
