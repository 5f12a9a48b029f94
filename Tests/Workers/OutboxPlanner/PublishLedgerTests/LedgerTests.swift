import Contracts
import Cryptography
import Glibc
import Nostr
import PublishLedger
import PublishQueue
import Storage
import TestSupport
import Testing

@Suite("The ledger of publications")
struct LedgerTests {
  /// A publication of an event that is what its id says.
  static func acceptance(_ number: Int64, relays: Int = 2, isStored: Bool = true) -> LedgerBatch.Acceptance {
    let author = SecretKey.generate()
    let event = UnsignedEvent(pubkey: author.publicKey, createdAt: 1_700_000_000, kind: 1, content: "event \(number)")
      .signed(by: author)
    let targets = (0..<relays).map { index in
      QueuedTarget(
        PublicationTarget(relay: "wss://relay\(index).example", state: .pending, why: "named"),
        manner: SendingManner(
          account: index == 0 ? author.publicKey : nil, isProtected: index == 0, isForeign: index == 1))
    }
    let publication = QueuedPublication(
      number: number, id: event.id, author: author.publicKey, kind: 1, acceptedAt: 1_700_000_000 + number,
      expiresAt: 1_700_100_000, targets: targets)
    return LedgerBatch.Acceptance(publication, event: event.json, isStored: isStored)
  }

  static func batch(_ change: (inout LedgerBatch) -> Void) -> LedgerBatch {
    var batch = LedgerBatch()
    change(&batch)
    return batch
  }

  /// The publication with its relays in these states.
  static func changed(
    _ publication: QueuedPublication, _ states: [PublicationTarget.State], message: String? = nil
  ) -> QueuedPublication {
    let targets = zip(publication.targets, states).map { target, state in
      var target = target
      target.progress.state = state
      target.progress.message = message
      target.progress.attempts += 1
      target.refusals += 1
      return target
    }
    return QueuedPublication(
      number: publication.number, id: publication.id, author: publication.author, kind: publication.kind,
      acceptedAt: publication.acceptedAt, expiresAt: publication.expiresAt, targets: targets)
  }

