internal import EventIndex
public import Nostr
public import Storage

// A search is answered in the order of quality (NIP-50), and that is known only when all that matches has been looked at. So it is
// done at once: the matches are ranked (BM25; a word in a title counts for four), the newest first of those that rank alike, and the
// list of their seqs is kept by whoever reads on. What that may cost is bounded: the newest `scanMaximum` events with
// the words are looked at, and the newest `hitMaximum` of them that the rest of the filter matches are ranked.

/// What a search has found: seqs, the best first.
public struct SearchHits: Sendable {
  /// Seqs of events, the best first.
  public let seqs: [Int64]
  /// Events of up to this seq were searched.
  public let searchedSeq: Int64

  /// Events that are ranked, and so can be found.
  public static let hitMaximum = 10_000
  /// Events with the words that are held against the rest of a filter.
  public static let scanMaximum = 200_000
}

extension EventArchive {
  /// What a filter with words finds; the filter's `limit` is the reader's matter.
  ///
  /// - Parameters:
  ///   - filter: a filter whose ``Filter/search`` has words to be found; see ``isSearch(_:)``.
  ///   - now: events that expired before are left out.
  public func search(_ filter: Filter, now: Int64) async throws(StorageFault) -> SearchHits {
    let (searchedSeq, memory, maker) = (searchedSeq, memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return SearchHits(seqs: try reader.search(filter, now: now), searchedSeq: searchedSeq)
    }
  }

  /// The same, waiting on this thread.
  public func searchNow(_ filter: Filter, now: Int64) throws(StorageFault) -> [Int64] {
    let memory = memory
    return try file.readNow { session in
      try ArchiveReader(session: session, maker: maker, memory: memory).search(filter, now: now)
    }
  }

  /// Whether a filter asks for words to be found, so that its answer has an order of its own. One that only excludes words has not.
  public static func isSearch(_ filter: Filter) -> Bool {
    filter.search.map { SearchQuery($0) }.map { !$0.terms.isEmpty || $0.isImpossible } ?? false
  }

  /// The same as ``events(_:now:)``, waiting on this thread.
  public func eventsNow(_ seqs: [Int64], now: Int64) throws(StorageFault) -> [StoredEvent] {
    let memory = memory
    return try file.readNow { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try seqs.compactMap { try reader.event($0) }.filter { !reader.isExpired($0, now) }
    }
  }

  /// The events of these seqs, in this order, without those that are gone or over.
  public func events(_ seqs: [Int64], now: Int64) async throws(StorageFault) -> [StoredEvent] {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try seqs.compactMap { try reader.event($0) }.filter { !reader.isExpired($0, now) }
    }
  }
}

extension ArchiveReader {
  private struct Hit {
    let seq: Int64
    /// The better the smaller.
    let score: Double
    let time: Int64
  }

  func search(_ filter: Filter, now: Int64) throws -> [Int64] {
    var hits: [Hit] = []
    try eachMatch(filter, now: now) { seq, score, time in
      hits.append(Hit(seq: seq, score: score, time: time))
      return hits.count < SearchHits.hitMaximum
    }
    hits.sort { ($0.score, $1.time, $1.seq) < ($1.score, $0.time, $0.seq) }
    return hits.map(\.seq)
  }

  /// How many events a filter with words matches, and the seq of each.
  func countSearch(_ filter: Filter, now: Int64, _ each: (Int64) -> Void) throws -> Int {
    var count = 0
    try eachMatch(filter, now: now) { seq, _, _ in
      each(seq)
      count += 1
      return true
    }
    return count
  }

  /// Goes through what matches, the last stored first, until told to stop.
  private func eachMatch(
    _ filter: Filter, now: Int64, _ each: (_ seq: Int64, _ score: Double, _ time: Int64) -> Bool
  ) throws {
    guard let expression = filter.search.flatMap({ SearchQuery($0).expression }), !filter.matchesNothing else { return }
    let candidates = try candidates(filter)
    if candidates?.isEmpty == true { return }
    let matcher = FilterMatcher(filter)
    let needsLook = filter.ids != nil || filter.authors != nil || !filter.tags.isEmpty
    let kinds = filter.kinds.map { Set($0) }
    let ended = try ended(now)
    let statement = try session.statement(Self.matchStatement)
    statement.bind(expression, at: 1)
    statement.bind(candidates?.min() ?? 1, at: 2)
    statement.bind(candidates?.max() ?? .max, at: 3)
    defer { statement.reset() }
    var scanned = 0
    while scanned < SearchHits.scanMaximum, try statement.step() {
      scanned += 1
      let (seq, time) = (statement.number(0), statement.number(2))
      if candidates?.contains(seq) == false { continue }
      if let kinds, !kinds.contains(UInt16(truncatingIfNeeded: statement.number(3))) { continue }
      guard time >= filter.since ?? .min, time <= filter.until ?? .max else { continue }
      if needsLook {
        guard let event = try event(seq), matcher.matches(event.indexed) else { continue }
      }
      if ended.contains(seq) { continue }
      guard each(seq, statement.double(1), time) else { return }
    }
  }

  private static let matchStatement = """
    SELECT search.rowid, bm25(search, 4.0, 1.0), event.time, event.kind
    FROM search CROSS JOIN event ON event.seq = search.rowid
    WHERE search MATCH ? AND search.rowid BETWEEN ? AND ? ORDER BY search.rowid DESC
    """

  /// The few events that the rest of the filter may match; nil when they are not few, or that is not known beforehand.
  private func candidates(_ filter: Filter) throws -> Set<Int64>? {
    guard filter.ids != nil || filter.authors != nil || !filter.tags.isEmpty else { return nil }
    switch QueryPlan(filter, maker) {
    case .nothing: return []
    case .ids(let ids): return Set(try ids.compactMap { try seq(of: $0) })
    case .terms(let terms):
      var walk = try PostingWalk(terms, filter, until: nil, self)
      var seqs = Set<Int64>()
      while let next = try walk.nextSecond(session) {
        seqs.formUnion(next)
        if seqs.count > Self.candidateMaximum { return nil }
      }
      return seqs
    }
  }

  private static let candidateMaximum = 50_000

  /// Events whose time is over (NIP-40) and that were not removed yet: those of half a minute.
  private func ended(_ now: Int64) throws -> Set<Int64> {
    let statement = try session.statement("SELECT seq FROM expiry WHERE time <= ?")
    statement.bind(now, at: 1)
    var seqs = Set<Int64>()
    while try statement.step() { seqs.insert(statement.number(0)) }
    return seqs
  }
}
