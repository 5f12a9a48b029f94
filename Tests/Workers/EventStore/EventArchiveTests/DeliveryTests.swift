import Cryptography
import EventArchive
import Nostr
import NostrContracts
import Observations
import Storage
import TestSupport
import Testing

@Suite("What relays had of authors")
struct DeliveryTests {
  private let author = PublicKey(SHA256.hash([7]))

  private func event(_ number: Int, kind: UInt16 = 1) throws -> Event {
    let unsigned = UnsignedEvent(
      pubkey: author, createdAt: Int64(number), kind: kind, tags: [], content: "\(number)")
    return Event(unsigned, signature: try #require(Signature(String(repeating: "0", count: 128))))
  }

  private func verified(_ event: Event) throws -> VerifiedEvent {
    try event.json.withUnsafeBytes { VerifiedEvent(trusted: $0, try ScannedEvent($0), receivedAt: 1) }
  }

  @Test("A relay is measured by what others brought of the times that it has sent whole, and by nothing else")
  func counted() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 20)
    let relays = (1...4).map { RelayNumber(number: $0, url: "wss://\($0).example") }
    let all = FilterKey([Filter(authors: [author])])
    let notes = FilterKey([Filter(authors: [author], kinds: [1])])
    func interval(_ since: Int64, _ until: Int64) throws -> CoverageIntervals.Interval {
      try #require(CoverageIntervals.Interval(since: since, until: until, checkedAt: 1_000))
    }
    let events = try (0..<10).map { try event(100 + $0) } + [try event(105, kind: 6)]
    _ = try archive.writeNow(
      events.map { .event(try verified($0)) }
        + [
          .note(.covered(notes, relay: 1, try interval(100, 109))),
          .note(.covered(all, relay: 2, try interval(100, 104))),
          .note(.covered(notes, relay: 3, try interval(0, 50))),
        ], relays: relays, now: 1)
    let seqs = try archive.seqsNow(of: events.map(\.id)).map { try #require($0) }
    // Relay 1 has the first six and alone the tenth, relay 2 the first three, relay 4 all but the ninth, which no relay
    // has, and the tenth.
    var sightings: [(seq: Int64, relay: Int64)] = []
    for (place, seq) in seqs.enumerated() {
      if place < 6 || place == 9 { sightings.append((seq, 1)) }
      if place < 3 { sightings.append((seq, 2)) }
      if place < 8 || place == 10 { sightings.append((seq, 4)) }
    }
    _ = try archive.writeNow(
      sightings.map { .seen(seq: $0.seq, relay: $0.relay, receivedAt: 1, rank: .ordinary) }, relays: [], now: 1)
    let found = try await archive.deliveries(
      of: [author], kinds: [1, 6], in: 100...109, eventMaximum: 100, now: 1)[0]
    #expect(found.events == 10)
    #expect(found.relays.map(\.url) == ["wss://1.example", "wss://2.example"], "3 has sent another time, 4 none")
    #expect(found.relays.map(\.seconds) == [10, 5])
    #expect(found.relays.map(\.known) == [8, 5] && found.relays.map(\.had) == [6, 3])
    #expect(found.relays.map(\.held) == [7, 3], "what it alone has, too")
    try archive.close()
  }
}
