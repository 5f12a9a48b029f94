public import Storage

extension LinkLedger {
  /// A row of the table `item`.
  public struct Row: Sendable, Hashable {
    static let columns = """
      number, id, conversation, sort, at, isOwn,
      EXISTS (SELECT 1 FROM unread AS u WHERE \(LinkLedger.isUnread("item"))), stage, sealed
      """

    /// Its number, in the order of arrival.
    public var number: Int64
    /// The rumor, as a keyed hash.
    public var id: [UInt8]
    /// The conversation, as a keyed hash.
    public var conversation: [UInt8]
    /// What it is; nil: a later version's.
    public var sort: Sort?
    /// When it was written, seconds since 1970.
    public var at: Int64
    /// Whether the account has sent it.
    public var isOwn: Bool
    /// Whether it was not read yet.
    public var isUnread: Bool
    /// How far it is.
    public var stage: Int64
    /// The rumor, sealed.
    public var sealed: [UInt8]

    init(_ row: StorageStatement) {
      (number, id, conversation) = (row.number(0), row.bytes(1), row.bytes(2))
      (sort, at) = (Sort(rawValue: row.number(3)), row.number(4))
      (isOwn, isUnread, stage, sealed) = (row.number(5) != 0, row.number(6) != 0, row.number(7), row.bytes(8))
    }
  }

  /// A row of the table `conversation`, with its figures.
  public struct ConversationRow: Sendable, Hashable {
    /// Its id, as a keyed hash.
    public var id: [UInt8]
    /// When its newest entry was written.
    public var lastAt: Int64
    /// With whom, sealed.
    public var sealed: [UInt8]
    /// How many posts or messages it has.
    public var rootCount: Int
    /// How many posts or messages have something unread.
    public var unreadCount: Int
  }

  /// A place in the order of rows.
  public struct Place: Sendable, Hashable {
    /// The time of the row.
    public var at: Int64
    /// Its number.
    public var number: Int64

    /// A place.
    public init(at: Int64, number: Int64) { (self.at, self.number) = (at, number) }

    /// Behind all rows.
    public static let end = Place(at: .max, number: .max)
    /// Before all rows.
    public static let start = Place(at: .min, number: .min)
  }

  /// Whether a row `u` of the table `unread` is an item's.
  fileprivate static func isUnread(_ item: String) -> String {
    unreadKey.split(separator: ", ").map { "u.\($0) = \(item).\($0)" }.joined(separator: " AND ")
  }

  private static let roots = Sort.allCases.filter(\.isRoot).map { "\($0.rawValue)" }.joined(separator: ", ")

  /// A place in the order of conversations.
  public struct ConversationPlace: Sendable, Hashable {
    /// When its newest entry was written.
    public var lastAt: Int64
    /// Its id, as a keyed hash.
    public var id: [UInt8]

    /// A place.
    public init(lastAt: Int64, id: [UInt8]) { (self.lastAt, self.id) = (lastAt, id) }
  }

  /// Conversations, the newest first: those that have a post, a message, or an event of a session.
  public func conversations(
    of account: Int64, _ family: Family, isUnread: Bool, before place: ConversationPlace?, limit: Int
  ) async throws(StorageFault) -> [ConversationRow] {
    // Behind all: no id has more bytes than a hash.
    let place = place ?? ConversationPlace(lastAt: .max, id: [UInt8](repeating: 0xFF, count: 33))
    return try await file.read { session in
      let unread =
        isUnread ? "AND (EXISTS (SELECT 1 \(Self.unreadRoots)) OR EXISTS (SELECT 1 \(Self.repliedRoots)))" : ""
      return try session.rows(
        """
        SELECT c.id, c.lastAt, c.sealed,
          (SELECT count(*) FROM item AS i
            WHERE i.account = c.account AND i.conversation = c.id AND i.sort IN (\(Self.roots))),
          (SELECT count(*) \(Self.unreadRoots)) + (SELECT count(*) \(Self.repliedRoots))
        FROM conversation AS c WHERE c.account = ? AND c.family = ? AND (c.lastAt, c.id) < (?, ?) \(unread)
          AND EXISTS (SELECT 1 FROM item AS r WHERE r.account = c.account AND r.conversation = c.id
            AND r.sort IN (\(Self.roots), \(Sort.session.rawValue)))
        ORDER BY c.lastAt DESC, c.id DESC LIMIT ?
        """, account, family.rawValue, place.lastAt, place.id, limit
      ) {
        ConversationRow(
          id: $0.bytes(0), lastAt: $0.number(1), sealed: $0.bytes(2), rootCount: Int($0.number(3)),
          unreadCount: Int($0.number(4)))
      }
    }
  }

