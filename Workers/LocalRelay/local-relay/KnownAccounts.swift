import Contracts
import Cryptography
import Frames
import Storage

// Who the accounts are is the signer's to say, and the signer may start later than this relay, or be dead when it does.
// Until it has spoken, what an account has sent would be taken for a stranger's: kept, answered OK, and brought to
// nobody. So the last it said is written down.

/// The public keys of the signer's accounts as it told them last, on disk: `accounts.db` in the worker's directory.
struct KnownAccounts {
  private let file: StorageFile
  private(set) var keys: Set<PublicKey> = []

  private static let migrations = [
    StorageMigration(version: 1, "CREATE TABLE account (key TEXT PRIMARY KEY) WITHOUT ROWID")
  ]

  /// Why the file was begun again, if it was: all of it is the signer's to say once more.
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

  /// Takes note of who they are now; whether they are others than before, and so are to be written.
  mutating func adopt(_ new: Set<PublicKey>) -> Bool {
    defer { keys = new }
    return keys != new
  }

  /// Writes them down.
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

  /// Puts all into the one file; nothing may be asked afterwards.
  func close() throws(StorageFault) { try file.close() }
}
