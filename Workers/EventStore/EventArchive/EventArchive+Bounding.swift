public import Cryptography
public import EventIndex
public import Nostr
public import Storage

// What is over a bound: some filters may have so many bytes, and the oldest of their events go until the rest fits.
// Strangers' go first: an author who is spared loses events only when no stranger's is left.
//
// What is over ends at a second, and all of that second goes. So a caller that asks relays for what is newer never asks
// for what went. It is found in three walks over the index, which need memory for hours and not for events: the bytes
// of each hour; of the hour in which the bound lies, those of each second; then the seqs before that second.
//
// Events from the future have no usable age: they count as the oldest, as when room is made (`ArchiveRetention`).

/// How much some filters match.
public struct ArchiveMeasure: Sendable, Hashable {
  /// The number of events.
  public var count = 0
  /// The bytes of their JSON.
  public var byteCount: Int64 = 0
  /// When the oldest was created, seconds since 1970; nil without any.
  public var oldest: Int64?
}

/// What is over a bound.
public struct ArchiveSurplus: Sendable, Hashable {
  /// Bytes of all events that match.
  public var byteCount: Int64 = 0
  /// Strangers' events from this second on are within the bound; nil: all are.
  public var since: Int64?
  /// The same for spared authors.
  public var sparedSince: Int64?
  /// The events to remove, the oldest first.
  public var seqs: [Int64] = []
  /// Whether there are more, because one call names a limited number.
  public var isCut = false
}

/// How much of some events may stay, and which of them stay in any case.
public struct ArchiveBound: Sendable {
  /// Events that any of these matches count.
  public var filters: [Filter]
  /// Of these, events that any of these matches stay. They count as if they went: what keeps them is another bound.
  public var kept: [Filter]
  /// Authors whose events are never removed. With what was published here, profiles, lists of relays and deletions
  /// they count, and all others have what is left of the bound.
  public var keptAuthors: Set<PublicKey> = []
  /// Authors whose events go last.
  public var spared: Set<PublicKey>
  /// The bytes that may stay.
  public var byteMaximum: Int64

  /// A bound.
  public init(_ filters: [Filter], kept: [Filter] = [], spared: Set<PublicKey> = [], byteMaximum: Int64) {
    (self.filters, self.kept, self.spared, self.byteMaximum) = (filters, kept, spared, byteMaximum)
  }
}

extension EventArchive {
  /// How many events match any of the filters, whose limits are ignored, and how large they are. They have no `search`.
  ///
  /// - Parameters:
  ///   - filters: at least one must match.
  ///   - recipients: the only recipients whose gift wraps are counted; nil: all.
  ///   - now: events that expired before are left out.
  public func measure(
    _ filters: [Filter], for recipients: Recipients? = nil, now: Int64
  ) async throws(StorageFault) -> ArchiveMeasure {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      var measure = ArchiveMeasure()
      try reader.visit(filters.map { SearchingMatcher($0, for: recipients) }, now: now) { _, _, event, bytes in
        measure.count += 1
        measure.byteCount += Int64(bytes.count)
        measure.oldest = min(measure.oldest ?? .max, event.createdAt)
        return true
      }
      return measure
    }
  }

  /// What of some events is over their bound.
  ///
  /// - Parameters:
  ///   - bound: the events, and what they may have.
  ///   - limit: the most events that are named.
  ///   - now: seconds since 1970.
  public func surplus(
    of bound: ArchiveBound, limit: Int, now: Int64
  ) async throws(StorageFault) -> ArchiveSurplus {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try reader.surplus(of: bound, limit: limit, now: now)
    }
  }

  /// Removes a slice of events that are over a bound, at most ``boundedEventCount`` of them. What is never removed
  /// stays (``ArchiveBound/keptAuthors``).
  ///
  /// - Parameters:
  ///   - seqs: the events; those that are gone meanwhile are left out.
  ///   - kept: authors whose events are never removed.
  ///   - now: seconds since 1970.
  /// - Returns: the ids removed, and their bytes.
  public func remove(
    _ seqs: some Sequence<Int64>, kept: Set<PublicKey>, now: Int64
  ) async throws(StorageFault) -> (gone: [EventID], byteCount: Int64) {
    let slice = Array(seqs.prefix(Self.boundedEventCount))
    let removed = try await file.write(
      { [self] session in
        var writer = writer(session)
        let byteCount = try writer.removeBounded(slice, kept: kept, now: now)
        try writer.finish()
        return Removed(written: Written(outcomes: [], change: writer.change), byteCount: byteCount)
      }, onCommit: { [self] in apply($0.written) })
    return (removed.written.change.gone, removed.byteCount)
  }

  private struct Removed: Sendable {
    let written: Written
    let byteCount: Int64
  }

  /// The most events that one transaction removes.
  public static let boundedEventCount = 500

  /// The relays that sent events of some authors.
  ///
  /// - Parameters:
  ///   - authors: the authors.
  ///   - eventMaximum: the most events that are looked at, the newest.
  ///   - now: events that expired before are left out.
  /// - Returns: URLs with the number of events that each sent, the most first.
  public func sources(
    of authors: [PublicKey], eventMaximum: Int, now: Int64
  ) async throws(StorageFault) -> [(relay: String, count: Int)] {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      let statement = try session.statement("SELECT relay FROM seen WHERE seq = ?")
      var (counts, looked): ([Int64: Int], Int) = ([:], 0)
      try reader.visit([SearchingMatcher(Filter(authors: authors))], now: now) { seq, _, _, _ in
        statement.bind(seq)
        while try statement.step() { counts[statement.number(0), default: 0] += 1 }
        statement.reset()
        looked += 1
        return looked < eventMaximum
      }
      return try counts.compactMap { number, count in
        try reader.url(ofRelay: number).map { (relay: $0, count: count) }
      }.sorted { ($1.count, $0.relay) < ($0.count, $1.relay) }
    }
  }
}

