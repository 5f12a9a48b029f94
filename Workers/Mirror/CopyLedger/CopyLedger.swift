public import Cryptography
public import Nostr
public import Storage

// What relays lack of the events that accounts wrote, on disk: `copies.db` in the mirror's directory. Only exceptions
// have rows: an event without a row at a relay that was compared is there. So 50,000 events at six relays are a few
// rows, and the figures follow from them.
//
//     compared ─▶ open ── taken by the relay ─▶ taken ── lost again ─▶ open, and after the second loss ─▶ left
//                   └──── refused for good ──▶ refused
//
// A comparison replaces the rows of its relay in one transaction, so a death in between leaves those of the last one.

/// Which events each relay lacks, and what became of sending them again.
public struct CopyLedger: Sendable {
  /// An event that a relay lacks.
  public struct Lack: Sendable, Hashable {
    /// How far it is.
    public enum State: Int64, Sendable, Hashable, CaseIterable {
      /// It is to be sent.
      case open
      /// It was sent, and the relay has taken it.
      case taken
      /// The relay has said that it never takes it.
      case refused
      /// It is not sent, for a reason that is the relay's and not the event's.
      case left
    }
    /// The event.
    public var event: EventID
    /// When it was written, seconds since 1970, by its author's word.
    public var createdAt: Int64
    /// Whether it deletes others (NIP-09).
    public var isDeletion: Bool
    /// How far it is.
    public var state: State
    /// How often the relay has lost it.
    public var lossCount: Int
    /// When that changed, seconds since 1970.
    public var changedAt: Int64
    /// Why it is not there.
    public var reason: String?
  }

  /// An event that a relay was found to lack.
  public struct Absence: Sendable, Hashable {
    /// The event.
    public var event: EventID
    /// When it was written.
    public var createdAt: Int64
    /// Whether it deletes others.
    public var isDeletion: Bool

    /// An absence.
    public init(event: EventID, createdAt: Int64, isDeletion: Bool) {
      (self.event, self.createdAt, self.isDeletion) = (event, createdAt, isDeletion)
    }
  }

  /// What is known of one account's events at one relay.
  public struct Place: Sendable, Hashable {
    /// The relay's URL.
    public var relay: String
    /// When it was last compared; nil: never.
    public var comparedAt: Int64?
    /// Why the last comparison or sending was not brought to its end; nil: it was.
    public var reason: String?
    /// Why the newest event that is left there is; nil: none is left.
    public var leftReason: String?
    /// How many events are in each state.
    public var counts: [Lack.State: Int]
    /// Events that were written before this second are no longer sent there: it has lost such events twice.
    public var floor: Int64
  }

  /// What is known of one account.
  public struct Round: Sendable, Hashable {
    /// When its last round ended, seconds since 1970.
    public var endedAt: Int64
    /// How many of its events may be copied.
    public var eventCount: Int
    /// The relays of that round.
    public var targets: [String]

    /// A round.
    public init(endedAt: Int64, eventCount: Int, targets: [String]) {
      (self.endedAt, self.eventCount, self.targets) = (endedAt, eventCount, targets)
    }
  }

  /// After so many losses of an event a relay gets nothing more that is as old.
  public static let lossMaximum = 2
  /// The most events of one relay that are written down; the rest is found by the next comparison.
  public static let lackMaximum = 1_000_000
  /// How long sent copies are counted, in seconds.
  public static let countedSeconds: Int64 = 7 * 86_400

  private static let migrations = [
    StorageMigration(
      version: 1,
      """
      CREATE TABLE place (
        number INTEGER PRIMARY KEY, account BLOB NOT NULL, relay TEXT NOT NULL, comparedAt INTEGER, reason TEXT,
        floor INTEGER NOT NULL DEFAULT 0, UNIQUE (account, relay));
      CREATE TABLE lack (
        place INTEGER NOT NULL, event BLOB NOT NULL, createdAt INTEGER NOT NULL, isDeletion INTEGER NOT NULL,
        state INTEGER NOT NULL, losses INTEGER NOT NULL, changedAt INTEGER NOT NULL, reason TEXT,
        PRIMARY KEY (place, event)) WITHOUT ROWID;
      CREATE INDEX lackOfEvent ON lack (event);
      CREATE TABLE apart (event BLOB PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE round (
        account BLOB PRIMARY KEY, endedAt INTEGER NOT NULL, eventCount INTEGER NOT NULL, targets TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE repaired (
        account BLOB NOT NULL, day INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (account, day)) WITHOUT ROWID;
      """),
    peers, kept,
  ]

