public import Cryptography
public import Storage

// The steps of an account that is being forgotten, and the texts of data keys. When the key is removed, the steps are
// removed too, and the file is built again.

extension PeopleLedger {
  /// The tables of this part.
  static let forgettingTables = StorageMigration(
    version: 2,
    """
    CREATE TABLE dataKey (account BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE forgetting (account BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE forgettingStep (
      account BLOB NOT NULL, step TEXT NOT NULL, at INTEGER NOT NULL, isDone INTEGER NOT NULL, report BLOB NOT NULL,
      PRIMARY KEY (account, step)) WITHOUT ROWID;
    """)

  /// A step as the ledger has it.
  public struct ForgettingStepRow: Sendable, Hashable {
    /// Its name.
    public var step: String
    /// Whether it is done.
    public var isDone: Bool
    /// What it has found or removed, as JSON.
    public var report: [UInt8]
  }

  // MARK: Data keys

  /// The text of an account's data key; nil: it has none yet.
  public func dataKeyText(of account: PublicKey) async throws(StorageFault) -> String? {
    try await file.read { session in
      try session.first("SELECT text FROM dataKey WHERE account = ?", account.octets) { $0.text(0) }
    }
  }

  /// Keeps the text of an account's data key. One that is there stays: what is sealed under it could not be opened.
  public func keep(dataKeyText text: String, of account: PublicKey) async throws(StorageFault) {
    try await file.write { session in
      try session.run("INSERT OR IGNORE INTO dataKey (account, text) VALUES (?, ?)", account.octets, text)
    }
  }

  // MARK: Steps

  /// The accounts that are being forgotten, the first first.
  public func forgotten() async throws(StorageFault) -> [PublicKey] {
    try await file.read { session in
      try session.rows("SELECT account FROM forgetting ORDER BY at") { Octets32($0.bytes(0)).map { PublicKey($0) } }
    }
  }

  /// An account is to be forgotten.
  public func beginForgetting(_ account: PublicKey, at time: Int64) async throws(StorageFault) {
    try await file.write { session in
      try session.run("INSERT OR IGNORE INTO forgetting (account, at) VALUES (?, ?)", account.octets, time)
    }
  }

  /// The steps of an account, in the order in which they were noted.
  public func forgettingSteps(of account: PublicKey) async throws(StorageFault) -> [ForgettingStepRow] {
    try await file.read { session in
      try session.rows(
        "SELECT step, isDone, report FROM forgettingStep WHERE account = ? ORDER BY at, step", account.octets
      ) { ForgettingStepRow(step: $0.text(0), isDone: $0.number(1) != 0, report: $0.bytes(2)) }
    }
  }

  /// Notes a step, done or in part.
  public func note(_ row: ForgettingStepRow, of account: PublicKey, at time: Int64) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "INSERT OR REPLACE INTO forgettingStep (account, step, at, isDone, report) VALUES (?, ?, ?, ?, ?)",
        account.octets, row.step, time, row.isDone, row.report)
    }
  }

  /// Removes everything that this ledger keeps for an account, except the steps.
  ///
  /// - Returns: how many versions of lists.
  public func forget(_ account: PublicKey) async throws(StorageFault) -> Int {
    let count = try await file.write { session in
      try session.run(
        "DELETE FROM version WHERE list IN (SELECT number FROM list WHERE account = ?)", account.octets)
      let count = session.changedRowCount
      try session.run("DELETE FROM list WHERE account = ?", account.octets)
      try session.run("DELETE FROM dataKey WHERE account = ?", account.octets)
      return count
    }
    _ = try await file.scrub()
    return count
  }

  /// Removes the steps of an account, with every trace in the file.
  public func endForgetting(_ account: PublicKey) async throws(StorageFault) {
    try await file.write { session in
      try session.run("DELETE FROM forgettingStep WHERE account = ?", account.octets)
      try session.run("DELETE FROM forgetting WHERE account = ?", account.octets)
    }
    _ = try await file.scrub()
  }
}

extension PeopleLedger.ForgettingStepRow {
  /// A step.
  public init(_ step: String, isDone: Bool, report: [UInt8]) {
    (self.step, self.isDone, self.report) = (step, isDone, report)
  }
}
