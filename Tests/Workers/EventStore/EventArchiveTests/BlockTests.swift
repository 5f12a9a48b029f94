import Clocks
import Cryptography
import EventArchive
import EventIndex
import Nostr
import TestSupport
import Testing

/// Pages of events, and gift wraps that are only for some.
@Suite("Blocks of events")
struct BlockTests {
  private let recipients = (0..<3).map { PublicKey(SHA256.hash([UInt8($0)])) }

  /// Notes, and gift wraps for one or two of three; several in a second.
  private func events(_ random: inout SeededGenerator, _ count: Int) throws -> [VerifiedEvent] {
    try (0..<count).map { number in
      let author = PublicKey(SHA256.hash([9, UInt8(random.below(3))]))
      let isWrap = random.below(2) == 0
      let keys = (0..<random.below(3)).map { _ in recipients[random.below(3)] }
      return try unsigned(
        author, Int64(random.below(40)), kind: isWrap ? 1_059 : 1, keys.map { ["p", "\($0)"] }, "\(number)")
    }
  }

  private func isAllowed(_ event: VerifiedEvent, _ allowed: [PublicKey]?) -> Bool {
    guard let allowed, event.indexed.kind == 1_059 else { return true }
    return event.indexed.tags.contains { tag in allowed.contains { "\($0)" == tag.value.description } }
  }

  @Test(
    "Of any size, in memory or on disk, they give what a list that is searched from end to end gives",
    arguments: seeds(6))
  func model(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    let all = try events(&random, 230)
    _ = try archive.storeNow(all, now: 100)
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    let p = try #require(TagLetter("p"))
    for _ in 0..<40 {
      let allowed = random.below(4) == 0 ? nil : recipients.filter { _ in random.below(2) == 0 }
      var filter = Filter()
      if random.below(2) == 0 { filter.kinds = [[1], [1_059], [1, 1_059]][random.below(3)] }
      if random.below(3) == 0 { filter.authors = [all[random.below(all.count)].indexed.pubkey] }
      if random.below(3) == 0 { filter.tags[p] = [TagValue("\(recipients[random.below(3)])")] }
      if random.below(4) == 0 { filter.ids = (0..<20).map { _ in all[random.below(all.count)].indexed.id } }
      let expected = all.filter { filter.matches($0.indexed) && isAllowed($0, allowed) }
        .sorted { ($1.indexed.createdAt, $0.indexed.id) < ($0.indexed.createdAt, $1.indexed.id) }
      let matching = allowed.map { Recipients($0) }
      let blocks = try blocks(of: filter, matching, archive, &random)
      #expect(blocks.map(\.json) == expected.map(\.json), "\(filter)")
      #expect(blocks.map(\.kind) == expected.map(\.indexed.kind))
      #expect(try await archive.count([filter], for: matching, now: 100) == expected.count)
      let page = try await archive.committed(
        after: 0, upTo: archive.lastSeq, matching: [filter], for: matching, limit: 1_000, scanLimit: 1_000, now: 100)
      #expect(page.block.entries.map(\.seq) == page.block.entries.map(\.seq).sorted())
      #expect(Set(page.block.entries.map(\.position.id)) == Set(expected.map(\.indexed.id)))
      let seqs = page.block.entries.map(\.seq)
      let again = try await archive.events(Array(1...archive.lastSeq), matching: [filter], for: matching, now: 100)
      #expect(again.entries.map(\.seq) == seqs)
    }
  }

  /// All of a filter, a block of random size after the other; the last says that it is, and only the last.
  private func blocks(
    of filter: Filter, _ recipients: Recipients?, _ archive: EventArchive, _ random: inout SeededGenerator
  ) throws -> [(json: [UInt8], kind: UInt16)] {
    var found: [(json: [UInt8], kind: UInt16)] = []
    var position: QueryPosition?
    while true {
      let limit = 1 + random.below(60)
      let block = try archive.blockNow(
        filter, for: recipients, after: position, limit: limit,
        byteLimit: random.below(2) == 0 ? .max : 1 + random.below(5_000), now: 100)
      #expect(block.count <= limit)
      found += block.entries.map { (block.json(of: $0), $0.kind) }
      if block.isLast { return found }
      #expect(block.count > 0, "a block that is not the last has something")
      position = block.entries.last?.position
    }
  }

  @Test("A search finds no wrap that is not for the searcher, even if words of one were indexed")
  func search() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let author = PublicKey(SHA256.hash([9]))
    _ = try archive.storeNow(
      [try unsigned(author, 1, [], "word"), try unsigned(author, 2, kind: 1_059, [], "word")], now: 100)
    while archive.hasSearchWork { try archive.indexSliceNow() }
    let filter = Filter(search: "word")
    #expect(try await archive.search(filter, for: Recipients([]), now: 100) == [1])
    #expect(try await archive.count([Filter(search: "-other")], for: Recipients([]), now: 100) == 1)
  }

  @Test("An event that ends is left out from then on, in whatever escapes its tag is written")
  func ends() throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let author = PublicKey(SHA256.hash([9]))
    let plain = try unsigned(author, 1, [["x", "y"], ["expiration", "50"]])
    let event = UnsignedEvent(pubkey: author, createdAt: 2, kind: 1, tags: [["expiration", "60"]], content: "")
    let text = String(
      decoding: Event(event, signature: try #require(Signature(String(repeating: "0", count: 128)))).json,
      as: UTF8.self)
    let escaped = try Array(text.replacing("expiration", with: "e\\u0078piration").utf8).withUnsafeBytes {
      VerifiedEvent(trusted: $0, try ScannedEvent($0), receivedAt: 1)
    }
    #expect(plain.expiration == 50 && escaped.expiration == 60)
    _ = try archive.storeNow([plain, escaped, try unsigned(author, 3, [["expired", "50"]])], now: 10)
    for (now, count) in [(49, 3), (50, 2), (60, 1)] as [(Int64, Int)] {
      #expect(try archive.blockNow(Filter(), limit: 10, now: now).count == count)
    }
  }
}