extension EventArchive {
  /// The events of an author that were handed in here and that no relay has sent, the newest first.
  ///
  /// - Parameters:
  ///   - author: the author.
  ///   - relays: URLs of relays that do not count: what only they sent is named too.
  ///   - now: events that expired before are left out.
  public func unseen(
    of author: PublicKey, besides relays: [String], now: Int64
  ) async throws(StorageFault) -> [EventID] {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      let statement = try session.statement("SELECT relay FROM seen WHERE seq = ?")
      var others: [Int64: Bool] = [:]
      var found: [EventID] = []
      try reader.visit([SearchingMatcher(Filter(authors: [author]))], now: now) { seq, flags, event, _ in
        statement.bind(seq)
        defer { statement.reset() }
        var isOfOthers = false
        while try statement.step() {
          let number = statement.number(0)
          if others[number] == nil { others[number] = try reader.url(ofRelay: number).map(relays.contains) ?? false }
          guard others[number] == true else { return true }
          isOfOthers = true
        }
        if isOfOthers || flags & ArchiveRetention.keptFlag != 0 { found.append(event.id) }
        return true
      }
      return found
    }
  }
}

/// Bytes by the age of their events.
private struct BytesByTime {
  private var bytes: [Int64: Int64] = [:]
  private(set) var total: Int64 = 0

  mutating func add(_ byteCount: Int, at key: Int64) {
    bytes[key, default: 0] += Int64(byteCount)
    total += Int64(byteCount)
  }

  /// The newest key that no longer fits when all newer ones stay, and what is left for it; nil: all fit.
  func boundary(_ budget: Int64) -> (key: Int64, left: Int64)? {
    var left = budget
    for (key, byteCount) in bytes.sorted(by: { $0.key > $1.key }) {
      guard byteCount <= left else { return (key, left) }
      left -= byteCount
    }
    return nil
  }
}

extension ArchiveReader {
  private static let hour: Int64 = 3_600

  /// The place of a time in the order of removal; the lowest goes first.
  private static func age(_ time: Int64, _ now: Int64) -> Int64 {
    time > now + EventArchive.futureSeconds ? -1 : max(0, time)
  }

  fileprivate func surplus(of bound: ArchiveBound, limit: Int, now: Int64) throws -> ArchiveSurplus {
    let filters = bound.filters.map { SearchingMatcher($0) }
    var (strangers, spared, fixed) = (BytesByTime(), BytesByTime(), Int64(0))
    try visit(filters, now: now) { _, flags, event, bytes in
      guard bound.mayRemove(event, flags) else {
        fixed += Int64(bytes.count)
        return true
      }
      let age = Self.age(event.createdAt, now)
      // The future is an hour of its own.
      let hour = age < 0 ? -1 : age / Self.hour
      if bound.spared.contains(event.pubkey) {
        spared.add(bytes.count, at: hour)
      } else {
        strangers.add(bytes.count, at: hour)
      }
      return true
    }
    var surplus = ArchiveSurplus()
    surplus.byteCount = strangers.total + spared.total + fixed
    let excess = surplus.byteCount - bound.byteMaximum
    guard excess > 0 else { return surplus }
    surplus.since = try since(
      strangers.boundary(max(0, strangers.total - excess)), bound, areSpared: false, now: now)
    if excess > strangers.total {
      surplus.sparedSince = try since(
        spared.boundary(max(0, spared.total - (excess - strangers.total))), bound, areSpared: true, now: now)
    }
    try collect(&surplus, bound, limit: limit, now: now)
    return surplus
  }

