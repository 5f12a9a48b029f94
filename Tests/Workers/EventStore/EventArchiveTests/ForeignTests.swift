import Cryptography
import EventArchive
import Nostr
import Observations
import Storage
import TestSupport
import Testing

@Suite("Foreign events beside those of relays")
struct ForeignTests {
  private let stranger = SecretKey.generate().publicKey
  private let now: Int64 = 1_000_000

  /// As a client hands it in, or as a relay sends it.
  private func event(
    _ time: Int64, kind: UInt16 = 1, tags: [[String]] = [], relay: Int64? = nil, rank: RetentionRank = .foreign
  ) throws -> VerifiedEvent {
    let signature = try #require(Signature(String(repeating: "0", count: 128)))
    let unsigned = UnsignedEvent(
      pubkey: stranger, createdAt: time, kind: kind, tags: tags, content: String(repeating: "x", count: 400))
    return try Event(unsigned, signature: signature).json.withUnsafeBytes {
      VerifiedEvent(trusted: $0, try ScannedEvent($0), relay: relay, receivedAt: 1, rank: rank)
    }
  }

  /// Makes room until there is enough, or nothing more may go, in ten slices at most.
  private func makeRoom(_ archive: EventArchive, _ retention: ArchiveRetention) throws -> [EventID] {
    var (gauge, gone, sliceCount): (RetentionGauge, [EventID], Int) = (RetentionGauge(), [], 0)
    while gauge.isDue(
      usedByteCount: archive.usedByteCount, foreignByteCount: archive.foreignByteCount, retention)
    {
      sliceCount += 1
      guard sliceCount <= 10 else {
        Issue.record("it goes on and on")
        break
      }
      let slice = try archive.evictNow(retention, now: now)
      gone += slice.gone
      if slice.isExhausted { gauge.exhausted() }
    }
    return gone
  }

  private func change(_ path: String, _ statements: String...) throws {
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    try file.writeNow { session in for statement in statements { try session.execute(statement) } }
    try file.close()
  }

