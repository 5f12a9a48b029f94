import Clocks
import Cryptography
import EventArchive
import EventIndex
import Nostr
import Storage
import TestSupport
import Testing

@Suite("Search in the archive (NIP-50)")
struct SearchTests {
  private let author = SecretKey.generate()

  private func event(
    _ content: String, _ time: Int64 = 10, kind: UInt16 = 1, _ tags: [[String]] = []
  ) throws -> VerifiedEvent {
    let unsigned = UnsignedEvent(
      pubkey: author.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
    let signature = try #require(Signature(String(repeating: "0", count: 128)))
    return try Event(unsigned, signature: signature).json.withUnsafeBytes {
      VerifiedEvent(trusted: $0, try ScannedEvent($0), relay: 1, receivedAt: 1)
    }
  }

  private func open(_ directory: TemporaryDirectory) throws -> EventArchive {
    try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
  }

  private func index(_ archive: EventArchive) throws {
    while archive.hasSearchWork { try archive.indexSliceNow() }
  }

  private func search(_ archive: EventArchive, _ text: String, _ filter: Filter = Filter()) throws -> [Int64] {
    var filter = filter
    filter.search = text
    return try archive.searchNow(filter, now: 1_000)
  }

  @Test("The better match comes first, of those alike the newer, and a word in a title counts for more")
  func order() throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let filler = "one two three four five six seven eight nine ten eleven twelve"
    _ = try archive.storeNow(
      try [
        event("bitcoin \(filler)", 10), event("bitcoin bitcoin bitcoin", 11), event("bitcoin price", 12),
        event("bitcoin price", 14), event("bitcoin price", 13), event("nothing of it", 20),
        event(filler, 5, kind: 30_023, [["d", "x"], ["title", "On bitcoin"]]),
      ] + (0..<50).map { try event("noise \($0)", 30) }, now: 100)
    try index(archive)
    let found = try search(archive, "Bitcoin")
    #expect(Set(found) == [1, 2, 3, 4, 5, 7] && found.last == 1)
    #expect(found.filter { [3, 4, 5].contains($0) } == [4, 5, 3])
    let (article, note) = (try #require(found.firstIndex(of: 7)), try #require(found.firstIndex(of: 1)))
    #expect(article < note)
    #expect(try search(archive, "bitcoin -price") == found.filter { ![3, 4, 5].contains($0) })
    #expect(try search(archive, "\"price bitcoin\"").isEmpty)
    #expect(Set(try search(archive, "bitcoin", Filter(kinds: [1], since: 11, until: 13))) == [2, 3, 5])
    #expect(Set(try search(archive, "bitcoin", Filter(authors: [author.publicKey], until: 10))) == [1, 7])
    #expect(try search(archive, "bitcoin", Filter(authors: [SecretKey.generate().publicKey])).isEmpty)
    #expect(try search(archive, String(repeating: "long", count: 20)).isEmpty)
  }

  @Test("A symbol is found where it stands, and signs that are no words are found nowhere")
  func symbols() throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let texts = ["zap⚡️me", "I ❤ it", "₿100", "🤙🏽", "plain!!", "⚡ and ❤️"]
    _ = try archive.storeNow(try texts.map { try event($0) }, now: 100)
    try index(archive)
    for (typed, seqs) in [
      ("⚡", [1, 6]), ("❤️", [2, 6]), ("❤ ⚡", [6]), ("₿", [3]), ("100", [3]), ("🤙", [4]), ("🚀", []), ("!!", []),
      ("plain !!", [5]), ("-!!", []), ("!! -plain", []),
    ] as [(String, Set<Int64>)] {
      #expect(Set(try search(archive, typed)) == seqs, "\(typed)")
      #expect(EventArchive.isSearch(Filter(search: typed)), "\(typed)")
    }
  }

