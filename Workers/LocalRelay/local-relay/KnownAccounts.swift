import Contracts
import Cryptography
import Frames
import Storage

// The signer decides which accounts exist, but it may start later than this relay, or be dead. Until it answers, an
// account's event would be taken for a foreign one: stored, answered OK, and never published. So its last answer is
// kept on disk.

/// The public keys of the signer's accounts, from its last answer, on disk: `accounts.db` in the worker's directory.
struct KnownAccounts {
  private let file: StorageFile
  private(set) var keys: Set<PublicKey> = []

  private static let migrations = [
    StorageMigration(version: 1, "CREATE TABLE account (key TEXT PRIMARY KEY) WITHOUT ROWID")
  ]

  /// Why the file was replaced by an empty one, if it was; the signer has its contents.
  let dropped: String?

  init(directory: String) throws(StorageFault) {
    let cache = LedgerFile(
      path: directory + "/accounts.db", .small, Self.migrations, table: "account", noun: "accounts")
    (file, dropped) = try cache.openCache()
    let texts = try file.writeNow { session in
      return try session.rows("SELECT key FROM account") { $0.text(0) }
    }
    keys = Set(texts.compactMap { PublicKey($0) })
  }

  /// Takes the present accounts.
  ///
  /// - Returns: whether they have changed, and must be written.
  mutating func adopt(_ new: Set<PublicKey>) -> Bool {
    defer { keys = new }
    return keys != new
  }

  /// Writes the accounts.
  func write(_ keys: Set<PublicKey>) async throws(StorageFault) {
    let texts = keys.map(\.description)
    try await file.write { session in
      let clearing = try session.statement("DELETE FROM account")
      try clearing.run()
      for text in texts {
        try session.run("INSERT INTO account (key) VALUES (?)", text)
      }
    }
  }

  /// Removes what is left of accounts that were removed.
  func scrub() async throws(StorageFault) { _ = try await file.scrub() }

  /// Closes the file, with the write-ahead log merged into it. No call may follow.
  func close() throws(StorageFault) { try file.close() }
}