  /// Unread posts or messages of a conversation `c`.
  private static let unreadRoots =
    "FROM unread AS v WHERE v.account = c.account AND v.conversation = c.id AND v.sort IN (\(roots))"

  /// Posts of a conversation `c` that are read and have unread replies: a reply counts only where its post is here.
  private static let repliedRoots = """
    FROM (SELECT DISTINCT r.thread AS thread FROM unread AS v CROSS JOIN item AS r ON r.number = v.number
      WHERE v.account = c.account AND v.conversation = c.id AND v.sort = 1) AS t
    WHERE EXISTS (SELECT 1 FROM item AS p WHERE p.account = c.account AND p.thread = t.thread AND p.sort = 0
      AND NOT EXISTS (SELECT 1 FROM unread AS u WHERE \(isUnread("p"))))
    """

  /// One conversation; nil: it has no row.
  public func conversation(_ id: [UInt8], of account: Int64) async throws(StorageFault) -> [UInt8]? {
    try await file.read { session in
      try session.first("SELECT sealed FROM conversation WHERE account = ? AND id = ?", account, id) { $0.bytes(0) }
    }
  }

  /// The posts or messages of a conversation, the newest first.
  public func roots(
    in conversation: [UInt8], of account: Int64, before place: Place, limit: Int
  ) async throws(StorageFault) -> [Row] {
    try await file.read { session in
      // Each sort has its place in the index; the newest of each are brought together here.
      var rows: [Row] = []
      for sort in Sort.allCases where sort.isRoot {
        rows += try session.rows(
          """
          SELECT \(Row.columns) FROM item
          WHERE account = ? AND conversation = ? AND sort = ? AND (at, number) < (?, ?)
          ORDER BY at DESC, number DESC LIMIT ?
          """, account, conversation, sort.rawValue, place.at, place.number, limit
        ) { Row($0) }
      }
      return Array(rows.sorted { ($0.at, $0.number) > ($1.at, $1.number) }.prefix(limit))
    }
  }

  /// What belongs to a post or message after a place, the oldest first; the post itself is among it.
  public func thread(
    _ thread: [UInt8], of account: Int64, after place: Place = .start, limit: Int
  ) async throws(StorageFault) -> [Row] {
    try await file.read { session in
      try session.rows(
        """
        SELECT \(Row.columns) FROM item WHERE account = ? AND thread = ? AND (at, number) > (?, ?)
        ORDER BY at, number LIMIT ?
        """, account, thread, place.at, place.number, limit
      ) { Row($0) }
    }
  }

  /// The deletions among what belongs to each of these messages, the oldest first.
  public func deletions(
    of threads: [[UInt8]], of account: Int64, limit: Int
  ) async throws(StorageFault) -> [[Row]] {
    try await file.read { session in
      try threads.map { thread in
        try session.rows(
          "SELECT \(Row.columns) FROM item WHERE account = ? AND thread = ? AND sort = ? ORDER BY at, number LIMIT ?",
          account, thread, Sort.deletion.rawValue, limit
        ) { Row($0) }
      }
    }
  }

  /// Replies of a post, and how many of them are unread.
  public func replyCounts(
    of threads: [[UInt8]], of account: Int64
  ) async throws(StorageFault) -> [(all: Int, unread: Int)] {
    try await file.read { session in
      try threads.map { thread in
        try session.first(
          """
          SELECT count(*), count(u.number) FROM item AS i LEFT JOIN unread AS u ON \(Self.isUnread("i"))
          WHERE i.account = ? AND i.thread = ? AND i.sort = 1
          """, account, thread
        ) { (Int($0.number(0)), Int($0.number(1))) } ?? (0, 0)
      }
    }
  }

