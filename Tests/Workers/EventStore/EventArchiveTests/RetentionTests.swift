import Cryptography
import EventArchive
import Nostr
import Storage
import TestSupport
import Testing

@Suite("Making room")
struct RetentionTests {
  private let author = SecretKey.generate()
  private let own = SecretKey.generate()

  private func event(
    _ time: Int64, kind: UInt16 = 1, _ tags: [[String]] = [], by author: SecretKey? = nil, relay: Int64? = 1,
    rank: RetentionRank = .ordinary
  ) throws -> VerifiedEvent {
    let unsigned = UnsignedEvent(
      pubkey: (author ?? self.author).publicKey, createdAt: time, kind: kind, tags: tags,
      content: "word \(time) " + String(repeating: "x", count: 400))
    let signature = try #require(Signature(String(repeating: "0", count: 128)))
    return try Event(unsigned, signature: signature).json.withUnsafeBytes {
      VerifiedEvent(trusted: $0, try ScannedEvent($0), relay: relay, receivedAt: 1, rank: rank)
    }
  }

  private func ids(_ archive: EventArchive, _ filter: Filter = Filter()) throws -> [EventID] {
    try archive.queryNow(filter, limit: 100_000, now: 1).map(\.indexed.id)
  }

  /// Makes room until there is enough, or nothing more may go. Returns the ids in the order in which they went.
  private func makeRoom(_ archive: EventArchive, _ retention: ArchiveRetention, now: Int64) throws -> [EventID] {
    var (gauge, gone): (RetentionGauge, [EventID]) = (RetentionGauge(), [])
    while gauge.isDue(
      usedByteCount: archive.usedByteCount, foreignByteCount: archive.foreignByteCount, retention)
    {
      let slice = try archive.evictNow(retention, now: now)
      gone += slice.gone
      if slice.isExhausted { gauge.exhausted() }
      while archive.hasTrimWork { try archive.trimSliceNow() }
    }
    return gone
  }

