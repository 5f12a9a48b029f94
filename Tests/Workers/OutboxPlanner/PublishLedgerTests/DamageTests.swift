import Contracts
import Glibc
import Nostr
import PublishLedger
import PublishQueue
import Storage
import TestSupport
import Testing

extension LedgerTests {
  /// 120 publications, each of a commit of its own; the first ten are everywhere and need no event.
  private static func filled(_ path: String) throws -> (PublishLedger, [LedgerBatch.Acceptance]) {
    let ledger = try PublishLedger(path: path)
    let all = (1...120).map { acceptance(Int64($0)) }
    for one in all {
      var accepted = batch { $0.accepted = [one] }
      if one.publication.number <= 10 {
        accepted.changed = [LedgerBatch.Change(changed(one.publication, [.confirmed, .confirmed]))]
      }
      try ledger.writeNow(accepted)
    }
    return (ledger, all)
  }

  @Test("whatever is damaged, it opens with what can be read, and says what is lost", arguments: DamageCase.all())
  func damage(_ damage: DamageCase) async throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path + "/a.db", directory.path + "/b.db")
    let (first, all) = try Self.filled(path)
    if !damage.isLog { try first.close() }
    damage.strike(copyOf: path, at: copy)
    let (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: copy, now: 1_700_000_100)
    let count = contents.underWay.count + (contents.counts[.confirmed] ?? 0)
    if count < 120 {
      let rescue = try #require(rescue, "what is lost is told")
      if rescue.quarantinePath == nil { #expect(Int64(count) == 120 - rescue.missingCommitCount) }
      if let lost = rescue.lostCount { #expect(count + lost >= 120) }
    }
    let known = Dictionary(uniqueKeysWithValues: all.map { ($0.publication.id, $0) })
    // A bit in a publication's name makes another of it.
    #expect(contents.underWay.filter { known[$0.publication.id] == nil }.count <= 1)
    for row in contents.underWay where rescue?.quarantinePath != nil {
      let event = try await ledger.event(of: row.publication.number)
      if let event, let one = known[row.publication.id] { #expect(event == one.event) }
    }
    try await ledger.write(Self.batch { $0.accepted = [Self.acceptance(500)] })
    try ledger.close()
    let (again, more, second) = try PublishLedger.openOrRescue(path: copy, now: 1_700_000_200)
    #expect(more.underWay.count == contents.underWay.count + 1 && second == nil)
    try again.close()
    try first.close()
  }

  @Test("that is cut off keeps what stands before the cut", arguments: [53, 60, 69, 78, 89])
  func cutOff(percent: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.db"
    let (first, _) = try Self.filled(path)
    try first.close()
    let size = try #require(SharedFolder.bytes(ofFile: path)).count
    #expect(truncate(path, off_t(size * percent / 100)) == 0)
    let (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 2)
    try ledger.close()
    let told = try #require(rescue)
    #expect(told.savedCount > 20 && contents.underWay.count > 20, "\(told)")
    #expect(told.lostText != "0" || told.damagedCount > 0, "\(told)")
  }

  @Test("keeps publications whose events, relays or own rows are lost", arguments: ["body", "target", "publication"])
  func lostTable(_ table: String) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.db"
    let (first, all) = try Self.filled(path)
    try first.close()
    let file = try StorageFile(path: path, StorageSettings(durability: .full), migrations: [])
    let page = try file.readNow { session in
      let statement = try session.statement("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'")
      defer { statement.reset() }
      return try statement.step() ? statement.number(0) : 0
    }
    try file.close()
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    let zeros = [UInt8](repeating: 0, count: 4_096)
    #expect(pwrite(descriptor, zeros, 4_096, off_t((page - 1) * 4_096)) == 4_096 && close(descriptor) == 0)
    let (ledger, contents, rescue) = try PublishLedger.openOrRescue(path: path, now: 1_700_000_100)
    try ledger.close()
    let ids = Set(contents.underWay.map(\.publication.id))
    #expect(
      ids == Set(all.filter { $0.publication.number > 10 }.map(\.publication.id)), "\(String(describing: rescue))")
    // Their relays stand in their own rows once more.
    #expect(table == "publication" || contents.underWay.allSatisfy { $0.publication.targets.count == 2 })
    #expect(rescue?.reason != nil)
  }
}