  let file: StorageFile
  private let ledger: LedgerFile
  /// The result of the rescue, if the file was damaged.
  public let rescue: LedgerRescue?

  /// Opens the ledger in a directory. Blocks this thread. `now` is in seconds since 1970, for a damaged file's name.
  public init(directory: String, now: Int64) throws(StorageFault) {
    ledger = LedgerFile(path: directory + "/copies.db", .small, Self.migrations, table: "lack", noun: "missing copies")
    (file, _, rescue) = try ledger.open(now: now) { _ throws(StorageFault) in }
  }

  /// Marks the file as damaged: the next start rescues it.
  public func markDamaged() { ledger.markDamaged() }

  /// Closes the file. No call may follow.
  public func close() throws(StorageFault) { try file.close() }

  // MARK: Writing

  /// A relay was compared: it has all events that may be copied, except `absent`.
  public func compared(
    _ account: PublicKey, _ relay: String, absent: [Absence], at now: Int64
  ) async throws(StorageFault) {
    try await file.write { session in
      let place = try Self.place(account, relay, session)
      var floor = try session.count("SELECT floor FROM place WHERE number = ?", place)
      var known: [EventID: Lack] = [:]
      for lack in try Self.lacks("SELECT \(Self.columns) FROM lack WHERE place = ?", place, session) {
        known[lack.event] = lack
      }
      try session.run("DELETE FROM lack WHERE place = ?", place)
      var rows: [Lack] = []
      for absence in absent.prefix(Self.lackMaximum) {
        var lack =
          known.removeValue(forKey: absence.event)
          ?? Lack(
            event: absence.event, createdAt: absence.createdAt, isDeletion: absence.isDeletion, state: .open,
            lossCount: 0, changedAt: now, reason: nil)
        if lack.state == .taken {
          lack.lossCount += 1
          (lack.state, lack.changedAt, lack.reason) = (.open, now, nil)
        }
        if lack.lossCount >= Self.lossMaximum { floor = max(floor, absence.createdAt + 1) }
        rows.append(lack)
      }
      for place in rows.indices where rows[place].state == .open && rows[place].createdAt < floor {
        (rows[place].state, rows[place].reason) = (.left, "the relay has twice lost events as old as this")
      }
      // What it has because it was sent again is remembered: it may lose it.
      rows += known.values.filter { $0.state == .taken }
      for row in rows { try Self.insert(row, place, session) }
      try session.run(
        "UPDATE place SET comparedAt = ?, floor = ?, reason = NULL WHERE number = ?", now, floor, place)
    }
  }

  /// A relay could not be compared, or nothing more is sent there; the reason, without a full stop.
  public func note(_ account: PublicKey, _ relay: String, _ reason: String) async throws(StorageFault) {
    try await file.write { session in
      let place = try Self.place(account, relay, session)
      try session.run("UPDATE place SET reason = ? WHERE number = ?", reason, place)
    }
  }

  /// What became of events that were sent to a relay; without a state, an event is no longer stored.
  public func settled(
    _ account: PublicKey, _ relay: String, _ outcomes: [(event: EventID, state: Lack.State?, reason: String?)],
    at now: Int64
  ) async throws(StorageFault) {
    try await file.write { session in
      let place = try Self.place(account, relay, session)
      for outcome in outcomes {
        guard let state = outcome.state else {
          try session.run("DELETE FROM lack WHERE place = ? AND event = ?", place, outcome.event.octets)
          continue
        }
        let sql = "UPDATE lack SET state = ?, changedAt = ?, reason = \(outcome.reason == nil ? "NULL" : "?")"
        let condition = " WHERE place = ? AND event = ?"
        if let reason = outcome.reason {
          try session.run(sql + condition, state.rawValue, now, reason, place, outcome.event.octets)
        } else {
          try session.run(sql + condition, state.rawValue, now, place, outcome.event.octets)
        }
      }
      let day = now / 86_400
      let taken = outcomes.count { $0.state == .taken }
      try session.run(
        """
        INSERT INTO repaired (account, day, count) VALUES (?, ?, ?)
        ON CONFLICT (account, day) DO UPDATE SET count = count + excluded.count
        """, account.octets, day, taken)
      try session.run("DELETE FROM repaired WHERE day < ?", day - Self.countedSeconds / 86_400)
    }
  }

  /// All events that a relay still lacks are not sent there, for this reason.
  public func leave(_ account: PublicKey, _ relay: String, _ reason: String, at now: Int64) async throws(StorageFault) {
    try await file.write { session in
      let place = try Self.place(account, relay, session)
      try session.run(
        "UPDATE lack SET state = ?, changedAt = ?, reason = ? WHERE place = ? AND state = ?",
        Lack.State.left.rawValue, now, reason, place, Lack.State.open.rawValue)
    }
  }

