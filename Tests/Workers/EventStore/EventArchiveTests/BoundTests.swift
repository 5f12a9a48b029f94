import Cryptography
import EventArchive
import Nostr
import Observations
import Storage
import TestSupport
import Testing

@Suite("What is over a bound")
struct BoundTests {
  private let me = SecretKey.generate().publicKey
  private let friend = SecretKey.generate().publicKey
  private let own = SecretKey.generate().publicKey
  private let now: Int64 = 10_000_000

  private func note(
    _ time: Int64, by author: PublicKey? = nil, kind: UInt16 = 1, rank: RetentionRank = .ordinary
  ) throws -> VerifiedEvent {
    try unsigned(
      author ?? SecretKey.generate().publicKey, time, kind: kind, [["p", "\(me)"]],
      "\(time) " + String(repeating: "x", count: 300), rank: rank)
  }

  private func naming() throws -> Filter {
    Filter(kinds: [0, 1, 5, 7], tags: [try #require(TagLetter("p")): [TagValue("\(me)")]])
  }

  private func size(_ events: [VerifiedEvent]) -> Int64 { events.reduce(0) { $0 + Int64($1.json.count) } }

  private func ids(_ archive: EventArchive) throws -> Set<EventID> {
    Set(try archive.queryNow(Filter(), limit: 100_000, now: now).map(\.indexed.id))
  }

  private func trim(
    _ archive: EventArchive, _ bound: ArchiveBound, kept: Set<PublicKey> = [], limit: Int = 100_000
  ) async throws -> (surplus: ArchiveSurplus, gone: [EventID], byteCount: Int64) {
    var bound = bound
    bound.keptAuthors = kept
    let surplus = try await archive.surplus(of: bound, limit: limit, now: now)
    var (gone, byteCount, rest): ([EventID], Int64, ArraySlice<Int64>) = ([], 0, surplus.seqs[...])
    while !rest.isEmpty {
      let slice = rest.prefix(EventArchive.boundedEventCount)
      let removed = try await archive.remove(slice, kept: kept, now: now)
      gone += removed.gone
      byteCount += removed.byteCount
      rest.removeFirst(slice.count)
    }
    return (surplus, gone, byteCount)
  }

  @Test("The oldest of strangers go first, then those of the spared; what the store keeps and what is needed stays")
  func order() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 30)
    let strangers = try (0..<100).map { try note(5_000 + 50 * Int64($0)) }
    let friends = try (0..<20).map { try note(1_000 + Int64($0), by: friend) }
    let future = try note(now + 3 * 86_400)
    let others = [
      try note(10, by: own), try note(11, rank: .kept), try note(12, kind: 0), try note(13, kind: 5),
      try unsigned(friend, 14),
    ]
    _ = try archive.storeNow(strangers + friends + [future] + others, now: now)
    let all = try ids(archive)
    var bound = ArchiveBound([try naming()], spared: [friend], byteMaximum: .max)
    #expect(try await archive.surplus(of: bound, limit: 9, now: now).seqs.isEmpty)
    let measure = try await archive.measure([try naming(), Filter(authors: [friend], kinds: [1])], now: now)
    #expect(measure.count == 126 && measure.byteCount == size(strangers + friends + [future] + others))
    #expect(measure.oldest == 10)
    // What is not removed counts: own, published, needed.
    let staying = size(Array(others.prefix(4)) + friends)
    bound.byteMaximum = staying + size(Array(strangers.suffix(60)))
    let first = try await trim(archive, bound, kept: [own])
    #expect(first.gone.first == future.indexed.id, "what is from the future has no usable age")
    #expect(Set(first.gone.dropFirst()) == Set(strangers.prefix(40).map(\.indexed.id)))
    #expect(first.surplus.since == strangers[39].indexed.createdAt + 1 && first.surplus.sparedSince == nil)
    #expect(first.byteCount == size(strangers.prefix(40) + [future]))
    #expect(try await trim(archive, bound, kept: [own]).surplus.since == nil, "it fits now")
    // Less than what the spared have: all strangers' go, and the oldest of the spared.
    bound.byteMaximum = size(Array(others.prefix(4)) + friends.suffix(5))
    let second = try await trim(archive, bound, kept: [own])
    #expect(second.surplus.since == strangers[99].indexed.createdAt + 1)
    #expect(second.gone == (strangers.suffix(60) + friends.prefix(15)).map(\.indexed.id))
    #expect(second.surplus.sparedSince == friends[14].indexed.createdAt + 1)
    #expect(try ids(archive) == all.subtracting(first.gone).subtracting(second.gone))
    #expect(try ids(archive).isSuperset(of: others.map(\.indexed.id)))
    // What may not be removed does not make it try again for ever.
    bound.byteMaximum = 0
    _ = try await trim(archive, bound, kept: [own])
    #expect(try ids(archive) == Set(others.map(\.indexed.id)))
  }

