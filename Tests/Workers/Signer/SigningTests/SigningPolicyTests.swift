import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import NostrContracts
import Testing

@testable import Signing

/// What a worker that was taken over can have done, and what it cannot.
@Suite("The signer's policy")
struct SigningPolicyTests {
  private static let provider = SignerCaller(name: "shop", role: "dvm-provider")
  private static let planner = SignerCaller(name: "outbox-planner", role: "outbox-planner")
  private static let tracker = SignerCaller(name: "dvm-tracker", role: "dvm-tracker")
  private static let client = SignerCaller(name: "client 9.1", role: "client")

  private func account(_ name: String) -> SignerMachine.Account {
    SignerMachine.Account(name: name, publicKey: SecretKey.generate().publicKey, isLocked: false)
  }

  private func use(_ method: SignerOperation, _ caller: SignerCaller, kind: UInt16? = nil) -> SignerUse {
    SignerUse(method: method, caller: caller, kind: kind)
  }

  private static let withKey = SignerOperation.allCases.filter(\.needsKey)

  @Test("A provider acts as the account of its configuration and as no other, whatever it does", arguments: withKey)
  func providersAccount(method: SignerOperation) throws {
    let (own, bot, alice) = (account("dvm-provider"), account("bot"), account("alice"))
    let asked = use(method, Self.provider, kind: 7_000)
    for (spelled, right) in [
      ("bot", bot), (bot.publicKey.npub, bot), (bot.publicKey.description, bot), ("", own), ("shop", nil),
    ] as [(String, SignerMachine.Account?)] {
      let policy = try SigningPolicy(providerAccounts: ["shop": spelled, "other": "alice"])
      for account in [own, bot, alice] {
        let refusal = policy.refusal(of: asked, as: account)
        #expect((refusal == nil) == (account == right), "\(spelled) \(account.name)")
        #expect(refusal == nil || refusal?.code == .forbidden)
      }
    }
    let policy = try SigningPolicy()
    #expect(policy.refusal(of: asked, as: own) == nil && policy.refusal(of: asked, as: alice)?.code == .forbidden)
    #expect(policy.refusal(of: use(method, Self.client, kind: 1), as: alice) == nil)
  }

  @Test("A provider that names no account is not given the only one there is, and a locked one is not waited for")
  func machine() throws {
    var machine = SignerMachine(policy: try SigningPolicy())
    var alice = account("alice")
    alice.isLocked = true
    #expect(machine.added(alice) == [])
    for name in [nil, "alice"] {
      let asked = SignerUse(method: .sign, caller: Self.provider, account: name, kind: 7_000)
      let actions = machine.received(.init(1), asked, at: Instant(nanoseconds: 0))
      guard case .refuse(_, let refusal)? = actions.first else {
        Issue.record("\(actions)")
        continue
      }
      #expect(refusal.code == .forbidden && machine.waitingCount == 0)
    }
  }

  @Test("Workers have decrypted what they show to be of their kinds, and nothing else")
  func contents() throws {
    let policy = try SigningPolicy()
    let cases: [(SignerCaller, UInt16?, Bool)] = [
      (Self.tracker, nil, false), (Self.tracker, 4, false), (Self.tracker, 5_999, false), (Self.tracker, 6_000, true),
      (Self.tracker, 7_000, true), (Self.tracker, 7_001, false), (Self.provider, nil, false), (Self.provider, 4, false),
      (Self.provider, 5_000, true), (Self.provider, 6_000, false), (Self.client, nil, true), (Self.client, 4, true),
      (Self.planner, nil, false), (Self.planner, 10_006, true), (Self.planner, 10_000, false),
      (Self.planner, 1_059, false),
    ]
    for (caller, kind, isAllowed) in cases {
      for method in [SignerOperation.nip04Decrypt, .nip44Decrypt] {
        var asked = use(method, caller)
        asked.contentKind = kind
        #expect(policy.refusal(of: asked)?.code == (isAllowed ? nil : .forbidden), "\(caller.role) \(kind ?? 0)")
      }
      #expect(policy.refusal(of: use(.nip44Encrypt, caller)) == nil)
    }
  }

