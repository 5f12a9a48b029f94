internal import Contracts
internal import Cryptography
public import JobProviding
public import Nostr
public import Storage

// The provider's ledger: one SQLite file, synchronous=FULL. Because of it a request is answered once, whatever process
// dies.
//
// The ledger decides nothing: the machine says what to write, and each batch is one transaction, whole or not at all.
// The last seq of the store's stream that was looked at is in the same transaction as the requests taken up from it, so
// a start continues where the machine stopped.

/// What one transaction writes.
public struct ServingBatch: Sendable {
  /// Requests that are new or have changed.
  public var changed: [ServedRequest] = []
  /// Events of the store up to this seq were looked at.
  public var seq: Int64?
  /// The mark of the rules that applied (`ServingRules.mark(for:)`).
  public var rulesMark: Int64?

  /// An empty batch.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool { changed.isEmpty && seq == nil && rulesMark == nil }
}

/// What a ledger contains when it is opened.
public struct ServingContents: Sendable {
  /// The requests that are not settled, in the order in which they were taken up, with their events.
  public var open: [ServedRequest] = []
  /// The ids of all requests.
  public var known: Set<EventID> = []
  /// The last number given.
  public var lastNumber: Int64 = 0
  /// Events of the store up to this seq were looked at; nil if none were.
  public var seq: Int64?
  /// The mark of the rules that applied; nil if no earlier process has written one.
  public var rulesMark: Int64?
  /// Requests dated before this second may have been answered without the ledger's knowledge; 0: it knows all of them.
  public var notBefore: Int64 = 0
}

/// The requests that were taken up on this machine, on disk.
public final class ProvidingLedger: Ledger {
  /// The open file.
  public let file: StorageFile

  /// Most requests forgotten in one transaction.
  public static let sweepCount = 200
  /// Most requests in one answer.
  public static let pageMaximum = 1_000

  /// `dvm-provider`.
  public static let worker = "dvm-provider"

  /// Opens the file, or makes it.
  ///
  /// - Throws: `newer` for a file of a later version, `corrupt`, `inaccessible`, `busy`, `full`.
  public init(path: String) throws(StorageFault) { file = try Self.ledgerFile(path).storage() }

  /// The file at a path, with its settings.
  public static func ledgerFile(_ path: String) -> LedgerFile {
    LedgerFile(
      path: path, StorageSettings(durability: .full, readerCount: 1, cacheByteCount: 2 << 20),
      ServingSchema.migrations, table: "request", noun: "requests")
  }

  // MARK: Writing

  /// Writes a batch within a transaction.
  public func write(_ batch: ServingBatch, in session: StorageSession) throws {
    try ServingSession(session).write(batch)
  }

  /// Forgets some settled requests that were taken up before a time, the oldest first. The caller must no longer take
  /// up requests that old, or it may answer one twice.
  ///
  /// - Returns: their ids; if there are ``sweepCount`` of them, there may be more.
  public func sweep(before time: Int64) async throws(StorageFault) -> [EventID] {
    try await file.write { session in
      let ledger = ServingSession(session)
      let statement = try session.statement(
        """
        SELECT \(ServingSession.columns) FROM request WHERE isOpen = 0 AND takenAt < ? ORDER BY number
        LIMIT \(Self.sweepCount)
        """, time)
      let gone = try ledger.rows(statement)
      for request in gone { try ledger.remove(request.number) }
      return gone.map(\.id)
    }
  }

  // MARK: Reading

  /// Reads the contents, and blocks the thread: for a start.
  public func contentsNow() throws(StorageFault) -> ServingContents {
    try file.readNow { session in
      let ledger = ServingSession(session)
      var contents = ServingContents()
      let open = try session.statement(
        "SELECT \(ServingSession.columns) FROM request WHERE isOpen = 1 ORDER BY number")
      contents.open = try ledger.rows(open).map { try ledger.whole($0) }
      let all = try session.statement("SELECT number, id FROM request ORDER BY number")
      while try all.step() {
        contents.lastNumber = all.number(0)
        if let id = Octets32(all.bytes(1)) { contents.known.insert(EventID(id)) }
      }
      contents.seq = try ledger.mark(ServingSchema.seq)
      contents.rulesMark = try ledger.mark(ServingSchema.rulesMark)
      contents.notBefore = try ledger.mark(ServingSchema.notBefore) ?? 0
      return contents
    }
  }

  /// Requests, the latest first, without their events; at most ``pageMaximum``.
  public func requests(limit: Int) async throws(StorageFault) -> [ServedRequest] {
    try await file.read { session in
      let statement = try session.statement(
        "SELECT \(ServingSession.columns) FROM request ORDER BY number DESC LIMIT ?",
        Int64(min(max(0, limit), Self.pageMaximum)))
      return try ServingSession(session).rows(statement)
    }
  }
}
