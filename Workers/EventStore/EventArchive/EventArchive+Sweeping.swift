internal import Cryptography
internal import EventIndex
internal import Nostr
public import Storage

// Removes events that have expired (NIP-40), and those of authors who have vanished (NIP-62), a slice at a time, so
// that a caller that stores an event waits for one slice at most. Readers skip both kinds before they are removed.

extension EventArchive {
  /// Most events removed in one transaction.
  public static let sweepEventCount = 500

  /// Whether events of an author who has vanished are still being removed. No answer contains them meanwhile.
  public var isAnyoneVanishing: Bool { !memory.vanishing.isEmpty }

  /// Removes a slice of expired events and those of vanished authors.
  ///
  /// - Returns: the ids removed; fewer than ``sweepEventCount`` mean that nothing is left to remove now.
  public func sweep(now: Int64) async throws(StorageFault) -> ArchiveCommit {
    try await file.write({ [self] session in try sweep(now: now, session) }, onCommit: { [self] in apply($0) }).commit
  }

  /// The same, waiting on this thread.
  public func sweepNow(now: Int64) throws(StorageFault) -> ArchiveCommit {
    try file.writeNow({ session in try sweep(now: now, session) }, onCommit: { apply($0) }).commit
  }

  private func sweep(now: Int64, _ session: StorageSession) throws -> Written {
    var writer = writer(session)
    let room = try Self.sweepEventCount - writer.removeExpired(limit: Self.sweepEventCount, now: now)
    if room > 0 { try writer.removeVanished(limit: room, memory: memory, now: now) }
    try writer.trimNotes()
    try writer.finish()
    return Written(outcomes: [], change: writer.change)
  }
}

extension ArchiveWriter {
  /// Removes expired events. Returns how many entries of the expiry list were processed.
  mutating func removeExpired(limit: Int, now: Int64) throws -> Int {
    let statement = try session.statement(
      "SELECT time, seq FROM expiry WHERE time <= ? ORDER BY time LIMIT ?", now, limit)
    var ends: [(time: Int64, seq: Int64)] = []
    while try statement.step() { ends.append((statement.number(0), statement.number(1))) }
    for end in ends {
      try run("DELETE FROM expiry WHERE time = ? AND seq = ?", end.time, end.seq)
      if let event = try stored(end.seq) { try remove(end.seq, event) }
    }
    return ends.count
  }

  /// Removes events of an author who has vanished, and gift wraps to that author (NIP-62). The author is done when
  /// nothing more is found.
  mutating func removeVanished(limit: Int, memory: ArchiveMemory, now: Int64) throws {
    let statement = try session.statement("SELECT author, until FROM vanishing LIMIT 1")
    guard try statement.step() else { return }
    let (text, until) = (statement.text(0), statement.number(1))
    statement.reset()
    // This reader must still see the events that are hidden from all others.
    var memory = memory
    memory.vanishing = [:]
    let reader = ArchiveReader(session: session, maker: maker, memory: memory)
    let author = PublicKey(text)
    let filters = author.map { author in
      [
        Filter(authors: [author], until: until),
        TagLetter("p").map {
          Filter(kinds: [EventKind.giftWrap], tags: [$0: [TagValue(author.description)]], until: until)
        },
      ].compactMap { $0 }
    }
    var (isDone, room) = (true, limit)
    for filter in filters ?? [] {
      // The limit leaves room for the author's requests to vanish of that second, which stay and are found each time.
      let found = try reader.block(
        SearchingMatcher(filter), after: nil, limit: limit + Self.vanishRequestMaximum, now: .min
      ).events()
      let going = found.filter { $0.indexed.isCovered(upTo: until) }.prefix(room)
      for event in going { try remove(event.seq, Occupant(seq: event.seq, indexed: event.indexed)) }
      room -= going.count
      if !going.isEmpty || room == 0 { isDone = false }
    }
    guard isDone else { return }
    if let author { change.vanished[author] = until }
    try session.run("DELETE FROM vanishing WHERE author = ? AND until = ?", text, until)
  }

  /// The most requests to vanish, of one author and one second, that are skipped to find the author's other events.
  private static let vanishRequestMaximum = 1_000
}
