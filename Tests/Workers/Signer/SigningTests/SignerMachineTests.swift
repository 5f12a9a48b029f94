import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import NostrContracts
import Testing

@testable import Signing

@Suite("The signer's decisions")
struct SignerMachineTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private static let client = SignerCaller(name: "client 9.1", role: "client")
  private static let planner = SignerCaller(name: "planner", role: "outbox-planner")
  private static let connector = SignerCaller(name: "main", role: "relay-connector")

  private func key(_ number: UInt64) -> SignerMachine.Key { SignerMachine.Key(number) }

  private func machine(locked: Set<String> = [], _ names: String..., rules: [String] = []) throws -> SignerMachine {
    var machine = SignerMachine(policy: try SigningPolicy(rules: rules))
    for name in names {
      let account = SignerMachine.Account(
        name: name, publicKey: SecretKey.generate().publicKey, isLocked: locked.contains(name))
      #expect(machine.added(account) == [])
    }
    return machine
  }

  private func sign(
    _ kind: UInt16 = 1, by caller: SignerCaller = client, as account: String? = nil, ttl: UInt32 = 0, bytes: Int = 100
  ) -> SignerUse {
    SignerUse(
      method: .sign, caller: caller, account: account, kind: kind, byteCount: bytes, ttlMilliseconds: ttl)
  }

  private func code(_ actions: [SignerMachine.Action]) -> String? {
    for case .refuse(_, let refusal) in actions { return refusal.code.rawValue }
    return nil
  }

  private func results(_ actions: [SignerMachine.Action]) -> [String] {
    actions.compactMap { if case .audit(let line) = $0 { line.result } else { nil } }
  }

  @Test("A use of an open key is performed at once, and written down when it is finished")
  func openKey() throws {
    var machine = try machine("alice")
    #expect(machine.received(key(1), sign(), at: start) == [.perform(key(1), account: "alice")])
    #expect(machine.finished(key(1)) == [.audit(AuditLine(use: sign(), account: "alice", result: "done"))])
    #expect(machine.finished(key(1)) == [])
  }

  @Test("An account is meant by its name, its npub, its digits, or by being the only one")
  func naming() throws {
    var machine = try machine("alice", "bob")
    let bob = try #require(machine.accounts["bob"])
    for text in ["bob", bob.publicKey.npub, bob.publicKey.description, "nostr:" + bob.publicKey.npub] {
      #expect(machine.received(key(1), sign(as: text), at: start) == [.perform(key(1), account: "bob")])
    }
    #expect(code(machine.received(key(2), sign(), at: start)) == "bad-request")
    #expect(code(machine.received(key(2), sign(as: "bobb"), at: start)) == "no-such-account")
    var wrap = SignerUse(method: .unwrap, caller: Self.client)
    wrap.candidates = [SecretKey.generate().publicKey, bob.publicKey]
    #expect(machine.received(key(3), wrap, at: start) == [.perform(key(3), account: "bob")])
    wrap.candidates.removeLast()
    #expect(code(machine.received(key(4), wrap, at: start)) == "no-such-account")
  }

  @Test("A worker's own account is meant when it is named, and never by being the only one")
  func workersOwn() throws {
    var machine = try machine("dvm-provider", "dvm-tracker")
    #expect(code(machine.received(key(1), sign(), at: start)) == "no-such-account")
    #expect(machine.received(key(2), sign(as: "dvm-tracker"), at: start) == [.perform(key(2), account: "dvm-tracker")])
    let alice = SignerMachine.Account(name: "alice", publicKey: SecretKey.generate().publicKey, isLocked: false)
    #expect(machine.added(alice) == [])
    #expect(machine.received(key(3), sign(), at: start) == [.perform(key(3), account: "alice")])
  }

  @Test("As long as a key is refused nobody is taken for the only account, and whoever names it is told why")
  func refusedKey() throws {
    var machine = try machine("alice")
    machine.refusedKeys = [
      SignerRefusedKey(account: "bob", place: "a key file bob.key", reason: "its mode is 644", remedy: "chmod 600 it")
    ]
    let told = "a key file bob.key is there but not used: its mode is 644; chmod 600 it"
    for (use, expected) in [(sign(), RefusalCode.badRequest), (sign(as: "bob"), .noSuchAccount)] {
      guard case .refuse(_, let refusal)? = machine.received(key(1), use, at: start).first else {
        Issue.record("it is not refused")
        continue
      }
      #expect(refusal.code == expected && refusal.message.hasSuffix(told), "\(refusal.message)")
    }
    #expect(machine.received(key(2), sign(as: "alice"), at: start) == [.perform(key(2), account: "alice")])
    var wrap = SignerUse(method: .unwrap, caller: Self.client)
    wrap.candidates = machine.accounts.values.map(\.publicKey)
    #expect(machine.received(key(3), wrap, at: start) == [.perform(key(3), account: "alice")])
    machine.refusedKeys = []
    #expect(machine.received(key(4), sign(), at: start) == [.perform(key(4), account: "alice")])
  }

  @Test("A secret key in the wrong place is refused without being repeated")
  func misplacedSecret() throws {
    var machine = try machine("alice")
    let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    for case .refuse(_, let refusal) in machine.received(key(1), sign(as: nsec), at: start) {
      #expect(refusal.code == .badRequest && !refusal.message.contains("vl029"))
    }
    for text in ["nsec1", "npub1abc", "Alice", "", "-a", "a/b", "..", String(repeating: "a", count: 33)] {
      #expect(!AccountName.isValid(text), "\(text)")
    }
    #expect(AccountName.isValid("alice-2_b"))
  }

  @Test("Each role has signed what its task needs and nothing else")
  func rules() throws {
    var machine = try machine("alice", "dvm-provider", rules: ["example:1", "example:30000-30010"])
    let example = SignerCaller(name: "mine", role: "example")
    let tracker = SignerCaller(name: "t", role: "dvm-tracker")
    let provider = SignerCaller(name: "p", role: "dvm-provider")
    let cases: [(SignerCaller, UInt16, Bool)] = [
      (Self.client, 0, true), (Self.client, 65_535, true), (Self.client, 22_242, false), (Self.planner, 10_002, true),
      (Self.planner, 1, false), (Self.planner, 22_242, false), (tracker, 5_000, true), (tracker, 6_000, false),
      (provider, 6_999, true), (provider, 7_000, true), (provider, 7_001, false), (Self.connector, 22_242, false),
      (example, 1, true), (example, 30_010, true), (example, 30_011, false),
    ]
    for (caller, kind, isAllowed) in cases {
      let account = caller == provider ? "dvm-provider" : nil
      let answer = code(machine.received(key(1), sign(kind, by: caller, as: account), at: start))
      #expect(answer == (isAllowed ? nil : "forbidden"), "\(caller.role) \(kind)")
    }
  }

  @Test(
    "A rule that makes no sense, or that would change Roost's own roles, is refused",
    arguments: [
      "", "example", "example:", "example:x", "example:9-1", ":1", "client:1", "a:1:2", "a:22242", "a:0-65535",
      "a:1@", "a:1@b@c", "a:1@B", "@b", "a@b:1", "dvm-provider:1@bot",
    ])
  func badRules(rule: String) { #expect(throws: PolicyFault(rule: rule)) { try SigningPolicy(rules: [rule]) } }

  @Test("A use of a locked key waits, and those that wait get on in the order of their coming")
  func waiting() throws {
    var machine = try machine(locked: ["alice"], "alice", "bob")
    let deadline = start.advanced(milliseconds: 900)
    #expect(
      machine.received(key(1), sign(as: "alice", ttl: 1_000), at: start) == [.hold(key(1)), .setTimer(deadline)])
    #expect(machine.received(key(2), sign(as: "alice", ttl: 2_000), at: start) == [.hold(key(2))])
    #expect(machine.received(key(3), sign(as: "bob"), at: start) == [.perform(key(3), account: "bob")])
    #expect(machine.summary == "2 accounts, 1 LOCKED, 2 requests wait")
    #expect(
      machine.unlocked("alice") == [
        .perform(key(1), account: "alice"), .perform(key(2), account: "alice"), .setTimer(nil),
      ])
    machine.locked("alice")
    #expect(machine.received(key(4), sign(as: "alice"), at: start).first == .hold(key(4)))
  }

  @Test("Who has waited long enough is refused as locked, before his own time is over, and nobody else is")
  func waitedLongEnough() throws {
    var machine = try machine(locked: ["alice"], "alice")
    _ = machine.received(key(1), sign(ttl: 1_000), at: start)
    _ = machine.received(key(2), sign(), at: start)
    let actions = machine.timerFired(at: start.advanced(milliseconds: 900))
    #expect(code(actions) == "locked" && results(actions) == ["locked"])
    #expect(actions.last == .setTimer(start.advanced(milliseconds: SignerMachine.waitingMilliseconds)))
    #expect(machine.waitingCount == 1)
    #expect(results(machine.cancelled(key(2))) == ["cancelled"])
    #expect(machine.waitingCount == 0)
  }

  @Test("No more wait than the bounds say, in number and in bytes")
  func bounds() throws {
    var machine = try machine(locked: ["alice"], "alice")
    for number in 0..<UInt64(SignerMachine.waitingMaximum) {
      #expect(code(machine.received(key(number), sign(), at: start)) == nil)
    }
    #expect(code(machine.received(key(999), sign(), at: start)) == "locked")
    #expect(results(machine.draining()).count == SignerMachine.waitingMaximum)
    #expect(machine.waitingCount == 0)
    let large = SignerMachine.waitingByteCountMaximum / 2
    #expect(code(machine.received(key(1_000), sign(bytes: large), at: start)) == nil)
    #expect(code(machine.received(key(1_001), sign(bytes: large + 1), at: start)) == "locked")
  }

  @Test("An account that is removed is gone for those who wait for it as well")
  func removal() throws {
    var machine = try machine(locked: ["alice"], "alice")
    _ = machine.received(key(1), sign(), at: start)
    #expect(code(machine.removed("alice")) == "no-such-account")
    #expect(code(machine.received(key(2), sign(), at: start)) == "no-such-account")
  }

  @Test("A role that has used up its rate hears when there is more, and then there is")
  func rates() throws {
    var machine = try machine("alice")
    var refused: Refusal?
    for number in 0...UInt64(Rate.worker.burst) {
      for case .refuse(_, let refusal) in machine.received(key(number), sign(10_002, by: Self.planner), at: start) {
        refused = refusal
      }
    }
    let wait = try #require(refused?.retryAfterMilliseconds)
    #expect(refused?.code == .rateLimited && wait == 50)
    #expect(code(machine.received(key(900), sign(), at: start)) == nil, "clients have a rate of their own")
    let later = start.advanced(milliseconds: UInt64(wait))
    #expect(code(machine.received(key(901), sign(10_002, by: Self.planner), at: later)) == nil)
    #expect(code(machine.received(key(902), sign(10_002, by: Self.planner), at: later)) == "rate-limited")
  }

  @Test("Those that keep jobs sign as many as clients submit at once, and no more than that")
  func jobRates() throws {
    var machine = try machine("alice")
    let tracker = SignerCaller(name: "dvm-tracker", role: "dvm-tracker")
    let codes = (0...UInt64(Rate.jobs.burst)).map { number in
      code(machine.received(key(number), sign(5_050, by: tracker), at: start))
    }
    #expect(codes.count { $0 == nil } >= 2_000 && codes.last == "rate-limited")
  }

  @Test("Passphrases cannot be guessed quickly")
  func guesses() throws {
    var machine = try machine(locked: ["alice"], "alice")
    let unlock = SignerUse(method: .unlock, caller: Self.client, account: "alice")
    let taken = (0..<100).count { number in
      code(machine.received(key(UInt64(number)), unlock, at: start.advanced(milliseconds: UInt64(number)))) == nil
    }
    #expect(taken == Int(Rate.keyHandling.burst))
  }

  @Test("A relay is spoken for by one connector, until that is gone")
  func speakers() throws {
    var machine = try machine("alice")
    func ask(_ name: String) -> SignerUse {
      SignerUse(
        method: .authenticate, caller: SignerCaller(name: name, role: "relay-connector"), kind: 22_242,
        relay: "wss://relay.example")
    }
    #expect(code(machine.received(key(1), ask("main"), at: start)) == nil)
    #expect(code(machine.received(key(2), ask("other"), at: start)) == "forbidden")
    machine.connectorsChanged(["main", "other"])
    #expect(code(machine.received(key(3), ask("other"), at: start)) == "forbidden")
    machine.connectorsChanged(["other"])
    #expect(code(machine.received(key(4), ask("other"), at: start)) == nil)
  }

  @Test("A new account must have a name and a key of its own; the same once more is none")
  func newAccounts() throws {
    let machine = try machine("alice")
    let alice = try #require(machine.accounts["alice"]).publicKey
    let other = SecretKey.generate().publicKey
    #expect(machine.refusalOfNew("alice", alice) == nil)
    #expect(machine.refusalOfNew("bob", other) == nil)
    #expect(machine.refusalOfNew("alice", other)?.code == .nameTaken)
    #expect(machine.refusalOfNew("alice", nil)?.code == .nameTaken)
    #expect(machine.refusalOfNew("bob", alice)?.code == .nameTaken)
    #expect(machine.refusalOfNew("Bob", other)?.code == .badRequest)
  }
}

@Suite("A sealed secret")
struct SealedSecretTests {
  @Test("is opened by the signer it was sealed for, and by no other")
  func opening() throws {
    let (signer, other) = (SecretKey.generate(), SecretKey.generate())
    let secret = Array("correct horse".utf8)
    let sealed = try secret.withUnsafeBytes { try SealedSecret.seal($0, for: signer.publicKey.description) }
    #expect(try sealed.open(by: signer) { Array($0) } == secret)
    #expect(throws: Refusal.self) { try sealed.open(by: other) { _ in } }
    var changed = sealed
    changed.payload.removeLast(4)
    #expect(throws: Refusal.self) { try changed.open(by: signer) { _ in } }
    #expect(!String(decoding: JSONPayload.encode(sealed), as: UTF8.self).contains("horse"))
  }

  @Test("is refused when there is nothing in it, or too much")
  func sizes() {
    for count in [0, SealedSecret.byteCountMaximum + 1] {
      #expect(throws: Refusal.self) {
        try [UInt8](repeating: 65, count: count).withUnsafeBytes {
          try SealedSecret.seal($0, for: SecretKey.generate().publicKey.description)
        }
      }
    }
  }
}
