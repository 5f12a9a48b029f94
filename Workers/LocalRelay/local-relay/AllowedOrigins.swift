import ClientSession
import Contracts
import Frames
import Storage

/// Origins whose pages may connect without authenticating, on disk: `origins.db` in the worker's directory. An origin
/// that was confirmed as allowed is still allowed after any crash.
struct AllowedOrigins {
  /// Most origins.
  static let maximum = 1_000

  private let file: StorageFile
  private(set) var origins: Set<String> = []

  private static let migrations = [
    StorageMigration(version: 1, "CREATE TABLE origin (text TEXT PRIMARY KEY) WITHOUT ROWID")
  ]

  /// The result of the rescue, if the file was damaged.
  let rescue: LedgerRescue?
  private let ledger: LedgerFile

  /// - Parameters:
  ///   - directory: the worker's directory.
  ///   - now: seconds since 1970, for the name of a damaged file.
  init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(
      path: directory + "/origins.db", .small, Self.migrations, table: "origin", noun: "allowed origins")
    (file, origins, rescue) = try ledger.open(now: now) { file throws(StorageFault) in
      try file.writeNow { session in
        let statement = try session.statement("SELECT text FROM origin")
        var origins: Set<String> = []
        while try statement.step() {
          // A damaged text that is no origin is left out, and admits no page.
          if let origin = Origin(statement.text(0)) { origins.insert(origin.text) }
        }
        return origins
      }
    }
  }

  /// Marks the file as damaged: the next start rescues it.
  func markDamaged() { ledger.markDamaged() }

  /// Writes that an origin is allowed, or is no longer allowed.
  func write(_ origin: String, isAllowed: Bool) async throws(StorageFault) {
    try await file.write { session in
      let text = isAllowed ? "INSERT OR IGNORE INTO origin (text) VALUES (?)" : "DELETE FROM origin WHERE text = ?"
      try session.run(text, origin)
    }
  }

  /// Updates the set in memory after a write.
  mutating func wrote(_ origin: String, isAllowed: Bool) {
    if isAllowed { origins.insert(origin) } else { origins.remove(origin) }
  }

  /// Closes the file, with the write-ahead log merged into it. No call may follow.
  func close() throws(StorageFault) { try file.close() }
}