  @Test("Of events asked for by their seqs those are given in which the words stand")
  func bySeq() async throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    _ = try archive.storeNow(try [event("bitcoin price", 10), event("nothing of it", 11)], now: 100)
    let found = try await archive.events([1, 2], matching: [Filter(search: "price")], now: 100)
    #expect(found.entries.map(\.seq) == [1])
  }

  @Test("What is deleted, replaced, over or vanished is not found any more, before and after it was indexed")
  func leaving() throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let doomed = try event("word deleted")
    let events = try [
      doomed, event("{\"name\":\"word old\"}", 10, kind: 0), event("word over", 10, [["expiration", "500"]]),
      event("word stays"),
    ]
    _ = try archive.storeNow(events, now: 100)
    try index(archive)
    #expect(Set(try search(archive, "word")) == [1, 2, 4])
    let after = try [
      event("", 11, kind: 5, [["e", "\(doomed.indexed.id)"]]), event("{\"name\":\"word new\"}", 11, kind: 0),
      event("word brief", 10, kind: 30_023, [["d", "1"]]), event("word lasting", 11, kind: 30_023, [["d", "1"]]),
    ]
    _ = try archive.storeNow(after, now: 100)
    #expect(Set(try search(archive, "word")) == [4])
    _ = try archive.sweepNow(now: 600)
    try index(archive)
    #expect(Set(try search(archive, "word")) == [4, 6, 8])
    // The words themselves are gone from the index, not only the events.
    for gone in ["deleted", "old", "over", "brief"] { #expect(try search(archive, gone).isEmpty) }
    try archive.close()
    let file = try StorageFile(
      path: directory.path + "/events.db", StorageSettings(durability: .normal),
      migrations: [StorageMigration(version: EventArchive.schemaVersion, "")])
    try file.writeNow { session in
      try session.execute("INSERT INTO search (search) VALUES ('integrity-check')")
      let statement = try session.statement("SELECT count(*) FROM search WHERE search MATCH '\"old\" OR \"deleted\"'")
      let isRow = try statement.step()
      #expect(isRow && statement.number(0) == 0)
      statement.reset()
    }
  }

  @Test("Indexing goes on where a death left it, a slice at a time, and an index by other rules is made anew")
  func resuming() throws {
    let directory = try TemporaryDirectory()
    var archive = try open(directory)
    let count = EventArchive.indexEventCount * 4 + 10
    for start in stride(from: 0, to: count, by: 500) {
      _ = try archive.storeNow(try (start..<min(count, start + 500)).map { try event("word \($0)") }, now: 100)
    }
    try archive.indexSliceNow()
    #expect(archive.searchedSeq == Int64(EventArchive.indexEventCount))
    #expect(try search(archive, "word").count == EventArchive.indexEventCount)
    try archive.close()
    archive = try open(directory)
    #expect(archive.searchedSeq == Int64(EventArchive.indexEventCount))
    try index(archive)
    #expect(archive.searchedSeq == archive.lastSeq)
    #expect(try search(archive, "word").count == count && search(archive, "1009").count == 1)
    try archive.close()
    let file = try StorageFile(
      path: directory.path + "/events.db", StorageSettings(durability: .normal),
      migrations: [StorageMigration(version: EventArchive.schemaVersion, "")])
    try file.writeNow { try $0.execute("UPDATE property SET value = 0 WHERE name = 'search-version'") }
    try file.close()
    archive = try open(directory)
    #expect(archive.searchedSeq == 0)
    #expect(try search(archive, "word").isEmpty)
    try index(archive)
    #expect(try search(archive, "word").count == count)
  }

  @Test("Whatever is typed, the index finds what looking at each event finds, and never fails", arguments: seeds(20))
  func anything(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "a", "b", "AND", "OR", "NOT", "NEAR", "(", ")", "\"", "*", "^", "-", ":", "body:", "title:a", "+", "'", ";", "\\",
      "日本", "本", "é", "E\u{301}", "\u{0}", "\u{1F680}", "{", "}", "a*", "--", "%", "`", "ß", "\u{200D}", "⚡",
      "❤\u{FE0F}", "₿", "$",
      "🤙🏽", "!!", "−", "→", "\u{1FAE9}", "\u{FFFD}", " ", " ", " ",
    ]
    func text(_ most: Int) -> String {
      (0..<random.below(most)).map { _ in pieces[random.below(pieces.count)] }.joined(separator: "")
    }
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let events = try (0..<60).map { _ in
      try event(text(12), 10, kind: [1, 30_023][random.below(2)], [["title", text(4)]])
    }
    let outcomes = try archive.storeNow(events, now: 100)
    try index(archive)
    for _ in 0..<60 {
      let typed = text(8)
      let query = SearchQuery(typed)
      // One that asks for nothing, or only excludes, is no search.
      guard !query.terms.isEmpty || query.isImpossible else { continue }
      #expect(EventArchive.isSearch(Filter(search: typed)))
      let found = Set(try search(archive, typed))
      let expected = zip(events, outcomes).compactMap { event, outcome -> Int64? in
        guard case .stored(let seq) = outcome, query.matches(SearchedText(json: event.json)) else { return nil }
        return try? archive.eventsNow([seq], now: 1_000).first?.seq
      }
      #expect(found == Set(expected), "\(typed.debugDescription)")
    }
  }
}
