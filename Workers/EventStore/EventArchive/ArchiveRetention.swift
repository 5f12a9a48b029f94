public import Cryptography
internal import EventIndex
public import Nostr
public import Storage

// Making room. The size that counts is that of the pages in use: what is removed leaves pages free, which are used
// again before the file grows. The file itself does not become smaller.
//
// What goes first. Foreign events that clients of this machine handed in, in the order in which they came: their
// authors chose `created_at`. Then of what nothing protects the oldest by `created_at`, after what claims to be of the
// future, which has no age to go by. Profiles, contact lists, relay lists and the like of anybody are small and needed
// for nearly everything, and deletions are small and speak for others: they go last (`ArchiveRetention.neededKinds`).
// What was published here, and what an author of one's own wrote, never goes. That an event was deleted or an author
// has vanished is not remembered in events but beside them, and stays also when the request goes.
//
// Foreign events have a limit of their own besides, so that a client that hands in millions fills no disk. An event
// that a relay sends as well is foreign no longer. So a foreign event is nothing that a relay has brought, no coverage
// of a relay speaks of it, and what is known of coverage stays when it goes.
//
// Postings of removed events are left behind, as always, and a segment of which a quarter is gone, whatever took it, is
// trimmed (`ArchiveTrimming`), so that they do not fill in the end the room that was made.

/// When an event goes, if room is needed.
public enum RetentionRank: Sendable, Hashable {
  /// Never: an account signed it, or it was published here.
  case kept
  /// When it is the oldest: a relay sent it, or it was imported.
  case ordinary
  /// Before all others, and above ``ArchiveRetention/foreignByteLimit`` in any case: a client of this machine handed it
  /// in, no account signed it, and no relay has sent it. Becomes `ordinary` when a relay sends it, `kept` when it is
  /// published here.
  case foreign
}

/// What may be removed to make room.
public struct ArchiveRetention: Sendable, Hashable {
  /// Bytes the database may have in use; nil: as many as there is room for.
  public var byteLimit: Int64?
  /// Authors whose events are never removed.
  public var keptAuthors: Set<PublicKey>
  /// Bytes of JSON that foreign events may have together; nil: as many as there is room for.
  public var foreignByteLimit: Int64?

  /// Bits of an event's flags: 1 never goes, 2 goes last, 4 goes first.
  static let keptFlag: Int64 = 1
  static let neededFlag: Int64 = 2
  static let foreignFlag: Int64 = 4

  /// The rank that flags were made of.
  static func rank(flags: Int64) -> RetentionRank {
    if flags & keptFlag != 0 { return .kept }
    return flags & foreignFlag != 0 ? .foreign : .ordinary
  }

  /// Kinds that go last: profiles, contacts, deletions, requests to vanish, lists of relays.
  public static let neededKinds: Set<UInt16> = [
    EventKind.metadata, EventKind.follows, EventKind.deletion, EventKind.vanish, EventKind.relayList,
    EventKind.directMessageRelays,
  ]

  /// What may be removed.
  public init(byteLimit: Int64? = nil, keptAuthors: Set<PublicKey> = [], foreignByteLimit: Int64? = nil) {
    self.byteLimit = byteLimit
    self.keptAuthors = keptAuthors
    self.foreignByteLimit = foreignByteLimit
  }

  /// What is removed down to: a sixteenth below the limit, so that room is made in one go, and not again after every
  /// event.
  var byteGoal: Int64? { byteLimit.map { $0 - $0 / 16 } }
  /// The same for foreign events.
  var foreignByteGoal: Int64? { foreignByteLimit.map { $0 - $0 / 16 } }
}

/// Says when room is made: from above the limit down to the goal, and not for every event that is above one of them.
public struct RetentionGauge: Sendable, Hashable {
  /// How much room there is, as somebody is told: to look again where nothing was left is no news until there is room.
  public enum Room: Sendable, Hashable {
    /// The size is below the limit, or was brought below it. May become `making`.
    case below
    /// It is above, and what is oldest goes. May become any.
    case making
    /// It is above, and nothing is left that may be removed. May become `below`.
    case exhausted
  }

