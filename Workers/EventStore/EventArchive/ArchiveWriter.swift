internal import Cryptography
internal import EventIndex
internal import Nostr
internal import Storage

/// Stores events: the only place where the archive is changed. Lives for one transaction, on the writer's thread.
struct ArchiveWriter {
  /// What to apply to memory once this is committed.
  var change: ArchiveChange
  let session: StorageSession
  let maker: TermMaker
  /// The last seq whose words are indexed.
  let searchedSeq: Int64
  private let segments: [ArchiveMemory.Segment]
  private let memory: (UInt64) -> Int64?

  /// - Parameters:
  ///   - searchedSeq: the last seq whose words are indexed.
  ///   - segments: complete segments.
  ///   - memory: the seq of an id that is in memory, by its term.
  init(
    _ session: StorageSession, maker: TermMaker, lastSeq: Int64, searchedSeq: Int64,
    segments: [ArchiveMemory.Segment], memory: @escaping (UInt64) -> Int64?
  ) {
    self.searchedSeq = searchedSeq
    self.segments = segments
    self.session = session
    self.maker = maker
    self.memory = memory
    change = ArchiveChange(lastSeq: lastSeq)
  }

  /// Writes a batch, in order.
  mutating func write(_ entries: [ArchiveEntry], now: Int64) throws -> [StoreOutcome] {
    var outcomes: [StoreOutcome] = []
    outcomes.reserveCapacity(entries.count)
    for entry in entries {
      switch entry {
      case .event(let event): outcomes.append(try store(event, now: now))
      case .seen(let seq, let relay, let receivedAt, let rank):
        try noteAgain(seq, relay: relay, receivedAt: receivedAt, rank)
        outcomes.append(.duplicate(seq: seq))
      case .note(let note):
        try write(note)
        outcomes.append(.noted)
      }
    }
    return outcomes
  }

  /// Skips all seqs up to this one.
  mutating func skip(to seq: Int64) { change.lastSeq = max(change.lastSeq, seq) }

  /// Writes what the next start needs. The last step of a transaction.
  mutating func finish() throws {
    try session.write(property: "last-seq", change.lastSeq)
    for (segment, count) in change.goneBySegment {
      try run("UPDATE segment SET gone = gone + ? WHERE number = ?", count, segment)
    }
    change.usedByteCount = try session.usedByteCount()
    try add(change.eventCount, to: "event-count")
    try add(change.foreignByteCount, to: "foreign-bytes")
  }

  private func add(_ difference: Int64, to property: String) throws {
    guard difference != 0 else { return }
    try session.run(
      """
      INSERT INTO property (name, value) VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
      """, property, difference)
  }

  private mutating func store(_ event: VerifiedEvent, now: Int64) throws -> StoreOutcome {
    let indexed = event.indexed
    let idTerm = maker.term(id: indexed.id)
    if try hasVanished(indexed) { return .vanished }
    // Also for an event that is still stored, until it is swept.
    if let expiration = event.expiration, expiration <= now { return .expired }
    if let seq = try seq(ofID: idTerm) {
      let isMended = try mend(seq, by: event)
      try noteAgain(seq, relay: event.relay, receivedAt: event.receivedAt, event.rank)
      return isMended ? .mended(seq: seq) : .duplicate(seq: seq)
    }
    if try isDeleted(indexed) { return .deleted }
    let place = address(of: indexed)
    if let place, let rival = try occupant(of: place) {
      guard rival.isReplaced(by: indexed) else { return .superseded }
      try remove(rival.seq, rival)
    }
    change.lastSeq += 1
    let seq = change.lastSeq
    try insert(event, seq: seq, idTerm: idTerm)
    if let place { try occupy(place, seq) }
    if let relay = event.relay { try noteSeen(seq, relay: relay, receivedAt: event.receivedAt) }
    if indexed.kind == EventKind.deletion { try delete(as: indexed) }
    if event.isVanishRequest { try beginVanishing(indexed) }
    return .stored(seq: seq)
  }

