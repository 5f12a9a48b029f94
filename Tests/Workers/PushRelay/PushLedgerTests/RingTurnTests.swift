import Cryptography
import PushDelivery
import Storage
import TestSupport
import Testing

@testable import PushLedger

@Suite("A ring that turns in use")
struct RingTurnTests {
  private let alice = LedgerBench.alice
  private let old = LedgerBench.line("old")
  private let new = LedgerBench.line("new")

  private func ring(_ lines: String...) throws -> TokenKeyRing {
    try TokenKeyRing(Array(lines.joined(separator: "\n").utf8))
  }

  @Test("encrypts with its new key at once, reads what is under the old one, and needs it no more when all is turned")
  func turns() async throws {
    let bench = try LedgerBench(ring: ring(old))
    try bench.register(alice, "first", LedgerBench.token(1))
    try await bench.ledger.turn(to: ring(new, old))
    #expect(bench.ledger.newestKeyName == "new" && bench.ledger.keyNames == ["new", "old"])
    try bench.register(alice, "second", LedgerBench.token(2))
    #expect(try await bench.devices(alice).map(\.id) == ["first", "second"])
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).tokensByKey == ["old": 1, "new": 1])
    #expect(try bench.run(.rekey(limit: 10)) == .rekeyed(changed: 1, broken: 0, remaining: 0))
    try await bench.ledger.turn(to: ring(new))
    #expect(try await bench.devices(alice).count == 2)
    try bench.ledger.close()
    bench.ledger = try PushLedger(path: bench.path, keyRing: ring(new))
    #expect(try await bench.devices(alice).count == 2)
  }

  @Test("counts what opens: a row that was damaged is told, and a device whose time is over is turned as well")
  func counts() async throws {
    let bench = try LedgerBench(ring: ring(old))
    for number in 0..<3 { try bench.register(alice, "\(number)", LedgerBench.token(number)) }
    try bench.ledger.close()
    try bench.tamper(
      "UPDATE device SET sealed = zeroblob(61) WHERE id = '0'; UPDATE device SET expiresAt = 5 WHERE id = '1'")
    bench.ledger = try PushLedger(path: bench.path, keyRing: ring(new, old))
    func tokens() async throws -> [String: Int64] {
      try await bench.ledger.statistics(now: LedgerBench.now).tokensByKey
    }
    #expect(try await tokens() == ["old": 3])
    #expect(try bench.run(.rekey(limit: 1)) == .rekeyed(changed: 0, broken: 1, remaining: 2))
    #expect(try await tokens() == ["old": 2])
    #expect(try bench.run(.rekey(limit: 10)) == .rekeyed(changed: 2, broken: 0, remaining: 0))
    #expect(try await tokens() == ["new": 2])
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).quarantinedDevices == 1)
    // Nothing stands under the old key any more.
    try await bench.ledger.turn(to: ring(new))
  }

  @Test("is not taken without a key that is needed, nor with another one of its name, and the old one goes on")
  func refuses() async throws {
    let bench = try LedgerBench(ring: ring(old))
    try bench.register(alice, "first", LedgerBench.token(1))
    let other = try LedgerBench.ring("old")
    for (wrong, words) in [(try ring(new), "put its line back"), (other, "another key of the name")] {
      await #expect { try await bench.ledger.turn(to: wrong) } throws: { "\($0)".contains(words) }
      #expect(bench.ledger.keyNames == ["old"])
      try bench.register(alice, "first", LedgerBench.token(1), at: 1)
      #expect(try await bench.devices(alice).count == 1)
    }
  }
}
