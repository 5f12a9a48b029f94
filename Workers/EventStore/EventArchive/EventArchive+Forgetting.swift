public import Cryptography
internal import EventIndex
public import Nostr
public import Storage

// Removes the events that only one account wanted: those that it wrote, those that name it, and those of the people
// whom only it follows. An event stays if another account wrote it, is named by it, or follows its author; if its
// author is one of `keep-authors`; or if a filter keeps it.
//
// Whom the accounts follow is read from their lists here. So the account's own lists go last, when nothing else was
// found: a repetition, after a death or because events came meanwhile, still knows the people. Events are removed in
// slices, like all removals.
//
// What remains of a removed event are entries in postings, until their segment is trimmed: a keyed hash of a term, a
// time and a seq, without the event. The words of the search index are merged away, because SQLite's index keeps
// removed words until then.

/// Whose events are forgotten, and what stays.
public struct ForgottenAccount: Sendable {
  /// The account.
  public let account: PublicKey
  /// The other accounts.
  public let others: Set<PublicKey>
  /// Authors whose events stay.
  public let keptAuthors: Set<PublicKey>
  /// Events that any of these matches stay.
  public let kept: [Filter]

  /// An account to forget.
  public init(_ account: PublicKey, others: Set<PublicKey>, keptAuthors: Set<PublicKey>, kept: [Filter]) {
    (self.account, self.others) = (account, others)
    (self.keptAuthors, self.kept) = (keptAuthors, kept)
  }
}

/// The events that only one account wanted.
public struct ForgottenEvents: Sendable {
  /// Those of people whom only it follows.
  public var followed: [Int64] = []
  /// Those of others that name it, gift wraps to it among them.
  public var naming: [Int64] = []
  /// Those that it wrote, but for its lists of people.
  public var own: [Int64] = []
  /// Its lists of people.
  public var lists: [Int64] = []
  /// How many that it wrote or that name it stay, because they concern another account as well.
  public var sharedCount = 0
  /// The people whom only it follows.
  public var people: Set<PublicKey> = []

  /// All of them but its lists.
  public var seqs: [Int64] { followed + naming + own }
}

extension EventArchive {
  /// Which events only one account wanted.
  ///
  /// - Parameters:
  ///   - forgotten: the account, and what stays.
  ///   - now: seconds since 1970.
  public func wanted(only forgotten: ForgottenAccount, now: Int64) async throws(StorageFault) -> ForgottenEvents {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try reader.wanted(only: forgotten)
    }
  }

  /// Removes a slice of events, at most ``boundedEventCount`` of them, with the coverage that claims them.
  ///
  /// - Parameters:
  ///   - seqs: the events; those that are gone meanwhile are left out.
  ///   - now: seconds since 1970.
  /// - Returns: the ids removed.
  public func forget(_ seqs: some Sequence<Int64>, now: Int64) async throws(StorageFault) -> [EventID] {
    let slice = Array(seqs.prefix(Self.boundedEventCount))
    let written = try await file.write(
      { [self] session in
        var writer = writer(session)
        try writer.forget(slice, now: now)
        try writer.finish()
        return Written(outcomes: [], change: writer.change)
      }, onCommit: { [self] in apply($0) })
    return written.change.gone
  }

  /// Removes everything else that names an account or the people whom only it follows: coverage, fetch times and marks
  /// of observers, and its tombstone.
  ///
  /// - Returns: how many rows were removed.
  public func forgetNotes(
    of account: PublicKey, _ people: Set<PublicKey>
  ) async throws(StorageFault) -> Int {
    // Of very many keys few are used: they are looked for before ingestion waits.
    let keys = try await file.read { session in
      var known: Set<[UInt8]> = []
      for table in ["coverage", "fetch"] {
        known.formUnion(try session.rows("SELECT DISTINCT filter FROM \(table)") { $0.bytes(0) })
      }
      return (ArchiveWriter.keys(of: account) + people.flatMap(ArchiveWriter.usualKeys))
        .map { Array($0.digest.bytes) }.filter(known.contains)
    }
    let result = try await file.write(
      { [self] session in
        var writer = writer(session)
        let count = try writer.forgetNotes(of: account, people, keys)
        try writer.finish()
        return Noted(written: Written(outcomes: [], change: writer.change), count: count)
      }, onCommit: { [self] in apply($0.written) })
    return result.count
  }

  private struct Noted: Sendable {
    let written: Written
    let count: Int
  }

  /// Merges some of the index of words, so that removed words leave it.
  ///
  /// - Parameter isFirst: whether this is the first call of a series; the calls after it continue.
  /// - Returns: whether nothing is left to merge.
  public func mergeWords(isFirst: Bool) async throws(StorageFault) -> Bool {
    try await file.write { session in
      let before = session.totalChangeCount
      // A negative number makes all parts of the index one part; the next calls continue with that.
      try session.run(
        "INSERT INTO search (search, rank) VALUES ('merge', ?)", isFirst ? -Self.mergedPageCount : Self.mergedPageCount)
      // SQLite says by this count that it found nothing to do.
      return session.totalChangeCount - before < 2
    }
  }

  /// Pages of the index that one transaction merges.
  private static let mergedPageCount: Int64 = 500

  /// Removes what removed rows have left in the file and its log.
  public func scrubFile() async throws(StorageFault) -> ScrubResult { try await file.scrub() }
}

