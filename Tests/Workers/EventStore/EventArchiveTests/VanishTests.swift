import Cryptography
import EventArchive
import Nostr
import TestSupport
import Testing

@Suite("Who has vanished (NIP-62)")
struct VanishTests {
  private let author = SecretKey.generate().publicKey
  private let other = SecretKey.generate().publicKey

  @Test("What a request to vanish covers is answered by nobody from its commit on, before it is removed and after")
  func atOnce() async throws {
    let directory = try TemporaryDirectory()
    var archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    let past = try (0..<700).map { try unsigned(author, Int64($0 % 90), [], "word \($0)") }
    let wrap = try unsigned(other, 50, kind: 1_059, [["p", "\(author)"]])
    let earlier = try unsigned(author, 40, kind: 62, [["relay", "ALL_RELAYS"]])
    let kept = try [unsigned(other, 50, [["p", "\(author)"]]), unsigned(author, 200)]
    _ = try archive.storeNow(past + [wrap] + kept, now: 300)
    _ = try archive.storeNow([earlier], now: 300)
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    while archive.hasSearchWork { try archive.indexSliceNow() }
    // Once in memory, they must not come from there.
    let all = past.map { $0.indexed.id } + [wrap.indexed.id]
    #expect(try archive.queryNow(Filter(ids: all), limit: 1_000, now: 300).count > 200)
    let request = try unsigned(author, 100, kind: 62, [["relay", "ALL_RELAYS"]])
    // In one transaction with what it covers.
    let last = try unsigned(author, 91)
    _ = try archive.storeNow([last, request], now: 300)
    let expected = Set((kept + [request]).map { $0.indexed.id })
    for isRemoved in [false, false, true] {
      #expect(Set(try archive.queryNow(Filter(), limit: 1_000, now: 300).map(\.indexed.id)) == expected)
      #expect(try archive.queryNow(Filter(ids: all + [last.indexed.id]), limit: 1_000, now: 300).isEmpty)
      #expect(try archive.seqsNow(of: all + [last.indexed.id]).allSatisfy { $0 == nil })
      let page = try await archive.committed(
        after: 0, upTo: archive.lastSeq, matching: [Filter()], limit: 1_000, scanLimit: 1_000, now: 300)
      #expect(Set(page.block.entries.map(\.position.id)) == expected)
      #expect(try await archive.count([Filter()], now: 300) == 3)
      #expect(try await archive.count([Filter(search: "word")], now: 300) == 0)
      #expect(try archive.searchNow(Filter(search: "word"), now: 300).isEmpty)
      #expect(try await archive.sightings(of: past[0].indexed.id) == nil)
      #expect(
        try archive.storeNow([past[0], last, wrap, earlier], now: 300)
          == Array(repeating: .vanished, count: 4))
      if isRemoved { continue }
      // It holds at the next start as well, when the work is half done.
      _ = try archive.sweepNow(now: 300)
      try archive.close()
      archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    }
    while try !archive.sweepNow(now: 300).gone.isEmpty {}
    #expect(archive.eventCount == 3)
  }
}
