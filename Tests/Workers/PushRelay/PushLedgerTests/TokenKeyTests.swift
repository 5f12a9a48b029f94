import Cryptography
import Glibc
import PushDelivery
import Storage
import TestSupport
import Testing

@testable import PushLedger

@Suite("Keys of push tokens")
struct TokenKeyTests {
  private let alice = LedgerBench.alice
  private let bob = LedgerBench.bob
  private let token = PushToken.google("fcm-registration-token:APA91bThisIsASecret_0123456789")

  private func problem(_ text: String) -> String? {
    do throws(TokenKeyRingProblem) { _ = try TokenKeyRing(Array(text.utf8)) } catch { return error.description }
    return nil
  }

  @Test("A ring is read with comments, blanks and line ends of all kinds, the newest key first")
  func reading() throws {
    let text = "# comment\n\n  \(LedgerBench.line("b-2")) \r\n\(LedgerBench.line("a.1"))\n"
    #expect(try TokenKeyRing(Array(text.utf8)).names == ["b-2", "a.1"])
  }

  @Test("What is wrong with a ring is told by line, and without a byte of a key")
  func problems() throws {
    let good = LedgerBench.line("k1")
    let digits = String(good.dropFirst(3))
    let cases = [
      ("", nil), ("# nothing\n", nil), (String(repeating: "#", count: 20_000), nil), (digits, 1), (":\(digits)", 1),
      ("a b:\(digits)", 1), (good + "\nk2:short", 2), (good + "\nk2:" + digits.dropLast() + "A", 2),
      (good + "\nk2:!" + digits.dropFirst(), 2), (good + "\n" + LedgerBench.line("k1"), 2),
      (good + "\n\nk2:\(digits)", 3), (String(repeating: "n", count: 33) + ":\(digits)", 1),
      ((0...16).map { LedgerBench.line("k\($0)") }.joined(separator: "\n"), 17),
    ]
    for (text, line) in cases {
      let problem = problem(text) ?? ""
      #expect(!problem.isEmpty)
      #expect(line == nil || problem.contains("line \(line!):"), "\(problem)")
      #expect(!problem.contains(digits.prefix(8)) && !problem.contains(digits.suffix(8)), "\(problem)")
    }
    // Every last character but one in four says more than 32 bytes.
    let last = digits.dropLast().last!
    let other = last == "B" ? "C" : "B"
    #expect(problem("k1:" + digits.dropLast(2) + "\(other)=")!.contains("last character"))
  }

  @Test("Case 40: the file alone holds no token, neither as it is nor as text")
  func fileAlone() throws {
    let bench = try LedgerBench()
    let apple = LedgerBench.token(1)
    try bench.register(alice, "phone", token)
    try bench.register(alice, "pad", apple)
    _ = try bench.run(.saveCredential(name: "oauth", value: Array("ya29.secret-of-oauth".utf8), savedAt: 1))
    for isClosed in [false, true] {
      if isClosed { try bench.ledger.close() }
      #expect(bench.fileHolds(alice.bytes))
      for secret in [token.bytes, apple.bytes, Array(Hexadecimal.text(of: apple.bytes).utf8), Array("ya29.".utf8)] {
        #expect(!bench.fileHolds(secret))
      }
    }
  }