extension ArchiveReader {
  private static let person = UInt8(ascii: "p")
  /// The lists of people whose events an account asks for: follows, and sets of them.
  private static let peopleLists: [UInt16] = [EventKind.follows, 30_000]

  fileprivate func wanted(only forgotten: ForgottenAccount) throws -> ForgottenEvents {
    let theirs = try people(in: forgotten.others, Self.peopleLists)
    let mine = try people(in: [forgotten.account], Self.peopleLists)
    let safe = theirs.union(forgotten.others).union(forgotten.keptAuthors)
    var found = ForgottenEvents()
    found.people = mine.subtracting(safe).subtracting([forgotten.account])
    let kept = forgotten.kept.map { SearchingMatcher($0) }
    func stays(_ event: IndexedEvent, _ flags: Int64) -> Bool {
      safe.contains(event.pubkey)
        || event.tags.contains {
          $0.letter.ascii == Self.person && PublicKey($0.value.description).map(forgotten.others.contains) ?? false
        } || kept.contains { $0.matchesAllButWords(event) }
    }
    func look(_ filter: Filter, _ add: (Int64, IndexedEvent, Int64) -> Void) throws {
      // Expired events are removed too, whether they were swept or not.
      try visit([SearchingMatcher(filter)], now: .min) { seq, flags, event, bytes in
        add(seq, IndexedEvent(event, in: bytes), flags)
        return true
      }
    }
    try look(Filter(authors: [forgotten.account])) { seq, event, flags in
      if stays(event, flags) {
        found.sharedCount += 1
      } else if Self.peopleLists.contains(event.kind) {
        found.lists.append(seq)
      } else {
        found.own.append(seq)
      }
    }
    if let letter = TagLetter(Self.person) {
      try look(Filter(tags: [letter: [TagValue(forgotten.account.description)]])) { seq, event, flags in
        if event.pubkey == forgotten.account { return }
        if stays(event, flags) { found.sharedCount += 1 } else { found.naming.append(seq) }
      }
    }
    let naming = Set(found.naming)
    let people = found.people.sorted()
    for start in stride(from: 0, to: people.count, by: Self.peopleMaximum) {
      let some = Array(people[start..<min(start + Self.peopleMaximum, people.count)])
      try look(Filter(authors: some)) { seq, event, flags in
        // What was published here was meant to be kept.
        let isKept = flags & ArchiveRetention.keptFlag != 0
        if !isKept, !naming.contains(seq), !stays(event, flags) { found.followed.append(seq) }
      }
    }
    return found
  }

  /// Authors in one filter.
  private static let peopleMaximum = 500

