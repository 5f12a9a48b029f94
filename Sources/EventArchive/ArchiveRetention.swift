public import Cryptography
internal import EventIndex
public import Nostr
public import Storage

// Making room. The size that counts is that of the pages in use: what is removed leaves pages free, which are used
// again before the file grows. The file itself does not become smaller.
//
// Who goes first. Of what nobody protects the oldest by `created_at`, after what claims to be of the future, which has
// no age to go by. Profiles, contact lists, relay lists and the like of anybody are small and needed for nearly
// everything, and deletions are small and speak for others: they go last (`ArchiveRetention.neededKinds`). What was
// published here, and what an author of one's own wrote, never goes. That an event was deleted or an author has
// vanished is not remembered in events but beside them, and stays also when the request goes.
//
// Postings of removed events are left behind, as always, and a segment of which a quarter is gone, whatever took it, is
// trimmed (`ArchiveTrimming`), so that they do not fill in the end the room that was made.

/// What may be removed to make room.
public struct ArchiveRetention: Sendable, Hashable {
  /// Bytes the database may have in use; nil: as many as there is room for.
  public var byteLimit: Int64?
  /// Authors whose events are never removed.
  public var keptAuthors: Set<PublicKey>

  /// Bits of an event's flags: 1 never goes, 2 goes last.
  static let keptFlag: Int64 = 1
  static let neededFlag: Int64 = 2

  /// Kinds that go last: profiles, contacts, deletions, requests to vanish, lists of relays.
  public static let neededKinds: Set<UInt16> = [
    EventKind.metadata, EventKind.follows, EventKind.deletion, EventKind.vanish, EventKind.relayList,
    EventKind.directMessageRelays,
  ]

  /// What may be removed.
  public init(byteLimit: Int64? = nil, keptAuthors: Set<PublicKey> = []) {
    self.byteLimit = byteLimit
    self.keptAuthors = keptAuthors
  }

  /// What is removed down to: a sixteenth below the limit, so that room is made in one go, and not again after every
  /// event.
  var byteGoal: Int64? { byteLimit.map { $0 - $0 / 16 } }
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

  /// How much room there is, as of the last ``isDue(usedByteCount:_:)``.
  public private(set) var room = Room.below
  /// Whether room is being made.
  public private(set) var isUnderWay = false
  /// Whether nothing was left that may be removed. It is looked for again after ``lookAgain()``.
  public private(set) var isExhausted = false

  /// Nothing measured.
  public init() {}

  /// Whether the next slice is to be removed.
  public mutating func isDue(usedByteCount: Int64, _ retention: ArchiveRetention) -> Bool {
    measure(usedByteCount: usedByteCount, retention)
    switch (isUnderWay, isExhausted && usedByteCount > retention.byteLimit ?? .max) {
    case (_, true): room = .exhausted
    case (true, false): room = room == .exhausted ? .exhausted : .making
    case (false, false): room = .below
    }
    return isUnderWay
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

  /// Removes a slice of events to make room, down to the goal at most.
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
    let seqs = try writer.evictable(limit: Self.evictionEventCount, future: now + Self.futureSeconds)
    if let newest = try writer.evict(seqs, retention, now: now) {
      try writer.forgetCoverage(upTo: newest)
    }
    try writer.finish()
    return Evicted(written: Written(outcomes: [], change: writer.change), isExhausted: seqs.isEmpty)
  }
}

extension ArchiveWriter {
  /// The events that go first. Each of the three is answered from an index of its own.
  fileprivate func evictable(limit: Int, future: Int64) throws -> [Int64] {
    var seqs: [Int64] = []
    for (sql, bound) in [
      ("SELECT seq FROM event WHERE flags = 0 AND time > ? ORDER BY time DESC LIMIT ?", future),
      ("SELECT seq FROM event WHERE flags = 0 AND time > ? ORDER BY time LIMIT ?", .min),
      ("SELECT seq FROM event WHERE flags = 2 AND time > ? ORDER BY time LIMIT ?", .min),
    ] where seqs.isEmpty {
      let statement = try session.statement(sql)
      statement.bind(bound, at: 1)
      statement.bind(Int64(limit), at: 2)
      while try statement.step() { seqs.append(statement.number(0)) }
    }
    return seqs
  }

  /// Removes as many as it takes, of large events few. Returns the newest `created_at` of what was removed and is not
  /// in the future: nothing up to it is complete any more.
  fileprivate mutating func evict(_ seqs: [Int64], _ retention: ArchiveRetention, now: Int64) throws -> Int64? {
    var newest: Int64?
    for seq in seqs {
      // Pages that became free in this transaction are counted already.
      guard try session.usedByteCount() > retention.byteGoal ?? .max else { break }
      guard let event = try stored(seq) else { continue }
      if retention.keptAuthors.contains(event.indexed.pubkey) {
        try run("UPDATE event SET flags = flags | 1 WHERE seq = ?", seq)
        continue
      }
      try remove(seq, event)
      if event.indexed.createdAt <= now { newest = max(newest ?? .min, event.indexed.createdAt) }
    }
    return newest
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
