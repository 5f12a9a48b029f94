import Clocks
import Cryptography
import EventArchive
import Nostr
import NostrContracts
import Observations
import Storage
import TestSupport
import Testing

@Suite("What the archive keeps besides events")
struct NoteTests {
  private func open(_ directory: TemporaryDirectory) throws -> EventArchive {
    try EventArchive(path: directory.path + "/events.db", segmentEventCount: 20)
  }

  private func write(_ archive: EventArchive, _ notes: [ArchiveNote], _ events: [VerifiedEvent] = []) throws {
    let relays = (1...3).map { RelayNumber(number: $0, url: "wss://\($0).example") }
    _ = try archive.writeNow(events.map { .event($0) } + notes.map { .note($0) }, relays: relays, now: 1)
  }

  private func interval(_ since: Int64, _ until: Int64, _ at: Int64) throws -> CoverageIntervals.Interval {
    try #require(CoverageIntervals.Interval(since: since, until: until, checkedAt: at))
  }

  private func event(_ number: Int) throws -> VerifiedEvent {
    let unsigned = UnsignedEvent(
      pubkey: PublicKey(SHA256.hash([7])), createdAt: Int64(number), kind: UInt16(number % 2), tags: [],
      content: "\(number)")
    let json = Event(unsigned, signature: try #require(Signature(String(repeating: "0", count: 128)))).json
    return try json.withUnsafeBytes { VerifiedEvent(trusted: $0, try ScannedEvent($0), receivedAt: 1) }
  }

  @Test("Filters were fetched when the first of all relays was asked last; of one never asked nothing is known")
  func fetched() async throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let (one, two) = (FilterKey([Filter(kinds: [1])]), FilterKey([Filter(kinds: [2])]))
    try write(
      archive,
      [
        .fetched(one, relay: 1, at: 50), .fetched(one, relay: 2, at: 40), .fetched(two, relay: 1, at: 60),
        .fetched(one, relay: 1, at: 45), .fetched(one, relay: nil, at: 70),
      ])
    #expect(try await archive.fetchedAt([one], relays: [1]) == 50)
    #expect(try await archive.fetchedAt([one], relays: [1, 2]) == 40)
    #expect(try await archive.fetchedAt([one, two], relays: [1]) == 50)
    #expect(try await archive.fetchedAt([one, two], relays: [1, 2]) == nil)
    #expect(try await archive.fetchedAt([one], relays: nil) == 70)
    #expect(try await archive.fetchedAt([two], relays: nil) == nil)
  }

  @Test("Coverage is of a filter's subject, whatever its times, and outlives a reopening")
  func coverage() async throws {
    let directory = try TemporaryDirectory()
    var archive = try open(directory)
    let narrow = Filter(kinds: [1, 2], since: 100, until: 200, limit: 5)
    let key = FilterKey([narrow.subject])
    try write(
      archive, [.covered(key, relay: 1, try interval(100, 150, 9)), .fetched(FilterKey([narrow]), relay: 2, at: 4)])
    try write(archive, [.covered(key, relay: 1, try interval(151, 200, 9))])
    try archive.close()
    archive = try open(directory)
    let wide = try await archive.coverage(of: Filter(kinds: [2, 1]), at: nil)
    #expect(wide.map(\.relay) == ["wss://1.example"] && wide[0].fetchedAt == nil)
    #expect(wide[0].intervals == [try interval(100, 200, 9)])
    let own = try await archive.coverage(of: narrow, at: nil)
    #expect(own.map(\.relay) == ["wss://1.example", "wss://2.example"] && own[1].fetchedAt == 4)
    #expect(try await archive.coverage(of: narrow, at: ["wss://2.example"]).count == 1)
    #expect(try await archive.coverage(of: Filter(kinds: [1]), at: nil).isEmpty)
    try archive.forgetCoverageNow(upTo: 170)
    try archive.forgetCoverageNow(upTo: 10)
    let rest = try await archive.coverage(of: narrow, at: ["wss://1.example"])
    #expect(rest.first?.intervals == [try interval(171, 200, 9)])
  }

  @Test("Pages are remembered for their part, and at its end for each author and kind: one author more is alone new")
  func coveredParts() async throws {
    let directory = try TemporaryDirectory()
    let archive = try open(directory)
    let authors = (0..<4).map { _ in SecretKey.generate().publicKey }.sorted()
    let part = Filter(authors: Array(authors[0..<3]), kinds: [1, 2])
    let key = FilterKey([part.subject])
    try write(archive, [.covered(key, relay: 1, try interval(150, 200, 9))])
    let underWay = try await archive.coverageParts(of: part, at: "wss://1.example")
    let pages = try interval(150, 200, 9)
    #expect(underWay.count == 1 && underWay[0].intervals == [pages] && underWay[0].filter == part)
    let subjects = part.coverageSubjects.map { FilterKey([$0]) }
    #expect(subjects.count == 6)
    try write(archive, [.coveredParts(key, subjects, relay: 1, try interval(0, 149, 10))])
    #expect(try await archive.coverage(of: part, at: nil).isEmpty, "the row of the part is gone")
    let wider = try await archive.coverageParts(of: Filter(authors: authors, kinds: [1, 2]), at: "wss://1.example")
    let all = try interval(0, 200, 9)
    #expect(
      Set(wider.map(\.filter)) == [part, Filter(authors: [authors[3]], kinds: [1, 2])]
        && wider.first { $0.filter == part }?.intervals == [all]
        && wider.first { $0.filter != part }?.intervals == [])
    let more = try await archive.coverageParts(
      of: Filter(authors: Array(authors[0..<3]), kinds: [1, 7]), at: "wss://1.example")
    #expect(Set(more.map(\.filter.kinds)) == [[1], [7]] && more.allSatisfy { $0.filter.authors?.count == 3 })
    let unknown = try await archive.coverageParts(of: part, at: "wss://9.example")
    #expect(unknown.count == 1 && unknown[0].filter == part && unknown[0].intervals.isEmpty)
  }

  @Test(
    "Named observers who stop, lose the connection or see the archive reopened get every event once they acknowledge",
    arguments: seeds(6))
  func resuming(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    var archive = try open(directory)
    var marks = ObserveMarks(try archive.marksNow())
    let plan = ObservePlan([Filter(kinds: [1])])
    var stored: [Int64] = []
    /// What each observer is sure of: all up to what he acknowledged, in order.
    var kept: [String: [Int64]] = ["a": [], "b": []]
    for number in 0..<150 {
      let id = random.below(2) == 0 ? "a" : "b"
      switch random.below(5) {
      case 0:
        try archive.close()
        archive = try open(directory)
        marks = ObserveMarks(try archive.marksNow())
      case 1...2:
        let event = try event(number)
        try write(archive, [], [event])
        if event.indexed.kind == 1 { stored.append(archive.lastSeq) }
      default:
        // He comes, reads some, and says so for a part of it.
        let after = marks.resumeSeq(owner: "client", id: id, plan: plan.key) ?? 0
        let page = try await archive.committed(
          after: after, upTo: archive.lastSeq, matching: plan.filters, limit: 1 + random.below(6), scanLimit: 10, now: 1
        )
        let seqs = page.block.entries.map(\.seq).prefix(random.below(7))
        guard let last = seqs.last else { continue }
        kept[id, default: []] += seqs
        let told = marks.acknowledge(owner: "client", id: id, plan: plan.key, seq: last, now: Int64(number))
        try write(archive, [.marked(told.mark)])
      }
    }
    for seqs in kept.values { #expect(seqs == Array(stored.prefix(seqs.count))) }
  }
}
