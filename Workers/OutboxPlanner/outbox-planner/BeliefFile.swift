import OutboxRouting
import Storage

/// What was learned about relays, on disk: `beliefs.db` in the planner's directory. Deliveries are counted again from
/// the store; what was learned of reach, and which relays the census has asked, is only here. A loss costs no more
/// than learning that again, so commits do not wait for the disk.
struct BeliefFile {
  private let file: StorageFile
  /// What the file had when it was opened.
  let loaded: [NamedBelief]
  /// The result of the rescue, if the file was damaged.
  let rescue: LedgerRescue?

  /// Rows of the file: those above are not read or written, so that it never grows without end.
  private static let rowMaximum = 1_000_000

  private static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE belief (
        subject INTEGER NOT NULL, relay TEXT NOT NULL, person TEXT NOT NULL, successes REAL NOT NULL,
        failures REAL NOT NULL, minute INTEGER NOT NULL, latency REAL NOT NULL,
        PRIMARY KEY (subject, relay, person)) WITHOUT ROWID
      """)
  ]

  /// - Parameters:
  ///   - directory: the planner's directory.
  ///   - now: seconds since 1970, for the name of a damaged file.
  init(directory: String, now: Int64) throws(StorageFault) {
    var settings = StorageSettings.small
    settings.durability = .normal
    let ledger = LedgerFile(
      path: directory + "/beliefs.db", settings, Self.migrations, table: "belief", noun: "beliefs about relays")
    (file, loaded, rescue) = try ledger.open(now: now) { file throws(StorageFault) in try Self.load(file) }
  }

  private static func load(_ file: StorageFile) throws(StorageFault) -> [NamedBelief] {
    try file.writeNow { session in
      let statement = try session.statement(
        "SELECT subject, relay, person, successes, failures, minute, latency FROM belief LIMIT ?", rowMaximum)
      var beliefs: [NamedBelief] = []
      while try statement.step() {
        beliefs.append(
          NamedBelief(
            subject: Int(clamping: statement.number(0)), relay: statement.text(1), person: statement.text(2),
            successes: statement.double(3), failures: statement.double(4), minute: statement.number(5),
            latency: statement.double(6)))
      }
      return beliefs
    }
  }

  /// Replaces what the file has.
  func replace(_ beliefs: [NamedBelief]) async throws(StorageFault) {
    try await file.write { session in
      try session.run("DELETE FROM belief")
      for belief in beliefs.prefix(Self.rowMaximum) {
        try session.run(
          """
          INSERT OR REPLACE INTO belief (subject, relay, person, successes, failures, minute, latency)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """, belief.subject, belief.relay, belief.person, belief.successes, belief.failures, belief.minute,
          belief.latency)
      }
    }
  }

  /// Removes what is left of rows that were replaced.
  func scrub() async throws(StorageFault) { _ = try await file.scrub() }

  /// Closes the file. No call may follow.
  func close() throws(StorageFault) { try file.close() }
}
