internal import EventIndex
public import Nostr
public import Reconciliation
public import Storage

// What a filter matches as records for reconciliation (NIP-77): times and ids, of up to a million events.
//
// Postings say which events come into question, newest first; they are read in the order in which they were stored,
// some thousands at a time, because pages that are read one behind the other cost a tenth of those that are looked for.
// Of an event what is read is held against the filter where it stands, and only 40 bytes of it are kept. Rejected: a
// table of ids beside the events, which would answer without reading them, and cost every event that is stored.

extension EventArchive {
  /// The records of all that a filter matches, of the newest `limit` if it has one; nil when there are more than
  /// `maximum`. Words find what `search(_:now:)` finds.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - maximum: most records; looking ends at one more.
  ///   - now: events that expired before are left out.
  public func records(
    _ filter: Filter, maximum: Int, now: Int64
  ) async throws(StorageFault) -> ReconcileRecords? {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      try ArchiveReader(session: session, maker: maker, memory: memory).records(filter, maximum: maximum, now: now)
    }
  }

  /// The same, waiting on this thread.
  public func recordsNow(_ filter: Filter, maximum: Int, now: Int64) throws(StorageFault) -> ReconcileRecords? {
    let memory = memory
    return try file.readNow { session in
      try ArchiveReader(session: session, maker: maker, memory: memory).records(filter, maximum: maximum, now: now)
    }
  }
}

extension ArchiveReader {
  /// Events that are read one behind the other.
  private static let runCount = 8_192

  func records(_ filter: Filter, maximum: Int, now: Int64) throws -> ReconcileRecords? {
    let limit = filter.limit ?? .max
    guard limit > 0 else { return ReconcileRecords([]) }
    var found: [ReconcileRecord] = []
    if EventArchive.isSearch(filter) {
      let seqs = try search(filter, now: now).prefix(limit)
      try read(seqs.sorted(), SearchingMatcher(filter), now, into: &found)
    } else {
      try gather(filter, until: min(limit, maximum < .max ? maximum + 1 : maximum), now, into: &found)
      if limit < found.count {
        // As a query would cut it off: of one second the lowest ids stay.
        found.sort { ($1.timestamp, $0.id) < ($0.timestamp, $1.id) }
        found.removeSubrange(limit...)
      }
    }
    return found.count > maximum ? nil : ReconcileRecords(found)
  }

  /// Adds what a filter matches, newest first by seconds, until there are `enough` and the second is whole.
  private func gather(
    _ filter: Filter, until enough: Int, _ now: Int64, into found: inout [ReconcileRecord]
  ) throws {
    let matcher = SearchingMatcher(filter)
    switch QueryPlan(filter, maker) {
    case .nothing: return
    case .ids(let ids): try read(ids.compactMap { try seq(of: $0) }.sorted(), matcher, now, into: &found)
    case .terms(let terms, let others):
      var walk = try PostingWalk(terms, filter, until: nil, self)
      var other = others.isEmpty ? nil : try PostingWalk(others, filter, until: nil, self)
      var run: [Int64] = []
      while found.count < enough {
        run.removeAll(keepingCapacity: true)
        while run.count < min(Self.runCount, enough), let seqs = try nextSeqs(&walk, &other) { run += seqs }
        guard !run.isEmpty else { return }
        run.sort()
        try read(run, matcher, now, into: &found)
      }
    }
  }

  /// Adds those of some events that are there, match and are not over. An event that stands in two places is one.
  private func read(
    _ seqs: [Int64], _ matcher: SearchingMatcher, _ now: Int64, into found: inout [ReconcileRecord]
  ) throws {
    let statement = try session.statement("SELECT json FROM event WHERE seq = ?")
    for seq in seqs {
      statement.bind(seq, at: 1)
      guard try statement.step() else { continue }
      defer { statement.reset() }
      try session.scanned(statement, 0, seq: seq) { event, bytes in
        guard matches(event, bytes, matcher, now) else { return }
        found.append(ReconcileRecord(timestamp: UInt64(clamping: event.createdAt), id: event.id))
      }
    }
  }

  private func matches(
    _ event: ScannedEvent, _ bytes: UnsafeRawBufferPointer, _ matcher: SearchingMatcher, _ now: Int64
  ) -> Bool {
    let indexed = IndexedEvent(event, in: bytes)
    guard !memory.hides(indexed), matcher.matches(indexed, text: { SearchedText(json: Array(bytes)) }) else {
      return false
    }
    return event.expiration(in: bytes).map { $0 > now } ?? true
  }
}