  private mutating func insert(_ event: VerifiedEvent, seq: Int64, idTerm: UInt64) throws {
    let statement = try session.statement("INSERT INTO event (seq, time, kind, flags, json) VALUES (?, ?, ?, ?, ?)")
    try statement.run(seq, event.indexed.createdAt, event.indexed.kind, Self.flags(of: event), event.json)
    if let relay = event.uncheckedRelay { try noteUnchecked(seq, relay: relay) }
    change.ids[idTerm] = seq
    change.eventCount += 1
    change.storedCount += 1
    if event.rank == .foreign { change.foreignByteCount += Int64(event.json.count) }
    for term in maker.terms(of: event.indexed) {
      change.postings.append(Posting(term: term, time: event.indexed.createdAt, seq: seq))
    }
    guard let expiration = event.expiration else { return }
    try session.run("INSERT INTO expiry (time, seq) VALUES (?, ?)", expiration, seq)
  }

  private static func flags(of event: VerifiedEvent) -> Int64 {
    let isNeeded = ArchiveRetention.neededKinds.contains(event.indexed.kind)
    switch event.rank {
    case .foreign: return ArchiveRetention.foreignFlag
    case .ordinary: return isNeeded ? ArchiveRetention.neededFlag : 0
    case .kept: return ArchiveRetention.keptFlag | (isNeeded ? ArchiveRetention.neededFlag : 0)
    }
  }

  // MARK: Ids

  /// The seq of an id; nil when it is not stored.
  ///
  /// A term identifies the id. Two ids share one with a chance of 1 in 2^64, and an attacker without the key cannot
  /// raise it.
  func seq(ofID term: UInt64) throws -> Int64? {
    if let seq = change.ids[term] { return seq }
    if let seq = memory(term) { return change.removedIDs[term] == seq ? nil : seq }
    return try session.seq(ofStoredID: term)
  }

  // MARK: Places of replaceable events

  /// The present event at the address of a replaceable event.
  struct Occupant {
    let seq: Int64
    let indexed: IndexedEvent

    /// The newer event stays; of the same second, the one with the lower id (NIP-01).
    func isReplaced(by event: IndexedEvent) -> Bool {
      (event.createdAt, indexed.id) > (indexed.createdAt, event.id)
    }
  }

  private func address(of event: IndexedEvent) -> UInt64? {
    EventAddress(of: event).map { maker.term(address: $0.pubkey, kind: $0.kind, identifier: $0.identifier) }
  }

  private func occupant(of place: UInt64) throws -> Occupant? {
    let statement = try session.statement("SELECT seq FROM address WHERE term = ?", place)
    guard try statement.step() else { return nil }
    let seq = statement.number(0)
    statement.reset()
    return try stored(seq)
  }

  private func occupy(_ place: UInt64, _ seq: Int64) throws {
    try session.run("INSERT OR REPLACE INTO address (term, seq) VALUES (?, ?)", place, seq)
  }

  /// A stored event; nil when it is gone.
  func stored(_ seq: Int64) throws -> Occupant? {
    try session.event(seq) { scanned, bytes in Occupant(seq: seq, indexed: IndexedEvent(scanned, in: bytes)) }
  }

  // MARK: Removing

  /// Removes an event; for a foreign one, also the tombstones that it made.
  mutating func remove(_ seq: Int64, _ event: Occupant) throws {
    let asksEveryRelay =
      try event.indexed.kind == EventKind.vanish && session.event(seq) { $0.asksEveryRelay(in: $1) } ?? false
    change.eventCount -= 1
    change.gone.append(event.indexed.id)
    let idTerm = maker.term(id: event.indexed.id)
    if change.ids[idTerm] == seq { change.ids[idTerm] = nil } else { change.removedIDs[idTerm] = seq }
    countGone(seq)
    try removeWords(seq)
    if try removeRow(seq) { try unbury(as: event.indexed, asksEveryRelay: asksEveryRelay) }
    if let place = address(of: event.indexed) {
      try run("DELETE FROM address WHERE term = ? AND seq = ?", Int64(bitPattern: place), seq)
    }
    try run("DELETE FROM seen WHERE seq = ?", seq)
    try run("DELETE FROM unchecked WHERE seq = ?", seq)
    try run("DELETE FROM identity WHERE term = ?", Int64(bitPattern: idTerm))
  }

