import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import Testing

@testable import Signing

@Suite("Accounts that are used and left")
struct LeavingTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private static let client = SignerCaller(name: "client 9.1", role: "client")

  private func machine(locked: Set<String> = [], _ names: String...) throws -> SignerMachine {
    var machine = SignerMachine(policy: try SigningPolicy(rules: []))
    for name in names {
      let key = SecretKey.generate().publicKey
      _ = machine.added(SignerMachine.Account(name: name, publicKey: key, isLocked: locked.contains(name)))
    }
    return machine
  }

  private func sign(as account: String? = nil) -> SignerUse {
    SignerUse(method: .sign, caller: Self.client, account: account, kind: 1, byteCount: 10)
  }

  private func performed(_ actions: [SignerMachine.Action]) -> String? {
    for case .perform(_, let account) in actions { return account }
    return nil
  }

  private func refusal(_ actions: [SignerMachine.Action]) -> Refusal? {
    for case .refuse(_, let refusal) in actions { return refusal }
    return nil
  }

  @Test("The chosen account is meant where none is named, until it is removed, left, or another is chosen")
  func chosen() throws {
    var machine = try machine("alice", "bob", "carol")
    #expect(refusal(machine.received(SignerMachine.Key(1), sign(), at: start))?.code == .badRequest)
    machine.chosen("bob")
    #expect(performed(machine.received(SignerMachine.Key(2), sign(), at: start)) == "bob")
    #expect(performed(machine.received(SignerMachine.Key(3), sign(as: "alice"), at: start)) == "alice")
    machine.chosen("carol")
    #expect(performed(machine.received(SignerMachine.Key(4), sign(), at: start)) == "carol")
    _ = machine.removed("carol")
    #expect(machine.used == nil)
    machine.chosen("bob")
    _ = machine.left("bob", isForgetting: false)
    #expect(machine.used == nil)
    machine.chosen("nobody")
    #expect(machine.used == nil)
  }

  @Test("A worker's own account is never the chosen one")
  func workersOwn() throws {
    var machine = try machine("dvm-tracker", "alice")
    machine.chosen("dvm-tracker")
    #expect(machine.used == nil)
  }

  @Test("A left account signs nothing, also one without a passphrase, and does not count as one of several")
  func left() throws {
    var machine = try machine("alice", "bob")
    #expect(machine.left("alice", isForgetting: false) == [])
    let refused = refusal(machine.received(SignerMachine.Key(1), sign(as: "alice"), at: start))
    #expect(refused?.code == .locked && refused?.message.contains("roost account use alice") == true)
    #expect(performed(machine.received(SignerMachine.Key(2), sign(), at: start)) == "bob")
    #expect(machine.summary == "2 accounts, 1 left")
    _ = machine.left("bob", isForgetting: false)
    #expect(refusal(machine.received(SignerMachine.Key(3), sign(), at: start))?.code == .locked)
    machine.broughtBack("alice")
    _ = machine.unlocked("alice")
    #expect(performed(machine.received(SignerMachine.Key(4), sign(), at: start)) == "alice")
  }

  @Test("What waits for a passphrase is refused when its account is left")
  func waiting() throws {
    var machine = try machine(locked: ["alice"], "alice")
    #expect(machine.received(SignerMachine.Key(1), sign(), at: start).contains(.hold(SignerMachine.Key(1))))
    #expect(refusal(machine.left("alice", isForgetting: false))?.code == .locked)
    #expect(machine.waitingCount == 0)
    // Brought back it is locked as before, and waits again.
    machine.broughtBack("alice")
    #expect(machine.received(SignerMachine.Key(2), sign(), at: start).contains(.hold(SignerMachine.Key(2))))
  }

  @Test("A worker removes the key of no account, except of one that is to be forgotten")
  func removal() throws {
    var machine = try machine("alice")
    #expect(machine.refusalOfRemoval("alice", by: "client") == nil)
    #expect(machine.refusalOfRemoval("alice", by: "people")?.code == .forbidden)
    _ = machine.left("alice", isForgetting: false)
    #expect(machine.refusalOfRemoval("alice", by: "people")?.code == .forbidden)
    _ = machine.left("alice", isForgetting: true)
    #expect(machine.refusalOfRemoval("alice", by: "people") == nil)
    machine.broughtBack("alice")
    #expect(machine.refusalOfRemoval("alice", by: "people")?.code == .forbidden)
  }

  @Test("Without a person's account the status says what to type")
  func summary() throws {
    #expect(try machine().summary.contains("roost account new"))
    #expect(try machine("dvm-tracker").summary.contains("roost account new"))
    #expect(try machine("alice").summary == "1 account")
  }
}
