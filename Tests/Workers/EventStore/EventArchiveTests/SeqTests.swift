import Cryptography
import EventArchive
import Glibc
import Nostr
import TestSupport
import Testing

@Suite("Seqs are given once")
struct SeqTests {
  private let author = SecretKey.generate().publicKey

  private func store(_ archive: EventArchive, _ times: Range<Int64>) throws -> [Int64] {
    try times.map { time in
      guard case .stored(let seq) = try archive.storeNow([unsigned(author, time)], now: 1)[0] else { return 0 }
      return seq
    }
  }

  /// What a kill leaves of an archive that has stored `count` events.
  private func killed(after count: Int64) throws -> TemporaryDirectory {
    let (directory, copy) = (try TemporaryDirectory(), try TemporaryDirectory())
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 100)
    _ = try store(archive, 0..<count)
    try copyFiles(of: directory.path, to: copy.path)
    try archive.close()
    return copy
  }

  @Test("After a stop in order seqs go on without a gap")
  func stopped() throws {
    let directory = try TemporaryDirectory()
    var seqs: [Int64] = []
    for start in stride(from: Int64(0), to: 30, by: 10) {
      let archive = try EventArchive(path: directory.path + "/events.db")
      seqs += try store(archive, start..<start + 10)
      try archive.close()
    }
    #expect(seqs == Array(1...30))
  }

  @Test("After a kill everything is there, and seqs go on behind those that may have been given")
  func plainKill() throws {
    let directory = try killed(after: 40)
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 100)
    #expect(archive.eventCount == 40 && archive.lastSeq >= 40 && archive.lostSeqs == nil)
    let seqs = try store(archive, 40..<50)
    #expect(seqs == (1...10).map { archive.lastSeq - 10 + $0 } && seqs[0] > 40)
    // Seqs left out take no memory, so they fill no segment.
    #expect(!archive.hasSegmentWork)
    #expect(try archive.queryNow(Filter(), limit: 100, now: 1).count == 50)
  }

  @Test("A file of seqs that cannot be read leaves a wide gap, and one that is gone none")
  func ledger() throws {
    let directory = try killed(after: 10)
    let (path, ledger) = (directory.path + "/events.db", directory.path + "/events.db.seqs")
    #expect(truncate(ledger, 7) == 0)
    var archive = try EventArchive(path: path)
    let seqs = try store(archive, 10..<11)
    #expect(seqs[0] > 1_000_000)
    try archive.close()
    unlink(ledger)
    archive = try EventArchive(path: path)
    #expect(try store(archive, 11..<12) == [seqs[0] + 1] && archive.lostSeqs == nil)
    // After a stop in order nothing is missing, also when seqs were left out before.
    try archive.close()
    #expect(try EventArchive(path: path).lostSeqs == nil)
  }

  @Test("Where the log of writes is damaged no seq that was given is given again")
  func damagedLog() throws {
    let directory = try killed(after: 200)
    let log = directory.path + "/events.db-wal"
    let size = try #require(SharedFolder.bytes(ofFile: log)).count
    let file = open(log, O_RDWR | O_CLOEXEC)
    let nonsense = [UInt8](repeating: 0xA5, count: 64)
    #expect(pwrite(file, nonsense, nonsense.count, size * 3 / 4) == nonsense.count)
    close(file)
    let archive = try EventArchive(path: directory.path + "/events.db")
    #expect(archive.eventCount > 0 && archive.eventCount < 200)
    #expect(archive.lostSeqs == archive.eventCount + 1...200)
    #expect(try store(archive, 1_000..<1_001)[0] > 200)
  }
}