  /// How much room there is, as of the last ``isDue(usedByteCount:foreignByteCount:_:)``.
  public private(set) var room = Room.below
  /// Whether room is being made.
  public private(set) var isUnderWay = false
  /// Whether nothing was left that may be removed. It is looked for again after ``lookAgain()``.
  public private(set) var isExhausted = false
  /// Whether foreign events are above their limit, and go until a sixteenth of it is free.
  public private(set) var isForeignDue = false

  /// Nothing measured.
  public init() {}

  /// Whether the next slice is to be removed.
  ///
  /// - Parameters:
  ///   - usedByteCount: bytes in use of the database.
  ///   - foreignByteCount: bytes of the foreign events in it.
  ///   - retention: what may be removed.
  public mutating func isDue(
    usedByteCount: Int64, foreignByteCount: Int64 = 0, _ retention: ArchiveRetention
  ) -> Bool {
    measure(usedByteCount: usedByteCount, retention)
    if foreignByteCount > retention.foreignByteLimit ?? .max { isForeignDue = true }
    if foreignByteCount <= retention.foreignByteGoal ?? .max { isForeignDue = false }
    switch (isUnderWay, isExhausted && usedByteCount > retention.byteLimit ?? .max) {
    case (_, true): room = .exhausted
    case (true, false): room = room == .exhausted ? .exhausted : .making
    case (false, false): room = .below
    }
    return isUnderWay || isForeignDue
  }

  private mutating func measure(usedByteCount: Int64, _ retention: ArchiveRetention) {
    guard let limit = retention.byteLimit, let goal = retention.byteGoal, !isExhausted else {
      isUnderWay = false
      return
    }
    if usedByteCount > limit { isUnderWay = true }
    if usedByteCount <= goal { isUnderWay = false }
  }

  /// Nothing more may be removed.
  public mutating func exhausted() { isExhausted = true }

  /// Something may have changed.
  public mutating func lookAgain() { isExhausted = false }
}

extension EventArchive {
  /// Most events removed, or found to be kept, in one transaction.
  static let evictionEventCount = 500
  /// An event is of the future when it is so many seconds ahead.
  static let futureSeconds: Int64 = 86_400

  /// Removes a slice of events to make room, down to the goals at most.
  ///
  /// - Parameters:
  ///   - retention: what may be removed.
  ///   - now: seconds since 1970.
  /// - Returns: the ids removed, and whether anything was found that might be removed.
  public func evict(
    _ retention: ArchiveRetention, now: Int64
  ) async throws(StorageFault) -> (gone: [EventID], isExhausted: Bool) {
    let written = try await file.write(
      { [self] session in try evict(retention, now: now, session) }, onCommit: { [self] in apply($0.written) })
    return (written.written.change.gone, written.isExhausted)
  }

  /// The same, waiting on this thread.
  public func evictNow(
    _ retention: ArchiveRetention, now: Int64
  ) throws(StorageFault) -> (gone: [EventID], isExhausted: Bool) {
    let written = try file.writeNow(
      { session in try evict(retention, now: now, session) }, onCommit: { apply($0.written) })
    return (written.written.change.gone, written.isExhausted)
  }

  private struct Evicted: Sendable {
    let written: Written
    let isExhausted: Bool
  }

  private func evict(_ retention: ArchiveRetention, now: Int64, _ session: StorageSession) throws -> Evicted {
    var writer = writer(session)
    var seqs = try writer.foreign(limit: Self.evictionEventCount)
    var isExhausted = false
    if seqs.isEmpty {
      try writer.forgetForeignBytes()
      // The limit of foreign events is no reason to remove others.
      if try session.usedByteCount() > retention.byteGoal ?? .max {
        seqs = try writer.evictable(limit: Self.evictionEventCount, future: now + Self.futureSeconds)
        isExhausted = seqs.isEmpty
      }
    }
    if let newest = try writer.evict(seqs, retention, now: now) {
      try writer.forgetCoverage(upTo: newest)
    }
    try writer.finish()
    return Evicted(written: Written(outcomes: [], change: writer.change), isExhausted: isExhausted)
  }
}

