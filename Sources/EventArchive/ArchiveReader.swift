internal import Cryptography
internal import EventIndex
internal import Glibc
internal import HeapModule
internal import Nostr
internal import Storage

/// Answers filters, from one state of the archive. Lives for one snapshot, on a reader's thread.
struct ArchiveReader {
  let session: StorageSession
  let maker: TermMaker
  let memory: ArchiveMemory

  /// The events a filter matches, newest first, ties by lowest id.
  ///
  /// - Parameters:
  ///   - position: the last event of the page before; nil for the first page.
  ///   - limit: most events of this page, the filter's own limit apart.
  ///   - now: events that expired before are left out.
  func query(_ filter: Filter, after position: QueryPosition?, limit: Int, now: Int64) throws -> [StoredEvent] {
    guard limit > 0 else { return [] }
    let matcher = SearchingMatcher(filter)
    switch QueryPlan(filter, maker) {
    case .nothing: return []
    case .ids(let ids): return try query(ids, matcher, after: position, limit: limit, now: now)
    case .terms(let terms):
      var walk = try PostingWalk(terms, filter, until: position?.time, self)
      var found: [StoredEvent] = []
      while found.count < limit, let seconds = try walk.nextSecond(session) {
        var group = try seconds.compactMap { try event($0) }.filter { Self.accepts($0, matcher, position, now) }
        group.sort { $0.indexed.id < $1.indexed.id }
        found += group.prefix(limit - found.count)
      }
      return found
    }
  }

  private func query(
    _ ids: [EventID], _ matcher: SearchingMatcher, after position: QueryPosition?, limit: Int, now: Int64
  ) throws -> [StoredEvent] {
    var found: [StoredEvent] = []
    for id in ids {
      guard let seq = try seq(of: id), let event = try event(seq), Self.accepts(event, matcher, position, now) else {
        continue
      }
      found.append(event)
    }
    found.sort { $0.position.precedes($1.position) }
    return Array(found.prefix(limit))
  }

  static func accepts(
    _ event: StoredEvent, _ matcher: SearchingMatcher, _ position: QueryPosition?, _ now: Int64
  ) -> Bool {
    if let position, !position.precedes(event.position) { return false }
    return matcher.matches(event.indexed) { SearchedText(json: event.json) } && !isExpired(event, now)
  }

  static func isExpired(_ event: StoredEvent, _ now: Int64) -> Bool {
    event.json.withUnsafeBytes { bytes in
      // Scanning an event again costs ten times as much as seeing that the name is not there.
      guard namesExpiration(bytes) else { return false }
      do throws(EventFault) {
        return try ScannedEvent(bytes).expiration(in: bytes).map { $0 <= now } ?? false
      } catch { return false }
    }
  }

  /// Whether `"expiration"` stands in it anywhere. Looks for its second letter, which few other words have.
  private static func namesExpiration(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    let (name, count) = (expirationName.utf8Start, expirationName.utf8CodeUnitCount)
    var position = 2
    while position + count - 2 <= bytes.count {
      guard let found = memchr(base + position, Int32(UInt8(ascii: "x")), bytes.count - position) else { return false }
      let start = UnsafeRawPointer(found) - 2
      if base + bytes.count - start >= count, memcmp(start, name, count) == 0 { return true }
      position = UnsafeRawPointer(found) - base + 1
    }
    return false
  }

  private static let expirationName: StaticString = "\"expiration\""

  /// The seq of an id that is stored.
  func seq(of id: EventID) throws -> Int64? {
    let term = maker.term(id: id)
    if let seq = memory.seq(ofID: term) { return seq }
    // What was removed while its segment was being written is still there by name.
    let statement = try session.statement(
      "SELECT seq FROM identity WHERE term = ? AND EXISTS (SELECT 1 FROM event WHERE event.seq = identity.seq)")
    statement.bind(Int64(bitPattern: term), at: 1)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return statement.number(0)
  }

  /// The event of a seq; nil when it is gone.
  func event(_ seq: Int64) throws -> StoredEvent? {
    let statement = try session.statement("SELECT json FROM event WHERE seq = ?")
    statement.bind(seq, at: 1)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return try statement.withBytes(0) { bytes in
      do throws(EventFault) {
        return StoredEvent(seq: seq, json: Array(bytes), indexed: IndexedEvent(try ScannedEvent(bytes), in: bytes))
      } catch {
        throw StorageFault(.corrupt, path: session.path, "event \(seq) cannot be read: \(error)")
      }
    }
  }
}

/// Walks backwards in time through all postings of some terms, wherever they are.
struct PostingWalk {
  private enum Source {
    case memory(PostingCursor)
    case segment(SegmentCursor)
  }

  private struct Head: Comparable {
    let entry: PostingBlock.Entry
    let source: Int

    static func < (left: Head, right: Head) -> Bool { left.entry.time < right.entry.time }
    static func == (left: Head, right: Head) -> Bool { left.entry.time == right.entry.time }
  }

  private var sources: [Source] = []
  private var heads = Heap<Head>()

  init(_ terms: [UInt64], _ filter: Filter, until position: Int64?, _ reader: ArchiveReader) throws {
    let since = filter.since ?? .min
    let until = min(filter.until ?? .max, position ?? .max)
    for term in terms {
      for generation in reader.memory.generations {
        sources += generation.postings.cursors(term: term, since: since, until: until).map { .memory($0) }
      }
      for segment in reader.memory.segments {
        sources.append(.segment(SegmentCursor(segment: segment.number, term: term, since: since, until: until)))
      }
    }
    for source in sources.indices { try pull(source, reader.session) }
  }

  /// The events of the next second that has any, each once; nil at the end.
  mutating func nextSecond(_ session: StorageSession) throws -> [Int64]? {
    guard let first = heads.max else { return nil }
    var seqs: [Int64] = []
    while let head = heads.max, head.entry.time == first.entry.time {
      heads.removeMax()
      seqs.append(head.entry.seq)
      try pull(head.source, session)
    }
    return seqs.count == 1 ? seqs : Array(Set(seqs))
  }

  private mutating func pull(_ source: Int, _ session: StorageSession) throws {
    let entry: PostingBlock.Entry?
    switch sources[source] {
    case .memory(var cursor):
      entry = cursor.next().map { PostingBlock.Entry(time: $0.time, seq: $0.seq) }
      sources[source] = .memory(cursor)
    case .segment(var cursor):
      entry = try cursor.next(session)
      sources[source] = .segment(cursor)
    }
    if let entry { heads.insert(Head(entry: entry, source: source)) }
  }
}
