import Cryptography
import Glibc
import PushDelivery
import Storage
import TestSupport
import Testing

@testable import PushLedger

@Suite("Rescue of the push ledger")
struct RescueTests {
  let bench: LedgerBench
  let alice = LedgerBench.alice
  private let bob = LedgerBench.bob

  init() throws { bench = try LedgerBench() }

  private func rescue() throws -> LedgerRescue? {
    let (ledger, report) = try PushLedger.openOrRescue(
      path: bench.path, keyRing: bench.ring, now: LedgerBench.now + 10)
    bench.ledger = ledger
    return report
  }

  @Test("A file that is only said to be damaged goes over whole")
  func whole() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1))
    let name = try bench.register(alice, nil, LedgerBench.token(2)).deviceID
    let wake = bench.wake(bob, alice)
    let answer = try bench.run(.wake(wake))
    let contacts = ContactsCommand(
      message: bench.message(alice), contacts: [bob: .allowed], policy: nil, keepUntil: LedgerBench.now + 100)
    try bench.run(.contacts(contacts))
    try bench.run(.settle([WakeSettlement(wake: 1, devices: [2])]))
    try bench.run(.saveCredential(name: "jwt", value: [7], savedAt: 1))
    let (devices, wakes) = (try await bench.devices(alice), try await bench.openWakes())
    bench.ledger.markDamaged()
    try bench.ledger.close()

    let report = try #require(try rescue())
    #expect(report.savedCount == 2 && report.damagedCount == 0 && report.reason == nil)
    #expect(access(try #require(report.quarantinePath), F_OK) == 0)
    #expect(try await bench.devices(alice) == devices)
    #expect(try await bench.openWakes() == wakes)
    #expect(try await bench.ledger.contacts(of: alice).contacts == [bob: .allowed])
    #expect(try await bench.ledger.credential("jwt")?.bytes == [7])
    #expect(try bench.run(.wake(wake)) == answer)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.registrations] == 2)
    #expect(try bench.register(alice, nil, LedgerBench.token(2), at: 1).deviceID == name)
    try bench.ledger.close()
    #expect(try rescue() == nil)
  }

  @Test("Of a file with broken pages the readable rows go over, and messages signed before are not taken any more")
  func brokenPages() async throws {
    for number in 0..<200 {
      let owner = PushOwner(.pubky, SHA256.hash(Array("\(number)".utf8)))
      try bench.register(owner, "phone", LedgerBench.token(number))
    }
    try bench.ledger.close()
    // A page of the table of devices, found by what stands in it.
    let sealed = try #require(try bench.sealed("phone"))
    var file = LedgerBench.bytes(bench.path)
    let start = try #require(
      stride(from: 0, to: file.count - sealed.count, by: 1).first {
        file[$0] == sealed[0] && file[$0...].starts(with: sealed)
      })
    for index in (start / 4_096 * 4_096)..<(start / 4_096 * 4_096 + 4_096) { file[index] = 0xA5 }
    try LedgerBench.write(file, to: bench.path)

    let ledger = try? PushLedger(path: bench.path, keyRing: bench.ring)
    try ledger?.close()
    if ledger != nil { RescuableFile(path: bench.path).markDamaged() }
    let report = try #require(try rescue())
    #expect(report.reason != nil)
    #expect((50..<200).contains(report.savedCount), "\(report)")
    let early = bench.registration(alice, "phone", LedgerBench.token(900), at: 9)
    #expect(try bench.run(.register(early)) == .stale)
    #expect(try bench.run(.wake(bench.wake(bob, alice, at: 9))) == .stale)
    try bench.register(alice, "phone", LedgerBench.token(900), at: 10)
    let saved = try await bench.ledger.page(after: 0, limit: 1_000)
    #expect(saved.count == report.savedCount + 1)
    for device in saved where !device.isQuarantined {
      #expect(try await bench.devices(device.owner).count == 1)
    }
  }

  @Test("Without the ledger's own key tokens are found by new numbers, and nameless devices keep their names")
  func ownKeyLost() async throws {
    let nameless = try bench.register(alice, nil, LedgerBench.token(1))
    try bench.ledger.close()
    try bench.tamper("UPDATE secret SET sealed = zeroblob(61)")
    #expect(try rescue() != nil)
    #expect(try await bench.devices(alice).map(\.id) == [nameless.deviceID])
    #expect(try !bench.register(bob, "phone", LedgerBench.token(1), at: 20).isVerified)
    #expect(try bench.register(LedgerBench.carol, nil, LedgerBench.token(1), at: 21).deviceID != nameless.deviceID)
  }

  @Test("A row whose ciphertext was changed is saved out of use, a file that is no database becomes an empty one")
  func nonsense() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1))
    try bench.register(alice, "pad", LedgerBench.token(2))
    try bench.ledger.close()
    try bench.tamper("UPDATE device SET sealed = zeroblob(61) WHERE id = 'pad'")
    RescuableFile(path: bench.path).markDamaged()
    let report = try #require(try rescue())
    #expect(report.savedCount == 2 && report.damagedCount == 1)
    #expect(try await bench.devices(alice).map(\.id) == ["phone"])
    try bench.ledger.close()

    try LedgerBench.write([UInt8](repeating: 0x55, count: 20_000), to: bench.path)
    let second = try #require(try rescue())
    #expect(second.savedCount == 0 && second.reason != nil)
    try bench.register(alice, "phone", LedgerBench.token(1), at: 60)
  }
}