  @Test("What relays are known to have here stays known when foreign events go, and not when a relay's own go")
  func coverage() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let filter = Filter(kinds: [1])
    let interval = try #require(CoverageIntervals.Interval(since: 0, until: now, checkedAt: now))
    _ = try archive.writeNow(
      [.event(event(10, relay: 1, rank: .ordinary)), .note(.covered(FilterKey([filter.subject]), relay: 1, interval))],
      relays: [RelayNumber(number: 1, url: "wss://1.example")], now: now)
    _ = try archive.storeNow((0..<10).map { try event(now - 1 - $0) }, now: now)
    let retention = ArchiveRetention(foreignByteLimit: 1)
    #expect(try makeRoom(archive, retention).count == 10)
    func intervals() async throws -> [CoverageIntervals.Interval]? {
      try await archive.coverage(of: filter, at: nil).first?.intervals
    }
    #expect(try await intervals() == [interval], "no relay has sent them")
    _ = try archive.evictNow(ArchiveRetention(byteLimit: 1), now: now)
    let rest = try #require(CoverageIntervals.Interval(since: 11, until: now, checkedAt: now))
    #expect(try await intervals() == [rest], "it is as before for what a relay has sent")
  }

  private func tombstones(_ path: String) throws -> Int64 {
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    defer { try? file.close() }  // It is only read.
    return try file.readNow { session in
      let statement = try session.statement("SELECT count(*) FROM tombstone")
      defer { statement.reset() }
      return try statement.step() ? statement.number(0) : -1
    }
  }

  @Test("So does one that expires; a request to vanish that names another relay takes nothing along")
  func deletionsThatExpire() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let archive = try EventArchive(path: path)
    let never = (0..<300).map { number in ["e", EventID(SHA256.hash(Array("\(number)".utf8))).description] }
    let deletion = try event(100, kind: EventKind.deletion, tags: never + [["expiration", "\(now + 10)"]])
    _ = try archive.storeNow([deletion], now: now)
    #expect(try tombstones(path) >= 300)
    _ = try archive.sweepNow(now: now + 20)
    #expect(try tombstones(path) == 0)

    let vanish = try event(200, kind: EventKind.vanish, tags: [["relay", "ALL_RELAYS"]], relay: 1, rank: .ordinary)
    let elsewhere = try event(300, kind: EventKind.vanish, tags: [["relay", "wss://relay.example"]])
    _ = try archive.writeNow([.event(vanish)], relays: [RelayNumber(number: 1, url: "wss://1.example")], now: now)
    _ = try archive.storeNow([elsewhere], now: now)
    #expect(try tombstones(path) == 1)
    #expect(try makeRoom(archive, ArchiveRetention(foreignByteLimit: 1)).count == 1)
    #expect(try tombstones(path) == 1)
  }

  @Test("A stranger's deletion that goes takes along what it has had remembered")
  func deletions() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let archive = try EventArchive(path: path)
    let never = (0..<300).map { number in ["e", EventID(SHA256.hash(Array("\(number)".utf8))).description] }
    let requests = [
      try event(100, kind: EventKind.deletion, tags: never + [["a", "30023:\(stranger):x"]]),
      try event(101, kind: EventKind.vanish, tags: [["relay", "ALL_RELAYS"]]),
    ]
    _ = try archive.storeNow(requests, now: now)
    #expect(try tombstones(path) >= 300)
    #expect(try makeRoom(archive, ArchiveRetention(foreignByteLimit: 1)).count == 2)
    #expect(try tombstones(path) == 0)
  }

  @Test("A foreign event that a relay sends as well is foreign no longer, and goes in its turn")
  func adopted() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let (note, profile, other) = (try event(100), try event(101, kind: 0), try event(102))
    _ = try archive.storeNow([note, profile, other], now: now)
    let before = archive.foreignByteCount
    let sent = [try event(100, relay: 1, rank: .ordinary), try event(101, kind: 0, relay: 1, rank: .ordinary)]
    #expect(try archive.storeNow(sent, now: now) == [.duplicate(seq: 1), .duplicate(seq: 2)])
    #expect(archive.foreignByteCount == before - Int64(note.json.count + profile.json.count))
    _ = try archive.storeNow(sent + [try event(100)], now: now)
    #expect(archive.foreignByteCount == Int64(other.json.count), "once, and whatever a client hands in again")
    #expect(try makeRoom(archive, ArchiveRetention(foreignByteLimit: 1)) == [other.indexed.id])
    let late = try event(103, relay: 1, rank: .ordinary)
    _ = try archive.storeNow([late], now: now)
    let gone = try makeRoom(archive, ArchiveRetention(byteLimit: 1))
    #expect(gone == [note, late, profile].map(\.indexed.id), "a profile goes last")
  }

  @Test("A count of foreign bytes that is too high costs no ordinary event, and is mended")
  func wrongCount() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    var archive = try EventArchive(path: path)
    let ordinary = try (0..<20).map { try event($0, relay: 1, rank: .ordinary) }
    _ = try archive.storeNow(ordinary + [try event(500)], now: now)
    try archive.close()
    try change(path, "UPDATE property SET value = 5000000 WHERE name = 'foreign-bytes'")
    archive = try EventArchive(path: path)
    #expect(archive.foreignByteCount == 5_000_000)
    #expect(try makeRoom(archive, ArchiveRetention(foreignByteLimit: 1 << 20)).count == 1, "the foreign one")
    #expect(archive.foreignByteCount == 0 && archive.eventCount == 20)
    try archive.close()
    archive = try EventArchive(path: path)
    #expect(archive.foreignByteCount == 0, "also in the database")
  }

  @Test("A damaged foreign event takes its bytes along, and a mended one has those of the good copy")
  func damaged() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let key = SecretKey.generate()
    func signed(_ content: String) throws -> VerifiedEvent {
      try UnsignedEvent(pubkey: key.publicKey, createdAt: 5, kind: 1, tags: [], content: content).signed(by: key).json
        .withUnsafeBytes { bytes in
          try VerifiedEvent(
            bytes, try ScannedEvent(bytes), verifier: EventVerifier(), receivedAt: 1, rank: .foreign)
        }
    }
    var archive = try EventArchive(path: path)
    let (lost, mended) = (try signed("lost"), try signed("mended"))
    _ = try archive.storeNow([lost, mended], now: now)
    let byteCount = Int64(mended.json.count)
    try archive.close()
    try change(
      path, "UPDATE event SET json = replace(json, 'lost', 'lust') WHERE seq = 1",
      "UPDATE event SET json = replace(json, 'mended', 'mendedd') WHERE seq = 2",
      "UPDATE property SET value = value + 1 WHERE name = 'foreign-bytes'")
    archive = try EventArchive(path: path)
    #expect(try archive.storeNow([mended], now: now) == [.mended(seq: 2)])
    #expect(try archive.scrubNow(now: now).removed == [1])
    #expect(archive.foreignByteCount == byteCount)
  }
}
