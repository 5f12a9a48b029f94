public import Storage

// Filing: what was in gift wraps becomes rows, in one transaction with the seq up to which the store was read. So each
// wrap is opened once, and what a death interrupts is filed by the next process.

extension LinkLedger {
  /// What a row of the table `item` is.
  public enum Sort: Int64, Sendable, Hashable, CaseIterable {
    /// A post (linkstr).
    case post = 0
    /// A reply to a post.
    case reply = 1
    /// An event of a session that is not a post.
    case session = 2
    /// A private message (NIP-17).
    case message = 3
    /// A file of a private message.
    case file = 4
    /// A reaction to a message.
    case reaction = 5
    /// The deletion of a message by its author.
    case deletion = 6
    /// A message of kind 4.
    case legacy = 7
    /// A post of a session.
    case sessionPost = 8

    /// Which lists show it.
    public var family: Family {
      switch self {
      case .post, .reply, .session, .sessionPost: .links
      case .message, .file, .reaction, .deletion, .legacy: .messages
      }
    }

    /// Whether it is a row of its own in a conversation.
    public var isRoot: Bool {
      switch self {
      case .post, .message, .file, .legacy, .sessionPost: true
      case .reply, .session, .reaction, .deletion: false
      }
    }
  }

  /// The two families of conversations.
  public enum Family: Int64, Sendable, Hashable {
    /// Links.
    case links = 0
    /// Messages.
    case messages = 1
  }

  /// A row of the table `item`, before it has a number. Ids are keyed hashes.
  public struct Item: Sendable, Hashable {
    /// The rumor.
    public var id: [UInt8]
    /// The first digits of the rumor's id; nil: nothing names it by them.
    public var digits: [UInt8]?
    /// The conversation.
    public var conversation: [UInt8]
    /// The post or message that it is, or belongs to.
    public var thread: [UInt8]
    /// What it is.
    public var sort: Sort
    /// When it was written, seconds since 1970.
    public var at: Int64
    /// Whether the account has sent it.
    public var isOwn: Bool
    /// Whether it is unread.
    public var isUnread: Bool
    /// When its notice is due, seconds since 1970; 0: it has none.
    public var noticeAt: Int64
    /// How far it is, of one's own that is sent here.
    public var stage: Int64
    /// The rumor, sealed.
    public var sealed: [UInt8]
    /// With whom, sealed, for a new conversation.
    public var sealedConversation: [UInt8]

    /// A row.
    public init(
      id: [UInt8], digits: [UInt8]?, conversation: [UInt8], thread: [UInt8], sort: Sort, at: Int64, isOwn: Bool,
      isUnread: Bool, noticeAt: Int64, stage: Int64, sealed: [UInt8], sealedConversation: [UInt8]
    ) {
      (self.id, self.digits, self.conversation, self.thread) = (id, digits, conversation, thread)
      (self.sort, self.at) = (sort, at)
      (self.isOwn, self.isUnread, self.noticeAt, self.stage) = (isOwn, isUnread, noticeAt, stage)
      (self.sealed, self.sealedConversation) = (sealed, sealedConversation)
    }
  }

  /// What becomes of one gift wrap.
  public struct Wrap: Sendable, Hashable {
    /// Its id, as a keyed hash.
    public var id: [UInt8]
    /// 0: opened; otherwise the number of the refusal.
    public var outcome: Int64
    /// What it held, if that is kept.
    public var item: Item?

    /// The outcome of a wrap whose rumor is for another program, breaks a rule of links, sessions or messages, or was
    /// taken back.
    public static let notKept: Int64 = 100

    /// A gift wrap.
    public init(id: [UInt8], outcome: Int64, item: Item? = nil) {
      (self.id, self.outcome, self.item) = (id, outcome, item)
    }
  }

  /// A post of a session that can be seen now, or no longer.
  public struct Mark: Sendable, Hashable {
    /// The post, as a keyed hash.
    public var id: [UInt8]
    /// When its notice is due, if it can be seen now; nil: it can be seen no longer.
    public var noticeAt: Int64?
    /// Only what was written after this has a notice.
    public var noticeSince: Int64

    /// A mark.
    public init(id: [UInt8], noticeAt: Int64?, noticeSince: Int64 = 0) {
      (self.id, self.noticeAt, self.noticeSince) = (id, noticeAt, noticeSince)
    }
  }

  /// Which of these wraps were not opened or refused before: their places.
  public func unknown(_ ids: [[UInt8]], of account: Int64) async throws(StorageFault) -> [Int] {
    try await file.read { session in
      try ids.indices.filter { place in
        try session.count("SELECT count(*) FROM wrap WHERE account = ? AND id = ?", account, ids[place]) == 0
      }
    }
  }

