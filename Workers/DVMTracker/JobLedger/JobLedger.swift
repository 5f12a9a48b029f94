public import Contracts
internal import Cryptography
public import JobTracking
internal import Nostr
public import Storage

// The ledger of jobs: one SQLite file, synchronous=FULL. It holds what was promised to submitters, and what follows
// from that.
//
// The ledger decides nothing. The machine says what to write, in batches, and each batch is one transaction, whole or
// not at all: facts, the states of their jobs, and the seq up to which the event store was read. So after a death, each
// answer that counts as looked at has its fact.
//
// Answers of providers are in it in clear, once they were decrypted. Only the file's owner can read it (0600, in a
// directory of 0700), and nothing of it goes anywhere else.

/// The jobs of this machine, on disk.
public final class JobLedger: Ledger {
  /// The open file.
  public let file: StorageFile

  /// Most closed jobs that are kept; when there are more, those that ended first go.
  public static let endedMaximum = 10_000
  /// How long closed jobs are kept after their end, in milliseconds.
  public static let endedMilliseconds: Int64 = 90 * 86_400_000
  /// Most jobs forgotten in one transaction.
  public static let sweepCount = 200
  /// Most jobs in one answer.
  public static let pageMaximum = 10_000
  /// How far back approvals are loaded, whatever became of their jobs, in milliseconds.
  public static let paymentMilliseconds: Int64 = JobTable.spendingMilliseconds

  /// `dvm-tracker`.
  public static let worker = "dvm-tracker"

  /// Opens the file, or makes it.
  ///
  /// - Throws: `newer` for a file of a later version, `corrupt`, `inaccessible`, `busy`, `full`.
  public init(path: String) throws(StorageFault) { file = try Self.ledgerFile(path).storage() }

  /// The file at a path, with its settings.
  public static func ledgerFile(_ path: String) -> LedgerFile {
    LedgerFile(
      path: path, StorageSettings(durability: .full, readerCount: 2, cacheByteCount: 4 << 20),
      JobLedgerSchema.migrations, table: "job", noun: "jobs")
  }

  // MARK: Writing

  /// Writes a batch within a transaction.
  public func write(_ batch: JobBatch, in session: StorageSession) throws { try JobRows(session).write(batch) }

  /// Forgets some of the closed jobs that ended too long ago or are too many, in the order of their ends. Also forgets
  /// the approvals for forgotten jobs once they are older than ``paymentMilliseconds``, the proofs beyond
  /// `ProvenHashes.maximum`, and the providers beyond `ProviderHistory.providerMaximum`.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: the forgotten jobs; if there are ``sweepCount`` of them, there may be more.
  public func sweep(now: Int64) async throws(StorageFault) -> [KeptJob] {
    try await file.write { session in
      let ledger = JobRows(session)
      let gone = try ledger.overdue(before: now - Self.endedMilliseconds)
      for job in gone { try ledger.remove(job.id) }
      try ledger.removeOldPayments(before: now - Self.paymentMilliseconds)
      try ledger.removeSurplusProofs()
      try ledger.removeSurplusProviders()
      return gone
    }
  }

  // MARK: Reading

  /// Reads the contents, and blocks the thread: for a start. Open jobs come with all of their facts.
  ///
  /// - Parameter now: milliseconds since 1970.
  public func contentsNow(now: Int64) throws(StorageFault) -> JobLedgerContents {
    try file.readNow { session in try JobRows(session).contents(now: now) }
  }

  /// A job with all of its facts; nil if the ledger does not have it.
  public func job(_ id: JobID) async throws(StorageFault) -> LedgerJob? {
    try await file.read { session in
      let ledger = JobRows(session)
      let statement = try session.statement("SELECT \(JobRows.columns) FROM job WHERE id = ?", id.column)
      return try ledger.orders(statement).first.map { LedgerJob(order: $0, facts: try ledger.facts(of: id)) }
    }
  }

  /// The ids of jobs in one of these states, the latest first, at most ``pageMaximum``. The jobs themselves could be
  /// more than memory holds.
  ///
  /// - Parameters:
  ///   - states: nil for all of them.
  ///   - limit: how many at most.
  public func jobs(in states: [Job.State]?, limit: Int) async throws(StorageFault) -> [JobID] {
    try await file.read { session in
      let words = (states ?? Job.State.allCases).map { "'\($0.rawValue)'" }.sorted().joined(separator: ",")
      return try session.rows(
        "SELECT id FROM job WHERE state IN (\(words)) ORDER BY number DESC LIMIT ?",
        Int64(min(max(0, limit), Self.pageMaximum))
      ) { JobID(column: $0.number(0)) }
    }
  }
}