  /// Events that were left at a relay are to be sent again: the user asks for it.
  public func reopen(_ account: PublicKey, _ relay: String) async throws(StorageFault) {
    try await file.write { session in
      let place = try Self.place(account, relay, session)
      try session.run("UPDATE place SET floor = 0 WHERE number = ?", place)
      try session.run(
        "UPDATE lack SET state = ?, losses = 0, reason = NULL WHERE place = ? AND state = ?",
        Lack.State.open.rawValue, place, Lack.State.left.rawValue)
    }
  }

  /// Events whose publisher has named their relays: they are sent nowhere else.
  public func setApart(_ events: [EventID]) async throws(StorageFault) {
    try await file.write { session in
      for event in events { try session.run("INSERT OR IGNORE INTO apart (event) VALUES (?)", event.octets) }
    }
  }

  /// A round has ended.
  public func ended(_ account: PublicKey, _ round: Round) async throws(StorageFault) {
    try await file.write { session in
      try session.run(
        "INSERT OR REPLACE INTO round (account, endedAt, eventCount, targets) VALUES (?, ?, ?, ?)",
        account.octets, round.endedAt, round.eventCount, round.targets.joined(separator: "\n"))
    }
  }

  /// Everything about accounts that are not among these is forgotten.
  public func keep(_ accounts: [PublicKey]) async throws(StorageFault) {
    try await file.write { session in
      let known = try session.rows(
        """
        SELECT account FROM place UNION SELECT account FROM round UNION SELECT account FROM listed
        UNION SELECT account FROM peer
        """
      ) { PublicKey($0, 0) }
      for account in known where !accounts.contains(account) { _ = try Self.remove(account, session) }
    }
  }

  /// Removes everything about an account, and its traces in the file.
  ///
  /// - Parameters:
  ///   - account: the account.
  ///   - apart: of the events that are set apart, those of other accounts, which stay.
  /// - Returns: how many rows were removed.
  public func forget(_ account: PublicKey, apart: Set<EventID>) async throws(StorageFault) -> Int {
    let count = try await file.write { session in
      var count = try Self.remove(account, session)
      let known = try session.rows("SELECT event FROM apart") { EventID($0, 0) }
      for event in known where !apart.contains(event) {
        try session.run("DELETE FROM apart WHERE event = ?", event.octets)
        count += 1
      }
      return count
    }
    _ = try await file.scrub()
    return count
  }

  private static func remove(_ account: PublicKey, _ session: StorageSession) throws -> Int {
    try session.run("DELETE FROM lack WHERE place IN (SELECT number FROM place WHERE account = ?)", account.octets)
    var count = session.changedRowCount
    for table in ["place", "round", "repaired", "listed", "peer"] {
      try session.run("DELETE FROM \(table) WHERE account = ?", account.octets)
      count += session.changedRowCount
    }
    return count
  }

  // MARK: Reading

  /// Which of all events are set apart.
  public func apart() async throws(StorageFault) -> Set<EventID> {
    try await file.read { session in Set(try session.rows("SELECT event FROM apart") { EventID($0, 0) }) }
  }

  /// The events to send to a relay: deletions first, then the newest.
  public func open(_ account: PublicKey, _ relay: String, limit: Int) async throws(StorageFault) -> [EventID] {
    try await file.read { session in
      try session.rows(
        """
        SELECT event FROM lack JOIN place ON place = number WHERE account = ? AND relay = ? AND state = ?
        ORDER BY isDeletion DESC, createdAt DESC, event LIMIT ?
        """, account.octets, relay, Lack.State.open.rawValue, limit
      ) { EventID($0, 0) }
    }
  }

  /// The last round of an account; nil: there was none.
  public func round(_ account: PublicKey) async throws(StorageFault) -> Round? {
    try await file.read { session in
      try session.first("SELECT endedAt, eventCount, targets FROM round WHERE account = ?", account.octets) {
        Round(
          endedAt: $0.number(0), eventCount: Int(clamping: $0.number(1)),
          targets: $0.text(2).split(separator: "\n").map(String.init))
      }
    }
  }

