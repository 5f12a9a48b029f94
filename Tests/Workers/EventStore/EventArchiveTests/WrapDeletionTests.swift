import Cryptography
import EventArchive
import Nostr
import TestSupport
import Testing

@Suite("A gift wrap that its recipient deletes (NIP-59)")
struct WrapDeletionTests {
  private let me = SecretKey.generate().publicKey
  private let stranger = SecretKey.generate().publicKey
  private let other = SecretKey.generate().publicKey

  private func deletion(_ event: VerifiedEvent, by author: PublicKey) throws -> VerifiedEvent {
    try unsigned(author, 60, kind: 5, [["e", "\(event.indexed.id)"], ["k", "1059"]])
  }

  @Test("is gone and does not come back; no other key deletes it, nor does a person a note that names that person")
  func deleted() throws {
    let directory = try TemporaryDirectory()
    var archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    let wraps = try (0..<3).map { try unsigned(stranger, 50 + Int64($0), kind: 1_059, [["p", "\(me)"]]) }
    let note = try unsigned(stranger, 50, [["p", "\(me)"]])
    _ = try archive.storeNow(Array(wraps.prefix(2)) + [note], now: 100)
    let requests = try [
      deletion(wraps[0], by: me), deletion(wraps[1], by: other), deletion(note, by: me), deletion(wraps[2], by: me),
    ]
    _ = try archive.storeNow(requests, now: 100)
    for _ in 0..<2 {
      #expect(try archive.seqsNow(of: [wraps[0].indexed.id, wraps[2].indexed.id]) == [nil, nil])
      #expect(try archive.seqsNow(of: [wraps[1].indexed.id, note.indexed.id]).allSatisfy { $0 != nil })
      // Also one that comes after its deletion.
      #expect(try archive.storeNow([wraps[0], wraps[2]], now: 100) == [.deleted, .deleted])
      try archive.close()
      archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 50)
    }
    // Its author may delete it too.
    _ = try archive.storeNow([try deletion(wraps[1], by: stranger)], now: 100)
    #expect(try archive.seqsNow(of: [wraps[1].indexed.id]) == [nil])
    try archive.close()
  }
}
