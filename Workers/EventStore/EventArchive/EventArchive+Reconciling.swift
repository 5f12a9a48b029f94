public import EventIndex
public import Nostr
public import Reconciliation
public import Storage

// The events that a filter matches as records for reconciliation (NIP-77): times and ids, of up to a million events.
//
// Postings give the candidates, newest first. The candidates are read in the order in which they were stored, some
// thousands at a time; where they lie close together, the rows between are read too, which costs less than a look-up of
// each. Each event is matched with the filter in place, its tags only if the filter has some, and 40 bytes of it are
// kept. Rejected: a table of ids beside the events. It would answer without reading the events, but cost time for every
// event stored.

extension EventArchive {
  /// The records of everything that a filter matches, or of the newest `limit` if it has one; nil when there are more
  /// than `maximum`. A filter with words finds what `search(_:now:)` finds.
  ///
  /// - Parameters:
  ///   - filter: the filter.
  ///   - recipients: the only recipients whose gift wraps count; nil: all.
  ///   - maximum: the most records; the search ends at one more.
  ///   - now: events that expired before are left out.
  public func records(
    _ filter: Filter, for recipients: Recipients? = nil, maximum: Int, now: Int64
  ) async throws(StorageFault) -> ReconcileRecords? {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      try ArchiveReader(session: session, maker: maker, memory: memory).records(
        filter, for: recipients, maximum: maximum, now: now)
    }
  }

  /// The same, waiting on this thread.
  public func recordsNow(
    _ filter: Filter, for recipients: Recipients? = nil, maximum: Int, now: Int64
  ) throws(StorageFault) -> ReconcileRecords? {
    let memory = memory
    return try file.readNow { session in
      try ArchiveReader(session: session, maker: maker, memory: memory).records(
        filter, for: recipients, maximum: maximum, now: now)
    }
  }
}

extension ArchiveReader {
  /// The events that are read as one run.
  private static let runCount = 8_192

  func records(
    _ filter: Filter, for recipients: Recipients?, maximum: Int, now: Int64
  ) throws -> ReconcileRecords? {
    let matcher = SearchingMatcher(filter, for: recipients)
    let limit = filter.limit ?? .max
    guard limit > 0 else { return ReconcileRecords([]) }
    var found: [ReconcileRecord] = []
    if EventArchive.isSearch(filter) {
      let seqs = try search(matcher, now: now).prefix(limit)
      try read(seqs.sorted(), matcher, now, into: &found)
    } else {
      try gather(filter, matcher, until: min(limit, maximum < .max ? maximum + 1 : maximum), now, into: &found)
      if limit < found.count {
        // Cut as a query would cut: of one second, the lowest ids stay.
        found.sort { ($1.timestamp, $0.id) < ($0.timestamp, $1.id) }
        found.removeSubrange(limit...)
      }
    }
    return found.count > maximum ? nil : ReconcileRecords(found)
  }

  /// Adds what a filter matches, newest second first, until there are `enough` records and the last second is complete.
  private func gather(
    _ filter: Filter, _ matcher: SearchingMatcher, until enough: Int, _ now: Int64, into found: inout [ReconcileRecord]
  ) throws {
    switch QueryPlan(filter, maker) {
    case .nothing: return
    case .ids(let ids): try read(ids.compactMap { try seq(of: $0) }.sorted(), matcher, now, into: &found)
    case .terms(let terms, let others):
      var walk = try PostingWalk(terms, filter, until: nil, self)
      var other = others.isEmpty ? nil : try PostingWalk(others, filter, until: nil, self)
      var run: [Int64] = []
      var second: [Int64] = []
      while found.count < enough {
        run.removeAll(keepingCapacity: true)
        while run.count < min(Self.runCount, enough), try nextSeqs(&walk, &other, into: &second) {
          run += second
          second.removeAll(keepingCapacity: true)
        }
        guard !run.isEmpty else { return }
        run.sort()
        try read(run, matcher, now, into: &found)
      }
    }
  }

  /// Adds those of some events, in the order of seqs, that exist, match and have not expired.
  private func read(
    _ seqs: [Int64], _ matcher: SearchingMatcher, _ now: Int64, into found: inout [ReconcileRecord]
  ) throws {
    guard let first = seqs.first, let last = seqs.last else { return }
    if last - first < Int64(seqs.count) * Self.sparseness {
      return try readThrough(seqs, first...last, matcher, now, into: &found)
    }
    let statement = try session.statement("SELECT json FROM event WHERE seq = ?")
    for seq in seqs {
      statement.bind(seq)
      guard try statement.step() else { continue }
      defer { statement.reset() }
      if let record = try record(statement, 0, seq, matcher, now) { found.append(record) }
    }
  }

  /// How many rows may be skipped for each row that is read, so that this costs less than a look-up of each.
  private static let sparseness: Int64 = 4

  private func readThrough(
    _ seqs: [Int64], _ range: ClosedRange<Int64>, _ matcher: SearchingMatcher, _ now: Int64,
    into found: inout [ReconcileRecord]
  ) throws {
    let statement = try session.statement(
      "SELECT seq, json FROM event WHERE seq BETWEEN ? AND ? ORDER BY seq", range.lowerBound, range.upperBound)
    defer { statement.reset() }
    var index = 0
    while try statement.step() {
      let seq = statement.number(0)
      while index < seqs.count, seqs[index] < seq { index += 1 }
      guard index < seqs.count else { return }
      guard seqs[index] == seq, let record = try record(statement, 1, seq, matcher, now) else { continue }
      found.append(record)
    }
  }

  /// The record of the event in a column; nil when it does not match, has expired, or its author has vanished.
  private func record(
    _ statement: StorageStatement, _ column: Int32, _ seq: Int64, _ matcher: SearchingMatcher, _ now: Int64
  ) throws -> ReconcileRecord? {
    try session.scanned(statement, column, seq: seq) { event, bytes in
      guard accepts(event, bytes, matcher, now) else { return nil }
      return ReconcileRecord(timestamp: UInt64(clamping: event.createdAt), id: event.id)
    }
  }
}
