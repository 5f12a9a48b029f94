import Cryptography
import EventArchive
import Glibc
import Nostr
import Storage
import TestSupport
import Testing

@Suite("What the archive does besides storing")
struct DutyTests {
  private let author = SecretKey.generate()
  private let other = SecretKey.generate()

  private func event(
    _ author: SecretKey, _ time: Int64, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = ""
  ) -> Event {
    UnsignedEvent(pubkey: author.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
      .signed(by: author)
  }

  private func verified(_ event: Event, relay: Int64? = nil, at time: Int64 = 1) throws -> VerifiedEvent {
    try event.json.withUnsafeBytes {
      VerifiedEvent(trusted: $0, try ScannedEvent($0), relay: relay, receivedAt: time)
    }
  }

  private func open(_ directory: TemporaryDirectory) throws -> EventArchive {
    try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
  }

  private func ids(_ archive: EventArchive, _ filter: Filter = Filter()) throws -> Set<EventID> {
    Set(try archive.queryNow(filter, limit: 10_000, now: 1_000).map(\.indexed.id))
  }

  @Test("Who asks every relay to forget him is forgotten up to then, with the wraps to him, and for good")
  func vanish() throws {
    let directory = try TemporaryDirectory()
    var archive = try open(directory)
    let past = (0..<700).map { event(author, Int64($0 % 90), [], "\($0)") }
    let wrap = event(other, 50, kind: 1_059, [["p", "\(author.publicKey)"]])
    let kept = event(other, 50, [["p", "\(author.publicKey)"]])
    let later = event(author, 200)
    _ = try archive.storeNow((past + [wrap, kept, later]).map { try verified($0) }, now: 300)
    let request = event(author, 100, kind: 62, [["relay", "ALL_RELAYS"]])
    let mild = event(other, 300, kind: 62, [["relay", "wss://relay.example"]])
    _ = try archive.storeNow([request, mild].map { try verified($0) }, now: 300)
    var gone = Set(try archive.sweepNow(now: 300).gone)
    #expect(gone.count == EventArchive.sweepEventCount)
    // What is left to be done outlives the process.
    try archive.close()
    archive = try open(directory)
    while true {
      let slice = try archive.sweepNow(now: 300).gone
      if slice.isEmpty { break }
      gone.formUnion(slice)
    }
    #expect(gone == Set((past + [wrap]).map(\.id)))
    #expect(try ids(archive) == [kept.id, later.id, request.id, mild.id])
    #expect(archive.eventCount == 4)
    let again = try archive.storeNow(
      [past[0], event(author, 99), event(author, 101)].map { try verified($0) }, now: 300)
    #expect(again[0] == .vanished && again[1] == .vanished)
    guard case .stored = again[2] else { return #expect(Bool(false), "\(again[2])") }
    let deletion = event(author, 400, kind: 5, [["e", "\(request.id)"]])
    _ = try archive.storeNow([try verified(deletion)], now: 300)
    #expect(try ids(archive).contains(request.id), "a request to vanish cannot be deleted")
  }

  @Test("Events are removed when their time is over, and can be told from those that are not")
  func expiry() throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let events = (0..<30).map { event(author, Int64($0), [["expiration", "\(100 + $0)"]]) }
    _ = try archive.storeNow(events.map { try verified($0) }, now: 50)
    let slice = try archive.sweepNow(now: 109)
    #expect(Set(slice.gone) == Set(events[...9].map(\.id)) && archive.eventCount == 20)
    #expect(try archive.seqsNow(of: [events[0].id, events[10].id]) == [nil, 11])
    #expect(try archive.sweepNow(now: 109).gone.isEmpty)
  }

  @Test("What was committed after a seq comes in order, page by page, filtered, and each once")
  func committed() async throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let events = (0..<200).map { event($0 % 3 == 0 ? author : other, Int64(1_000 - $0), [], "\($0)") }
    _ = try archive.storeNow(events.map { try verified($0) }, now: 50)
    var (seqs, cursor): ([Int64], Int64) = ([], 20)
    while cursor < archive.lastSeq {
      let page = try await archive.committed(
        after: cursor, upTo: 190, matching: [Filter(authors: [author.publicKey])], limit: 7, scanLimit: 30, now: 50)
      seqs += page.block.entries.map(\.seq)
      if page.lastSeq >= 190 { break }
      cursor = page.lastSeq
    }
    let expected: [Int64] = (21...190).filter { ($0 - 1) % 3 == 0 }
    #expect(seqs == expected)
    let filters = [Filter(authors: [author.publicKey]), Filter(kinds: [1], until: 900)]
    let matching = events.filter { $0.pubkey == author.publicKey || $0.createdAt <= 900 }
    let count = try await archive.count(filters, now: 50)
    #expect(count == matching.count)
  }