  /// One item.
  public func item(_ id: [UInt8], of account: Int64) async throws(StorageFault) -> (row: Row, thread: [UInt8])? {
    try await file.read { session in
      try session.first("SELECT \(Row.columns), thread FROM item WHERE account = ? AND id = ?", account, id) {
        (Row($0), $0.bytes(9))
      }
    }
  }

  /// The items whose ids have the same first digits, the oldest first.
  public func items(
    digits: [UInt8], of account: Int64, limit: Int
  ) async throws(StorageFault) -> [(row: Row, thread: [UInt8])] {
    try await file.read { session in
      try session.rows(
        """
        SELECT \(Row.columns), thread FROM item INDEXED BY itemDigits WHERE account = ? AND digits = ?
        ORDER BY number LIMIT ?
        """, account, digits, limit
      ) { (Row($0), $0.bytes(9)) }
    }
  }

  /// The events of sessions, in the order of arrival.
  public func sessionEvents(of account: Int64) async throws(StorageFault) -> [Row] {
    try await file.read { session in
      try session.rows(
        "SELECT \(Row.columns) FROM item WHERE account = ? AND sort IN (?, ?) ORDER BY number", account,
        Sort.session.rawValue, Sort.sessionPost.rawValue
      ) { Row($0) }
    }
  }

  // MARK: Marks

  /// Marks the posts or messages of a conversation as read. Replies stay as they are.
  ///
  /// - Parameters:
  ///   - conversation: the conversation.
  ///   - account: the account's row.
  ///   - oldest: only from this place on.
  ///   - newest: only up to this place.
  public func read(
    conversation: [UInt8], of account: Int64, from oldest: Place, to newest: Place
  ) async throws(StorageFault) -> Int {
    try await file.write { session in
      // Each sort has its place in the table.
      var count = 0
      for sort in Sort.allCases where sort.isRoot {
        try session.run(
          """
          DELETE FROM unread WHERE account = ? AND conversation = ? AND sort = ?
            AND (at, number) >= (?, ?) AND (at, number) <= (?, ?)
          """, account, conversation, sort.rawValue, oldest.at, oldest.number, newest.at, newest.number)
        count += session.changedRowCount
      }
      return count
    }
  }

  /// Marks a post and its replies as read.
  public func read(thread: [UInt8], of account: Int64) async throws(StorageFault) -> Int {
    try await file.write { session in
      try Self.clear(unreadBy: "thread", thread, of: account, session)
    }
  }

  /// Makes the items read that have this in a column, and says how many were unread.
  static func clear(
    unreadBy column: String, _ value: [UInt8], of account: Int64, _ session: StorageSession
  ) throws -> Int {
    // One by one, by the whole key: for a join or an IN over several columns SQLite reads all of the account.
    let keys = try session.rows(
      """
      SELECT i.conversation, i.sort, i.at, i.number FROM item AS i
      WHERE i.account = ? AND i.\(column) = ? AND EXISTS (SELECT 1 FROM unread AS u WHERE \(isUnread("i")))
      """, account, value
    ) { ($0.bytes(0), $0.number(1), $0.number(2), $0.number(3)) }
    for (conversation, sort, at, number) in keys {
      try session.run(
        "DELETE FROM unread WHERE account = ? AND conversation = ? AND sort = ? AND at = ? AND number = ?", account,
        conversation, sort, at, number)
    }
    return keys.count
  }

  // MARK: Contacts

  /// The contacts, sealed.
  public func contacts(of account: Int64) async throws(StorageFault) -> [[UInt8]] {
    try await file.read { session in
      try session.rows("SELECT sealed FROM contact WHERE account = ?", account) { $0.bytes(0) }
    }
  }

  /// Keeps a contact; nil removes it.
  public func keep(contact sealed: [UInt8]?, _ id: [UInt8], of account: Int64) async throws(StorageFault) {
    try await file.write { session in
      if let sealed {
        try session.run("INSERT OR REPLACE INTO contact (account, id, sealed) VALUES (?, ?, ?)", account, id, sealed)
        try session.run("UPDATE account SET usesLinks = 1 WHERE number = ?", account)
      } else {
        try session.run("DELETE FROM contact WHERE account = ? AND id = ?", account, id)
      }
    }
  }
}