extension ArchiveWriter {
  /// The foreign events that came first, from an index of their own.
  fileprivate func foreign(limit: Int) throws -> [Int64] {
    let statement = try session.statement("SELECT seq FROM event WHERE flags = 4 ORDER BY seq LIMIT ?", limit)
    return try seqs(of: statement)
  }

  /// There are no foreign events, so they have no bytes: whatever made the count wrong, it is right from here on.
  fileprivate mutating func forgetForeignBytes() throws {
    change.foreignByteCount = -(try session.property("foreign-bytes") ?? 0)
  }

  /// Of the others those that go first. Each of the three is answered from an index of its own.
  fileprivate func evictable(limit: Int, future: Int64) throws -> [Int64] {
    for (sql, bound) in [
      ("SELECT seq FROM event WHERE flags = 0 AND time > ? ORDER BY time DESC LIMIT ?", future),
      ("SELECT seq FROM event WHERE flags = 0 AND time > ? ORDER BY time LIMIT ?", .min),
      ("SELECT seq FROM event WHERE flags = 2 AND time > ? ORDER BY time LIMIT ?", .min),
    ] {
      let statement = try session.statement(sql, bound, limit)
      let found = try seqs(of: statement)
      guard found.isEmpty else { return found }
    }
    return []
  }

  private func seqs(of statement: StorageStatement) throws -> [Int64] {
    var seqs: [Int64] = []
    while try statement.step() { seqs.append(statement.number(0)) }
    return seqs
  }

  /// Removes as many as it takes, of large events few. Returns the newest `created_at` of what was removed, is not in
  /// the future and came from a relay: what is here of relays is no longer complete up to it.
  fileprivate mutating func evict(_ seqs: [Int64], _ retention: ArchiveRetention, now: Int64) throws -> Int64? {
    var newest: Int64?
    let foreignByteCount = try session.property("foreign-bytes") ?? 0
    for seq in seqs {
      // Pages that became free in this transaction are counted already.
      let isAbove = try session.usedByteCount() > retention.byteGoal ?? .max
      guard isAbove || foreignByteCount + change.foreignByteCount > retention.foreignByteGoal ?? .max else { break }
      guard let event = try stored(seq) else { continue }
      if retention.keptAuthors.contains(event.indexed.pubkey) {
        try keep(seq)
        continue
      }
      let isCovered = try mayBeCovered(seq)
      try remove(seq, event)
      if isCovered, event.indexed.createdAt <= now { newest = max(newest ?? .min, event.indexed.createdAt) }
    }
    return newest
  }

  /// Whether the coverage of a relay may speak of an event: of all but foreign ones, and of a foreign one that a relay
  /// has sent, as earlier versions left it.
  private func mayBeCovered(_ seq: Int64) throws -> Bool {
    let statement = try session.statement(
      "SELECT flags <> 4 OR EXISTS (SELECT 1 FROM seen WHERE seen.seq = event.seq) FROM event WHERE seq = ?", seq)
    guard try statement.step() else { return false }
    defer { statement.reset() }
    return statement.number(0) != 0
  }
}

extension StorageSession {
  /// Bytes of the pages that are in use.
  func usedByteCount() throws -> Int64 {
    func value(_ pragma: String) throws -> Int64 {
      let statement = try statement("PRAGMA \(pragma)")
      guard try statement.step() else { return 0 }
      defer { statement.reset() }
      return statement.number(0)
    }
    return try (value("page_count") - value("freelist_count")) * value("page_size")
  }
}