  @Test("What another filter keeps stays; of many, the oldest go first; one second goes as a whole")
  func keeping() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let events = try (0..<30).map { try note(1_000 + Int64($0) / 3) }
    _ = try archive.storeNow(events, now: now)
    let half = size(events) / 2 + 1
    var bound = ArchiveBound([try naming()], byteMaximum: half)
    bound.kept = [Filter(until: 1_000)]
    let surplus = try await archive.surplus(of: bound, limit: 100, now: now)
    #expect(surplus.since == 1_005, "of 1,004 all go, whether or not one fits")
    #expect(surplus.seqs == Array(4...15).map(Int64.init) && !surplus.isCut)
    let cut = try await archive.surplus(of: bound, limit: 5, now: now)
    #expect(cut.seqs == [4, 5, 6, 7, 8] && cut.isCut && cut.since == 1_005)
    _ = try await trim(archive, bound)
    #expect(try ids(archive).count == 18)
  }

  @Test("Coverage of filters that the removed events match is cut up to them; all other coverage stays")
  func coverage() async throws {
    let directory = try TemporaryDirectory()
    var archive = try EventArchive(path: directory.path + "/events.db")
    let events = try (0..<20).map { try note(1_000 + Int64($0), by: $0 < 10 ? friend : nil) }
    let letter = try #require(TagLetter("p"))
    let tag = Filter(tags: [letter: [TagValue("\(me)")]])
    let tagKind = Filter(kinds: [1], tags: [letter: [TagValue("\(me)")]])
    let otherKind = Filter(kinds: [7], tags: [letter: [TagValue("\(me)")]])
    let (author, mine) = (Filter(authors: [friend], kinds: [1]), Filter(authors: [me]))
    let part = try naming().subject
    let (everything, profiles) = (Filter(kinds: [1]), Filter(kinds: [0, 3]))
    let filters = [tag, tagKind, otherKind, author, mine, part, everything, profiles]
    let interval = try #require(CoverageIntervals.Interval(since: 0, until: 2_000, checkedAt: 5))
    let notes = filters.map { filter in
      ArchiveEntry.note(
        .covered(
          FilterKey([filter.subject]), relay: 1, interval, whole: filter.isCoverageSubject ? nil : filter.subject))
    }
    let relays = [RelayNumber(number: 1, url: "wss://1.example")]
    _ = try archive.writeNow(events.map { .event($0) } + notes, relays: relays, now: now)
    try archive.close()
    archive = try EventArchive(path: directory.path + "/events.db")
    let bound = ArchiveBound([try naming()], byteMaximum: size(Array(events.suffix(5))))
    let trimmed = try await trim(archive, bound)
    #expect(trimmed.gone.count == 15 && trimmed.surplus.since == 1_015)
    func since(_ filter: Filter) async throws -> Int64? {
      try await archive.coverage(of: filter, at: nil).first?.intervals.first?.since
    }
    for filter in [tag, tagKind, part, everything] { #expect(try await since(filter) == 1_015, "\(filter)") }
    #expect(try await since(author) == 1_010, "the friend's last removed event is older")
    for filter in [otherKind, mine, profiles] { #expect(try await since(filter) == 0, "\(filter)") }
    let parts = try await archive.coverageParts(of: part, at: "wss://1.example")
    #expect(parts.allSatisfy { $0.intervals.first?.since != 0 || $0.filter == otherKind }, "\(parts)")
    #expect(try await archive.sources(of: [friend], eventMaximum: 9, now: now).isEmpty, "all of it is gone")
  }

  @Test("Of 10,000 events the newest stay, over segments, in transactions of 500, and the rest can come again")
  func many() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 1_500)
    let authors = (0..<50).map { _ in SecretKey.generate().publicKey }
    var events: [VerifiedEvent] = []
    for number in 0..<10_000 {
      // Not in the order of their times.
      let time = Int64(1_000 + number * 7_919 % 10_000)
      events.append(try unsigned(authors[number % 50], time, kind: 1, [["p", "\(me)"]], "\(number)"))
    }
    for start in stride(from: 0, to: events.count, by: 1_000) {
      _ = try archive.storeNow(Array(events[start..<start + 1_000]), now: now)
      while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    }
    let ordered = events.sorted { $0.indexed.createdAt < $1.indexed.createdAt }
    let bound = ArchiveBound([try naming()], spared: Set(authors.prefix(5)), byteMaximum: size(events) / 4)
    let trimmed = try await trim(archive, bound)
    let since = try #require(trimmed.surplus.since)
    let spared = Set(authors.prefix(5))
    let expected = ordered.filter { spared.contains($0.indexed.pubkey) || $0.indexed.createdAt >= since }
    #expect(try ids(archive) == Set(expected.map(\.indexed.id)))
    #expect(size(expected) <= bound.byteMaximum && size(expected) > bound.byteMaximum - 1_000)
    #expect(trimmed.gone.count == 10_000 - expected.count && archive.eventCount == Int64(expected.count))
    let measure = try await archive.measure([try naming()], now: now)
    #expect(measure.count == expected.count && measure.byteCount == size(expected))
    while archive.hasTrimWork { try archive.trimSliceNow() }
    #expect(try ids(archive) == Set(expected.map(\.indexed.id)))
    let first = try #require(ordered.first { $0.indexed.id == trimmed.gone.first })
    let again = try archive.storeNow([first], now: now)
    guard case .stored = again[0] else { return #expect(Bool(false), "what went is refused") }
  }
}