  /// Files wraps, in one transaction. All wraps up to `seq` of the store are done then.
  ///
  /// - Parameters:
  ///   - wraps: what becomes of them.
  ///   - marks: posts of sessions that can be seen now, or no longer.
  ///   - seq: the seq of the last one; 0: nothing is known of those before.
  ///   - account: the account's row.
  /// - Returns: the ids of items that are new.
  public func file(
    _ wraps: [Wrap], _ marks: [Mark] = [], upTo seq: Int64, of account: Int64
  ) async throws(StorageFault) -> Set<[UInt8]> {
    try await file.write { session in
      guard try Self.isKnown(account, session) else { return [] }
      var new: Set<[UInt8]> = []
      var usesLinks = false
      for wrap in wraps {
        try session.run(
          "INSERT OR IGNORE INTO wrap (account, id, outcome) VALUES (?, ?, ?)", account, wrap.id, wrap.outcome)
        guard session.changedRowCount > 0, let item = wrap.item else { continue }
        if try Self.insert(item, of: account, session) { new.insert(item.id) }
        if item.sort.family == .links { usesLinks = true }
      }
      for mark in marks {
        // A notice that was given is not given again, also where the post could not be seen for a time.
        try session.run(
          """
          UPDATE item SET noticeAt = CASE WHEN noticeAt < 0 THEN noticeAt WHEN at > ? THEN ? ELSE 0 END
          WHERE account = ? AND id = ? AND isOwn = 0
          """, mark.noticeSince, mark.noticeAt ?? 0, account, mark.id)
        guard mark.noticeAt != nil else {
          _ = try Self.clear(unreadBy: "id", mark.id, of: account, session)
          continue
        }
        try session.run(
          """
          INSERT OR IGNORE INTO unread (\(Self.unreadKey))
          SELECT \(Self.unreadKey) FROM item WHERE account = ? AND id = ? AND isOwn = 0
          """, account, mark.id)
      }
      try session.run(
        "UPDATE account SET seq = max(seq, ?), usesLinks = max(usesLinks, ?) WHERE number = ?", seq, usesLinks, account)
      return new
    }
  }

  /// Whether an account has not been forgotten meanwhile: nothing is written for one that was.
  static func isKnown(_ account: Int64, _ session: StorageSession) throws -> Bool {
    try session.count("SELECT count(*) FROM account WHERE number = ?", account) > 0
  }

  /// The columns of the table `unread`; an item has them too.
  static let unreadKey = "account, conversation, sort, at, number"

  /// Inserts an item, unless it is known; whether it was new.
  static func insert(_ item: Item, of account: Int64, _ session: StorageSession) throws -> Bool {
    try session.run(
      """
      INSERT OR IGNORE INTO item (account, id, conversation, thread, sort, at, isOwn, digits, noticeAt, stage, sealed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, account, item.id, item.conversation, item.thread, item.sort.rawValue, item.at, item.isOwn, item.digits,
      item.noticeAt, item.stage, item.sealed)
    guard session.changedRowCount > 0 else { return false }
    if item.isUnread {
      try session.run(
        "INSERT INTO unread (\(unreadKey)) VALUES (?, ?, ?, ?, last_insert_rowid())", account, item.conversation,
        item.sort.rawValue, item.at)
    }
    // What only says something about a message does not bring its conversation to the top.
    let at = item.sort.isRoot || item.sort == .reply ? item.at : 0
    try session.run(
      """
      INSERT INTO conversation (account, id, family, lastAt, sealed) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (account, id) DO UPDATE SET lastAt = max(lastAt, excluded.lastAt)
      """, account, item.conversation, item.sort.family.rawValue, at, item.sealedConversation)
    return true
  }

  // MARK: Notices

  /// An item whose notice is due.
  public struct Due: Sendable, Hashable {
    /// Its row.
    public var number: Int64
    /// What it is.
    public var row: Row
  }

  /// Items of an account whose notices are due, the oldest first, at most `limit`.
  public func due(of account: Int64, limit: Int) async throws(StorageFault) -> [Due] {
    try await file.read { session in
      // Without INDEXED BY, SQLite takes an index that begins with the account, and sorts all of its items.
      try session.rows(
        """
        SELECT \(Row.columns) FROM item INDEXED BY itemNotice
        WHERE noticeAt > 0 AND account = ? ORDER BY noticeAt, number LIMIT ?
        """, account, limit
      ) { Due(number: $0.number(0), row: Row($0)) }
    }
  }

  /// The notices of these rows are given: -1, for good.
  public func noticed(_ numbers: [Int64]) async throws(StorageFault) {
    try await file.write { session in
      for number in numbers { try session.run("UPDATE item SET noticeAt = -1 WHERE number = ?", number) }
    }
  }
}
