import Clocks
import Cryptography
import EventArchive
import Glibc
import Nostr
import Storage
import TestSupport
import Testing

/// What a rescue keeps, held against what a look at each seq by itself still finds.
@Suite("The rescue of a damaged file")
struct RescueTests {
  private static let eventCount = 2_000
  private static let pageByteCount = 4_096

  /// A closed database, its log written into it.
  private func makeArchive(_ path: String) throws {
    let key = SecretKey.generate()
    let archive = try EventArchive(path: path, segmentEventCount: 300)
    let text = String(repeating: "what is lost with a page? ", count: 20)
    for start in stride(from: 0, to: Self.eventCount, by: 500) {
      let events = try (start..<start + 500).map { number in
        try UnsignedEvent(
          pubkey: key.publicKey, createdAt: Int64(number), kind: 1, tags: [["t", "x"]], content: "\(number) \(text)"
        ).signed(by: key).json.withUnsafeBytes { VerifiedEvent(trusted: $0, try ScannedEvent($0), receivedAt: 1) }
      }
      _ = try archive.storeNow(events, now: 1)
      while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    }
    try archive.close()
  }

  private func pageCount(_ path: String) throws -> Int {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return Int(status.st_size) / Self.pageByteCount
  }

  private func zero(_ pages: Set<Int>, of path: String) throws {
    let file = open(path, O_RDWR | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    let zeros = [UInt8](repeating: 0, count: Self.pageByteCount)
    for page in pages {
      #expect(pwrite(file, zeros, zeros.count, off_t(page * Self.pageByteCount)) == zeros.count)
    }
  }

  /// Marks a database as one that was found damaged in use.
  private func mark(_ path: String) throws {
    let mark = open(path + ".is-damaged", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(mark >= 0)
    close(mark)
  }

  /// Seqs whose events are there when each is asked for by itself.
  private func readable(_ path: String) throws -> Set<Int64> {
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    var seqs = Set<Int64>()
    let verifier = EventVerifier()
    for seq in 1...Int64(Self.eventCount) {
      var json: [UInt8] = []
      do throws(StorageFault) {
        try file.readNow { session in
          let statement = try session.statement("SELECT json FROM event WHERE seq = ?")
          statement.bind(seq, at: 1)
          guard try statement.step() else { return }
          json = statement.bytes(0)
          statement.reset()
        }
      } catch { continue }
      let isSound = json.withUnsafeBytes { bytes in
        do throws(EventFault) { return verifier.fault(of: try ScannedEvent(bytes), in: bytes) == nil } catch {
          return false
        }
      }
      if isSound { seqs.insert(seq) }
    }
    try? file.close()
    return seqs
  }

  @Test(
    "Of a file with zeroed pages nearly all is kept that can be read", arguments: [1, 5, 40], [1, 2, 3] as [UInt64])
  func zeroedPages(count: Int, seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    try makeArchive(path)
    var random = SeededGenerator(seed: seed)
    let pages = Set((20..<(try pageCount(path))).shuffled(using: &random).prefix(count))
    try zero(pages, of: path)
    let readable = try readable(path)
    try mark(path)
    let (saved, report) = try EventArchive.openOrRescue(path: path, now: 5)
    #expect(readable.count > 1_000, "\(readable.count) can be read")
    #expect(saved.eventCount * 100 >= Int64(readable.count) * 99, "\(saved.eventCount) of \(readable.count)")
    #expect(report?.savedCount == Int(saved.eventCount))
    #expect(report?.lostCount == Self.eventCount - Int(saved.eventCount), "what was lost is known")
    #expect(saved.losses.rescue == report)
    try saved.close()
    let again = try EventArchive.openOrRescue(path: path, now: 6).0
    #expect(again.losses.rescue == report && again.losses.rescue?.time == 5, "and told after every start")
    unlink(path + ".damaged-5")
    #expect(again.losses.rescue == nil, "until the damaged file is removed")
  }

  @Test("Of a file that was cut off what stands before the cut is kept", arguments: [2, 3])
  func cutOff(part: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    try makeArchive(path)
    #expect(truncate(path, off_t(try pageCount(path) / part * Self.pageByteCount)) == 0)
    let (saved, report) = try EventArchive.openOrRescue(path: path, now: 5)
    #expect(saved.eventCount >= Self.eventCount / part - 100, "\(saved.eventCount) were kept, \(report?.reason ?? "")")
    #expect(report?.lostCount == Self.eventCount - Int(saved.eventCount))
  }

  @Test("A zeroed first page costs nothing")
  func firstPage() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    try makeArchive(path)
    try zero([0], of: path)
    let (saved, report) = try EventArchive.openOrRescue(path: path, now: 5)
    #expect(saved.eventCount == Int64(Self.eventCount) && report?.lostCount == 0, "\(String(describing: report))")
    try saved.close()
  }

  @Test("Whatever table's page is zeroed, it opens, and all that a start reads can be read")
  func tables() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    try makeArchive(path)
    let file = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: [])
    let pages = try file.readNow { session in
      let statement = try session.statement("SELECT rootpage FROM sqlite_master WHERE rootpage > 1")
      var pages: [Int] = []
      while try statement.step() { pages.append(Int(statement.number(0))) }
      return pages
    }
    try file.close()
    let whole = try #require(SharedFolder.bytes(ofFile: path))
    for page in pages {
      let copy = directory.path + "/copy-\(page).db"
      let descriptor = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      #expect(whole.withUnsafeBytes { write(descriptor, $0.baseAddress, whole.count) } == whole.count)
      close(descriptor)
      try zero([page - 1], of: copy)
      let archive = try EventArchive.openOrRescue(path: copy, now: 5).0
      _ = (try archive.relaysNow(), try archive.marksNow(), try archive.distrustedNow())
      try archive.close()
    }
  }

  @Test("A file of no bytes is put aside and told, and seqs go on behind those that were given")
  func empty() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    try makeArchive(path)
    #expect(truncate(path, 0) == 0)
    let (archive, report) = try EventArchive.openOrRescue(path: path, now: 5)
    #expect(report?.savedCount == 0 && report?.lostCount == nil && report?.reason == Quarantine.emptyReason)
    #expect(archive.eventCount == 0 && archive.lastSeq >= Int64(Self.eventCount))
    #expect(archive.losses.rescue == report && report?.quarantinePath == path + ".damaged-5")
  }
}
