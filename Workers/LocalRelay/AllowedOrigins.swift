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

  init(directory: String) throws(StorageFault) {
    file = try StorageFile(path: directory + "/origins.db", .small, migrations: Self.migrations)
    origins = try file.writeNow { session in
      let statement = try session.statement("SELECT text FROM origin")
      var origins: Set<String> = []
      while try statement.step() { origins.insert(statement.text(0)) }
      return origins
    }
  }

  /// Writes down that pages of an origin may come in, or may not any more.
  func write(_ origin: String, isAllowed: Bool) async throws(StorageFault) {
    try await file.write { session in
      let text = isAllowed ? "INSERT OR IGNORE INTO origin (text) VALUES (?)" : "DELETE FROM origin WHERE text = ?"
      let statement = try session.statement(text)
      statement.bind(origin, at: 1)
      try statement.run()
    }
  }

  /// Takes note of what is written.
  mutating func wrote(_ origin: String, isAllowed: Bool) {
    if isAllowed { origins.insert(origin) } else { origins.remove(origin) }
  }

  /// Puts all into the one file; nothing may be asked afterwards.
  func close() throws(StorageFault) { try file.close() }
}