  @Test("Workers of jobs have deleted what they show to be theirs to delete, and nothing else")
  func deletions() throws {
    let policy = try SigningPolicy()
    let cases: [(SignerCaller, Set<UInt16>?, Bool)] = [
      (Self.tracker, nil, false), (Self.tracker, [1], false), (Self.tracker, [5_000, 5_999], true),
      (Self.tracker, [5_302, 1], false), (Self.provider, [31_990], true), (Self.provider, [5_302], false),
      (Self.provider, nil, false), (Self.client, nil, true), (Self.client, [1], true),
    ]
    for (caller, kinds, isAllowed) in cases {
      var asked = use(.sign, caller, kind: 5)
      asked.deletedKinds = kinds
      #expect(policy.refusal(of: asked)?.code == (isAllowed ? nil : .forbidden), "\(caller.role) \(kinds ?? [])")
    }
  }

  @Test("What a deletion deletes is known only when all that it names is shown")
  func deletedKinds() throws {
    let key = SecretKey.generate()
    func event(_ kind: UInt16) -> Event {
      UnsignedEvent(pubkey: key.publicKey, createdAt: 1, kind: kind, tags: [], content: "").signed(by: key)
    }
    let (request, note) = (event(5_302), event(1))
    func draft(_ tags: [[String]]) throws -> Draft {
      let value = JSONValue.object([
        "kind": .integer(5), "tags": .array(tags.map { .array($0.map { .string($0) }) }),
      ])
      return try Draft(json: JSONPayload.encode(value), named: "event", now: 1_800_000_000)
    }
    let (one, other) = (["e", "\(request.id)"], ["e", "\(note.id)"])
    #expect(try draft([one, ["k", "5302"]]).deletedKinds(shown: [request]) == [5_302])
    #expect(try draft([one]).deletedKinds(shown: [note]) == nil)
    #expect(try draft([one, other]).deletedKinds(shown: [request]) == nil)
    #expect(try draft([one, other]).deletedKinds(shown: [request, note]) == [5_302, 1])
    #expect(try draft([["a", "31990:\(key.publicKey):x"], one]).deletedKinds(shown: [request]) == [5_302, 31_990])
    #expect(try draft([["k", "5302"]]).deletedKinds(shown: [request]) == nil)
    #expect(try draft([]).deletedKinds(shown: [request]) == nil)
  }

  @Test("A rule with an account holds for that one, and a role with such rules alone acts as no other")
  func ruleWithAccount() throws {
    let mine = SignerCaller(name: "mine", role: "example")
    let (bot, alice) = (account("bot"), account("alice"))
    let bound = try SigningPolicy(rules: ["example:1@bot", "example:7@\(alice.publicKey.npub)", "other:1"])
    #expect(bound.refusal(of: use(.sign, mine, kind: 1)) == nil)
    #expect(bound.refusal(of: use(.sign, mine, kind: 1), as: bot) == nil)
    #expect(bound.refusal(of: use(.sign, mine, kind: 1), as: alice)?.code == .forbidden)
    #expect(bound.refusal(of: use(.sign, mine, kind: 7), as: alice) == nil)
    #expect(bound.refusal(of: use(.nip44Decrypt, mine), as: account("third"))?.code == .forbidden)
    #expect(bound.refusal(of: use(.nip44Decrypt, mine), as: bot) == nil)
    let free = try SigningPolicy(rules: ["example:1@bot", "example:7"])
    #expect(free.refusal(of: use(.sign, mine, kind: 7), as: alice) == nil)
    #expect(free.refusal(of: use(.sign, mine, kind: 1), as: alice)?.code == .forbidden)
    #expect(free.refusal(of: use(.nip44Decrypt, mine), as: alice) == nil)
    #expect(try SigningPolicy(rules: ["example:1"]).refusal(of: use(.unwrap, mine), as: alice) == nil)
  }
}
