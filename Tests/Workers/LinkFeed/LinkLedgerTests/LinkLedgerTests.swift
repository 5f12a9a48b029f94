import Cryptography
import LinkLedger
import Storage
import TestSupport
import Testing

@Suite("The ledger of links")
struct LinkLedgerTests {
  private let directory: TemporaryDirectory
  private let ledger: LinkLedger
  private let alice = SecretKey.generate().publicKey

  init() throws {
    directory = try TemporaryDirectory()
    ledger = try LinkLedger(directory: directory.path, now: 0)
  }

  private func id(_ number: Int) -> [UInt8] { SHA256.hash(Array("\(number)".utf8)).bytes }

  private func item(
    _ number: Int, in conversation: Int = 0, _ sort: LinkLedger.Sort = .post, about: Int? = nil, at: Int64? = nil,
    isSeen: Bool = true, noticeAt: Int64 = 0, stage: Int64 = 0
  ) -> LinkLedger.Item {
    LinkLedger.Item(
      id: id(number), conversation: id(1_000_000 + conversation), thread: id(2_000_000 + (about ?? number)), sort: sort,
      at: at ?? Int64(number), isOwn: stage > 0, isUnread: isSeen && stage == 0, noticeAt: noticeAt, stage: stage,
      sealed: [1], sealedConversation: [2])
  }

  private func file(_ items: [LinkLedger.Item], _ marks: [LinkLedger.Mark] = [], seq: Int64 = 1) async throws {
    let account = try await ledger.account(alice)
    let wraps = items.map { LinkLedger.Wrap(id: SHA256.hash($0.id).bytes, outcome: 0, item: $0) }
    _ = try await ledger.file(wraps, marks, upTo: seq, of: account.number)
  }

  private func rows(_ conversation: Int = 0) async throws -> [LinkLedger.Row] {
    let account = try await ledger.account(alice).number
    return try await ledger.roots(in: id(1_000_000 + conversation), of: account, before: .end, limit: 100)
  }

  @Test("A wrap is filed once, a rumor that comes in two wraps is one item, and the seq never falls")
  func once() async throws {
    let account = try await ledger.account(alice).number
    let wraps = [
      LinkLedger.Wrap(id: [1], outcome: 0, item: item(1)), LinkLedger.Wrap(id: [2], outcome: 0, item: item(1)),
    ]
    #expect(try await ledger.unknown([[1], [2]], of: account) == [0, 1])
    #expect(try await ledger.file(wraps, upTo: 7, of: account) == [id(1)])
    #expect(try await ledger.file(wraps, upTo: 3, of: account).isEmpty)
    #expect(try await ledger.unknown([[1], [3]], of: account) == [1])
    let known = try await ledger.account(alice)
    #expect(known.seq == 7 && known.usesLinks)
    #expect(try await rows().count == 1)
  }

  @Test("A post that can be seen later has its notice then, once, and an old one has none")
  func notices() async throws {
    let account = try await ledger.account(alice).number
    func due() async throws -> [LinkLedger.Due] { try await ledger.due(of: account, limit: 10) }
    try await file([item(1, .sessionPost, at: 50, isSeen: false), item(2, .sessionPost, at: 500, isSeen: false)])
    #expect(try await due().isEmpty)
    #expect(try await !rows().contains { $0.isUnread })
    let shown = [1, 2].map { LinkLedger.Mark(id: id($0), noticeAt: 900, noticeSince: 100) }
    try await file([], shown)
    #expect(try await due().map(\.row.id) == [id(2)])
    #expect(try await rows().allSatisfy(\.isUnread))
    try await ledger.noticed(due().map(\.number))
    try await file([], [LinkLedger.Mark(id: id(2), noticeAt: nil)])
    #expect(try await rows().first { $0.id == id(2) }?.isUnread == false)
    try await file([], shown)
    #expect(try await due().isEmpty, "it was given")
  }