  /// The second after the last one whose events go; nil: none go.
  private func since(
    _ boundary: (key: Int64, left: Int64)?, _ bound: ArchiveBound, areSpared: Bool, now: Int64
  ) throws -> Int64? {
    guard let boundary else { return nil }
    // All of the future goes, and nothing else.
    guard boundary.key >= 0 else { return 0 }
    let start = boundary.key * Self.hour
    var seconds = BytesByTime()
    let narrowed = bound.filters.compactMap { filter -> SearchingMatcher? in
      // What is dated before 1970 counts as of its first second.
      filter.narrowed(from: start == 0 ? .min : start, to: start + Self.hour - 1).map { SearchingMatcher($0) }
    }
    try visit(narrowed, now: now) { _, flags, event, bytes in
      if bound.mayRemove(event, flags), bound.spared.contains(event.pubkey) == areSpared {
        seconds.add(bytes.count, at: max(0, event.createdAt))
      }
      return true
    }
    return seconds.boundary(boundary.left).map { $0.key + 1 } ?? start
  }

  /// Names what goes, the oldest of strangers first.
  private func collect(_ surplus: inout ArchiveSurplus, _ bound: ArchiveBound, limit: Int, now: Int64) throws {
    struct Found {
      let isSpared: Bool
      let age: Int64
      let seq: Int64
    }
    let kept = bound.kept.map { SearchingMatcher($0) }
    var found: [Found] = []
    func keepOldest() {
      found.sort { ($0.isSpared ? 1 : 0, $0.age, $0.seq) < ($1.isSpared ? 1 : 0, $1.age, $1.seq) }
      guard found.count > limit else { return }
      found.removeSubrange(limit...)
      surplus.isCut = true
    }
    let (since, sparedSince) = (surplus.since ?? .min, surplus.sparedSince ?? .min)
    let last = max(since, sparedSince) - 1
    let times: [(Int64, Int64)] = [(.min, last), (max(now + EventArchive.futureSeconds, last) + 1, .max)]
    for (from, to) in times where from <= to {
      let narrowed = bound.filters.compactMap { $0.narrowed(from: from, to: to).map { SearchingMatcher($0) } }
      try visit(narrowed, now: now) { seq, flags, event, bytes in
        guard bound.mayRemove(event, flags) else { return true }
        let isSpared = bound.spared.contains(event.pubkey)
        let age = Self.age(event.createdAt, now)
        guard age < (isSpared ? sparedSince : since) else { return true }
        if !kept.isEmpty {
          let indexed = IndexedEvent(event, in: bytes)
          if kept.contains(where: { $0.matchesAllButWords(indexed) }) { return true }
        }
        found.append(Found(isSpared: isSpared, age: age, seq: seq))
        if found.count >= 2 * limit { keepOldest() }
        return true
      }
    }
    keepOldest()
    surplus.seqs = found.map(\.seq)
  }

  /// Calls `body` with the seq and the flags of each event that any filter matches, once, the newest of each filter
  /// first, until it returns false. The filters have no words.
  func visit(
    _ matchers: [SearchingMatcher], now: Int64,
    _ body: (Int64, Int64, ScannedEvent, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let statement = try session.statement("SELECT json, flags FROM event WHERE seq = ?")
    for (place, matcher) in matchers.enumerated() {
      let earlier = matchers[..<place]
      var isOver = false
      func look(_ seq: Int64) throws {
        statement.bind(seq)
        guard try statement.step() else { return }
        defer { statement.reset() }
        let flags = statement.number(1)
        try session.scanned(statement, 0, seq: seq) { event, bytes in
          guard accepts(event, bytes, matcher, now) else { return }
          guard !earlier.contains(where: { accepts(event, bytes, $0, now) }) else { return }
          isOver = try !body(seq, flags, event, bytes)
        }
      }
      switch QueryPlan(matcher.filter, maker) {
      case .nothing: continue
      case .ids(let ids):
        for id in ids where !isOver { if let seq = try seq(of: id) { try look(seq) } }
      case .terms(let terms, let others):
        var walk = try PostingWalk(terms, matcher.filter, until: nil, self)
        var other = others.isEmpty ? nil : try PostingWalk(others, matcher.filter, until: nil, self)
        var seqs: [Int64] = []
        while !isOver, try nextSeqs(&walk, &other, into: &seqs) { for seq in seqs where !isOver { try look(seq) } }
      }
      if isOver { return }
    }
  }

  func url(ofRelay number: Int64) throws -> String? {
    try session.first("SELECT url FROM relay WHERE number = ?", number) { $0.text(0) }
  }
}

extension ArchiveBound {
  fileprivate func mayRemove(_ event: ScannedEvent, _ flags: Int64) -> Bool {
    flags & (ArchiveRetention.keptFlag | ArchiveRetention.neededFlag) == 0 && !keptAuthors.contains(event.pubkey)
  }
}

extension Filter {
  /// The same for these times only; nil: it matches nothing then.
  fileprivate func narrowed(from: Int64, to: Int64) -> Filter? {
    var filter = self
    filter.limit = nil
    if from > since ?? .min { filter.since = from }
    if to < until ?? .max { filter.until = to }
    if let since = filter.since, let until = filter.until, since > until { return nil }
    return filter
  }
}