  private func people(in authors: Set<PublicKey>, _ kinds: [UInt16]) throws -> Set<PublicKey> {
    guard !authors.isEmpty else { return [] }
    var people: Set<PublicKey> = []
    let filter = Filter(authors: authors.sorted(), kinds: kinds)
    try visit([SearchingMatcher(filter)], now: .min) { _, _, event, bytes in
      for tag in IndexedEvent(event, in: bytes).tags where tag.letter.ascii == Self.person {
        if let key = PublicKey(tag.value.description) { people.insert(key) }
      }
      return true
    }
    return people
  }
}

extension ArchiveWriter {
  fileprivate mutating func forget(_ seqs: [Int64], now: Int64) throws {
    var cuts = CoverageCuts()
    for seq in seqs {
      guard let event = try stored(seq) else { continue }
      if event.indexed.createdAt <= now { cuts.note(event.indexed) }
      let asksEveryRelay =
        try event.indexed.kind == EventKind.vanish
        && session.event(seq) { $0.asksEveryRelay(in: $1) } ?? false
      try remove(seq, event)
      // What it asked to delete may come again, as from a stranger.
      try unbury(as: event.indexed, asksEveryRelay: asksEveryRelay)
      try session.run("DELETE FROM expiry WHERE seq = ?", seq)
    }
    for (key, time) in try cuts.keys(session) { try forgetCoverage(of: key, upTo: time) }
  }

  fileprivate mutating func forgetNotes(
    of account: PublicKey, _ people: Set<PublicKey>, _ keys: [[UInt8]]
  ) throws -> Int {
    var count = 0
    func forget(_ key: [UInt8]) throws {
      for table in ["coverage", "fetch", "wholeFilter"] {
        try session.run("DELETE FROM \(table) WHERE filter = ?", key)
        count += session.changedRowCount
      }
    }
    // Filters with several authors name others too: those are fetched again, which does no harm.
    let gone = people.union([account])
    let rows = try session.rows("SELECT filter, json FROM wholeFilter") { (key: $0.bytes(0), json: $0.bytes(1)) }
    for row in rows {
      // `try?`: a filter that cannot be read might name it.
      let filter = try? Filter(json: row.json)
      guard filter.map({ Self.names($0, gone) }) ?? true else { continue }
      try forget(row.key)
    }
    for key in keys { try forget(key) }
    try session.run(
      "DELETE FROM mark WHERE instr(id, ?1) > 0 OR instr(id, ?2) > 0", account.description, account.npub)
    count += session.changedRowCount
    try session.run("DELETE FROM tombstone WHERE term = ?", Int64(bitPattern: maker.term(author: account)))
    let until = try session.first("SELECT until FROM vanishing WHERE author = ?", account.description) { $0.number(0) }
    if let until {
      try session.run("DELETE FROM vanishing WHERE author = ?", account.description)
      change.vanished[account] = until
    }
    return count
  }

  private static func names(_ filter: Filter, _ people: Set<PublicKey>) -> Bool {
    filter.authors?.contains(where: people.contains) ?? false
      || filter.tags.values.joined().contains { PublicKey($0.description).map(people.contains) ?? false }
  }

  /// The keys of all filters that name one person as author or by `p`, with one kind or none.
  fileprivate static func keys(of person: PublicKey) -> [FilterKey] {
    var keys: [FilterKey] = []
    for filter in filters(of: person, kinds: nil) {
      keys.append(FilterKey([filter]))
      FilterKey.forEachKind(of: filter) { keys.append($0) }
    }
    return keys
  }

  /// The same for kinds that are asked for of people.
  fileprivate static func usualKeys(of person: PublicKey) -> [FilterKey] {
    let kinds: [[UInt16]?] = [
      nil, [0], [1], [3], [5], [6], [7], [16], [20], [21], [22], [1_111], [9_735], [9_802], [10_000], [10_002],
      [10_050], [30_023],
    ]
    return kinds.flatMap { filters(of: person, kinds: $0).map { FilterKey([$0]) } }
  }

  private static func filters(of person: PublicKey, kinds: [UInt16]?) -> [Filter] {
    var filters = [Filter(authors: [person], kinds: kinds)]
    if let letter = TagLetter(UInt8(ascii: "p")) {
      filters.append(Filter(kinds: kinds, tags: [letter: [TagValue(person.description)]]))
    }
    return filters
  }
}
