import Cryptography
import EventArchive
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