  /// Removes the row of an event, and subtracts its bytes if it is foreign. Returns whether it was foreign.
  @discardableResult
  mutating func removeRow(_ seq: Int64) throws -> Bool {
    let deletion = try session.statement("DELETE FROM event WHERE seq = ? RETURNING flags, length(json)", seq)
    guard try deletion.step() else { return false }
    defer { deletion.reset() }
    guard deletion.number(0) == ArchiveRetention.foreignFlag else { return false }
    change.foreignByteCount -= deletion.number(1)
    return true
  }

  /// Notes that the postings of a seq refer to no event.
  mutating func countGone(_ seq: Int64) {
    guard let segment = segments.first(where: { $0.firstSeq <= seq && seq <= $0.lastSeq }) else { return }
    change.goneBySegment[segment.number, default: 0] += 1
  }

  func run(_ sql: String, _ first: Int64, _ second: Int64? = nil) throws {
    let statement = try session.statement(sql, first)
    if let second { statement.bind(second, at: 2) }
    try statement.run()
  }

  // MARK: Deletions

  /// Whether a request to vanish covers the event. An author who has vanished has no events from before, deletions and
  /// earlier requests included (NIP-62), even while they are still being removed.
  private func hasVanished(_ event: IndexedEvent) throws -> Bool {
    try event.goesWith.contains { author in
      try tombstone(maker.term(author: author)).map { event.isCovered(upTo: $0) } ?? false
    }
  }

  private func isDeleted(_ event: IndexedEvent) throws -> Bool {
    guard Self.canBeDeleted(event.kind) else { return false }
    for person in event.goesWith where try tombstone(maker.term(id: event.id, author: person)) != nil { return true }
    guard let place = address(of: event), let until = try tombstone(place) else { return false }
    return event.createdAt <= until
  }

  private func tombstone(_ term: UInt64) throws -> Int64? {
    return try session.first("SELECT until FROM tombstone WHERE term = ?", term) { $0.number(0) }
  }

  private func bury(_ term: UInt64, until: Int64) throws {
    try run(
      """
      INSERT INTO tombstone (term, until) VALUES (?, ?)
      ON CONFLICT (term) DO UPDATE SET until = max(until, excluded.until)
      """, Int64(bitPattern: term), until)
  }

  /// Carries out a deletion: only events of its author and gift wraps to it, including later copies (NIP-09, NIP-59).
  private mutating func delete(as request: IndexedEvent) throws {
    for tag in request.tags {
      switch tag.letter.ascii {
      case UInt8(ascii: "e"):
        guard let id = EventID(hex: tag.value.utf8) else { continue }
        try bury(maker.term(id: id, author: request.pubkey), until: .max)
        guard let seq = try seq(ofID: maker.term(id: id)), let event = try stored(seq) else { continue }
        guard event.indexed.goesWith.contains(request.pubkey), Self.canBeDeleted(event.indexed.kind) else { continue }
        try remove(seq, event)
      case UInt8(ascii: "a"):
        guard let address = EventAddress(tag.value.description), address.pubkey == request.pubkey else { continue }
        let place = maker.term(address: address.pubkey, kind: address.kind, identifier: address.identifier)
        try bury(place, until: request.createdAt)
        guard let event = try occupant(of: place), event.indexed.createdAt <= request.createdAt else { continue }
        try remove(event.seq, event)
      default: continue
      }
    }
  }

