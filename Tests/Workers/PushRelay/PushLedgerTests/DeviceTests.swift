import Cryptography
import PushDelivery
import PushLedger
import Storage
import TestSupport
import Testing

@Suite("Devices in the push ledger")
struct DeviceTests {
  private let bench: LedgerBench
  private let alice = LedgerBench.alice
  private let bob = LedgerBench.bob
  private let carol = LedgerBench.carol

  init() throws { bench = try LedgerBench() }

  @Test("Case 4: a device that registers again is one row with the new token, the same relay id and a later end")
  func again() async throws {
    let first = try bench.register(alice, "phone", LedgerBench.token(1))
    let second = try bench.register(alice, "phone", LedgerBench.token(2), at: 10, capabilities: ["wake", "übung\n"])
    #expect(second.relayID == first.relayID)
    #expect(first.relayID.utf8.count == 32)
    #expect(second.expiresAt == first.expiresAt + 10)
    let devices = try await bench.devices(alice, at: 10)
    #expect(devices.map(\.token) == [LedgerBench.token(2)])
    #expect(devices.first?.capabilities == ["wake", "übung\n"])
    #expect(devices.first?.isVerified == true)
  }

  @Test("All kinds of tokens come back as they were, from the file as well")
  func kinds() async throws {
    let web = PushToken.web(
      endpoint: "https://push.example/ü", publicKey: [UInt8](repeating: 4, count: 65),
      authentication: [UInt8](repeating: 7, count: 16))
    let tokens = [LedgerBench.token(1), .google("fcm:AB-c_d" + String(repeating: "x", count: 4_000)), web]
    for (index, token) in tokens.enumerated() { try bench.register(alice, "\(index)", token, at: Int64(index)) }
    try bench.reopen()
    #expect(try await bench.devices(alice).map(\.token) == tokens)
  }

  @Test(
    "Case 8: a device goes by its name, by the relay's name or as one without a name, and what is gone may go again")
  func removal() async throws {
    let token = LedgerBench.token(3)
    try bench.register(alice, "one", LedgerBench.token(1))
    let second = try bench.register(alice, "two", LedgerBench.token(2))
    let nameless = try bench.register(alice, nil, token)
    #expect(nameless.deviceID.hasPrefix("d_") && nameless.deviceID.utf8.count == 34)
    for (choice, left) in [
      (DeviceChoice.device("one"), 2), (.device("one"), 2), (.relay(second.relayID), 1), (.relay(second.relayID), 1),
      (.device("never"), 1), (.unnamed, 0), (.unnamed, 0),
    ] {
      let before = try await bench.devices(alice).map(\.number)
      let answer = try bench.run(.unregister(bench.removal(alice, choice, at: 1)))
      let after = try await bench.devices(alice).map(\.number)
      #expect(answer == .unregistered(removed: before.filter { !after.contains($0) }) && after.count == left)
    }
  }

  @Test("A registration names the devices that went by it: of the same token, one too many, or another owner's")
  func removed() async throws {
    let (token, other) = (LedgerBench.token(1), LedgerBench.token(2))
    try bench.register(alice, "before", token)
    try bench.register(alice, "old", other)
    let rows = try await bench.devices(alice).map(\.number)
    var registration = bench.registration(alice, "after", token, at: 1)
    registration.deviceMaximum = 1
    let answer = try bench.run(.register(registration))
    guard case .registered(let registered) = answer else { throw Unexpected(answer: answer) }
    #expect(registered.removed == rows)
    let last = try await bench.devices(alice).map(\.number)
    let code = try #require(try bench.register(bob, "mine", token, at: 2).challenge?.code)
    var proof = bench.registration(bob, "mine", token, at: 3)
    proof.challenge = code
    let proved = try bench.run(.register(proof))
    guard case .registered(let moved) = proved else { throw Unexpected(answer: proved) }
    #expect(moved.isVerified && moved.removed == last)
    guard case .registered(let again) = try bench.run(.register(proof)) else { throw Unexpected(answer: .done) }
    #expect(again.removed.isEmpty && again.relayID == moved.relayID)
  }

