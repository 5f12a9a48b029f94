public import EventIndex
public import Nostr
public import Storage

// A search is answered in the order of quality (NIP-50), which is known only after all matches have been looked at. So
// the whole search is done at once. The matches are ranked (BM25; a word in a title counts four times), matches of
// equal rank newest first, and a reader of several pages keeps the list of their seqs. The cost is bounded: only the
// `searchHitMaximum` matching events that were stored last are ranked; and if each event must be read to know whether
// it matches, only `searchLookMaximum` are read.

extension EventArchive {
  /// The most events that are ranked, and so can be found.
  public static let searchHitMaximum = 5_000
  /// The most events with the words that are read to match them with the rest of a filter.
  public static let searchLookMaximum = 50_000

  /// The seqs of what a filter with words finds among the indexed events (``searchedSeq``), the best first. The caller
  /// applies the filter's `limit`.
  ///
  /// - Parameters:
  ///   - filter: a filter whose `search` has words to be found; see ``isSearch(_:)``.
  ///   - recipients: the only recipients whose gift wraps are found; nil: all.
  ///   - now: events that expired before are left out.
  public func search(
    _ filter: Filter, for recipients: Recipients? = nil, now: Int64
  ) async throws(StorageFault) -> [Int64] {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      try ArchiveReader(session: session, maker: maker, memory: memory)
        .search(SearchingMatcher(filter, for: recipients), now: now)
    }
  }

  /// The same, waiting on this thread.
  public func searchNow(_ filter: Filter, now: Int64) throws(StorageFault) -> [Int64] {
    let memory = memory
    return try file.readNow { session in
      try ArchiveReader(session: session, maker: maker, memory: memory)
        .search(SearchingMatcher(filter), now: now)
    }
  }

  /// Whether a filter searches for words, so that its answer has an order of its own. A filter that only excludes words
  /// does not.
  public static func isSearch(_ filter: Filter) -> Bool {
    filter.search.map { SearchQuery($0) }.map { !$0.terms.isEmpty || $0.isImpossible } ?? false
  }

  /// The same as ``events(_:now:)``, waiting on this thread.
  public func eventsNow(_ seqs: [Int64], now: Int64) throws(StorageFault) -> [StoredEvent] {
    let memory = memory
    return try file.readNow { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try seqs.compactMap { try reader.event($0) }.filter { !$0.isExpired(now) }
    }
  }

  /// The events of these seqs, in this order, without those that are gone or expired.
  public func events(_ seqs: [Int64], now: Int64) async throws(StorageFault) -> EventBlock {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return EventBlock(try seqs.compactMap { try reader.event($0) }.filter { !$0.isExpired(now) }, isLast: true)
    }
  }
}

extension ArchiveReader {
  private struct Hit {
    let seq: Int64
    /// Lower is better.
    let score: Double
    let time: Int64
  }

  func search(_ matcher: SearchingMatcher, now: Int64) throws -> [Int64] {
    var hits: [Hit] = []
    try eachMatch(matcher, now: now) { seq, score, time in
      hits.append(Hit(seq: seq, score: score, time: time))
      return hits.count < EventArchive.searchHitMaximum
    }
    hits.sort { ($0.score, $1.time, $1.seq) < ($1.score, $0.time, $0.seq) }
    return hits.map(\.seq)
  }

  /// Counts the events that a filter with words matches, and calls `each` with every seq.
  func countSearch(_ matcher: SearchingMatcher, now: Int64, _ each: (Int64) -> Void) throws -> Int {
    var count = 0
    try eachMatch(matcher, now: now) { seq, _, _ in
      each(seq)
      count += 1
      return true
    }
    return count
  }

  /// Calls `each` with the matches, the last stored first, until it returns false.
  private func eachMatch(
    _ matcher: SearchingMatcher, now: Int64, _ each: (_ seq: Int64, _ score: Double, _ time: Int64) -> Bool
  ) throws {
    let filter = matcher.filter
    guard let expression = filter.search.flatMap({ SearchQuery($0).expression }), !filter.matchesNothing else { return }
    let candidates = try candidates(filter)
    if candidates?.isEmpty == true { return }
    let needsLook =
      filter.ids != nil || filter.authors != nil || !filter.tags.isEmpty || !memory.vanishing.isEmpty
    let ended = try ended(now)
    let statement = try session.statement(Self.matchStatement, expression)
    Self.bind(candidates, at: 2, statement)
    statement.bind(filter.since ?? .min, at: 3)
    statement.bind(filter.until ?? .max, at: 4)
    Self.bind(filter.kinds, at: 5, statement)
    defer { statement.reset() }
    var looked = 0
    while looked < EventArchive.searchLookMaximum, try statement.step() {
      let seq = statement.number(0)
      if needsLook || matcher.isRestricted(UInt16(truncatingIfNeeded: statement.number(3))) {
        looked += 1
        guard let event = try event(seq), matcher.matchesAllButWords(event.indexed) else { continue }
      }
      if ended.contains(seq) { continue }
      guard each(seq, statement.double(1), statement.number(2)) else { return }
    }
  }

  /// The rank costs most, so it is computed only for rows that meet the conditions. The first condition only looks into
  /// a sorted list; without the plus SQLite would search the index of words once for each number.
  private static let matchStatement = """
    SELECT search.rowid, bm25(search, 4.0, 1.0), event.time, event.kind
    FROM search CROSS JOIN event ON event.seq = search.rowid
    WHERE search MATCH ?1 AND (?2 IS NULL OR +search.rowid IN (SELECT value FROM json_each(?2)))
    AND event.time BETWEEN ?3 AND ?4 AND (?5 IS NULL OR event.kind IN (SELECT value FROM json_each(?5)))
    ORDER BY search.rowid DESC
    """

  /// A list of numbers as JSON; NULL for nil.
  private static func bind(_ numbers: (some Collection)?, at index: Int32, _ statement: StorageStatement) {
    guard let numbers else { return statement.bind(Int64?.none, at: index) }
    statement.bind("[\(numbers.map { "\($0)" }.joined(separator: ","))]", at: index)
  }

  /// The few events that the rest of the filter may match; nil when they are many, or when that is not known in
  /// advance.
  private func candidates(_ filter: Filter) throws -> Set<Int64>? {
    guard filter.ids != nil || filter.authors != nil || !filter.tags.isEmpty else { return nil }
    switch QueryPlan(filter, maker) {
    case .nothing: return []
    case .ids(let ids): return Set(try ids.compactMap { try seq(of: $0) })
    case .terms(let terms, _):
      var walk = try PostingWalk(terms, filter, until: nil, self)
      var (seqs, group): (Set<Int64>, [Int64]) = ([], [])
      while let second = try walk.second(session) {
        try walk.take(second, session, into: &group)
        seqs.formUnion(group)
        if seqs.count > Self.candidateMaximum { return nil }
      }
      return seqs
    }
  }

  private static let candidateMaximum = 50_000

  /// Events that have expired (NIP-40) and were not removed yet: those of half a minute.
  private func ended(_ now: Int64) throws -> Set<Int64> {
    let statement = try session.statement("SELECT seq FROM expiry WHERE time <= ?", now)
    var seqs = Set<Int64>()
    while try statement.step() { seqs.insert(statement.number(0)) }
    return seqs
  }
}
