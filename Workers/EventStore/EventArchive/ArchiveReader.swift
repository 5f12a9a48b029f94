internal import Cryptography
internal import EventIndex
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
  ///   - matcher: the filter.
  ///   - position: the last event of the page before; nil for the first page.
  ///   - limit: the most events of this page, regardless of the filter's own limit.
  ///   - byteLimit: once the page has this many bytes of JSON, it ends.
  ///   - now: events that expired before are left out.
  func block(
    _ matcher: SearchingMatcher, after position: QueryPosition?, limit: Int, byteLimit: Int = .max, now: Int64
  ) throws -> EventBlock {
    guard limit > 0 else { return EventBlock() }
    let filter = matcher.filter
    switch QueryPlan(filter, maker) {
    case .nothing: return EventBlock([], isLast: true)
    case .ids(let ids):
      let found = try query(ids, matcher, after: position, limit: limit, now: now)
      return EventBlock(found, isLast: found.count < limit)
    case .terms(let terms, let others):
      var walk = try PostingWalk(terms, filter, until: position?.time, self)
      var other = others.isEmpty ? nil : try PostingWalk(others, filter, until: position?.time, self)
      let statement = try session.statement(Self.jsonStatement)
      var block = EventBlock()
      var seqs: [Int64] = []
      while try nextSeqs(&walk, &other, into: &seqs) {
        let start = block.count
        for seq in seqs { try read(seq, statement, matcher, position, now, into: &block) }
        block.orderByID(from: start, limit: limit)
        if block.count == limit || block.bytes.count >= byteLimit { return block }
      }
      block.isLast = true
      return block
    }
  }

  private static let jsonStatement = "SELECT json FROM event WHERE seq = ?"

  /// Adds an event to the block if it exists and matches.
  private func read(
    _ seq: Int64, _ statement: StorageStatement, _ matcher: SearchingMatcher, _ position: QueryPosition?, _ now: Int64,
    into block: inout EventBlock
  ) throws {
    statement.bind(seq)
    guard try statement.step() else { return }
    defer { statement.reset() }
    try session.scanned(statement, 0, seq: seq) { event, bytes in
      let place = QueryPosition(time: event.createdAt, id: event.id)
      if let position, !position.precedes(place) { return }
      guard accepts(event, bytes, matcher, now) else { return }
      block.append(seq, event.kind, place, bytes)
    }
  }

  /// Whether an event matches and may be in an answer. Tags and words are extracted only when the filter needs them:
  /// that costs more than everything else.
  func accepts(
    _ event: ScannedEvent, _ bytes: UnsafeRawBufferPointer, _ matcher: SearchingMatcher, _ now: Int64
  ) -> Bool {
    let isMatch = matcher.matchesHead(event)
    if isMatch == false { return false }
    if isMatch == nil || !memory.vanishing.isEmpty {
      let indexed = IndexedEvent(event, in: bytes)
      guard !memory.hides(indexed), matcher.matches(indexed, text: { SearchedText(json: Array(bytes)) }) else {
        return false
      }
    }
    return event.expiration(in: bytes).map { $0 > now } ?? true
  }

  /// The events of the next second that occurs in the walk, and in the other one if there are two, each event once;
  /// false at the end. Each walk skips directly to the position of the other, so events that only one of them has cost
  /// little.
  func nextSeqs(
    _ walk: inout PostingWalk, _ other: inout PostingWalk?, into seqs: inout [Int64]
  ) throws -> Bool {
    guard other != nil else {
      guard let second = try walk.second(session) else { return false }
      try walk.take(second, session, into: &seqs)
      return true
    }
    var others: [Int64] = []
    while let second = try walk.second(session), let otherSecond = try other?.second(session) {
      if second == otherSecond {
        try walk.take(second, session, into: &seqs)
        try other?.take(second, session, into: &others)
        let both = Set(others)
        seqs.removeAll { !both.contains($0) }
        if !seqs.isEmpty { return true }
      } else if second > otherSecond {
        try walk.skip(to: otherSecond, session)
      } else {
        try other?.skip(to: second, session)
      }
    }
    return false
  }

  /// The same for ids, but as single events, because these are kept in memory afterwards.
  func query(
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
    return matcher.matches(event.indexed) { SearchedText(json: event.json) } && !event.isExpired(now)
  }

  /// The seq of an id that is stored.
  func seq(of id: EventID) throws -> Int64? {
    let term = maker.term(id: id)
    if let seq = memory.seq(ofID: term) { return seq }
    return try session.seq(ofStoredID: term)
  }

  /// The event of a seq; nil when it is gone or its author has vanished.
  func event(_ seq: Int64) throws -> StoredEvent? {
    let event = try session.event(seq) { scanned, bytes in
      StoredEvent(seq: seq, bytes, scanned, IndexedEvent(scanned, in: bytes))
    }
    return event.flatMap { memory.hides($0.indexed) ? nil : $0 }
  }
}
