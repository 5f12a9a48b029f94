public import Cryptography
internal import Frames
public import ListEditing
public import Nostr
public import Storage

// What the worker `people` keeps on disk: `people.db` in its directory. An edit is here before it is answered, and its
// version is here, signed, before the publish queue has it. So a death at any moment leaves the edit either unanswered
// or published.

/// Versions of lists, and what is remembered of them.
public struct PeopleLedger: Sendable {
  /// Which list.
  public struct ListKey: Sendable, Hashable {
    /// The owner.
    public var account: PublicKey
    /// The kind.
    public var kind: UInt16
    /// The value of the tag `d`; empty for replaceable kinds.
    public var identifier: String

    /// A list.
    public init(account: PublicKey, kind: UInt16, identifier: String) {
      (self.account, self.kind, self.identifier) = (account, kind, identifier)
    }
  }

  /// A list as it is stored.
  public struct StoredList: Sendable {
    /// What is remembered beside the records.
    public var memo: ListMemo
    /// In the order in which they became known.
    public var records: [ListRecord]
    /// The kept versions that the history needs at once.
    public var events: [EventID: Event]
  }

  /// A version that the publish queue is to have.
  public struct Waiting: Sendable, Hashable {
    /// The row of its list.
    public var list: Int64
    /// The event.
    public var event: Event
  }

