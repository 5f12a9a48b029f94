import Contracts
import JobLedger
import JobTracking
import Storage
import TestSupport
import Testing

extension LedgerTests {
  @Test("whatever is damaged, it opens with what can be read, and says what is lost", arguments: DamageCase.all())
  func damage(_ damage: DamageCase) throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path + "/a.db", directory.path + "/b.db")
    let first = try JobLedger(path: path)
    let orders = try (1...120).map { try Self.order($0) }
    for order in orders {
      var batch = Self.batch([order]) { Self.facts($0.id.number) }
      batch.cursor = Int64(order.id.number)
      try first.writeNow(batch)
    }
    if !damage.isLog { try first.close() }
    damage.strike(copyOf: path, at: copy)
    let (ledger, contents, rescue) = try JobLedger.openOrRescue(path: copy, now: 2_000)
    if contents.open.count < 120 {
      let rescue = try #require(rescue, "what is lost is told")
      if rescue.quarantinePath == nil { #expect(Int64(contents.open.count) == 120 - rescue.missingCommitCount) }
      if let lost = rescue.lostCount { #expect(contents.open.count + lost >= 120) }
      // Answers to the jobs that are left are read from the beginning, or from the file's cursor.
      #expect(rescue.quarantinePath == nil || contents.cursor ?? 0 == 0)
    }
    let ids = Set(orders.map(\.id))
    // A bit in a job's name makes another of it, which nothing else names.
    #expect(contents.open.filter { !ids.contains($0.order.id) }.count <= 1)
    try ledger.writeNow(Self.batch([try Self.order(900)]) { Self.facts($0.id.number) })
    try ledger.close()
    let (again, more, second) = try JobLedger.openOrRescue(path: copy, now: 3_000)
    #expect(more.open.count == contents.open.count + 1 && second == nil)
    try again.close()
    try first.close()
  }
}
