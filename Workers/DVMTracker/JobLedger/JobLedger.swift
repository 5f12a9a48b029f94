public import Contracts
internal import Cryptography
public import JobTracking
internal import Nostr
public import Storage

// The ledger of jobs: one SQLite file, synchronous=FULL. What is in it was promised to somebody, or follows from what
// was.
//
// It decides nothing. The machine says what is to be written, in batches, and each of them is one transaction, whole or
// not at all: facts, how jobs stand with them, and up to where the event store was looked through. So a death between
// two events leaves no answer looked at and not known.
//
// What providers have sent stands in it in clear, once it was decrypted. The file is its owner's alone (0600, in a
// directory of 0700), and nothing of it goes anywhere else.

/// The jobs of this machine, on disk.
public final class JobLedger: Ledger {
  /// The open file.
  public let file: StorageFile

  /// Jobs that are done with and kept; those that ended first go when there are more.
  public static let endedMaximum = 10_000
  /// Milliseconds for which they are kept after their end.
  public static let endedMilliseconds: Int64 = 90 * 86_400_000
  /// Jobs forgotten in one transaction.
  public static let sweepCount = 200
  /// Most jobs of one answer.
  public static let pageMaximum = 10_000
  /// For how long payments are loaded that were approved, whatever became of their jobs, in milliseconds.
  public static let paymentMilliseconds: Int64 = JobTable.spendingMilliseconds

  /// `dvm-tracker`.
  public static let worker = "dvm-tracker"

  /// Opens the file, and makes it if it is not there.
  ///
  /// - Throws: `newer` for a file from the future, `corrupt`, `inaccessible`, `busy`, `full`.
  public init(path: String) throws(StorageFault) { file = try Self.ledgerFile(path).storage() }

  /// The file at a path, and how it is opened.
  public static func ledgerFile(_ path: String) -> LedgerFile {
    LedgerFile(
      path: path, StorageSettings(durability: .full, readerCount: 2, cacheByteCount: 4 << 20),
      JobLedgerSchema.migrations, table: "job", noun: "jobs")
  }

  // MARK: Writing

  /// Writes a batch, within a transaction.
  public func write(_ batch: JobBatch, in session: StorageSession) throws { try JobRows(session).write(batch) }

  /// Forgets some of the jobs that have ended too long ago, or are too many, those that ended first first; what was
  /// approved for jobs that are forgotten, once it is older than ``paymentMilliseconds``; the proofs beyond
  /// `ProvenHashes.maximum`, and the providers beyond `ProviderHistory.providerMaximum`.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: which; as many as ``sweepCount`` when there may be more.
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

  /// What there is, waiting on this thread: for a start. All jobs under way, with all that is known of them.
  ///
  /// - Parameter now: milliseconds since 1970.
  public func contentsNow(now: Int64) throws(StorageFault) -> JobLedgerContents {
    try file.readNow { session in try JobRows(session).contents(now: now) }
  }

  /// A job with all that is known of it; nil when it is not there.
  public func job(_ id: JobID) async throws(StorageFault) -> LedgerJob? {
    try await file.read { session in
      let ledger = JobRows(session)
      let statement = try session.statement("SELECT \(JobRows.columns) FROM job WHERE id = ?", id.column)
      return try ledger.orders(statement).first.map { LedgerJob(order: $0, facts: try ledger.facts(of: id)) }
    }
  }

  /// The names of jobs in one of these states, the latest first, at most ``pageMaximum``. What is known of all of them
  /// may be more than memory holds.
  ///
  /// - Parameters:
  ///   - states: all of them when nil.
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