  @Test("What is not damaged in a damaged file is saved, seqs go on behind the old ones, and the file is kept aside")
  func rescue() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    var archive = try EventArchive(path: path)
    let events = (0..<50).map { event(author, Int64($0)) }
    let deletion = event(author, 60, kind: 5, [["e", "\(events[7].id)"]])
    _ = try archive.storeNow((events + [deletion]).map { try verified($0) }, now: 100)
    try archive.close()
    // One event's text is changed in place: readable, and not what was signed.
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    try file.writeNow { session in
      try session.execute("UPDATE event SET json = replace(json, '\"kind\":1', '\"kind\":2') WHERE seq = 4")
    }
    try file.close()
    archive = try EventArchive(path: path)
    archive.markDamaged()
    try archive.close()
    let (saved, report) = try EventArchive.openOrRescue(path: path, now: 12_345)
    #expect(report?.savedCount == 49 && report?.damagedCount == 1)
    #expect(report?.quarantinePath == path + ".damaged-12345")
    let sound = Set(events.map(\.id) + [deletion.id]).subtracting([events[3].id, events[7].id])
    #expect(try ids(saved) == sound)
    #expect(saved.lastSeq > 1_000_000)
    #expect(try saved.seqsNow(of: [events[4].id, deletion.id]) == [5, 51], "under the seqs they had")
    #expect(try saved.storeNow([try verified(events[7])], now: 100) == [.deleted])
    try saved.close()
    let (again, nothing) = try EventArchive.openOrRescue(path: path, now: 12_346)
    #expect(nothing == nil && again.eventCount == 49)
  }

  @Test("A damaged event is mended by a good copy of it, in its old place, and by nothing else")
  func mending() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let archive = try EventArchive(path: path)
    let events = [event(author, 1, [], "one"), event(author, 2, [], "two"), event(author, 3, [], "three")]
    _ = try archive.storeNow(events.map { try verified($0) }, now: 100)
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    try file.writeNow { session in
      try session.execute("UPDATE event SET json = replace(json, 'two', 'owt') WHERE seq = 2")
      try session.execute("UPDATE event SET json = 'nonsense' WHERE seq = 3")
    }
    #expect(
      try archive.storeNow(events.map { try verified($0) }, now: 100)
        == [.duplicate(seq: 1), .mended(seq: 2), .mended(seq: 3)])
    #expect(try archive.storeNow([verified(events[1])], now: 100) == [.duplicate(seq: 2)])
    let found = try archive.queryNow(Filter(authors: [author.publicKey]), limit: 10, now: 100)
    #expect(found.map(\.json) == events.reversed().map(\.json) && archive.eventCount == 3)
    try file.close()
  }

  @Test("What is over is refused as such also while it waits to be removed")
  func overAgain() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let event = try verified(event(author, 1, [["expiration", "60"]], "soon over"))
    #expect(try archive.storeNow([event], now: 50) == [.stored(seq: 1)])
    #expect(try archive.storeNow([event], now: 59) == [.duplicate(seq: 1)])
    #expect(try archive.storeNow([event], now: 60) == [.expired])
  }

  @Test("A file that is no database is put aside, and an empty one begins")
  func nonsense() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let nonsense = [UInt8](repeating: 0x41, count: 10_000)
    #expect(write(file, nonsense, nonsense.count) == nonsense.count)
    Glibc.close(file)
    let (archive, report) = try EventArchive.openOrRescue(path: path, now: 5)
    #expect(report?.savedCount == 0 && report?.reason != nil && archive.eventCount == 0)
  }
}
