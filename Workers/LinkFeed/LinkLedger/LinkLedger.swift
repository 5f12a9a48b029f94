public import Cryptography
public import Storage

// What the worker `link-feed` keeps on disk: `links.db` in its directory.
//
//     account       how far its gift wraps were read, the text of its data key
//     wrap          each gift wrap that was opened or refused, once
//     item          a post, reply, message, reaction …: the rumor, sealed
//     unread        which items are unread: narrow rows, a hundred to a page, where those of `item` fill one
//     conversation  with whom, sealed
//     contact       sealed
//     copy          a gift wrap that is sent, sealed; the wrap itself until its publication has ended, the rest 30 days
//
// URLs, texts, names and keys of others are sealed under the account's data key. In clear are keyed hashes, times and
// flags. So the file says of a locked account how much it writes and when, and of a forgotten one nothing.

/// Links and messages of accounts.
public struct LinkLedger: Sendable {
  static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE account (
        number INTEGER PRIMARY KEY AUTOINCREMENT, account BLOB NOT NULL UNIQUE, dataKey TEXT, seq INTEGER NOT NULL DEFAULT 0,
        usesLinks INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE wrap (
        account INTEGER NOT NULL, id BLOB NOT NULL, outcome INTEGER NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID;
      CREATE TABLE item (
        number INTEGER PRIMARY KEY, account INTEGER NOT NULL, id BLOB NOT NULL, conversation BLOB NOT NULL,
        thread BLOB NOT NULL, sort INTEGER NOT NULL, at INTEGER NOT NULL, isOwn INTEGER NOT NULL,
        digits BLOB, noticeAt INTEGER NOT NULL, stage INTEGER NOT NULL, sealed BLOB NOT NULL,
        UNIQUE (account, id));
      CREATE INDEX itemPlace ON item (account, conversation, sort, at, number);
      CREATE INDEX itemThread ON item (account, thread, at, number);
      CREATE INDEX itemDigits ON item (account, digits) WHERE digits IS NOT NULL;
      CREATE INDEX itemNotice ON item (noticeAt) WHERE noticeAt > 0;
      CREATE TABLE unread (
        account INTEGER NOT NULL, conversation BLOB NOT NULL, sort INTEGER NOT NULL, at INTEGER NOT NULL,
        number INTEGER NOT NULL, PRIMARY KEY (account, conversation, sort, at, number)) WITHOUT ROWID;
      CREATE TABLE conversation (
        account INTEGER NOT NULL, id BLOB NOT NULL, family INTEGER NOT NULL, lastAt INTEGER NOT NULL,
        sealed BLOB NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID;
      CREATE INDEX conversationPlace ON conversation (account, family, lastAt);
      CREATE TABLE contact (
        account INTEGER NOT NULL, id BLOB NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID;
      CREATE TABLE copy (
        number INTEGER PRIMARY KEY, account INTEGER NOT NULL, item BLOB NOT NULL, token BLOB NOT NULL,
        isOwn INTEGER NOT NULL, stage INTEGER NOT NULL, endedAt INTEGER NOT NULL DEFAULT 0, sealed BLOB NOT NULL);
      CREATE INDEX copyItem ON copy (account, item);
      CREATE INDEX copyToken ON copy (account, token);
      CREATE INDEX copyOpen ON copy (stage) WHERE stage < 2;
      CREATE INDEX copyEnded ON copy (endedAt) WHERE endedAt > 0;
      """)
  ]

  /// An account in this file.
  public struct Account: Sendable, Hashable {
    /// Its row.
    public var number: Int64
    /// All gift wraps up to this seq of the store were filed.
    public var seq: Int64
    /// Whether it has ever posted a link, got one, or made a contact.
    public var usesLinks: Bool
  }

  let file: StorageFile
  private let ledger: LedgerFile
  /// The result of the rescue, if the file was damaged.
  public let rescue: LedgerRescue?

  /// Opens the ledger in a directory. Blocks this thread. `now` is in seconds since 1970, for a damaged file's name.
  public init(directory: String, now: Int64) throws(StorageFault) {
    let settings = StorageSettings(durability: .full, readerCount: 2, cacheByteCount: 2 << 20)
    ledger = LedgerFile(
      path: directory + "/links.db", settings, Self.migrations, table: "item", noun: "links and messages")
    // The process before may have ended just after it removed a forgotten account.
    (file, rescue) = try ledger.openScrubbed(now: now)
  }

  /// Marks the file as damaged: the next start rescues it.
  public func markDamaged() { ledger.markDamaged() }

  /// Closes the file. No call may follow.
  public func close() throws(StorageFault) { try file.close() }

  // MARK: Accounts

  /// The row of an account, made at the first call. Later ones write nothing: an account that is known can be read on a
  /// full disk.
  public func account(_ key: PublicKey) async throws(StorageFault) -> Account {
    if let known = try await file.read({ try Self.account(key, $0) }) { return known }
    return try await file.write { session in
      try session.run("INSERT OR IGNORE INTO account (account) VALUES (?)", key.octets)
      guard let made = try Self.account(key, session) else { preconditionFailure("the row was just written") }
      return made
    }
  }

  private static func account(_ key: PublicKey, _ session: StorageSession) throws -> Account? {
    try session.first("SELECT number, seq, usesLinks FROM account WHERE account = ?", key.octets) {
      Account(number: $0.number(0), seq: $0.number(1), usesLinks: $0.number(2) != 0)
    }
  }

  /// The store counts from its beginning again: it is read from there.
  public func restart(_ account: Int64) async throws(StorageFault) {
    try await file.write { try $0.run("UPDATE account SET seq = 0 WHERE number = ?", account) }
  }

  /// The account uses links from now on.
  public func usesLinks(_ account: Int64) async throws(StorageFault) {
    try await file.write { try $0.run("UPDATE account SET usesLinks = 1 WHERE number = ?", account) }
  }

  /// The text of an account's data key; nil: it has none yet.
  public func dataKeyText(of key: PublicKey) async throws(StorageFault) -> String? {
    try await file.read { session in
      try session.first("SELECT dataKey FROM account WHERE account = ? AND dataKey IS NOT NULL", key.octets) {
        $0.text(0)
      }
    }
  }

  /// Keeps the text of an account's data key. One that is there stays: what is sealed under it could not be opened.
  public func keep(dataKeyText text: String, of key: PublicKey) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        """
        INSERT INTO account (account, dataKey) VALUES (?, ?)
        ON CONFLICT (account) DO UPDATE SET dataKey = coalesce(dataKey, excluded.dataKey)
        """, key.octets, text)
    }
  }

  /// How many wraps were opened or refused, how many of them were refused, and what is not sent.
  public func counts(_ account: Int64) async throws(StorageFault) -> (wraps: Int, refused: Int, unsent: Int) {
    try await file.read { session in
      (
        Int(try session.count("SELECT count(*) FROM wrap WHERE account = ?", account)),
        Int(try session.count("SELECT count(*) FROM wrap WHERE account = ? AND outcome <> 0", account)),
        Int(try session.count("SELECT count(*) FROM copy WHERE account = ? AND stage < 2 AND isOwn = 0", account))
      )
    }
  }

  /// Removes everything of an account, with every trace in the file.
  ///
  /// - Returns: how many posts, replies and messages.
  public func forget(_ key: PublicKey) async throws(StorageFault) -> Int {
    let count = try await file.write { session -> Int in
      let number = try session.count("SELECT coalesce(max(number), 0) FROM account WHERE account = ?", key.octets)
      guard number != 0 else { return 0 }
      for table in ["wrap", "unread", "conversation", "contact", "copy"] {
        try session.run("DELETE FROM \(table) WHERE account = ?", number)
      }
      try session.run("DELETE FROM item WHERE account = ?", number)
      let count = session.changedRowCount
      try session.run("DELETE FROM account WHERE number = ?", number)
      return count
    }
    _ = try await file.scrub()
    return count
  }
}
