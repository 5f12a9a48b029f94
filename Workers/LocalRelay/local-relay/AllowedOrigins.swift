import ClientSession
import Contracts
import Frames
import Storage

/// Origins of pages that may come in, on disk: `origins.db` in the worker's directory. Whoever was told that one is
/// allowed finds it so after any end.
struct AllowedOrigins {
  /// Most origins.
  static let maximum = 1_000

  private let file: StorageFile
  private(set) var origins: Set<String> = []

  private static let migrations = [
    StorageMigration(version: 1, "CREATE TABLE origin (text TEXT PRIMARY KEY) WITHOUT ROWID")
  ]

  /// What became of the file, if it was damaged.
  let rescue: LedgerRescue?
  private let ledger: LedgerFile

  /// - Parameters:
  ///   - directory: the worker's.
  ///   - now: seconds since 1970, for the name of a damaged file.
  init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(
      path: directory + "/origins.db", .small, Self.migrations, table: "origin", noun: "allowed origins")
    (file, origins, rescue) = try ledger.open(now: now) { file throws(StorageFault) in
      try file.writeNow { session in
        let statement = try session.statement("SELECT text FROM origin")
        var origins: Set<String> = []
        while try statement.step() {
          // What damage has made another text of is no origin, and lets nobody in.
          if let origin = Origin(statement.text(0)) { origins.insert(origin.text) }
        }
        return origins
      }
    }
  }

  /// Says that the file was found to be damaged in use: the next start saves what can be read.
  func markDamaged() { ledger.markDamaged() }

  /// Writes down that pages of an origin may come in, or may not any more.
  func write(_ origin: String, isAllowed: Bool) async throws(StorageFault) {
    try await file.write { session in
      let text = isAllowed ? "INSERT OR IGNORE INTO origin (text) VALUES (?)" : "DELETE FROM origin WHERE text = ?"
      try session.run(text, origin)
    }
  }

  /// Takes note of what is written.
  mutating func wrote(_ origin: String, isAllowed: Bool) {
    if isAllowed { origins.insert(origin) } else { origins.remove(origin) }
  }

  /// Puts all into the one file; nothing may be asked afterwards.
  func close() throws(StorageFault) { try file.close() }
}
