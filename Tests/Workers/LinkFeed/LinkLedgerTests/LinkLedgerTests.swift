import Cryptography
import Storage
import TestSupport
import Testing

@testable import LinkLedger

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
      id: id(number), digits: sort.isRoot ? [UInt8(number % 10)] : nil, conversation: id(1_000_000 + conversation),
      thread: id(2_000_000 + (about ?? number)), sort: sort,
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

  @Test("A post is unread once, by itself or by its replies, and the list of unread conversations has each of them")
  func unread() async throws {
    let account = try await ledger.account(alice).number
    func listed() async throws -> [[UInt8]: Int] {
      let rows = try await ledger.conversations(of: account, .links, isUnread: true, before: nil, limit: 10)
      return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.unreadCount) })
    }
    let (first, second, third) = (id(1_000_000), id(1_000_001), id(1_000_002))
    try await file(
      [item(1), item(2), item(10, in: 1)]
        + (3...5).map { item($0, .reply, about: 1) } + (11...12).map { item($0, in: 1, .reply, about: 10) }
        + [item(20, in: 2, .reply, about: 99), item(30, in: 2, stage: 1)])
    #expect(try await listed() == [first: 2, second: 1], "not a reply without its post, nor one's own")
    #expect(try await ledger.read(conversation: second, of: account, from: .start, to: .end) == 1)
    #expect(try await listed() == [first: 2, second: 1], "its replies are unread")
    let counts = try await ledger.replyCounts(of: [1, 2, 10].map { id(2_000_000 + $0) }, of: account)
    #expect(counts.map(\.all) == [3, 0, 2] && counts.map(\.unread) == [3, 0, 2])
    #expect(try await ledger.read(thread: id(2_000_010), of: account) == 2)
    #expect(try await listed() == [first: 2])
    #expect(try await ledger.replyCounts(of: [id(2_000_010)], of: account).map(\.unread) == [0])
    let thread = try await ledger.thread(id(2_000_001), of: account, limit: 10)
    #expect(thread.map(\.isUnread) == [true, true, true, true])
    try await file([item(99, in: 2)])
    #expect(try await listed() == [first: 2, third: 1])
    #expect(try await ledger.item(id(20), of: account)?.row.isUnread == true)
  }

  @Test("A post that was read, hidden and shown again is unread, and one's own is not")
  func shownAgain() async throws {
    let account = try await ledger.account(alice).number
    try await file([item(1, .sessionPost), item(2, .sessionPost, stage: 1)])
    #expect(try await ledger.read(thread: id(2_000_001), of: account) == 1)
    let hidden = [1, 2].map { LinkLedger.Mark(id: id($0), noticeAt: nil) }
    let shown = [1, 2, 3].map { LinkLedger.Mark(id: id($0), noticeAt: 9) }
    for _ in 0..<2 {
      try await file([], hidden)
      #expect(try await rows().map(\.isUnread) == [false, false])
      try await file([], shown + shown)
      #expect(try await rows().map(\.isUnread) == [false, true])
    }
    #expect(try await ledger.read(conversation: id(1_000_000), of: account, from: .start, to: .end) == 1)
    #expect(try await ledger.read(conversation: id(1_000_000), of: account, from: .start, to: .end) == 0)
  }

  @Test("Items are found by the first digits of their ids, those of the account alone")
  func digits() async throws {
    let account = try await ledger.account(alice).number
    let other = try await ledger.account(SecretKey.generate().publicKey).number
    try await file([item(3), item(13), item(23, .reply, about: 3), item(33, in: 1, .message), item(4)])
    func found(_ digit: UInt8, _ account: Int64, limit: Int = 10) async throws -> [[UInt8]] {
      try await ledger.items(digits: [digit], of: account, limit: limit).map(\.row.id)
    }
    #expect(try await found(3, account) == [3, 13, 33].map { id($0) })
    #expect(try await found(3, account, limit: 2).count == 2)
    #expect(try await ledger.items(digits: [4], of: account, limit: 1).map(\.thread) == [id(2_000_004)])
    #expect(try await found(5, account).isEmpty)
    #expect(try await found(3, other).isEmpty)
  }

  @Test("The stage of an item is that of its copies to others, and what is taken back leaves nothing")
  func stages() async throws {
    let account = try await ledger.account(alice).number
    let copies = [false, false, true].map { LinkLedger.Copy(item: id(1), isOwn: $0, sealed: []) }
    try await ledger.keep([item(1, stage: 1)], copies, token: [5], of: account)
    var kept = try await ledger.copies(token: [5], account)
    #expect(try await ledger.isOpen(kept[2]))
    for (index, stage, whole) in [(0, 1, 1), (1, 2, 2), (2, 3, 2), (0, 2, 3), (1, 3, 5)] as [(Int, Int64, Int64)] {
      try await ledger.set(stage, [], of: kept[index], account, now: 9)
      kept = try await ledger.copies(of: id(1), account)
      #expect(try await self.stage(of: account) == whole, "copy \(index) is at \(stage)")
    }
    #expect(try await ledger.openCopies(of: account).isEmpty)
    #expect(try await !ledger.isOpen(kept[2]))
    try await ledger.takeBack(id(1), wraps: [id(7)], account)
    #expect(try await ledger.unknown([id(6), id(7)], of: account) == [0], "one's own copy comes back in vain")
    #expect(try await ledger.item(id(1), of: account) == nil)
    #expect(try await ledger.conversation(id(1_000_000), of: account) == nil)
    #expect(try await ledger.copies(token: [5], account).isEmpty)
  }

  @Test("Copies that ended long ago are removed in slices, those of an item together, and the item keeps its stage")
  func sweeping() async throws {
    let account = try await ledger.account(alice).number
    func send(_ number: Int, _ endings: [(stage: Int64, at: Int64)]) async throws {
      let copies = endings.map { _ in LinkLedger.Copy(item: id(number), isOwn: false, sealed: []) }
      try await ledger.keep([item(number, stage: 1)], copies, token: [UInt8(number % 256)], of: account)
      for (copy, ending) in zip(try await ledger.copies(of: id(number), account), endings) {
        try await ledger.set(ending.stage, [], of: copy, account, now: ending.at)
      }
    }
    try await send(1, [(2, 10), (3, 20)])
    try await send(2, [(2, 10), (1, 10)])
    try await send(3, [(2, 10), (2, 30)])
    #expect(try await ledger.sweep(before: 20) == 0, "of each item one copy is newer, or has not ended")
    #expect(try await ledger.sweep(before: 21) == 2)
    #expect(try await ledger.copies(of: id(1), account).isEmpty)
    #expect(try await ledger.copies(token: [1], account).isEmpty)
    #expect(try await ledger.item(id(1), of: account)?.row.stage == 5)
    #expect(try await ledger.copies(of: id(2), account).count == 2)
    #expect(try await ledger.openCopies(of: account).count == 1)
    #expect(try await ledger.copies(of: id(3), account).count == 2)
    for number in 100..<100 + LinkLedger.sweepCount { try await send(number, [(2, 5)]) }
    #expect(try await ledger.sweep(before: 25) == LinkLedger.sweepCount)
    #expect(try await ledger.sweep(before: 25) == 0)
    #expect(try await ledger.sweep(before: 31) == 2)
    #expect(try await ledger.copies(of: id(2), account).count == 2, "one has not ended")
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

  @Test("No table has a row of an account that was forgotten, and each row of another one stays")
  func tables() async throws {
    let bob = SecretKey.generate().publicKey
    for key in [alice, bob] {
      let account = try await ledger.account(key).number
      let wrap = LinkLedger.Wrap(id: [1], outcome: 0, item: item(1))
      _ = try await ledger.file([wrap], upTo: 1, of: account)
      try await ledger.keep(contact: [9], [9], of: account)
      let copy = LinkLedger.Copy(item: id(2), isOwn: false, sealed: [])
      try await ledger.keep([item(2, stage: 1)], [copy], token: [1], of: account)
    }
    let number = try await ledger.account(alice).number
    let before = try counts(of: number)
    #expect(before.count == 7 && before.values.allSatisfy { $0 > 0 }, "\(before)")
    _ = try await ledger.forget(alice)
    #expect(try counts(of: number).values.allSatisfy { $0 == 0 })
    #expect(try counts(of: try await ledger.account(bob).number) == before)
  }

  /// The rows of an account in each table.
  private func counts(of account: Int64) throws -> [String: Int64] {
    try ledger.file.readNow { session in
      let tables = try session.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'") {
        $0.text(0)
      }
      var counts: [String: Int64] = [:]
      for table in tables where table != "grdb_migrations" {
        let column = table == "account" ? "number" : "account"
        counts[table] = try session.count("SELECT count(*) FROM \(table) WHERE \(column) = ?", account)
      }
      return counts
    }
  }
}
