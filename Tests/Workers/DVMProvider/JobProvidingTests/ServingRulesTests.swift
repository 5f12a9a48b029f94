import Cryptography
import JobProviding
import Nostr
import Testing

@Suite("Which requests for jobs are taken up")
struct ServingRulesTests {
  private static let customer = SecretKey.generate()

  private func reason(
    _ event: Event, for recipients: [PublicKey] = [], accounts: Set<PublicKey> = [],
    _ change: (inout ServingRules) -> Void = { _ in }
  ) -> PassedOver? {
    var rules = ServingRules.usual
    change(&rules)
    var rig = DeskRig(rules, accounts: accounts)
    rig.receive(event, for: recipients)
    return rig.desk.passedOver.keys.first
  }

  @Test("Those that name the provider or nobody; with a closed market only the first")
  func addressed() {
    let (us, other) = (DeskRig.provider.publicKey, SecretKey.generate().publicKey)
    #expect(reason(makeRequest()) == nil)
    #expect(reason(makeRequest(), for: [other, us]) == nil)
    #expect(reason(makeRequest(), for: [other]) == .addressedToOthers)
    #expect(reason(makeRequest()) { $0.takesOpenRequests = false } == .open)
    #expect(reason(makeRequest(), for: [us]) { $0.takesOpenRequests = false } == nil)
  }

  @Test("Those of the accounts, of listed keys, or of anyone")
  func customers() {
    let request = makeRequest(by: Self.customer)
    let key = Self.customer.publicKey
    #expect(reason(request) { $0.customers = .accounts } == .customerNotServed)
    #expect(reason(request, accounts: [key]) { $0.customers = .accounts } == nil)
    #expect(reason(request) { $0.customers = .listed([key]) } == nil)
    #expect(reason(request, accounts: [key]) { $0.customers = .listed([]) } == .customerNotServed)
  }

  @Test("The mark of rules is another one when other requests are taken up, and no other time")
  func marks() {
    let (us, key) = (DeskRig.provider.publicKey, Self.customer.publicKey)
    let usual = ServingRules.usual.mark(for: us)
    func mark(_ change: (inout ServingRules) -> Void) -> Int64 {
      var rules = ServingRules.usual
      change(&rules)
      return rules.mark(for: us)
    }
    let others = [
      mark { $0.services[5_002] = .init() }, mark { $0.services[5_001] = nil }, mark { $0.customers = .accounts },
      mark { $0.customers = .listed([key]) }, mark { $0.customers = .listed([]) },
      mark { $0.takesOpenRequests = false }, mark { $0.ageMaximum = 1 }, ServingRules.usual.mark(for: key),
    ]
    #expect(Set(others + [usual]).count == others.count + 1)
    #expect(others.allSatisfy { $0 >= 0 })
    #expect(mark { $0.concurrentMaximum = 1 } == usual)
    #expect(mark { $0.services[5_001]?.priceMillisatoshis = 1 } == usual)
  }

  @Test("The provider's own as well, like any customer's; but no answer of anybody's, whatever is said to be served")
  func own() {
    let (us, own) = (DeskRig.provider.publicKey, DeskRig.provider)
    #expect(reason(makeRequest(by: own)) == nil)
    #expect(reason(makeRequest(by: own), for: [us], accounts: [us]) { $0.customers = .accounts } == nil)
    #expect(reason(makeRequest(by: own)) { $0.customers = .accounts } == .customerNotServed)
    for kind in [4_999, 6_000, 6_302, 7_000] as [UInt16] {
      #expect(reason(makeRequest(kind, by: own)) { $0.services[kind] = .init() } == .notServed, "\(kind)")
    }
  }

  @Test("Not of other kinds, nor what is too old, from the future, or over")
  func times() {
    let now = DeskRig.now
    #expect(reason(makeRequest(5_050)) == .notServed)
    #expect(reason(makeRequest(at: now - 3_600)) == nil)
    #expect(reason(makeRequest(at: now - 3_601)) == .old)
    #expect(reason(makeRequest(at: now + ServingRules.aheadMaximum)) == nil)
    #expect(reason(makeRequest(at: now + ServingRules.aheadMaximum + 1)) == .future)
    #expect(reason(makeRequest(tags: [["expiration", "\(now)"]])) == .expired)
    #expect(reason(makeRequest(tags: [["expiration", "\(now + 1)"]])) == nil)
  }

  @Test("Not what is from before the ledger began, when that was lost")
  func notBefore() {
    var desk = ProviderMachine(.usual, provider: DeskRig.provider.publicKey, notBefore: DeskRig.now)
    #expect(desk.received(makeRequest(at: DeskRig.now - 1), recipients: [], at: DeskRig.now) == [])
    #expect(desk.passedOver == [.old: 1])
    #expect(desk.received(makeRequest(), recipients: [], at: DeskRig.now) != [])
  }

  @Test("Not when too many wait already")
  func full() {
    var rules = ServingRules.usual
    rules.waitingMaximum = 4
    var rig = DeskRig(rules)
    // One is worked on, two wait.
    for _ in 0..<4 { rig.receive(makeRequest(5_001)) }
    #expect(rig.desk.passedOver == [.full: 1])
    #expect(rig.desk.waitingCount == 2)
  }
}
