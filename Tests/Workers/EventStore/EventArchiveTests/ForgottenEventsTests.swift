import Cryptography
import EventArchive
import Nostr
import Storage
import TestSupport
import Testing

@Suite("The events that only one account wanted")
struct ForgottenEventsTests {
  private let me = SecretKey.generate().publicKey
  private let other = SecretKey.generate().publicKey
  private let mine = SecretKey.generate().publicKey
  private let shared = SecretKey.generate().publicKey
  private let kept = SecretKey.generate().publicKey
  private let stranger = SecretKey.generate().publicKey
  private let now: Int64 = 10_000_000

  private func forgotten(_ filters: [Filter] = []) -> ForgottenAccount {
    ForgottenAccount(me, others: [other], keptAuthors: [kept], kept: filters)
  }

  private func follows(_ author: PublicKey, _ people: [PublicKey]) throws -> VerifiedEvent {
    try unsigned(author, 100, kind: 3, people.map { ["p", "\($0)"] })
  }

  private func ids(_ archive: EventArchive) throws -> Set<EventID> {
    Set(try archive.queryNow(Filter(), limit: 10_000, now: now).map(\.indexed.id))
  }

  /// What goes, what stays.
  private func world() throws -> (gone: [VerifiedEvent], staying: [VerifiedEvent]) {
    let (toMe, toOther) = (["p", "\(me)"], ["p", "\(other)"])
    let gone = try [
      unsigned(me, 1, [], "mine"), unsigned(me, 2, rank: .kept), unsigned(stranger, 3, [toMe]),
      unsigned(SecretKey.generate().publicKey, 4, kind: 1_059, [toMe]), unsigned(mine, 5),
      unsigned(mine, 6, kind: 0, [], #"{"name":"a friend"}"#),
    ]
    let staying = try [
      unsigned(other, 10, [toMe]), unsigned(me, 11, [toOther]), unsigned(stranger, 12, [toMe, toOther]),
      unsigned(shared, 13), unsigned(shared, 14, [toMe]), unsigned(kept, 15, [toMe]), unsigned(stranger, 16),
      unsigned(mine, 17, rank: .kept), unsigned(SecretKey.generate().publicKey, 18, kind: 1_059, [toOther]),
    ]
    let lists = try [follows(me, [mine, shared, kept, stranger]), follows(other, [shared])]
    // The other account is named by no list of mine, so that list goes; the stranger that I follow goes with me.
    return (gone + [lists[0], staying[6]], staying.filter { $0.indexed.id != staying[6].indexed.id } + [lists[1]])
  }

  @Test("are those that it wrote, that name it, and of people whom no other follows; whatever concerns another stays")
  func chosen() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db", segmentEventCount: 5)
    let (gone, staying) = try world()
    _ = try archive.storeNow(gone + staying, now: now)
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
    let events = try await archive.wanted(only: forgotten(), now: now)
    #expect(events.people == [mine, stranger])
    let removed = try await archive.forget(events.seqs, now: now)
    #expect(events.lists == [7] && events.own.allSatisfy { $0 != 7 })
    let again = try await archive.wanted(only: forgotten(), now: now)
    #expect(again.seqs.isEmpty && again.lists == [7] && again.people == [mine, stranger], "its lists go last")
    let lists = try await archive.forget(again.lists, now: now)
    #expect(Set(removed + lists) == Set(gone.map(\.indexed.id)))
    #expect(try ids(archive) == Set(staying.map(\.indexed.id)))
    let end = try await archive.wanted(only: forgotten(), now: now)
    #expect(end.seqs.isEmpty && end.lists.isEmpty)
    try archive.close()
  }

  @Test("stay if a filter keeps them")
  func keptByFilter() async throws {
    let directory = try TemporaryDirectory()
    let archive = try EventArchive(path: directory.path + "/events.db")
    let (gone, staying) = try world()
    _ = try archive.storeNow(gone + staying, now: now)
    let events = try await archive.wanted(only: forgotten([Filter(kinds: [0])]), now: now)
    _ = try await archive.forget(events.seqs + events.lists, now: now)
    let profile = try #require(gone.first { $0.indexed.kind == 0 }).indexed.id
    #expect(try ids(archive) == Set(staying.map(\.indexed.id)).union([profile]))
    try archive.close()
  }

  @Test("leave neither their text nor their words in the file")
  func traces() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/events.db"
    let archive = try EventArchive(path: path)
    var events: [VerifiedEvent] = []
    for number in 0..<400 {
      events.append(try unsigned(me, Int64(number), [], "quicksilver \(number)"))
      events.append(try unsigned(other, Int64(number), [], "ordinary \(number)"))
    }
    _ = try archive.storeNow(events, now: now)
    while archive.hasSearchWork { try archive.indexSliceNow() }
    func holds(_ text: String) -> Bool {
      [path, path + "-wal"].contains {
        String(decoding: SharedFolder.bytes(ofFile: $0) ?? [], as: UTF8.self).contains(text)
      }
    }
    var rest = try await archive.wanted(only: forgotten(), now: now).seqs[...]
    while !rest.isEmpty { rest = rest.dropFirst(try await archive.forget(rest, now: now).count) }
    _ = try await archive.forgetNotes(of: me, [])
    var isFirst = true
    while try await !archive.mergeWords(isFirst: isFirst) { isFirst = false }
    #expect(try await archive.scrubFile() == .clean)
    #expect(!holds("quicksilver") && !holds("\(me)"))
    #expect(holds("ordinary"))
    let words = Filter(search: "ordinary")
    #expect(try archive.queryNow(words, limit: 1_000, now: now).count == 400)
    #expect(try archive.queryNow(Filter(search: "quicksilver"), limit: 1_000, now: now).isEmpty)
    try archive.close()
  }
}