  static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE list (
        number INTEGER PRIMARY KEY, account BLOB NOT NULL, kind INTEGER NOT NULL, identifier TEXT NOT NULL,
        memo TEXT NOT NULL, UNIQUE (account, kind, identifier));
      CREATE TABLE version (
        number INTEGER PRIMARY KEY, list INTEGER NOT NULL, id BLOB NOT NULL, record TEXT NOT NULL,
        waits INTEGER NOT NULL, event BLOB, UNIQUE (list, id));
      CREATE INDEX waiting ON version (waits) WHERE waits <> 0;
      """),
    Self.forgettingTables,
  ]

  let file: StorageFile
  private let ledger: LedgerFile
  /// The result of the rescue, if the file was damaged.
  public let rescue: LedgerRescue?

  /// Opens the ledger in a directory. Blocks this thread. `now` is in seconds since 1970, for a damaged file's name.
  public init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(
      path: directory + "/people.db", .small, Self.migrations, table: "version", noun: "versions of lists")
    // The process before may have ended just after it removed the last rows of a forgotten account.
    (file, rescue) = try ledger.openScrubbed(now: now)
  }

  /// Marks the file as damaged: the next start rescues it.
  public func markDamaged() { ledger.markDamaged() }

  /// Closes the file. No call may follow.
  public func close() throws(StorageFault) { try file.close() }

  /// How many lists and versions are kept, and how many accepted versions the publish queue does not have yet.
  public func counts() async throws(StorageFault) -> (lists: Int, versions: Int, waiting: Int) {
    try await file.read { session in
      (
        Int(try session.count("SELECT count(*) FROM list")),
        Int(try session.count("SELECT count(*) FROM version WHERE event IS NOT NULL")),
        Int(try session.count("SELECT count(*) FROM version WHERE waits <> 0"))
      )
    }
  }

  // MARK: Histories

  /// What an input changes.
  public struct Change: Sendable {
    /// What is remembered beside the records.
    public var memo: ListMemo
    /// Records that are new or have changed.
    public var records: [ListRecord]
    /// The event of a new version.
    public var event: Event?
    /// Whether the publish queue is to have this event.
    public var waits: Bool
    /// Versions whose events are no longer kept.
    public var forgotten: Set<EventID>
    /// Versions of which nothing is kept.
    public var dropped: Set<EventID>

    /// A change.
    public init(
      memo: ListMemo, records: [ListRecord], event: Event? = nil, waits: Bool = false, forgotten: Set<EventID> = [],
      dropped: Set<EventID> = []
    ) {
      (self.memo, self.records, self.event, self.waits) = (memo, records, event, waits)
      (self.forgotten, self.dropped) = (forgotten, dropped)
    }
  }

  /// Writes what an input has changed, in one transaction.
  public func write(_ change: Change, of list: ListKey) async throws(StorageFault) {
    let memo = JSONPayload.text(change.memo)
    let records = change.records.map { ($0.id, JSONPayload.text($0)) }
    try await file.write { session in
      try session.run(
        """
        INSERT INTO list (account, kind, identifier, memo) VALUES (?, ?, ?, ?)
        ON CONFLICT (account, kind, identifier) DO UPDATE SET memo = excluded.memo
        """, list.account.octets, list.kind, list.identifier, memo)
      let number = try Self.number(of: list, session)
      for (id, record) in records {
        let isNew = change.event?.id == id
        try session.run(
          """
          INSERT INTO version (list, id, record, waits, event) VALUES (?, ?, ?, ?, nullif(?, x''))
          ON CONFLICT (list, id) DO UPDATE SET record = excluded.record
          """, number, id.octets, record, isNew && change.waits, isNew ? change.event?.json ?? [] : [])
      }
      for id in change.forgotten {
        try session.run("UPDATE version SET event = NULL WHERE list = ? AND id = ? AND waits = 0", number, id.octets)
      }
      for id in change.dropped {
        try session.run("DELETE FROM version WHERE list = ? AND id = ? AND waits = 0", number, id.octets)
      }
    }
  }

  /// A list as it is stored; nil: nothing is.
  ///
  /// - Parameters:
  ///   - list: which list.
  ///   - withEvents: whether the events that the history needs are read too.
  public func stored(_ list: ListKey, withEvents: Bool = true) async throws(StorageFault) -> StoredList? {
    try await file.read { session in
      let memos = try session.rows(
        "SELECT memo FROM list WHERE account = ? AND kind = ? AND identifier = ?", list.account.octets, list.kind,
        list.identifier
      ) { $0.text(0) }
      // What cannot be read is begun again: relays have the newest version.
      guard let text = memos.first, let memo = JSONPayload.value(ListMemo.self, text) else { return nil }
      let number = try Self.number(of: list, session)
      let records = try session.rows("SELECT record FROM version WHERE list = ? ORDER BY number", number) {
        JSONPayload.value(ListRecord.self, $0.text(0))
      }
      var events: [EventID: Event] = [:]
      for id in withEvents ? ListHistory.needed(memo) : [] { events[id] = try Self.event(id, number, session) }
      return StoredList(memo: memo, records: records, events: events)
    }
  }

  /// The lists that are kept of accounts.
  public func lists(of accounts: [PublicKey]) async throws(StorageFault) -> [ListKey] {
    try await file.read { session in
      try accounts.flatMap { account in
        try session.rows("SELECT kind, identifier FROM list WHERE account = ?", account.octets) { row in
          ListKey(account: account, kind: UInt16(clamping: row.number(0)), identifier: row.text(1))
        }
      }
    }
  }

  /// A kept version.
  public func event(_ id: EventID, of list: ListKey) async throws(StorageFault) -> Event? {
    try await file.read { session in try Self.event(id, try Self.number(of: list, session), session) }
  }

  // MARK: Publishing

  /// Versions that the publish queue is to have, the oldest first.
  public func waiting() async throws(StorageFault) -> [Waiting] {
    try await file.read { session in
      try session.rows("SELECT list, event FROM version WHERE waits <> 0 ORDER BY number") { row -> Waiting? in
        // `try?`: it was written by this program; a damaged one cannot be published.
        (try? Event(json: row.bytes(1))).map { Waiting(list: row.number(0), event: $0) }
      }
    }
  }

  /// The publish queue has a version, or will never take it.
  public func published(_ version: Waiting) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "UPDATE version SET waits = 0 WHERE list = ? AND id = ?", version.list, version.event.id.octets)
    }
  }

  /// The versions of a list that the publish queue does not have.
  public func waiting(of list: ListKey) async throws(StorageFault) -> Set<EventID> {
    try await file.read { session in
      let number = try Self.number(of: list, session)
      return Set(
        try session.rows("SELECT id FROM version WHERE list = ? AND waits <> 0", number) { EventID($0, 0) })
    }
  }

  // MARK: Rows

  private static func number(of list: ListKey, _ session: StorageSession) throws -> Int64 {
    try session.count(
      "SELECT coalesce(max(number), 0) FROM list WHERE account = ? AND kind = ? AND identifier = ?",
      list.account.octets, list.kind, list.identifier)
  }

  private static func event(_ id: EventID, _ list: Int64, _ session: StorageSession) throws -> Event? {
    try session.rows(
      "SELECT event FROM version WHERE list = ? AND id = ? AND event IS NOT NULL", list, id.octets
    ) { row in
      // `try?`: as above.
      try? Event(json: row.bytes(0))
    }.first
  }
}

extension JSONPayload {
  /// A value as text.
  fileprivate static func text(_ value: some Encodable) -> String { String(decoding: encode(value), as: UTF8.self) }

  /// The value of a text; nil if it is another one's.
  fileprivate static func value<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
    // `try?`: a rescued row may be of any kind.
    try? decode(type, from: Array(text.utf8))
  }
}

extension EventID {
  init?(_ row: StorageStatement, _ column: Int32) {
    guard let octets = row.withBytes(column, { Octets32($0) }) else { return nil }
    self.init(octets)
  }
}
