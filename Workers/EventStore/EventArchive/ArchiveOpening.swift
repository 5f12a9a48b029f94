internal import Cryptography
internal import EventIndex
internal import Nostr
internal import Storage

/// What is done once, when an archive is opened.
struct ArchiveOpening: Sendable {
  let maker: TermMaker
  let memory: ArchiveMemory
  let lastSeq: Int64
  let eventCount: Int64
  let searchedSeq: Int64
  let usedByteCount: Int64
  let foreignByteCount: Int64

  static func open(_ session: StorageSession) throws -> ArchiveOpening {
    let maker = TermMaker(try key(session))
    try removeIncompleteSegments(session)
    var memory = ArchiveMemory()
    memory.segments = try segments(session)
    memory.vanishing = try vanishing(session)
    var lastSeq = try session.property("last-seq") ?? 0
    let firstSeq = (memory.segments.last?.lastSeq ?? 0) + 1
    memory.generations = [ArchiveMemory.Generation(firstSeq: firstSeq)]
    lastSeq = max(lastSeq, try readTail(from: firstSeq, session, maker, &memory.generations[0]))
    return ArchiveOpening(
      maker: maker, memory: memory, lastSeq: lastSeq, eventCount: try session.property("event-count") ?? 0,
      searchedSeq: try searchedSeq(session), usedByteCount: try session.usedByteCount(),
      foreignByteCount: try session.property("foreign-bytes") ?? 0)
  }

  /// The database's own key. The first call makes it.
  private static func key(_ session: StorageSession) throws -> SipHash {
    let statement = try session.statement("SELECT value FROM property WHERE name = 'term-key'")
    if try statement.step() {
      let bytes = statement.bytes(0)
      statement.reset()
      guard bytes.count == 16 else {
        throw StorageFault(.corrupt, path: session.path, "its key for terms has \(bytes.count) bytes instead of 16")
      }
      return hash(bytes)
    }
    let bytes = RandomBytes.make(16)
    try session.run("INSERT INTO property (name, value) VALUES ('term-key', ?)", bytes)
    return hash(bytes)
  }

  private static func hash(_ bytes: [UInt8]) -> SipHash {
    let words = [0, 8].map { start in
      (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
    }
    return SipHash(key: words[0], words[1])
  }

  /// The last seq whose words are indexed. An index made by other rules is discarded, because a removal must name
  /// exactly the words that were inserted.
  private static func searchedSeq(_ session: StorageSession) throws -> Int64 {
    if try session.property("search-version") == SearchedText.version {
      return try session.property("searched-seq") ?? 0
    }
    try session.execute("INSERT INTO search (search) VALUES ('delete-all')")
    try session.write(property: "searched-seq", 0)
    try session.write(property: "search-version", SearchedText.version)
    return 0
  }

  private static func vanishing(_ session: StorageSession) throws -> [PublicKey: Int64] {
    let statement = try session.statement("SELECT author, until FROM vanishing")
    var authors: [PublicKey: Int64] = [:]
    while try statement.step() {
      guard let author = PublicKey(statement.text(0)) else {
        statement.reset()
        throw StorageFault(.corrupt, path: session.path, "the name of an author who has vanished cannot be read")
      }
      authors[author] = statement.number(1)
    }
    return authors
  }

  private static func removeIncompleteSegments(_ session: StorageSession) throws {
    try session.execute(
      """
      DELETE FROM posting WHERE segment IN (SELECT number FROM segment WHERE isComplete = 0);
      DELETE FROM segment WHERE isComplete = 0;
      """)
  }

  private static func segments(_ session: StorageSession) throws -> [ArchiveMemory.Segment] {
    let statement = try session.statement(
      "SELECT number, firstSeq, lastSeq, events, gone FROM segment ORDER BY number")
    var segments: [ArchiveMemory.Segment] = []
    while try statement.step() {
      let number = statement.number(0)
      segments.append(
        ArchiveMemory.Segment(
          number: number, firstSeq: statement.number(1), lastSeq: statement.number(2),
          times: try times(number, session), eventCount: statement.number(3), gone: statement.number(4)))
    }
    return segments
  }

  /// The oldest and newest time of a segment's postings; every event has one under "everything". The newest is the
  /// first entry of the last block, the oldest is the key of the first block.
  private static func times(_ segment: Int64, _ session: StorageSession) throws -> ClosedRange<Int64> {
    var newest = SegmentCursor(segment: segment, term: TermMaker.everything, since: .min, until: .max)
    let statement = try session.statement(
      "SELECT oldest FROM posting WHERE segment = ? AND term = ? ORDER BY oldest, block LIMIT 1", segment,
      TermMaker.everything)
    guard let last = try newest.next(session), try statement.step() else { return .min ... .max }
    defer { statement.reset() }
    let first = statement.number(0)
    return first <= last.time ? first...last.time : .min ... .max
  }

  /// Reads the events that are in no segment, and returns the last seq.
  private static func readTail(
    from firstSeq: Int64, _ session: StorageSession, _ maker: TermMaker, _ generation: inout ArchiveMemory.Generation
  ) throws -> Int64 {
    let statement = try session.statement("SELECT seq, json FROM event WHERE seq >= ? ORDER BY seq", firstSeq)
    var lastSeq: Int64 = 0
    var postings: [Posting] = []
    while try statement.step() {
      let seq = statement.number(0)
      let indexed = try session.scanned(statement, 1, seq: seq) { event, bytes in IndexedEvent(event, in: bytes) }
      generation.storedCount += 1
      generation.ids[maker.term(id: indexed.id)] = seq
      for term in maker.terms(of: indexed) { postings.append(Posting(term: term, time: indexed.createdAt, seq: seq)) }
      lastSeq = seq
    }
    generation.postings.add(postings)
    return lastSeq
  }
}
