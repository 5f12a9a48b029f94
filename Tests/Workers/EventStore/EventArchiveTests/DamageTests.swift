import Cryptography
import EventArchive
import Glibc
import Nostr
import Storage
import TestSupport
import Testing

@Suite("A row that is damaged")
struct DamageTests {
  private let author = SecretKey.generate().publicKey

  private func kind(_ body: () throws -> Void) -> StorageFault.Kind? {
    do { try body() } catch { return (error as? StorageFault)?.kind ?? .failed }
    return nil
  }

  @Test("A rescue that is cut off begins again at the next start, whenever that is, and holds few events in memory")
  func interrupted() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let key = SecretKey.generate()
    let events = (0..<900).map {
      UnsignedEvent(pubkey: key.publicKey, createdAt: $0, kind: 1, tags: [], content: "").signed(by: key)
    }
    let archive = try EventArchive(path: path)
    _ = try archive.storeNow(
      events.map { event in
        try event.json.withUnsafeBytes { VerifiedEvent(trusted: $0, try ScannedEvent($0), receivedAt: 1) }
      }, now: 1)
    archive.markDamaged()
    try archive.close()
    func rescue(_ path: String, _ progress: (ArchiveRescue) -> Void = { _ in }) throws -> ArchiveRescue? {
      let (saved, report) = try EventArchive.openOrRescue(
        path: path, segmentEventCount: 50, now: Int64.random(in: 1..<1_000), progress: progress)
      #expect(!saved.hasSegmentWork && saved.eventCount == 900)
      #expect(try saved.queryNow(Filter(), limit: 1_000, now: 1).count == 900)
      try saved.close()
      return report
    }
    // What a kill would leave at each step.
    var copies: [TemporaryDirectory] = []
    let first = try rescue(path) { _ in
      do {
        copies.append(try TemporaryDirectory())
        try copyFiles(of: directory.path, to: copies[copies.count - 1].path)
      } catch { copies = [] }
    }
    #expect(first?.savedCount == 900 && copies.count >= 4)
    for copy in copies {
      let (report, path) = (try rescue(copy.path + "/events.db"), copy.path + "/events.db")
      #expect(report?.savedCount == 900)
      #expect(SharedFolder.bytes(ofFile: path + ".new") == nil)
      #expect(try rescue(path) == nil, "it is done with")
    }
    // Of the last step only the mark is left.
    let time = try #require(first?.quarantinePath.split(separator: "-").last)
    let mark = open(path + ".is-damaged", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    #expect(write(mark, Array(time.utf8), time.utf8.count) == time.utf8.count)
    close(mark)
    #expect(try rescue(path)?.savedCount == 900)
    #expect(try rescue(path) == nil)
  }

  @Test("Whoever meets an event that cannot be read says that the file is damaged")
  func everywhere() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    var archive = try EventArchive(path: path, segmentEventCount: 10)
    let events = try (0..<10).map { try unsigned(author, Int64($0), kind: 30_000, [["d", "\($0)"]]) }
    _ = try archive.storeNow(events + [unsigned(author, 60, [["expiration", "80"]])], now: 1)
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    func damage(_ rows: String) throws {
      try file.writeNow { try $0.execute("UPDATE event SET json = 'nonsense' WHERE \(rows)") }
    }
    try damage("seq IN (3, 11)")
    #expect(kind { _ = try archive.queryNow(Filter(), limit: 100, now: 1) } == .corrupt)
    #expect(kind { while archive.hasSearchWork { try archive.indexSliceNow() } } == .corrupt)
    #expect(
      kind { _ = try archive.storeNow([unsigned(author, 100, kind: 30_000, [["d", "2"]])], now: 1) } == .corrupt)
    #expect(kind { _ = try archive.sweepNow(now: 90) } == .corrupt)
    #expect(kind { _ = try archive.evictNow(ArchiveRetention(byteLimit: 1), now: 100) } == .corrupt)
    do {
      _ = try await archive.committed(
        after: 0, upTo: 20, matching: [Filter()], limit: 100, scanLimit: 100, now: 1)
      #expect(Bool(false), "it was read")
    } catch { #expect(error.kind == .corrupt) }
    try archive.close()
    #expect(kind { archive = try EventArchive(path: path, segmentEventCount: 10) } == .corrupt)
    try file.close()
  }
}