  @Test("Nobody takes away a device of another by its names")
  func others() async throws {
    let registration = try bench.register(alice, "phone", LedgerBench.token(1))
    for choice in [DeviceChoice.device("phone"), .relay(registration.relayID), .unnamed] {
      #expect(try bench.run(.unregister(bench.removal(bob, choice, at: 5))) == .unregistered())
    }
    // The same key in another realm is another owner.
    let twin = PushOwner(.nostr, alice.key)
    try bench.run(.unregister(bench.removal(twin, .device("phone"), at: 5)))
    #expect(try await bench.devices(alice).count == 1)
  }

  @Test("Case 9: a device ends when its month is over unless it was renewed, and its ciphertext leaves the file")
  func expiry() async throws {
    let (renewed, old) = (LedgerBench.token(1), LedgerBench.token(2))
    try bench.register(alice, "renewed", renewed)
    try bench.register(alice, "old", old)
    try bench.register(alice, "renewed", renewed, at: 23 * 86_400)
    #expect(try await bench.devices(alice, at: LedgerBench.month - 1).count == 2)
    #expect(try await bench.devices(alice, at: LedgerBench.month + 1).map(\.id) == ["renewed"])
    // A wake counts it no more, before any sweep.
    let standing = Standing()
    var wake = bench.wake(bob, alice, at: LedgerBench.month + 1)
    wake.decide = standing.deciding(WakeRuling(.queued, isQueued: false, isTold: false))
    try bench.run(.wake(wake))
    #expect(standing.seen.first?.deviceCount == 1)

    try bench.ledger.close()
    let sealed = try #require(try bench.sealed("old"))
    #expect(bench.fileHolds(sealed))
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring)
    let answer = try bench.run(.sweep(now: (LedgerBench.now + LedgerBench.month + 1) * 1_000, limit: 100))
    guard case .swept(let sweep) = answer else { throw Unexpected(answer: answer) }
    #expect(sweep.expiredDevices == 1 && !sweep.isMore)
    try bench.ledger.close()
    #expect(!bench.fileHolds(sealed))
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.expiredDevices] == 1)
  }

  @Test("Case 27: a registration that comes again after the removal is answered as it was, and puts nothing back")
  func replayedRegistration() async throws {
    let registration = bench.registration(alice, "phone", LedgerBench.token(1))
    let answer = try bench.run(.register(registration))
    try bench.run(.unregister(bench.removal(alice, .device("phone"), at: 1)))
    #expect(try bench.run(.register(registration)) == answer)
    #expect(try await bench.devices(alice).isEmpty)
  }

  @Test("Case 27: a removal that comes again after another registration takes nothing away")
  func replayedRemoval() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1))
    let removal = bench.removal(alice, .device("phone"), at: 1)
    #expect(try bench.run(.unregister(removal)) == .unregistered(removed: [1]))
    try bench.register(alice, "phone", LedgerBench.token(1), at: 2)
    #expect(try bench.run(.unregister(removal)) == .unregistered())
    #expect(try await bench.devices(alice).count == 1)
  }

  @Test("A registration that was held up loses against a removal, or a registration, signed after it")
  func heldUp() async throws {
    let late = bench.registration(alice, "phone", LedgerBench.token(1), at: 1)
    let lateNameless = bench.registration(alice, nil, LedgerBench.token(2), at: 1)
    try bench.run(.unregister(bench.removal(alice, .device("phone"), at: 2)))
    try bench.run(.unregister(bench.removal(alice, .unnamed, at: 2)))
    #expect(try bench.run(.register(late)) == .superseded())
    #expect(try bench.run(.register(lateNameless)) == .superseded())
    #expect(try await bench.devices(alice).isEmpty)

    try bench.register(alice, "phone", LedgerBench.token(4), at: 4)
    let older = bench.registration(alice, "phone", LedgerBench.token(3), at: 3)
    // Once more, it is answered as it was.
    for _ in 0..<2 { #expect(try bench.run(.register(older)) == .superseded()) }
    #expect(try await bench.devices(alice).map(\.token) == [LedgerBench.token(4)])
  }

  @Test("A removal that was held up takes nothing away that was registered after it, and says so, each time it comes")
  func heldUpRemoval() async throws {
    let relayID = try bench.register(alice, "phone", LedgerBench.token(1), at: 4).relayID
    try bench.register(alice, nil, LedgerBench.token(2), at: 2)
    let older = try await bench.devices(alice).filter { $0.id != "phone" }.map(\.number)
    try bench.register(alice, nil, LedgerBench.token(3), at: 4)
    for choice in [DeviceChoice.device("phone"), .relay(relayID)] {
      let removal = bench.removal(alice, choice, at: 3)
      for _ in 0..<2 { #expect(try bench.run(.unregister(removal)) == .superseded()) }
    }
    // Of several the older ones go.
    let nameless = bench.removal(alice, .unnamed, at: 3)
    #expect(try bench.run(.unregister(nameless)) == .superseded(removed: older))
    #expect(try bench.run(.unregister(nameless)) == .superseded())
    #expect(try await bench.devices(alice).map(\.token) == [LedgerBench.token(1), LedgerBench.token(3)])
    // What is not there is gone, whoever says so when.
    for _ in 0..<2 { try bench.run(.unregister(bench.removal(alice, .device("phone"), at: 5))) }
    #expect(try bench.run(.unregister(bench.removal(alice, .device("phone"), at: 3))) == .unregistered())
    #expect(try bench.run(.unregister(bench.removal(alice, .device("never"), at: 3))) == .unregistered())
  }

  @Test("A removal and a registration of one second count as they come")
  func oneSecond() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1))
    try bench.run(.unregister(bench.removal(alice, .device("phone"))))
    #expect(try await bench.devices(alice).isEmpty)
    try bench.register(alice, "phone", LedgerBench.token(1))
    #expect(try await bench.devices(alice).count == 1)
  }

  @Test("One place under two names of an owner is one device, the one registered last")
  func oneTokenTwoNames() async throws {
    try bench.register(alice, "before", LedgerBench.token(1))
    try bench.register(alice, "after", LedgerBench.token(1), at: 1)
    #expect(try await bench.devices(alice).map(\.id) == ["after"])
    let late = bench.registration(alice, "before", LedgerBench.token(1), at: 0)
    #expect(try bench.run(.register(late)) == .superseded())
    #expect(try await bench.devices(alice).map(\.id) == ["after"])
  }

  @Test("Case 35: of eleven devices the one that was renewed longest ago leaves")
  func cap() async throws {
    for number in 0..<10 { try bench.register(alice, "\(number)", LedgerBench.token(number), at: Int64(number)) }
    try bench.register(alice, "0", LedgerBench.token(0), at: 20)
    try bench.register(alice, "ten", LedgerBench.token(10), at: 21)
    let left = try await bench.devices(alice).map(\.id)
    #expect(left.count == PushLedger.deviceMaximum)
    #expect(!left.contains("1") && left.contains("0") && left.contains("ten"))
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.evictedDevices] == 1)
  }

  @Test("A device is pruned only while it has the token that is gone, and not if it has registered since")
  func pruning() async throws {
    try bench.register(alice, "phone", LedgerBench.token(1), at: 5)
    let number = try #require(try await bench.devices(alice).first).number
    #expect(try bench.run(.prune(PruneCommand(device: number, token: LedgerBench.token(2)))) == .pruned(false))
    let before = PruneCommand(device: number, token: LedgerBench.token(1), goneSince: LedgerBench.now + 4)
    #expect(try bench.run(.prune(before)) == .pruned(false))
    let after = PruneCommand(device: number, token: LedgerBench.token(1), goneSince: LedgerBench.now + 5)
    #expect(try bench.run(.prune(after)) == .pruned(true))
    #expect(try await bench.devices(alice).isEmpty)
    #expect(try bench.run(.prune(after)) == .pruned(false))
  }
}