  @Test("Case 40: ciphertext moved between rows opens nowhere: the rows are out of use, and the rest goes on")
  func swapped() async throws {
    let bench = try LedgerBench()
    for (owner, number) in [(alice, 1), (bob, 2)] { try bench.register(owner, "phone", LedgerBench.token(number)) }
    try bench.register(bob, "pad", LedgerBench.token(3))
    try bench.ledger.close()
    try bench.tamper(
      """
      CREATE TABLE moved AS SELECT number, sealed FROM device WHERE id = 'phone';
      UPDATE device SET sealed = (SELECT sealed FROM moved WHERE moved.number <> device.number) WHERE id = 'phone';
      DROP TABLE moved;
      """)
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring)
    #expect(try await bench.devices(alice).isEmpty)
    #expect(try await bench.devices(bob).map(\.id) == ["pad"])
    var figures = try await bench.ledger.statistics(now: LedgerBench.now)
    #expect(figures.quarantinedDevices == 2 && figures.totals[.quarantinedDevices] == 2)
    #expect(try await bench.devices(alice).isEmpty)
    // A wake does not count them.
    #expect(try bench.run(.wake(bench.wake(bob, alice))) != .unavailable)
    #expect(try await bench.openWakes().map(\.isDropped) == [true])
    // The owner puts it right.
    try bench.register(alice, "phone", LedgerBench.token(1), at: 1)
    #expect(try await bench.devices(alice).count == 1)
    figures = try await bench.ledger.statistics(now: LedgerBench.now)
    #expect(figures.quarantinedDevices == 1)
  }

  @Test(
    "Any change to what a token is bound to takes its row out of use",
    arguments: [
      "owner = zeroblob(33)", "id = 'tablet'", "platform = 1", "sealed = substr(sealed, 1, 40)",
      "sealed = x''", "ringKey = 77",
    ])
  func bound(_ change: String) async throws {
    let bench = try LedgerBench()
    try bench.register(alice, "phone", token)
    try bench.ledger.close()
    try bench.tamper("UPDATE device SET \(change)")
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring)
    let owners = [alice, PushOwner(.pubky, Octets32([UInt8](repeating: 0, count: 32))!)]
    for owner in owners { #expect(try await bench.devices(owner).isEmpty) }
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).quarantinedDevices == 1)
  }

  @Test("Case 55: a wrong key, or a key that is missing, is told in plain words and no damage")
  func wrongKey() async throws {
    let bench = try LedgerBench()
    try bench.register(alice, "phone", token)
    try bench.ledger.close()
    let texts = try [LedgerBench.ring("k1"), LedgerBench.ring("k2")].map { ring in
      let fault = #expect(throws: StorageFault.self) {
        _ = try PushLedger.openOrRescue(path: bench.path, keyRing: ring, now: LedgerBench.now)
      }
      #expect(fault?.kind == .failed)
      return fault?.description ?? ""
    }
    #expect(texts[0].contains("another key of the name 'k1'"))
    #expect(texts[1].contains("tokens (1) under the key 'k1'") && texts[1].contains("(k2)"))
    #expect(access(bench.path + ".is-damaged", F_OK) != 0)
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring)
    #expect(try await bench.devices(alice).map(\.token) == [token])
  }

  @Test("Case 55: the ring turns while requests go on; then the old key can go, and what follows from it stays")
  func turning() async throws {
    let (old, new) = (LedgerBench.line("old"), LedgerBench.line("new"))
    let rings = try [old, "\(new)\n\(old)", new].map { try TokenKeyRing(Array($0.utf8)) }
    let bench = try LedgerBench(ring: rings[0])
    for number in 0..<7 { try bench.register(alice, "\(number)", LedgerBench.token(number), at: Int64(number)) }
    let name = try bench.register(LedgerBench.carol, nil, LedgerBench.token(20)).deviceID
    _ = try bench.run(.saveCredential(name: "jwt", value: [1, 2, 3], savedAt: 5))

    try bench.reopen(rings[1])
    try bench.register(alice, "7", LedgerBench.token(7), at: 7)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).tokensByKey == ["old": 8, "new": 1])
    for (changed, remaining) in [(3, 5), (3, 2), (2, 0), (0, 0)] {
      #expect(
        try bench.run(.rekey(limit: 3)) == .rekeyed(changed: changed, broken: 0, remaining: Int64(remaining)))
      #expect(try await bench.devices(alice).count == 8)
    }
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).tokensByKey == ["new": 9])

    try bench.reopen(rings[2])
    #expect(try await bench.devices(alice).map(\.token) == (0..<8).map(LedgerBench.token))
    #expect(try bench.register(LedgerBench.carol, nil, LedgerBench.token(20), at: 8).deviceID == name)
    #expect(try await bench.ledger.credential("jwt") == SavedBytes(bytes: [1, 2, 3], savedAt: 5))
    // Tokens are found as before.
    #expect(try !bench.register(bob, "phone", LedgerBench.token(3), at: 9).isVerified)
  }

  @Test("An old key that goes too early is asked for, and nothing is lost when it comes back")
  func tooEarly() async throws {
    let (old, new) = (LedgerBench.line("old"), LedgerBench.line("new"))
    let rings = try [old, "\(new)\n\(old)", new].map { try TokenKeyRing(Array($0.utf8)) }
    let bench = try LedgerBench(ring: rings[0])
    for number in 0..<3 { try bench.register(alice, "\(number)", LedgerBench.token(number)) }
    try bench.reopen(rings[1])
    _ = try bench.run(.rekey(limit: 2))
    try bench.ledger.close()
    let fault = #expect(throws: StorageFault.self) { _ = try PushLedger(path: bench.path, keyRing: rings[2]) }
    #expect(fault?.reason.contains("tokens (1) under the key 'old'") == true)
    bench.ledger = try PushLedger(path: bench.path, keyRing: rings[1])
    #expect(try await bench.devices(alice).count == 3)
  }
}
