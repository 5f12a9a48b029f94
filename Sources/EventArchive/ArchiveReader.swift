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
  ///   - position: the last event of the page before; nil for the first page.
  ///   - limit: most events of this page, the filter's own limit apart.
  ///   - now: events that expired before are left out.
  func query(_ filter: Filter, after position: QueryPosition?, limit: Int, now: Int64) throws -> [StoredEvent] {
    guard limit > 0 else { return [] }
    let matcher = SearchingMatcher(filter)
    switch QueryPlan(filter, maker) {
    case .nothing: return []
    case .ids(let ids): return try query(ids, matcher, after: position, limit: limit, now: now)
    case .terms(let terms, let others):
      var walk = try PostingWalk(terms, filter, until: position?.time, self)
      var other = others.isEmpty ? nil : try PostingWalk(others, filter, until: position?.time, self)
      var found: [StoredEvent] = []
      while found.count < limit, let seqs = try nextSeqs(&walk, &other) {
        var group = try seqs.compactMap { try event($0) }.filter { Self.accepts($0, matcher, position, now) }
        group.sort { $0.indexed.id < $1.indexed.id }
        found += group.prefix(limit - found.count)
      }
      return found
    }
  }

  /// The events of the next second that has any in the walk, and in the other one, each once; nil at the end. Either
  /// walk goes at once to where the other stands, so that what only one of them has costs little.
  func nextSeqs(_ walk: inout PostingWalk, _ other: inout PostingWalk?) throws -> Set<Int64>? {
    guard other != nil else {
      guard let second = try walk.second(session) else { return nil }
      return try walk.take(second, session)
    }
    while let second = try walk.second(session), let otherSecond = try other?.second(session) {
      if second == otherSecond {
        let seqs = try walk.take(second, session).intersection(other?.take(second, session) ?? [])
        if !seqs.isEmpty { return seqs }
      } else if second > otherSecond {
        try walk.skip(to: otherSecond, session)
      } else {
        try other?.skip(to: second, session)
      }
    }
    return nil
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
    return matcher.matches(event.indexed) { SearchedText(json: event.json) } && !event.isExpired(now)
  }

  /// The seq of an id that is stored.
  func seq(of id: EventID) throws -> Int64? {
    let term = maker.term(id: id)
    if let seq = memory.seq(ofID: term) { return seq }
    return try session.seq(ofStoredID: term)
  }

  /// The event of a seq; nil when it is gone, or its author has vanished.
  func event(_ seq: Int64) throws -> StoredEvent? {
    let event = try session.event(seq) { scanned, bytes in
      StoredEvent(seq: seq, bytes, scanned, IndexedEvent(scanned, in: bytes))
    }
    return event.flatMap { memory.hides($0.indexed) ? nil : $0 }
  }
}
