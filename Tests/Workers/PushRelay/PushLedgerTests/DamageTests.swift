import Cryptography
import PushDelivery
import Storage
import TestSupport
import Testing

@testable import PushLedger

extension RescueTests {
  @Test("Whatever is damaged, it opens with what can be read, and says what is lost", arguments: DamageCase.all())
  func damage(_ damage: DamageCase) async throws {
    for number in 0..<80 {
      let owner = PushOwner(.pubky, SHA256.hash(Array("\(number)".utf8)))
      try bench.register(owner, "phone", LedgerBench.token(number))
    }
    if !damage.isLog { try bench.ledger.close() }
    let copy = bench.directory.path + "/copy.db"
    damage.strike(copyOf: bench.path, at: copy)
    let (ledger, rescue) = try PushLedger.openOrRescue(path: copy, keyRing: bench.ring, now: LedgerBench.now + 10)
    let devices = try await ledger.page(after: 0, limit: 1_000)
    if devices.count < 80 {
      let rescue = try #require(rescue, "what is lost is told")
      if let lost = rescue.lostCount { #expect(devices.count + lost >= 80) }
      if rescue.reason != nil || rescue.missingCommitCount > 0 {
        let early = bench.registration(alice, "phone", LedgerBench.token(900), at: 9)
        #expect(try ledger.writeNow([.register(early)]) == [.stale], "\(rescue)")
      }
    }
    let late = bench.registration(alice, "phone", LedgerBench.token(901), at: 20)
    #expect(try ledger.writeNow([.register(late)]) != [.stale])
    try ledger.close()
    let (again, second) = try PushLedger.openOrRescue(path: copy, keyRing: bench.ring, now: LedgerBench.now + 30)
    #expect(second == nil)
    try again.close()
  }
}
