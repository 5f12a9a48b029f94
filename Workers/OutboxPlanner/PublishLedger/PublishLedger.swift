public import Contracts
public import Cryptography
public import Nostr
internal import PublishQueue
public import Storage

// The ledger of publications: one SQLite file, synchronous=FULL. Callers were promised what is in it.
//
// The ledger decides nothing. The queue's machine says what to write, the worker gathers that into batches, and each
// batch is one transaction, whole or not at all. Reads run beside writes.

/// The publications of this machine, on disk.
public final class PublishLedger: Ledger {
  /// The open file.
  public let file: StorageFile
  private let changes: ChangeCounter

  /// How many ended publications are kept; beyond that the oldest go.
  public static let endedMaximum = 10_000
  /// Seconds after acceptance for which ended publications are kept.
  public static let endedSeconds: Int64 = 30 * 24 * 3_600
  /// Most publications that one transaction removes.
  public static let sweepCount = 200
  /// Most publications in one answer.
  public static let pageMaximum = 10_000

  /// `outbox-planner`.
  public static let worker = "outbox-planner"

  /// Opens the file, and creates it if it does not exist.
  ///
  /// - Throws: `newer` for a file from the future, `corrupt`, `inaccessible`, `busy`, `full`.
  public init(path: String) throws(StorageFault) {
    file = try Self.ledgerFile(path).storage()
    changes = ChangeCounter(
      after: try file.readNow { session in
        try session.first("SELECT coalesce(max(change), 0) FROM publication") { $0.number(0) } ?? 0
      })
  }

  /// The ledger's file at a path, with its settings.
  public static func ledgerFile(_ path: String) -> LedgerFile {
    LedgerFile(
      path: path, StorageSettings(durability: .full, readerCount: 2, cacheByteCount: 4 << 20),
      PublishLedgerSchema.migrations, table: "publication", noun: "publications")
  }

  // MARK: Writing

  /// Writes a batch in the session's transaction.
  public func write(_ batch: LedgerBatch, in session: StorageSession) throws {
    try PublicationRows(session, changes).write(batch)
  }

  /// Removes the oldest of the ended publications that are too old or too many.
  ///
  /// - Returns: their states. If there are ``sweepCount`` of them, there may be more.
  public func sweep(now: Int64) async throws(StorageFault) -> [Publication.State] {
    try await file.write { session in
      let ledger = PublicationRows(session)
      let gone = try ledger.overdue(before: now - Self.endedSeconds)
      for (number, _) in gone { try ledger.remove(number) }
      return gone.map(\.state)
    }
  }

  // MARK: Reading

  /// All that a start needs; blocks this thread.
  public func contentsNow() throws(StorageFault) -> PublishLedgerContents {
    try file.readNow { session in
      let ledger = PublicationRows(session)
      var contents = PublishLedgerContents()
      let open = try session.statement(
        "SELECT \(PublicationRows.columns) FROM publication WHERE state < \(PublishLedgerSchema.firstFinalCode) ORDER BY number"
      )
      contents.underWay = try ledger.rows(open)
      let last = try session.statement("SELECT max(number) FROM publication")
      while try last.step() { contents.lastNumber = last.number(0) }
      let counts = try session.statement("SELECT state, count(*) FROM publication GROUP BY state")
      while try counts.step() {
        guard let state = Publication.State(code: counts.number(0)) else { continue }
        contents.counts[state] = Int(clamping: counts.number(1))
      }
      return contents
    }
  }

  /// A publication; nil when it is unknown.
  public func row(_ id: EventID) async throws(StorageFault) -> LedgerRow? {
    try await file.read { session in
      let statement = try session.statement(
        "SELECT \(PublicationRows.columns) FROM publication WHERE id = ?", id.octets)
      return try PublicationRows(session).rows(statement).first
    }
  }

  /// The event of a publication, by its number; nil when every relay has it, or the number is unknown.
  public func event(of number: Int64) async throws(StorageFault) -> [UInt8]? {
    try await file.read { session in try PublicationRows(session).event(of: number) }
  }

  /// An author's publications whose events are stored, and that have changed after a change, in the order of their last
  /// changes.
  ///
  /// - Parameters:
  ///   - change: 0, or `next` of the answer before; one that was never given counts as 0.
  ///   - author: the author.
  ///   - limit: most publications in the answer.
  /// - Returns: the publications, each with the number of its last change, and the number of the last change of all.
  public func changes(
    after change: Int64, by author: PublicKey, limit: Int
  ) async throws(StorageFault) -> (rows: [(row: LedgerRow, change: Int64)], last: Int64) {
    try await file.read { session in
      // Of this moment: what is being written has later numbers.
      let last = try session.first("SELECT coalesce(max(change), 0) FROM publication") { $0.number(0) } ?? 0
      let statement = try session.statement(
        """
        SELECT \(PublicationRows.columns), change FROM publication
        WHERE change > ? AND author = ? AND isStored = 1 ORDER BY change LIMIT ?
        """, change > last ? 0 : change, author.octets, Int64(limit))
      let ledger = PublicationRows(session)
      var rows: [(row: LedgerRow, change: Int64)] = []
      while try statement.step() { rows.append((try ledger.row(statement), statement.number(8))) }
      return (rows, last)
    }
  }

  /// Publications in one of these states, the newest first, at most ``pageMaximum``.
  ///
  /// - Parameters:
  ///   - states: the states; nil: all.
  ///   - number: only publications accepted before this one.
  ///   - limit: most publications in the answer.
  public func rows(
    in states: [Publication.State]?, before number: Int64 = .max, limit: Int
  ) async throws(StorageFault) -> [LedgerRow] {
    try await file.read { session in
      let wanted = (states ?? Publication.State.allCases).map { "\($0.code)" }.sorted().joined(separator: ",")
      let statement = try session.statement(
        """
        SELECT \(PublicationRows.columns) FROM publication WHERE state IN (\(wanted)) AND number < ?
        ORDER BY number DESC LIMIT ?
        """, number, Int64(min(max(0, limit), Self.pageMaximum)))
      return try PublicationRows(session).rows(statement)
    }
  }
}

extension PublicationRows {
  func write(_ batch: LedgerBatch) throws {
    for number in batch.removed { try remove(number) }
    for acceptance in batch.accepted { try insert(acceptance) }
    for number in batch.stored { try markStored(number) }
    for change in batch.changed { try update(change) }
  }

  /// The oldest ended publications that are too old or too many.
  func overdue(before time: Int64) throws -> [(number: Int64, state: Publication.State)] {
    let final = PublishLedgerSchema.firstFinalCode
    let count = try session.statement("SELECT count(*) FROM publication WHERE state >= \(final)")
    var surplus: Int64 = 0
    while try count.step() { surplus = count.number(0) - Int64(PublishLedger.endedMaximum) }
    let statement = try session.statement(
      "SELECT number, state, acceptedAt FROM publication WHERE state >= \(final) ORDER BY number LIMIT ?",
      PublishLedger.sweepCount)
    var gone: [(number: Int64, state: Publication.State)] = []
    while try statement.step() {
      let isSurplus = Int64(gone.count) < surplus
      guard isSurplus || statement.number(2) < time, let state = Publication.State(code: statement.number(1)) else {
        continue
      }
      gone.append((statement.number(0), state))
    }
    return gone
  }
}