  /// Removes the tombstones of a foreign deletion or request to vanish together with it. Otherwise deletions of events
  /// that never existed would keep tombstones for ever, and push out all other events. An event that its author asked
  /// twice to delete may then come back.
  ///
  /// - Parameter asksEveryRelay: whether it is a request to vanish to all relays. A request to single relays has made
  ///   no tombstone, and must not remove that of another request.
  func unbury(as request: IndexedEvent, asksEveryRelay: Bool) throws {
    switch request.kind {
    case EventKind.deletion:
      for tag in request.tags {
        switch tag.letter.ascii {
        case UInt8(ascii: "e"):
          guard let id = EventID(hex: tag.value.utf8) else { continue }
          try unbury(maker.term(id: id, author: request.pubkey), until: .max)
        case UInt8(ascii: "a"):
          guard let address = EventAddress(tag.value.description), address.pubkey == request.pubkey else { continue }
          let place = maker.term(address: address.pubkey, kind: address.kind, identifier: address.identifier)
          try unbury(place, until: request.createdAt)
        default: continue
        }
      }
    case EventKind.vanish where asksEveryRelay: try unbury(maker.term(author: request.pubkey), until: request.createdAt)
    default: break
    }
  }

  func unbury(_ term: UInt64, until: Int64) throws {
    try run("DELETE FROM tombstone WHERE term = ? AND until <= ?", Int64(bitPattern: term), until)
  }

  /// Deletions and requests to vanish cannot be deleted (NIP-09, NIP-62).
  private static func canBeDeleted(_ kind: UInt16) -> Bool { kind != EventKind.deletion && kind != EventKind.vanish }

  /// From now on the archive accepts none of this author's earlier events; ``removeVanished(limit:memory:now:)``
  /// removes the stored ones.
  private mutating func beginVanishing(_ request: IndexedEvent) throws {
    change.vanishing[request.pubkey] = max(change.vanishing[request.pubkey] ?? .min, request.createdAt)
    try bury(maker.term(author: request.pubkey), until: request.createdAt)
    try session.run(
      """
      INSERT INTO vanishing (author, until) VALUES (?, ?)
      ON CONFLICT (author) DO UPDATE SET until = max(until, excluded.until)
      """, request.pubkey.description, request.createdAt)
  }

  // MARK: Where seen

  /// A stored event came again. It may have been removed since the look-up.
  private mutating func noteAgain(
    _ seq: Int64, relay: Int64?, receivedAt: Int64, _ rank: RetentionRank
  ) throws {
    if rank == .kept { try keep(seq) }
    if rank == .ordinary { try adopt(seq) }
    guard let relay else { return }
    try session.run(
      """
      INSERT OR IGNORE INTO seen (seq, relay, time)
      SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM event WHERE seq = ?1)
      """, seq, relay, receivedAt)
    if session.changedRowCount > 0 { change.newSightings.insert(SeenPlace(seq: seq, relay: relay)) }
  }

  /// From now on the event is never removed to make room.
  mutating func keep(_ seq: Int64) throws {
    let statement = try session.statement(
      "UPDATE event SET flags = flags | 1 WHERE seq = ? AND flags & 1 = 0 RETURNING flags & 4, length(json)", seq)
    guard try statement.step() else { return }
    if statement.number(0) != 0 { change.foreignByteCount -= statement.number(1) }
    statement.reset()
  }

  /// From now on the event is no longer foreign: a relay sends it too.
  private mutating func adopt(_ seq: Int64) throws {
    let statement = try session.statement(
      """
      UPDATE event SET flags = iif(kind IN (\(Self.neededKinds)), 2, 0)
      WHERE seq = ? AND flags = 4 RETURNING length(json)
      """, seq)
    guard try statement.step() else { return }
    change.foreignByteCount -= statement.number(0)
    statement.reset()
  }

  private static let neededKinds = ArchiveRetention.neededKinds.sorted().map { "\($0)" }.joined(separator: ", ")

  private func noteSeen(_ seq: Int64, relay: Int64, receivedAt: Int64) throws {
    try session.run("INSERT OR IGNORE INTO seen (seq, relay, time) VALUES (?, ?, ?)", seq, relay, receivedAt)
  }
}