  @Test("Conversations of one second come page by page, each once; those without a post that is here do not come")
  func paging() async throws {
    let account = try await ledger.account(alice).number
    try await file((0..<25).map { item($0, in: $0, at: $0 < 5 ? .max : 9) })
    try await file((100..<130).map { item($0, in: $0, .reply, about: 9_999) })
    var (found, place): ([[UInt8]], LinkLedger.ConversationPlace?) = ([], nil)
    while true {
      let page = try await ledger.conversations(of: account, .links, isUnread: false, before: place, limit: 4)
      found += page.map(\.id)
      guard let last = page.last else { break }
      place = LinkLedger.ConversationPlace(lastAt: last.lastAt, id: last.id)
    }
    #expect(found.count == 25 && Set(found) == Set((0..<25).map { id(1_000_000 + $0) }))
  }

  @Test("Only what was shown is read, and a reply counts only where its post is here")
  func reading() async throws {
    let account = try await ledger.account(alice).number
    func unread() async throws -> [Int] {
      try await ledger.conversations(of: account, .links, isUnread: false, before: nil, limit: 10).map(\.unreadCount)
    }
    try await file((1...6).map { item($0) } + [item(7, .reply, about: 99), item(8, .reply, about: 1)])
    #expect(try await unread() == [6])
    let rows = try await rows()
    func place(_ row: LinkLedger.Row) -> LinkLedger.Place { LinkLedger.Place(at: row.at, number: row.number) }
    let count = try await ledger.read(
      conversation: id(1_000_000), of: account, from: place(rows[2]), to: place(rows[1]))
    #expect(count == 2)
    #expect(try await unread() == [4])
    #expect(try await ledger.read(thread: id(2_000_001), of: account) == 2)
    #expect(try await unread() == [3])
    let thread = try await ledger.thread(id(2_000_001), of: account, limit: 1)
    #expect(thread.map(\.id) == [id(1)])
    #expect(try await ledger.thread(id(2_000_001), of: account, after: place(thread[0]), limit: 9).map(\.id) == [id(8)])
  }

  @Test("An item is as far as its copies to others, and what is taken back leaves nothing")
  func stages() async throws {
    let account = try await ledger.account(alice).number
    let copies = [false, false, true].map { LinkLedger.Copy(item: id(1), isOwn: $0, sealed: []) }
    try await ledger.keep([item(1, stage: 1)], copies, token: [5], of: account)
    var kept = try await ledger.copies(token: [5], account)
    for (index, stage, whole) in [(0, 1, 1), (1, 2, 2), (2, 3, 2), (0, 2, 3), (1, 3, 5)] as [(Int, Int64, Int64)] {
      try await ledger.set(stage, [], of: kept[index], account)
      kept = try await ledger.copies(of: id(1), account)
      #expect(try await self.stage(of: account) == whole, "copy \(index) is at \(stage)")
    }
    #expect(try await ledger.openCopies(of: account).isEmpty)
    try await ledger.takeBack(id(1), account)
    #expect(try await ledger.item(id(1), of: account) == nil)
    #expect(try await ledger.conversation(id(1_000_000), of: account) == nil)
    #expect(try await ledger.copies(token: [5], account).isEmpty)
  }

  private func stage(of account: Int64) async throws -> Int64 {
    try await ledger.item(id(1), of: account)?.row.stage ?? 0
  }

  @Test("Nothing is written for an account that was forgotten, and its number is not given again")
  func forgotten() async throws {
    let bob = SecretKey.generate().publicKey
    let number = try await ledger.account(alice).number
    try await file([item(1), item(2)])
    try await ledger.keep(contact: [9], [9], of: number)
    try await ledger.keep(dataKeyText: "text", of: alice)
    #expect(try await ledger.forget(alice) == 2)
    #expect(try await ledger.file([LinkLedger.Wrap(id: [1], outcome: 0, item: item(3))], upTo: 9, of: number).isEmpty)
    try await ledger.keep([item(4, stage: 1)], [], token: [1], of: number)
    #expect(try await ledger.account(bob).number != number)
    #expect(try await ledger.item(id(3), of: number) == nil)
    #expect(try await ledger.item(id(4), of: number) == nil)
    #expect(try await ledger.contacts(of: number).isEmpty)
    #expect(try await ledger.dataKeyText(of: alice) == nil)
    #expect(try await ledger.forget(alice) == 0)
  }
}
