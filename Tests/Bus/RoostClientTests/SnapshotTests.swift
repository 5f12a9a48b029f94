import Clocks
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

@testable import RoostClient

/// What an application shows of an observation.
@Suite struct SnapshotTests {
  private let author = SecretKey.generate()

  private func event(
    _ time: Int64, kind: UInt16 = 1, _ tags: [[String]] = [], by other: SecretKey? = nil, _ content: String = ""
  ) -> Event {
    let key = other ?? author
    return UnsignedEvent(pubkey: key.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
      .signed(by: key)
  }

  private func item(_ event: Event, seq: Int64? = nil) throws -> ObservedItem {
    .event(try ReceivedEvent(json: event.json, seq: seq))
  }

  @Test("Whatever the order in which events come, the newest are there, newest first, each once", arguments: seeds(1))
  func order(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let events = (0..<80).map { event(Int64($0 / 4), [], "\($0)") }
    var snapshot = EventSnapshot(limit: 30)
    for event in (events + events).shuffled(using: &generator) { snapshot.take(try item(event)) }
    let newest = events.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }.prefix(30)
    #expect(snapshot.events.map(\.event) == Array(newest))
    let again = snapshot.take(try item(events[79]))
    #expect(!again, "it is there already")
    let old = snapshot.take(try item(event(0)))
    #expect(!old, "it is too old")
  }

  @Test("The newest version of a replaceable event takes the place of the one before")
  func versions() throws {
    var snapshot = EventSnapshot()
    let lists = [10, 30, 20].map { event($0, kind: 10_002) }
    let taken = try lists.map { list in snapshot.take(try item(list)) }
    #expect(taken == [true, true, false], "the last is an older version")
    #expect(snapshot.events.map(\.event) == [lists[1]])
    let articles = ["a", "b"].map { event(5, kind: 30_023, [["d", $0]]) }
    for article in articles { snapshot.take(try item(article)) }
    #expect(snapshot.events.count == 3, "other names are other events")
    var small = EventSnapshot(limit: 1)
    small.take(try item(event(50)))
    small.take(try item(lists[0]))
    let isNew = small.take(try item(event(60, kind: 10_002)))
    #expect(small.events.count == 1 && isNew)
  }

  @Test("What its author deletes goes; what others ask to delete stays")
  func deletions() throws {
    var snapshot = EventSnapshot()
    let (note, article) = (event(1), event(2, kind: 30_023, [["d", "a"]]))
    for event in [note, article] { snapshot.take(try item(event)) }
    let address = "30023:\(author.publicKey):a"
    let stranger = event(3, kind: 5, [["e", "\(note.id)"], ["a", address]], by: SecretKey.generate())
    let byStranger = snapshot.take(try item(stranger))
    #expect(!byStranger)
    let isGone = snapshot.take(try item(event(3, kind: 5, [["a", address]])))
    #expect(isGone)
    #expect(snapshot.events.map(\.event) == [note], "and the request itself is not shown")
    snapshot.take(try item(event(4, kind: 5, [["e", "\(note.id)"]])))
    #expect(snapshot.events.isEmpty)
  }

  @Test("It is complete at the end of the stored events, and knows from where to continue")
  func end() throws {
    var snapshot = EventSnapshot()
    snapshot.take(try item(event(1), seq: 9))
    #expect(!snapshot.isComplete && snapshot.seq == nil, "stored events come newest first: their seqs say nothing")
    let isEnd = snapshot.take(.storedEnd(seq: 12))
    #expect(isEnd)
    #expect(snapshot.isComplete && snapshot.seq == 12)
    snapshot.take(try item(event(2), seq: 15))
    snapshot.take(try item(event(3), seq: nil))
    #expect(snapshot.seq == 15 && snapshot.events.count == 3)
    #expect(EventSnapshot(limit: 1 << 30).limit == EventSnapshot.countMaximum && EventSnapshot(limit: 0).limit == 1)
  }
}
