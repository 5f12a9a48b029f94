import Contracts
import JobProviding
import ProvidingLedger
import Storage
import TestSupport
import Testing

extension ProvidingLedgerTests {
  @Test(
    "Whatever is damaged, it opens with what can be read, says what is lost, and takes up nothing it may have known",
    arguments: DamageCase.all())
  func damage(_ damage: DamageCase) throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path + "/a.db", directory.path + "/b.db")
    let first = try ProvidingLedger(path: path)
    let requests = (1...120).map { request(Int64($0), $0 % 2 == 0 ? .running : .waiting) }
    for one in requests { try first.writeNow(batch([one], seq: one.number)) }
    if !damage.isLog { try first.close() }
    damage.strike(copyOf: path, at: copy)
    let (ledger, contents, rescue) = try ProvidingLedger.openOrRescue(path: copy, now: Self.now + 1_000)
    if contents.known.count < 120 {
      let rescue = try #require(rescue, "what is lost is told")
      if rescue.quarantinePath == nil { #expect(Int64(contents.known.count) == 120 - rescue.missingCommitCount) }
      #expect(contents.known.isEmpty || contents.notBefore == Self.now + 1_000)
    }
    #expect(contents.known.subtracting(requests.map(\.id)).count <= 1)
    try ledger.writeNow(batch([request(900)]))
    try ledger.close()
    let (again, more, second) = try ProvidingLedger.openOrRescue(path: copy, now: Self.now + 2_000)
    #expect(more.known.count == contents.known.count + 1 && second == nil)
    try again.close()
    try first.close()
  }
}
