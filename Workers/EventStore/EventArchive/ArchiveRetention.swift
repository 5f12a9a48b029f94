public import Cryptography
internal import EventIndex
public import Nostr
public import Storage

// Makes room. The size that counts is that of the pages in use: a removal leaves free pages, which are used again
// before the file grows. The file itself does not become smaller.
//
// The order of removal: first the foreign events that clients of this machine handed in, in the order in which they
// came, because their authors chose `created_at`. Then, of the events that nothing protects, those that claim to be
// from the future, which have no usable age, and after them the oldest by `created_at`. Profiles, contact lists, relay
// lists and the like of any author are small and needed for nearly everything, and deletions are small and concern
// other events: they are removed last (`ArchiveRetention.neededKinds`). What was published here, and what an own author
// wrote, is never removed. That an event was deleted, or that an author vanished, is kept in tombstones and not in
// events, so it outlives the removal of the request; only the tombstones of a foreign request are removed with it.
//
// Foreign events also have a limit of their own, so a client that hands in millions does not fill the disk. An event
// that a relay sends too is no longer foreign. So no relay has sent a foreign event, the coverage of no relay includes
// it, and coverage remains valid when it is removed.
//
// Postings of removed events stay behind. When a quarter of a segment's events is gone, for whatever reason, the
// segment is trimmed (`ArchiveTrimming`), so that old postings do not use up the room that was made.

/// When an event is removed, if room is needed.
public enum RetentionRank: Sendable, Hashable {
  /// Never: an own account signed it, or it was published here.
  case kept
  /// When it is the oldest: a relay sent it, or it was imported.
  case ordinary
  /// Before all others, and always while foreign events are above ``ArchiveRetention/foreignByteLimit``. A client of
  /// this machine handed it in, no own account signed it, and no relay has sent it. Becomes `ordinary` when a relay
  /// sends it, and `kept` when it is published here.
  case foreign
}

/// What may be removed to make room.
public struct ArchiveRetention: Sendable, Hashable {
  /// The bytes that the database may use; nil: as many as there is room for.
  public var byteLimit: Int64?
  /// Authors whose events are never removed.
  public var keptAuthors: Set<PublicKey>
  /// The bytes of JSON that all foreign events may have; nil: as many as there is room for.
  public var foreignByteLimit: Int64?

  /// The bits of an event's flags: 1 is never removed, 2 is removed last, 4 is removed first.
  static let keptFlag: Int64 = 1
  static let neededFlag: Int64 = 2
  static let foreignFlag: Int64 = 4

  /// The rank that the flags encode.
  static func rank(flags: Int64) -> RetentionRank {
    if flags & keptFlag != 0 { return .kept }
    return flags & foreignFlag != 0 ? .foreign : .ordinary
  }

  /// Kinds that are removed last: profiles, contacts, deletions, requests to vanish, lists of relays.
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

  /// The size at which removal stops: a sixteenth below the limit, so that room is made at once, and not again after
  /// every event.
  var byteGoal: Int64? { byteLimit.map { $0 - $0 / 16 } }
  /// The same for foreign events.
  var foreignByteGoal: Int64? { foreignByteLimit.map { $0 - $0 / 16 } }
}

/// Decides when room is made: above the limit, until the goal is reached. So it does not begin again for every event.
public struct RetentionGauge: Sendable, Hashable {
  /// How much room there is, for reports. A new search after `exhausted` changes nothing here until there is room.
  public enum Room: Sendable, Hashable {
    /// The size is below the limit, or was brought below it. The next state may be `making`.
    case below
    /// The size is above the limit, and the oldest events are removed. Any state may be next.
    case making
    /// The size is above the limit, and no event may be removed. The next state may be `below`.
    case exhausted
  }

  /// How much room there is, as of the last ``isDue(usedByteCount:foreignByteCount:_:)``.
  public private(set) var room = Room.below
  /// Whether room is being made.
  public private(set) var isUnderWay = false
  /// Whether no event was left that may be removed. The search starts again after ``lookAgain()``.
  public private(set) var isExhausted = false
  /// Whether foreign events are above their limit. They are removed until a sixteenth of it is free.
  public private(set) var isForeignDue = false

  /// No measurement yet.
  public init() {}

  /// Whether the next slice should be removed.
  ///
  /// - Parameters:
  ///   - usedByteCount: the bytes of the database in use.
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

  /// No event is left that may be removed.
  public mutating func exhausted() { isExhausted = true }

  /// There may be events to remove again.
  public mutating func lookAgain() { isExhausted = false }
}

extension EventArchive {
  /// The most events that one transaction removes, or finds to be kept.
  static let evictionEventCount = 500
  /// An event is from the future when it is more than this many seconds ahead.
  static let futureSeconds: Int64 = 86_400

  /// Removes a slice of events to make room, down to the goals at most.
  ///
  /// - Parameters:
  ///   - retention: what may be removed.
  ///   - now: seconds since 1970.
  /// - Returns: the ids removed, and whether no event was left that may be removed.
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
      // The limit of foreign events is no reason to remove other events.
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
  /// The foreign events that came first, from an index for them.
  fileprivate func foreign(limit: Int) throws -> [Int64] {
    let statement = try session.statement("SELECT seq FROM event WHERE flags = 4 ORDER BY seq LIMIT ?", limit)
    return try seqs(of: statement)
  }

  /// Without foreign events there are no bytes of them: whatever made the count wrong, it is right again.
  fileprivate mutating func forgetForeignBytes() throws {
    change.foreignByteCount = -(try session.property("foreign-bytes") ?? 0)
  }

  /// The events that are removed first, among those that are not foreign. Each of the three queries has an index of its
  /// own.
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

  /// Removes as many events as necessary; few if they are large. Returns the newest `created_at` of the removed events
  /// that are not from the future and came from a relay: up to it, the events of relays are no longer complete here.
  fileprivate mutating func evict(_ seqs: [Int64], _ retention: ArchiveRetention, now: Int64) throws -> Int64? {
    var newest: Int64?
    let foreignByteCount = try session.property("foreign-bytes") ?? 0
    for seq in seqs {
      // The count already includes pages that this transaction has freed.
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

  /// Whether the coverage of a relay may include an event. It may for all but foreign events, and for a foreign event
  /// that a relay has sent; earlier versions left such events.
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
