public import Storage

// Sending: the rumor and each of its gift wraps are committed before the publish queue has any of them. After a death
// the same wraps go, never new ones.
//
//     kept (0) ─▶ queued (1) ─▶ sent (2)
//         └──────────┴────────▶ failed (3); an item of several recipients also partly (4)

extension LinkLedger {
  /// A gift wrap that is sent, to one recipient.
  public struct Copy: Sendable, Hashable {
    /// Its row.
    public var number: Int64
    /// The item, as a keyed hash.
    public var item: [UInt8]
    /// Whether it is the copy to oneself.
    public var isOwn: Bool
    /// How far it is: see above.
    public var stage: Int64
    /// The recipient and the wrap, sealed.
    public var sealed: [UInt8]

    init(_ row: StorageStatement) {
      (number, item, isOwn) = (row.number(0), row.bytes(1), row.number(2) != 0)
      (stage, sealed) = (row.number(3), row.bytes(4))
    }

    static let columns = "number, item, isOwn, stage, sealed"

    /// A copy that has no row yet.
    public init(item: [UInt8], isOwn: Bool, sealed: [UInt8]) {
      (number, self.item, self.isOwn, stage, self.sealed) = (0, item, isOwn, 0, sealed)
    }
  }

  /// Keeps what is sent, in one transaction.
  ///
  /// - Parameters:
  ///   - items: what is sent: one, or the creation of a session and the first post in it.
  ///   - copies: the gift wraps.
  ///   - token: the caller's token, as a keyed hash.
  ///   - account: the account's row.
  public func keep(
    _ items: [Item], _ copies: [Copy], token: [UInt8], of account: Int64
  ) async throws(StorageFault) {
    try await file.write { session in
      guard try Self.isKnown(account, session) else { return }
      for item in items { _ = try Self.insert(item, of: account, session) }
      for copy in copies {
        try session.run(
          "INSERT INTO copy (account, item, token, isOwn, stage, sealed) VALUES (?, ?, ?, ?, 0, ?)", account, copy.item,
          token, copy.isOwn, copy.sealed)
      }
      guard items.contains(where: { $0.sort.family == .links }) else { return }
      try session.run("UPDATE account SET usesLinks = 1 WHERE number = ?", account)
    }
  }

  /// The copies of an item.
  public func copies(of item: [UInt8], _ account: Int64) async throws(StorageFault) -> [Copy] {
    try await file.read { session in
      try session.rows(
        "SELECT \(Copy.columns) FROM copy WHERE account = ? AND item = ? ORDER BY number", account, item
      ) { Copy($0) }
    }
  }

  /// The copies of each of these items.
  public func copies(ofEach items: [[UInt8]], _ account: Int64) async throws(StorageFault) -> [[Copy]] {
    try await file.read { session in
      try items.map { item in
        try session.rows(
          "SELECT \(Copy.columns) FROM copy WHERE account = ? AND item = ? ORDER BY number", account, item
        ) { Copy($0) }
      }
    }
  }

  /// The copies that were kept under a token.
  public func copies(token: [UInt8], _ account: Int64) async throws(StorageFault) -> [Copy] {
    try await file.read { session in
      try session.rows(
        "SELECT \(Copy.columns) FROM copy WHERE account = ? AND token = ? ORDER BY number", account, token
      ) { Copy($0) }
    }
  }

  /// The copies of an account that have not ended, the oldest first.
  public func openCopies(of account: Int64) async throws(StorageFault) -> [Copy] {
    try await file.read { session in
      try session.rows(
        "SELECT \(Copy.columns) FROM copy WHERE stage < 2 AND account = ? ORDER BY number", account
      ) { Copy($0) }
    }
  }

  /// Whether a copy has not ended, nor was taken back.
  public func isOpen(_ copy: Copy) async throws(StorageFault) -> Bool {
    try await file.read { session in
      try session.count(
        "SELECT count(*) FROM copy WHERE number = ? AND item = ? AND stage < 2", copy.number, copy.item) > 0
    }
  }

  /// A copy has come further; the stage of its item follows, of all its copies but the one to oneself.
  ///
  /// - Parameters:
  ///   - stage: its new stage.
  ///   - sealed: the recipient, and what relays said; the wrap itself is left out when it has ended.
  ///   - copy: the copy.
  ///   - account: the account's row.
  ///   - now: seconds since 1970.
  public func set(
    _ stage: Int64, _ sealed: [UInt8], of copy: Copy, _ account: Int64, now: Int64
  ) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "UPDATE copy SET stage = ?, endedAt = ?, sealed = ? WHERE number = ? AND item = ?", stage,
        stage < 2 ? 0 : max(1, now), sealed, copy.number, copy.item)
      guard session.changedRowCount > 0 else { return }
      // The least of all while one waits; 4 when some are sent and some have failed.
      try session.run(
        """
        UPDATE item SET stage = 1 + (
          SELECT CASE WHEN min(stage) < 2 THEN min(stage) WHEN min(stage) <> max(stage) THEN 4 ELSE max(stage) END FROM copy
          WHERE account = ?1 AND item = ?2 AND (isOwn = 0 OR (SELECT count(*) FROM copy AS c
            WHERE c.account = ?1 AND c.item = ?2 AND c.isOwn = 0) = 0))
        WHERE account = ?1 AND id = ?2
        """, account, copy.item)
    }
  }

  /// Most copies that one call of ``sweep(before:)`` removes.
  public static let sweepCount = 200

  /// Removes copies that ended before a time, of items all of whose copies did: the stage of an item is that of its
  /// copies. The item keeps its stage; its token and the words of relays go.
  ///
  /// - Returns: how many; if they are ``sweepCount``, there may be more.
  public func sweep(before time: Int64) async throws(StorageFault) -> Int {
    try await file.write { session in
      try session.run(
        """
        DELETE FROM copy WHERE number IN (
          SELECT c.number FROM copy AS c INDEXED BY copyEnded WHERE c.endedAt > 0 AND c.endedAt < ?1
            AND NOT EXISTS (SELECT 1 FROM copy AS o WHERE o.account = c.account AND o.item = c.item
              AND (o.endedAt = 0 OR o.endedAt >= ?1))
          ORDER BY c.endedAt LIMIT ?2)
        """, time, Self.sweepCount)
      return session.changedRowCount
    }
  }

  /// Takes back an item that no relay has: it was refused, or called off.
  ///
  /// - Parameters:
  ///   - item: the item, as a keyed hash.
  ///   - wraps: its gift wraps to oneself, as keyed hashes: one that comes back from the store holds nothing.
  ///   - account: the account's row.
  public func takeBack(_ item: [UInt8], wraps: [[UInt8]], _ account: Int64) async throws(StorageFault) {
    try await file.write { session in
      for wrap in wraps {
        try session.run(
          "INSERT OR IGNORE INTO wrap (account, id, outcome) VALUES (?, ?, ?)", account, wrap, Wrap.notKept)
      }
      try session.run("DELETE FROM copy WHERE account = ? AND item = ?", account, item)
      try session.run("DELETE FROM item WHERE account = ? AND id = ?", account, item)
      // A conversation that has nothing else was never begun.
      try session.run(
        """
        DELETE FROM conversation WHERE account = ?1 AND NOT EXISTS (
          SELECT 1 FROM item WHERE item.account = ?1 AND item.conversation = conversation.id)
        """, account)
    }
  }
}
