import Clocks
import Cryptography
import EventArchive
import Nostr
import Storage
import TestSupport
import Testing

@Suite("What was stored unchecked")
struct RecheckTests {
  private let author = SecretKey.generate()

  private func event(_ number: Int, isForged: Bool = false) -> Event {
    let event = UnsignedEvent(
      pubkey: author.publicKey, createdAt: Int64(number), kind: 1, tags: [["t", "\(number % 3)"]], content: "\(number)"
    ).signed(by: author)
    guard isForged else { return event }
    return Event(
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: Int64(number), kind: 1, tags: [["t", "\(number % 3)"]],
        content: "\(number)"),
      signature: self.event(number + 10_000).signature)
  }

  private func unchecked(_ event: Event, from relay: Int64) throws -> VerifiedEvent {
    let json = event.json
    return try json.withUnsafeBytes {
      try VerifiedEvent(unchecked: $0, try ScannedEvent($0), verifier: EventVerifier(), relay: relay, receivedAt: 1)
    }
  }

  private func recheck(_ archive: EventArchive) throws -> (removed: Set<EventID>, soundCount: Int) {
    var (removed, soundCount): (Set<EventID>, Int) = ([], 0)
    while true {
      let slice = try archive.recheckNow()
      removed.formUnion(slice.removed)
      soundCount += slice.soundCount
      if slice.isComplete { return (removed, soundCount) }
    }
  }

  @Test(
    "When a relay is found out, its forgeries go and nothing else, also when the archive is reopened in between",
    arguments: seeds(3))
  func rechecking(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    var archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 60)
    var (forged, others): (Set<EventID>, Set<EventID>) = ([], [])
    for number in 0..<400 {
      let isForged = random.below(4) == 0
      let relay: Int64 = random.below(3) == 0 ? 2 : 1
      let event = event(number, isForged: isForged)
      _ = try archive.storeNow([try unchecked(event, from: relay)], now: 1)
      if isForged, relay == 1 { forged.insert(event.id) } else { others.insert(event.id) }
    }
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    #expect(try recheck(archive).removed.isEmpty, "nobody is distrusted yet")
    _ = try archive.writeNow([.note(.distrusted(relay: 1, at: 5))], now: 5)
    var removed = Set(try archive.recheckNow().removed)
    try archive.close()
    archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 60)
    #expect(try archive.distrustedNow() == [1])
    removed.formUnion(try recheck(archive).removed)
    #expect(removed == forged)
    let found = Set(try archive.queryNow(Filter(), limit: 1_000, now: 1).map(\.indexed.id))
    #expect(found == others && archive.eventCount == Int64(others.count))
    // What was removed may come again, with a signature this time.
    let real = event(9_999)
    _ = try archive.storeNow([try unchecked(event(9_999, isForged: true), from: 1)], now: 1)
    #expect(try recheck(archive).removed == [real.id])
    let outcome = try archive.storeNow([try unchecked(real, from: 2)], now: 1)
    #expect(outcome == [.stored(seq: archive.lastSeq)])
  }

  @Test("An id that is not the event's is refused without a look at the signature")
  func ids() throws {
    let text = String(decoding: event(1).json, as: UTF8.self).replacing("\"content\":\"1\"", with: "\"content\":\"2\"")
    #expect(throws: EventFault.self) {
      try Array(text.utf8).withUnsafeBytes {
        _ = try VerifiedEvent(
          unchecked: $0, try ScannedEvent($0), verifier: EventVerifier(), relay: 1, receivedAt: 1)
      }
    }
  }
}