  @Test("The oldest go first, after those of the future; own ones never, profiles and deletions last")
  func order() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    let (day, now): (Int64, Int64) = (86_400, 1_000_000)
    let notes = try (0..<20).map { try event(1_000 - $0) }
    let future = try [event(now + 3 * day), event(now + 2 * day)]
    let soon = try event(now + 60)
    let published = try event(1, rank: .kept)
    let mine = try event(2, by: own)
    let profile = try event(3, kind: 0)
    let target = try event(4)
    let deletion = try event(5, kind: 5, [["e", "\(target.indexed.id)"]])
    _ = try archive.storeNow([profile, deletion, mine, published, soon] + future + notes, now: now)
    let retention = ArchiveRetention(byteLimit: 1, keptAuthors: [own.publicKey])
    let gone = try makeRoom(archive, retention, now: now)
    let expected: [VerifiedEvent] = future + notes.reversed() + [soon, profile, deletion]
    #expect(gone == expected.map { $0.indexed.id })
    #expect(try Set(ids(archive)) == [published.indexed.id, mine.indexed.id])
    #expect(try archive.storeNow([target], now: now) == [.deleted], "what was deleted stays so")
    #expect(try archive.evictNow(retention, now: now).isExhausted)
    // What went may come again.
    guard case .stored = try archive.storeNow([notes[0]], now: now)[0] else {
      return #expect(Bool(false), "an evicted event is refused")
    }
  }

  @Test("Foreign events go before all others, whatever they are, and as they came")
  func foreignFirst() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let (now, stranger): (Int64, SecretKey) = (1_000_000, .generate())
    let foreign = try [900, 100, 500].map { try event($0, by: stranger, rank: .foreign) }
    let profile = try event(3, kind: 0, by: stranger, rank: .foreign)
    let mine = try event(2, by: own, rank: .foreign)
    let fetched = try event(1)
    _ = try archive.storeNow([fetched, mine, profile] + foreign, now: now)
    let again = try event(600, by: stranger, rank: .foreign)
    _ = try archive.storeNow([again], now: now)
    let before = archive.foreignByteCount
    let published = try event(600, by: stranger, rank: .kept)
    #expect(try archive.storeNow([published], now: now) == [.duplicate(seq: 7)])
    #expect(archive.foreignByteCount == before - Int64(again.json.count), "published here, it is foreign no longer")
    let retention = ArchiveRetention(byteLimit: 1, keptAuthors: [own.publicKey])
    let gone = try makeRoom(archive, retention, now: now)
    #expect(gone == ([profile] + foreign + [fetched]).map { $0.indexed.id })
    #expect(try Set(ids(archive)) == [mine.indexed.id, published.indexed.id])
    #expect(archive.foreignByteCount == 0)
  }

  @Test("Foreign events stay within their limit without a size limit, also over a start, and others stay")
  func foreignLimit() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    var archive = try EventArchive(path: path, segmentEventCount: 500)
    let retention = ArchiveRetention(foreignByteLimit: 1 << 20)
    let fetched = try (0..<100).map { try event(Int64($0)) }
    _ = try archive.storeNow(fetched, now: 100)
    var last: VerifiedEvent?
    for round in 0..<12 {
      let batch = try (0..<500).map { try event(Int64(10_000 + round * 500 + $0), rank: .foreign) }
      _ = try archive.storeNow(batch, now: 100)
      last = batch.last
      while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
      _ = try makeRoom(archive, retention, now: 100)
      #expect(archive.foreignByteCount <= 1 << 20)
      guard round == 6 else { continue }
      let count = archive.foreignByteCount
      try archive.close()
      archive = try EventArchive(path: path, segmentEventCount: 500)
      #expect(archive.foreignByteCount == count && count > 0)
    }
    let found = try ids(archive)
    #expect(found.count > 1_000 && found.first == last?.indexed.id)
    #expect(Set(found).isSuperset(of: fetched.map { $0.indexed.id }))
  }

  @Test("Where nothing is left that may be removed, that is told once, and again only when there was room")
  func room() {
    let retention = ArchiveRetention(byteLimit: 1_600)
    var gauge = RetentionGauge()
    func rooms(_ sizes: [Int64]) -> [RetentionGauge.Room] {
      sizes.map { size in
        _ = gauge.isDue(usedByteCount: size, retention)
        return gauge.room
      }
    }
    #expect(rooms([1_600, 1_601, 1_550, 1_500]) == [.below, .making, .making, .below])
    #expect(rooms([2_000]) == [.making])
    gauge.exhausted()
    #expect(rooms([2_000, 2_001]) == [.exhausted, .exhausted])
    gauge.lookAgain()
    #expect(rooms([2_001]) == [.exhausted], "to look again is no news")
    gauge.exhausted()
    #expect(rooms([1_600]) == [.below])
    gauge.lookAgain()
    #expect(rooms([1_600, 1_601]) == [.below, .making])
  }

  @Test("A stream of events stays within the limit, in memory and on disk, for as long as it flows")
  func steady() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    var archive = try EventArchive(path: path, segmentEventCount: 500)
    let retention = ArchiveRetention(byteLimit: 4 << 20)
    var largest: Int64 = 0
    var sizes: [Int64] = []
    let profile = try event(1, kind: 0)
    _ = try archive.storeNow([profile], now: 100)
    for round in 0..<40 {
      let batch = try (0..<500).map { try event(Int64(10 + round * 500 + $0), [["t", "topic\($0 % 7)"]]) }
      _ = try archive.storeNow(batch, now: 100)
      while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
      while archive.hasSearchWork { try archive.indexSliceNow() }
      _ = try makeRoom(archive, retention, now: 100)
      largest = max(largest, archive.usedByteCount)
      if round == 20 {
        try archive.close()
        archive = try EventArchive(path: path, segmentEventCount: 500)
      }
      sizes.append(archive.eventCount)
    }
    #expect(largest <= 4 << 20)
    // If remains of what went piled up, there would be ever less room for events.
    #expect(sizes[39] > sizes[12] * 8 / 10, "\(sizes)")
    let found = try ids(archive)
    #expect(found.count == Int(archive.eventCount) && found.last == profile.indexed.id)
    let topic = try #require(TagLetter("t"))
    let byTag = try ids(archive, Filter(tags: [topic: ["topic3"]]))
    #expect(byTag.count > 100 && Set(byTag).isSubset(of: found))
    // The profile's content is no profile, so it has no words.
    #expect(try archive.searchNow(Filter(search: "word"), now: 1).count == found.count - 1)
    #expect(try archive.searchNow(Filter(search: "\"word 10\""), now: 1).isEmpty)
  }

  @Test("Of large events no more go than are needed to make room")
  func large() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let text = String(repeating: "x", count: 100_000)
    for time in 0..<80 { _ = try archive.storeNow([unsigned(author.publicKey, Int64(time), [], text)], now: 100) }
    let limit = archive.usedByteCount - 1
    let gone = try makeRoom(archive, ArchiveRetention(byteLimit: limit), now: 100)
    #expect(archive.usedByteCount <= limit - limit / 16)
    #expect((5...6).contains(gone.count), "\(gone.count) went")
  }

  @Test("A segment is trimmed whatever took its events: deletion, replacement, expiry or a request to vanish")
  func trimming() throws {
    let (key, now) = (author.publicKey, Int64(1_000))
    func archive(_ directory: TemporaryDirectory, _ event: (Int64) throws -> VerifiedEvent) throws -> EventArchive {
      let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
      _ = try archive.storeNow((0..<50).map { try event(Int64($0)) }, now: 1)
      while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
      #expect(!archive.hasTrimWork)
      return archive
    }
    let directories = try (0..<4).map { _ in try TemporaryDirectory() }
    let deleted = try archive(directories[0]) { try unsigned(key, $0) }
    let targets = try deleted.queryNow(Filter(), limit: 13, now: now).map { ["e", "\($0.indexed.id)"] }
    _ = try deleted.storeNow([unsigned(key, 100, kind: 5, targets)], now: now)
    let replaced = try archive(directories[1]) { try unsigned(key, $0, kind: 30_000, [["d", "\($0)"]]) }
    _ = try replaced.storeNow((0..<13).map { try unsigned(key, 100, kind: 30_000, [["d", "\($0)"]]) }, now: now)
    let over = try archive(directories[2]) { try unsigned(key, $0, [["expiration", "\(100 + $0)"]]) }
    _ = try over.sweepNow(now: 112)
    let vanished = try archive(directories[3]) { try unsigned(key, $0) }
    _ = try vanished.storeNow([unsigned(key, 12, kind: 62, [["relay", "ALL_RELAYS"]])], now: now)
    _ = try vanished.sweepNow(now: now)
    for (index, archive) in [deleted, replaced, over, vanished].enumerated() {
      #expect(archive.hasTrimWork, "\(index)")
      while archive.hasTrimWork { try archive.trimSliceNow() }
      let count = try archive.queryNow(Filter(), limit: 100, now: 1).count
      #expect(count == Int(archive.eventCount), "\(index)")
    }
  }

  @Test("Room is made from above the limit down to a sixteenth below it, and not while nothing may go")
  func gauge() {
    let retention = ArchiveRetention(byteLimit: 1_600)
    var gauge = RetentionGauge()
    func isDue(_ byteCount: Int64, _ retention: ArchiveRetention) -> Bool {
      gauge.isDue(usedByteCount: byteCount, retention)
    }
    let due = [1_600, 1_601, 1_501, 1_500, 1_501, 9_999].map { isDue($0, retention) }
    #expect(due == [false, true, true, false, false, true])
    gauge.exhausted()
    let exhausted = isDue(9_999, retention)
    gauge.lookAgain()
    let again = isDue(9_999, retention)
    let unlimited = isDue(9_999, ArchiveRetention())
    #expect(!exhausted && again && !unlimited)
  }

  @Test("An event found by its id is the one that is stored: never one that went meanwhile, whatever is in memory")
  func recent() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    archive.recentByteCount = 20_000
    let events = try (0..<100).map { try event(Int64($0)) }
    _ = try archive.storeNow(events, now: 100)
    func found(_ ids: [EventID]) throws -> [EventID] { try self.ids(archive, Filter(ids: ids)) }
    let all = events.map { $0.indexed.id }
    // More than memory holds, hits and misses mixed, twice.
    for _ in 0..<2 {
      #expect(try found(all) == Array(all.reversed()))
      #expect(try found([all[99], all[0], all[99]]).count == 2)
    }
    let (gone, over, old) = (events[99], try event(200, [["expiration", "500"]]), try event(300, kind: 0))
    _ = try archive.storeNow([over, old], now: 100)
    let three = [gone.indexed.id, over.indexed.id, old.indexed.id]
    #expect(try found(three).count == 3)
    _ = try archive.storeNow(
      [event(301, kind: 5, [["e", "\(gone.indexed.id)"]]), event(302, kind: 0)], now: 100)
    #expect(try found(three) == [over.indexed.id])
    #expect(try archive.queryNow(Filter(ids: [over.indexed.id]), limit: 1, now: 500).isEmpty)
    _ = try archive.sweepNow(now: 500)
    #expect(try found([over.indexed.id]).isEmpty)
    _ = try archive.evictNow(ArchiveRetention(byteLimit: 1), now: 100)
    #expect(try found(all).isEmpty)
    #expect(try archive.queryNow(Filter(ids: []), limit: 1, now: 1).isEmpty)
  }
}