  @Test("gives back what was written, to the last field, and what was sent as pending")
  func roundTrip() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try PublishLedger(path: directory.path + "/planner.db")
    let (first, second) = (Self.acceptance(1), Self.acceptance(2, isStored: false))
    try await ledger.write(Self.batch { $0.accepted = [first, second] })
    let changed = Self.changed(first.publication, [.confirmed, .sent], message: "words")
    try await ledger.write(Self.batch { $0.changed = [LedgerBatch.Change(changed)] })
    try await ledger.write(Self.batch { $0.stored = [2] })
    try ledger.close()
    let again = try PublishLedger(path: directory.path + "/planner.db")
    let contents = try again.contentsNow()
    #expect(contents.lastNumber == 2 && contents.counts == [.optimistic: 1, .partial: 1])
    let expected = Self.changed(first.publication, [.confirmed, .pending], message: "words")
    #expect(contents.underWay.map(\.publication) == [expected, second.publication])
    #expect(contents.underWay.allSatisfy { $0.isStored })
    #expect(try await again.row(second.publication.id)?.publication == second.publication)
    #expect(try await again.event(of: 1) == first.event)
  }

  @Test("names what has changed after a change, by author, in order, and only what is stored")
  func changes() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try PublishLedger(path: directory.path + "/planner.db")
    let (first, second) = (Self.acceptance(1), Self.acceptance(2, isStored: false))
    let (one, two) = (first.publication.author, second.publication.author)
    try await ledger.write(Self.batch { $0.accepted = [first, second] })
    let all = try await ledger.changes(after: 0, by: one, limit: 9)
    #expect(all.rows.map(\.row.publication.id) == [first.publication.id] && all.last == 2)
    #expect(try await ledger.changes(after: all.last, by: one, limit: 9).rows.isEmpty)
    #expect(try await ledger.changes(after: 0, by: two, limit: 9).rows.isEmpty, "it may still be withdrawn")
    try await ledger.write(Self.batch { $0.stored = [2] })
    #expect(try await ledger.changes(after: all.last, by: two, limit: 9).rows.count == 1)
    let changed = Self.changed(first.publication, [.confirmed, .sent])
    try await ledger.write(Self.batch { $0.changed = [LedgerBatch.Change(changed)] })
    let later = try await ledger.changes(after: all.last, by: one, limit: 9)
    #expect(later.rows.map(\.change) == [4] && later.last == 4)
    #expect(try await ledger.changes(after: 1_000, by: one, limit: 9).rows.count == 1, "of another ledger: everything")
    try ledger.close()
  }

  @Test("drops an event's bytes when every relay has it, and takes them again when there are more relays")
  func bodies() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try PublishLedger(path: directory.path + "/planner.db")
    let one = Self.acceptance(1)
    try await ledger.write(Self.batch { $0.accepted = [one] })
    let all = Self.changed(one.publication, [.confirmed, .confirmed])
    try await ledger.write(Self.batch { $0.changed = [LedgerBatch.Change(all)] })
    #expect(try await ledger.event(of: 1) == nil)
    var more = all
    more.add([
      QueuedTarget(
        PublicationTarget(relay: "wss://more.example", state: .pending, why: "named"),
        manner: SendingManner(isForeign: true), paceMilliseconds: 900_000)
    ])
    try await ledger.write(Self.batch { $0.changed = [LedgerBatch.Change(more, event: one.event)] })
    #expect(try await ledger.event(of: 1) == one.event)
    let underWay = try ledger.contentsNow().underWay
    #expect(underWay.map(\.publication) == [more])
  }

  @Test("forgets the oldest of those that have ended, when they are too old, and never what is under way")
  func sweep() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try PublishLedger(path: directory.path + "/planner.db")
    let all = (1...300).map { Self.acceptance(Int64($0), relays: 1) }
    try await ledger.write(Self.batch { $0.accepted = all })
    let ended = all.dropFirst(10).map { LedgerBatch.Change(Self.changed($0.publication, [.failed])) }
    try await ledger.write(Self.batch { $0.changed = Array(ended) })
    let day: Int64 = 24 * 3_600
    #expect(try await ledger.sweep(now: 1_700_000_000 + 29 * day).isEmpty)
    let now = 1_700_000_000 + 30 * day + 260
    #expect(try await ledger.sweep(now: now) == Array(repeating: .failed, count: PublishLedger.sweepCount))
    #expect(try await ledger.sweep(now: now).count == 49)
    #expect(try await ledger.sweep(now: now).isEmpty)
    let counts = try ledger.contentsNow().counts
    #expect(counts == [.optimistic: 10, .failed: 41])
    let failed = try await ledger.rows(in: [.failed], limit: 5)
    #expect(failed.map(\.publication.number) == [300, 299, 298, 297, 296])
    let any = try await ledger.rows(in: nil, before: 262, limit: 3)
    #expect(any.map(\.publication.number) == [261, 260, 10])
  }

  @Test("a batch is written whole or not at all, and the next one goes on")
  func wholeBatches() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try PublishLedger(path: directory.path + "/planner.db")
    let one = Self.acceptance(1)
    let twice = Self.batch { $0.accepted = [one, Self.acceptance(2), one] }
    var isRefused = false
    do { try await ledger.write(twice) } catch { isRefused = true }
    #expect(isRefused)
    #expect(try ledger.contentsNow().underWay.isEmpty)
    try await ledger.write(Self.batch { $0.accepted = [one] })
    try await ledger.write(Self.batch { $0.removed = [1] })
    #expect(try ledger.contentsNow().underWay.isEmpty)
    #expect(try await ledger.event(of: 1) == nil)
  }

  @Test("a file that is removed or moved in use takes nothing more, until it is back")
  func gone() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/planner.db"
    let ledger = try PublishLedger(path: path)
    try await ledger.write(Self.batch { $0.accepted = [Self.acceptance(1)] })
    #expect(rename(path, path + ".elsewhere") == 0)
    do throws(StorageFault) {
      try await ledger.write(Self.batch { $0.accepted = [Self.acceptance(2)] })
      Issue.record("what nobody will find again was accepted")
    } catch {
      #expect(error.kind == .failed && "\(error)".contains("was removed or moved while it was in use"))
    }
    #expect(rename(path + ".elsewhere", path) == 0)
    try await ledger.write(Self.batch { $0.accepted = [Self.acceptance(3)] })
    #expect(try ledger.contentsNow().underWay.map(\.publication.number) == [1, 3])
    #expect(unlink(path) == 0)
    await #expect(throws: StorageFault.self) {
      try await ledger.write(Self.batch { $0.accepted = [Self.acceptance(4)] })
    }
  }

  @Test("a damaged file is put aside, and what can be read whole is in the new one")
  func damaged() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/planner.db"
    var (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 1)
    #expect(contents.underWay.isEmpty && rescue == nil)
    let all = (1...2_000).map { Self.acceptance(Int64($0)) }
    try ledger.writeNow(Self.batch { $0.accepted = all })
    try ledger.close()
    try overwrite(path)
    (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 2)
    if rescue == nil {
      ledger.markDamaged()
      try ledger.close()
      (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 2)
    }
    let saved = try #require(rescue)
    #expect(saved.savedCount > 500 && saved.savedCount == contents.underWay.count)
    #expect(saved.quarantinePath == path + ".damaged-2" && SharedFolder.bytes(ofFile: path + ".damaged-2") != nil)
    let known = Dictionary(uniqueKeysWithValues: all.map { ($0.publication.id, $0.publication) })
    // Of those whose own row is lost it is not known when they were accepted, and that they are told in part.
    #expect(contents.underWay.filter { known[$0.publication.id] != $0.publication }.count <= saved.damagedCount)
    #expect(contents.underWay.allSatisfy { known[$0.publication.id] != nil })
    #expect(saved.damagedCount < saved.savedCount / 4, "\(saved)")
  }

  @Test("of no bytes is not taken for a new one")
  func empty() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/planner.db"
    try PublishLedger.openOrRescue(path: path, now: 1).0.close()
    #expect(truncate(path, 0) == 0)
    let (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 2)
    try ledger.close()
    #expect(contents.underWay.isEmpty && rescue?.reason == Quarantine.emptyReason && rescue?.savedCount == 0)
    #expect(try PublishLedger.openOrRescue(path: path, now: 3).2 == nil)
  }

  @Test("a rescue that was cut off begins again with the same damaged file; one that is done is not done again")
  func cutOff() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/planner.db"
    func mark() {
      let file = open(path + ".is-damaged", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      #expect(write(file, "2", 1) == 1 && close(file) == 0)
    }
    let ledger = try PublishLedger(path: path)
    try ledger.writeNow(Self.batch { $0.accepted = (1...20).map { Self.acceptance(Int64($0)) } })
    try ledger.close()
    // As a death in the middle leaves it: the old one is aside, and the new one half filled.
    mark()
    #expect(rename(path, path + ".damaged-2") == 0)
    let half = try PublishLedger(path: path + ".new")
    try half.writeNow(Self.batch { $0.accepted = [Self.acceptance(1)] })
    try half.close()
    var (again, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 9)
    #expect(contents.underWay.count == 20 && rescue?.savedCount == 20)
    #expect(rescue?.quarantinePath == path + ".damaged-2")
    try again.close()
    // As a death behind it leaves it: nothing but the mark is left to be taken away.
    mark()
    (again, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 9)
    #expect(contents.underWay.count == 20 && rescue?.quarantinePath == path + ".damaged-2")
    try again.close()
    (again, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 9)
    #expect(contents.underWay.count == 20 && rescue == nil)
  }

  private func overwrite(_ path: String) throws {
    let file = open(path, O_RDWR)
    #expect(file >= 0)
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    let nonsense = [UInt8](repeating: 0xA5, count: 64 << 10)
    #expect(pwrite(file, nonsense, nonsense.count, size / 2 / 4_096 * 4_096) == nonsense.count)
  }

  @Test("a commit of a full file waits for the disk, and one of a normal file does not", arguments: [true, false])
  func durability(isFull: Bool) throws {
    let directory = try TemporaryDirectory()
    let settings = StorageSettings(durability: isFull ? .full : .normal)
    let file = try StorageFile(path: directory.path + "/a.db", settings, migrations: [])
    let level = try file.writeNow { session in
      let statement = try session.statement("PRAGMA synchronous")
      guard try statement.step() else { return Int64(-1) }
      defer { statement.reset() }
      return statement.number(0)
    }
    #expect(level == (isFull ? 2 : 1))
  }

  @Test("a file of a later version is refused, and left as it is")
  func newer() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/planner.db"
    let file = try StorageFile(
      path: path, StorageSettings(durability: .full), migrations: [StorageMigration(version: 1_000, "")])
    try file.close()
    var kind: StorageFault.Kind?
    do throws(StorageFault) { _ = try PublishLedger.openOrRescue(path: path, now: 1) } catch { kind = error.kind }
    #expect(kind == .newer)
  }
}
