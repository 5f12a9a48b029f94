import Addresses
import Nostr
import OutboxRouting
import Storage

/// The relays that were added by hand, on disk: `relays.db` in the planner's directory.
///
/// A relay counts as added when it is written with `synchronous=FULL`: a caller that got the answer finds it again
/// after any crash.
struct AddedRelays {
  private let file: StorageFile

  private static let migrations = [
    StorageMigration(
      version: 1,
      "CREATE TABLE relay (url TEXT PRIMARY KEY, reads INTEGER NOT NULL, writes INTEGER NOT NULL) WITHOUT ROWID")
  ]

  private let ledger: LedgerFile
  /// All of them, as the file had them when it was opened.
  let loaded: [RelayDirectory.Added]
  /// The result of the rescue, if the file was damaged.
  let rescue: LedgerRescue?

  /// - Parameters:
  ///   - directory: the planner's directory.
  ///   - now: seconds since 1970, for the name of a damaged file.
  init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(
      path: directory + "/relays.db", .small, Self.migrations, table: "relay", noun: "added relays")
    (file, loaded, rescue) = try ledger.open(now: now) { file throws(StorageFault) in try Self.load(file) }
  }

  /// Marks the file as damaged: the next start rescues it.
  func markDamaged() { ledger.markDamaged() }

  private static func load(_ file: StorageFile) throws(StorageFault) -> [RelayDirectory.Added] {
    try file.writeNow { session in
      let statement = try session.statement("SELECT url, reads, writes FROM relay ORDER BY url")
      var relays: [RelayDirectory.Added] = []
      while try statement.step() {
        // `try?`: a URL that today's rules reject is left out.
        guard let url = try? RelayURL(statement.text(0)) else { continue }
        relays.append(RelayDirectory.Added(url, reads: statement.number(1) != 0, writes: statement.number(2) != 0))
      }
      return relays
    }
  }

  /// Writes a relay.
  func add(_ relay: RelayDirectory.Added) async throws(StorageFault) {
    let (url, reads, writes) = (relay.url.text, relay.reads, relay.writes)
    try await file.write { session in
      try session.run(
        "INSERT OR REPLACE INTO relay (url, reads, writes) VALUES (?, ?, ?)", url, Int64(reads ? 1 : 0),
        Int64(writes ? 1 : 0))
    }
  }

  /// Removes a relay.
  func remove(_ url: RelayURL) async throws(StorageFault) {
    let text = url.text
    try await file.write { session in
      try session.run("DELETE FROM relay WHERE url = ?", text)
    }
  }

  /// Closes the file, with the write-ahead log merged into it. No call may follow.
  func close() throws(StorageFault) { try file.close() }
}