  /// What is known of an account's relays, in the order of their URLs.
  public func places(_ account: PublicKey) async throws(StorageFault) -> [Place] {
    try await file.read { session in
      var counts: [Int64: [Lack.State: Int]] = [:]
      let counted = try session.statement(
        """
        SELECT place, state, count(*) FROM lack WHERE place IN (SELECT number FROM place WHERE account = ?)
        GROUP BY place, state
        """, account.octets)
      while try counted.step() {
        guard let state = Lack.State(rawValue: counted.number(1)) else { continue }
        counts[counted.number(0), default: [:]][state] = Int(clamping: counted.number(2))
      }
      return try session.rows(
        """
        SELECT number, relay, comparedAt, reason, floor, (
          SELECT reason FROM lack WHERE lack.place = number AND state = ? ORDER BY createdAt DESC LIMIT 1)
        FROM place WHERE account = ? ORDER BY relay
        """, Lack.State.left.rawValue, account.octets
      ) {
        Place(
          relay: $0.text(1), comparedAt: $0.isNull(2) ? nil : $0.number(2), reason: $0.isNull(3) ? nil : $0.text(3),
          leftReason: $0.isNull(5) ? nil : $0.text(5), counts: counts[$0.number(0)] ?? [:], floor: $0.number(4))
      }
    }
  }

  /// How many events each number of relays lacks, of these relays: by the number of relays, which is at least 1.
  public func missing(_ account: PublicKey, at relays: [String]) async throws(StorageFault) -> [Int: Int] {
    try await file.read { session in
      var missing: [Int: Int] = [:]
      let marks = relays.map { _ in "?" }.joined(separator: ",")
      let statement = try session.statement(
        """
        SELECT lacking, count(*) FROM (
          SELECT count(*) AS lacking FROM lack JOIN place ON place = number
          WHERE account = ? AND relay IN (\(marks)) AND state <> \(Lack.State.taken.rawValue) GROUP BY event)
        GROUP BY lacking
        """)
      account.octets.bind(to: statement, at: 1)
      for (index, relay) in relays.enumerated() { relay.bind(to: statement, at: Int32(index + 2)) }
      while try statement.step() { missing[Int(statement.number(0))] = Int(clamping: statement.number(1)) }
      return missing
    }
  }

  /// How many copies relays have taken in the last week.
  public func repairedCount(_ account: PublicKey, at now: Int64) async throws(StorageFault) -> Int {
    try await file.read { session in
      Int(
        try session.count(
          "SELECT coalesce(sum(count), 0) FROM repaired WHERE account = ? AND day > ?", account.octets,
          (now - Self.countedSeconds) / 86_400))
    }
  }

  /// The relays that lack an event, or lacked it once.
  public func lacks(of event: EventID) async throws(StorageFault) -> [String: Lack] {
    try await file.read { session in
      var found: [String: Lack] = [:]
      let statement = try session.statement(
        "SELECT \(Self.columns), relay FROM lack JOIN place ON place = number WHERE event = ?", event.octets)
      while try statement.step() {
        if let lack = Self.lack(statement) { found[statement.text(7)] = lack }
      }
      return found
    }
  }

  // MARK: Rows

  private static let columns = "event, createdAt, isDeletion, state, losses, changedAt, lack.reason"

  private static func lack(_ row: StorageStatement) -> Lack? {
    guard let event = EventID(row, 0), let state = Lack.State(rawValue: row.number(3)) else { return nil }
    return Lack(
      event: event, createdAt: row.number(1), isDeletion: row.number(2) != 0, state: state,
      lossCount: Int(clamping: row.number(4)), changedAt: row.number(5), reason: row.isNull(6) ? nil : row.text(6))
  }

  private static func lacks(_ sql: String, _ place: Int64, _ session: StorageSession) throws -> [Lack] {
    try session.rows(sql, place) { lack($0) }
  }

  private static func insert(_ lack: Lack, _ place: Int64, _ session: StorageSession) throws {
    let statement = try session.statement(
      """
      INSERT OR REPLACE INTO lack (place, event, createdAt, isDeletion, state, losses, changedAt, reason)
      VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''))
      """)
    try statement.run(
      place, lack.event.octets, lack.createdAt, lack.isDeletion, lack.state.rawValue, lack.lossCount, lack.changedAt,
      lack.reason ?? "")
  }

  private static func place(_ account: PublicKey, _ relay: String, _ session: StorageSession) throws -> Int64 {
    try session.run("INSERT OR IGNORE INTO place (account, relay) VALUES (?, ?)", account.octets, relay)
    return try session.count("SELECT number FROM place WHERE account = ? AND relay = ?", account.octets, relay)
  }
}

extension EventID {
  init?(_ row: StorageStatement, _ column: Int32) {
    guard let octets = row.withBytes(column, { Octets32($0) }) else { return nil }
    self.init(octets)
  }
}

extension PublicKey {
  init?(_ row: StorageStatement, _ column: Int32) {
    guard let octets = row.withBytes(column, { Octets32($0) }) else { return nil }
    self.init(octets)
  }
}
