import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import Testing

@testable import Signing

@Suite("What link-feed may have done")
struct OpeningRulesTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private static let linkFeed = SignerCaller(name: "link-feed", role: "link-feed")

  private func key(_ number: UInt64) -> SignerMachine.Key { SignerMachine.Key(number) }

  private func machine(locked: Set<String> = [], _ names: String...) throws -> SignerMachine {
    var machine = SignerMachine(policy: try SigningPolicy(rules: []))
    for name in names {
      let key = SecretKey.generate().publicKey
      _ = machine.added(SignerMachine.Account(name: name, publicKey: key, isLocked: locked.contains(name)))
    }
    return machine
  }

  private func use(
    _ method: SignerOperation, kind: UInt16? = nil, wraps: Int = 0, by caller: SignerCaller = linkFeed,
    as account: String? = "alice"
  ) -> SignerUse {
    var use = SignerUse(method: method, caller: caller, account: account, kind: kind, byteCount: 10)
    use.wrapCount = wraps
    return use
  }

  private func refusal(_ actions: [SignerMachine.Action]) -> Refusal? {
    for case .refuse(_, let refusal) in actions { return refusal }
    return nil
  }

  @Test("A run for an open account is performed; for a locked, left, read-only or unknown one it is refused at once")
  func accounts() throws {
    var machine = try machine(locked: ["alice"], "alice", "bob", "carol")
    _ = machine.added(
      SignerMachine.Account(
        name: "dave", publicKey: SecretKey.generate().publicKey, isLocked: true, isReadOnly: true))
    _ = machine.left("carol", isForgetting: false)
    let bob = try #require(machine.accounts["bob"])
    #expect(
      machine.received(key(1), use(.open, wraps: 3, as: "\(bob.publicKey)"), at: start)
        == [.perform(key(1), account: "bob")])
    for name in ["alice", "carol", "dave"] {
      let actions = machine.received(key(2), use(.open, wraps: 3, as: name), at: start)
      #expect(refusal(actions)?.code == .locked && refusal(actions)?.outcome == .notStarted, "\(name)")
    }
    #expect(machine.waitingCount == 0)
    #expect(refusal(machine.received(key(3), use(.open, as: "eve"), at: start))?.code == .noSuchAccount)
  }

  @Test("Each wrap of a run counts, with a rate of its own: 5,000 a second, and what is signed has its rate as ever")
  func rates() throws {
    var machine = try machine("alice")
    var taken = 0
    var wait: UInt32?
    for number in 0..<UInt64(100) {
      guard let refused = refusal(machine.received(key(number), use(.open, wraps: 256), at: start)) else {
        taken += 256
        continue
      }
      #expect(refused.code == .rateLimited)
      wait = refused.retryAfterMilliseconds
      break
    }
    #expect(taken == Int(Rate.opening.burst) / 256 * 256)
    let milliseconds = try #require(wait)
    // What is missing of 256, at five a millisecond.
    #expect(milliseconds == UInt32((256 - (10_000 - taken) + 4) / 5))
    let cipher = use(.nip44Encrypt)
    for number in 1_000..<UInt64(1_500) { #expect(refusal(machine.received(key(number), cipher, at: start)) == nil) }
    let later = start.advanced(milliseconds: UInt64(milliseconds))
    #expect(refusal(machine.received(key(200), use(.open, wraps: 256), at: later)) == nil)
    #expect(refusal(machine.received(key(201), use(.open, wraps: 256), at: later))?.code == .rateLimited)
    let second = later.advanced(milliseconds: 1_000)
    let inASecond = (0..<UInt64(100)).count { number in
      refusal(machine.received(key(300 + number), use(.open, wraps: 100), at: second)) == nil
    }
    #expect((50...51).contains(inASecond))
    // Another role, of a user's own, has another bucket.
    let mine = SignerCaller(name: "mine", role: "example")
    #expect(refusal(machine.received(key(500), use(.open, wraps: 256, by: mine), at: second)) == nil)
  }

  @Test("It seals what belongs into private messages, signs direct messages, and reads no list")
  func kinds() throws {
    var machine = try machine("alice")
    let alice = try #require(machine.accounts["alice"]).publicKey
    for (kind, isAllowed) in [(14, true), (15, true), (7, true), (5, true), (44_001, true), (1, false), (4, false)] {
      let answer = refusal(machine.received(key(1), use(.wrap, kind: UInt16(kind)), at: start))
      #expect(answer?.code == (isAllowed ? nil : .forbidden), "\(kind)")
    }
    let client = SignerCaller(name: "client 9.1", role: "client")
    #expect(refusal(machine.received(key(1), use(.wrap, kind: 1, by: client), at: start)) == nil)
    for (kind, isAllowed) in [(4, true), (0, false), (3, false), (13, false), (10_050, false), (22_242, false)] {
      let answer = refusal(machine.received(key(2), use(.sign, kind: UInt16(kind)), at: start))
      #expect(answer?.code == (isAllowed ? nil : .forbidden), "\(kind)")
    }
    let (peer, stranger) = (SecretKey.generate().publicKey, SecretKey.generate().publicKey)
    func read(_ kind: UInt16?, of author: PublicKey?, from peer: PublicKey) -> RefusalCode? {
      var use = use(.nip04Decrypt)
      (use.peer, use.contentKind, use.contentAuthor) = (peer, kind, author)
      return refusal(machine.received(key(3), use, at: start))?.code
    }
    #expect(read(4, of: peer, from: peer) == nil)
    #expect(read(4, of: alice, from: peer) == nil, "what the account itself has sent")
    #expect(read(4, of: stranger, from: peer) == .forbidden, "a letter put into a stranger's message")
    #expect(read(nil, of: nil, from: peer) == .forbidden)
    #expect(read(10_000, of: alice, from: alice) == .forbidden)
  }
}
