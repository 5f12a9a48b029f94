import Cryptography
import EventArchive
import Nostr
import Storage
import TestSupport
import Testing

@Suite("Looking through what is stored")
struct ScrubTests {
  private let key = SecretKey.generate()
  private static let eventCount = 1_200

  private func makeArchive(_ path: String) throws -> (EventArchive, [VerifiedEvent]) {
    let archive = try EventArchive(path: path, segmentEventCount: 500)
    let events = try (0..<Self.eventCount).map { number in
      try UnsignedEvent(
        pubkey: key.publicKey, createdAt: Int64(number), kind: 1, tags: [["t", "x"]], content: "number \(number)"
      ).signed(by: key).json.withUnsafeBytes { VerifiedEvent(trusted: $0, try ScannedEvent($0), receivedAt: 1) }
    }
    _ = try archive.storeNow(events, now: 1)
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    while archive.hasSearchWork { try archive.indexSliceNow() }
    return (archive, events)
  }

  private func change(_ path: String, _ statements: [String]) throws {
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    try file.writeNow { session in for statement in statements { try session.execute(statement) } }
    try file.close()
  }

  /// The seqs removed by a pass, and how many slices it took.
  private func pass(_ archive: EventArchive, now: Int64) throws -> (removed: [Int64], sliceCount: Int) {
    var (removed, sliceCount): ([Int64], Int) = ([], 0)
    while true {
      let slice = try archive.scrubNow(now: now)
      removed += slice.removed
      sliceCount += 1
      if slice.isComplete { return (removed, sliceCount) }
    }
  }

  @Test("Events that are not what their ids say are found in a slow pass, removed, counted, and can come again")
  func damagedEvents() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    var (archive, events) = try makeArchive(path)
    // The text, the id itself, and what is no JSON any more; in a segment and behind it.
    let id = events[19].indexed.id.description
    let otherID = (id.hasPrefix("0") ? "1" : "0") + id.dropFirst()
    try change(
      path,
      [
        "UPDATE event SET json = replace(json, 'number 9\"', 'number 8\"') WHERE seq = 10",
        "UPDATE event SET json = replace(json, '\(id)', '\(otherID)') WHERE seq = 20",
        "UPDATE event SET json = 'nonsense' WHERE seq = 30",
        "UPDATE event SET json = replace(json, 'number 1189', 'number 1188') WHERE seq = 1190",
      ])
    #expect(try archive.scrubNow(now: 100) == ScrubSlice(removed: [10, 20, 30], isComplete: false))
    try archive.close()
    archive = try EventArchive.openOrRescue(path: path, segmentEventCount: 500, now: 100).0
    #expect(try archive.scrubNow(now: 100) == ScrubSlice(removed: [], isComplete: false), "it goes on after a start")
    #expect(try archive.scrubNow(now: 100) == ScrubSlice(removed: [1_190], isComplete: true))
    #expect(archive.losses.damagedCount == 4 && archive.eventCount == Int64(Self.eventCount) - 4)
    let damaged = [9, 19, 29, 1_189].map { events[$0] }
    #expect(try archive.seqsNow(of: damaged.map(\.indexed.id)) == [nil, nil, nil, nil])
    let outcomes = try archive.storeNow(damaged, now: 100)
    #expect(outcomes.allSatisfy { if case .stored = $0 { true } else { false } })
    #expect(try archive.queryNow(Filter(), limit: 2_000, now: 100).map(\.json) == events.reversed().map(\.json))
    #expect(try pass(archive, now: 100 + EventArchive.scrubSeconds - 1).sliceCount == 1, "it rests for a day")
    let second = try pass(archive, now: 100 + EventArchive.scrubSeconds)
    #expect(second.removed.isEmpty && second.sliceCount == 3)
    try archive.close()
    archive = try EventArchive.openOrRescue(path: path, now: 101).0
    #expect(archive.losses.damagedCount == 4, "it is told after every start")
    try archive.close()
    archive = try EventArchive.openOrRescue(path: path, now: 100 + 8 * 86_400).0
    #expect(archive.losses.damagedCount == 0, "for a week")
  }

  @Test("Many damaged events in one slice mean that the file is damaged")
  func damagedFile() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let archive = try makeArchive(path).0
    try change(path, ["UPDATE event SET json = replace(json, 'number', 'nunber') WHERE seq BETWEEN 100 AND 140"])
    do throws(StorageFault) {
      _ = try archive.scrubNow(now: 100)
      #expect(Bool(false), "it was taken for sound")
    } catch { #expect(error.kind == .corrupt) }
  }
}
