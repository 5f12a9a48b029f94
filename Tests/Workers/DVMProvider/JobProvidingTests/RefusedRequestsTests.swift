import Contracts
import Cryptography
import Nostr
import Testing

@testable import JobProviding

@Suite("Requests for which there was no room")
struct RefusedRequestsTests {
  private let own = SecretKey.generate()

  /// One place to work, room for four, and a kind that costs something.
  private func rig(room: Int = 4) -> DeskRig {
    let rules = ServingRules(
      services: [5_302: .init(), 5_001: .init(priceMillisatoshis: 21_000)], customers: .anyone, concurrentMaximum: 1,
      waitingMaximum: room)
    return DeskRig(rules, accounts: [own.publicKey])
  }

  private func requests(_ count: Int, _ kind: UInt16 = 5_302) -> [Event] { (0..<count).map { _ in makeRequest(kind) } }

  /// Ends a request that is worked on, and what is said of it.
  private func settle(_ request: Event, _ rig: inout DeskRig) {
    rig.finish(request)
    rig.compose(request)
    rig.publish(request)
  }

  /// What is looked up, once.
  private func lookUps(_ rig: inout DeskRig) -> [[EventID]] {
    let found = rig.actions.compactMap { if case .lookUp(let ids) = $0 { ids } else { nil } }
    rig.actions.removeAll { if case .lookUp = $0 { true } else { false } }
    return found
  }

  private func lookUp(_ events: [Event], _ rig: inout DeskRig, isWhole: Bool = true) {
    for event in events { rig.receive(event) }
    rig.perform { $0.lookedUp(isWhole: isWhole, at: DeskRig.now) }
  }

  @Test("are looked up when there is room, as many as fit, in the order in which they came, and are done")
  func inOrder() {
    var rig = rig(room: 8)
    let all = requests(8)
    for request in all { rig.receive(request) }
    #expect(rig.ledger.count == 5 && rig.desk.passedOver == [.full: 3] && rig.desk.hasTurnedAway)
    #expect(lookUps(&rig).isEmpty)
    for place in 0..<3 {
      settle(all[place], &rig)
      #expect(lookUps(&rig) == [[all[place + 5].id]])
      lookUp([all[place + 5]], &rig)
    }
    for request in all[3...] { settle(request, &rig) }
    #expect(all.allSatisfy { rig.state($0) == .answered })
    #expect(lookUps(&rig).isEmpty && !rig.desk.hasTurnedAway && rig.desk.passedOver == [.full: 3])
  }

  @Test("are forgotten when they are not there any more, and looked up again when the store was away")
  func gone() {
    var rig = rig()
    let all = requests(5)
    for request in all { rig.receive(request) }
    settle(all[0], &rig)
    #expect(lookUps(&rig) == [[all[3].id]])
    lookUp([], &rig, isWhole: false)
    #expect(lookUps(&rig).isEmpty, "not at once")
    rig.perform { $0.timePassed(at: DeskRig.now) }
    #expect(lookUps(&rig) == [[all[3].id]])
    lookUp([], &rig)
    #expect(lookUps(&rig) == [[all[4].id]], "the next one has the place")
  }

  @Test("keep their place when somebody else is faster")
  func faster() {
    var rig = rig()
    let all = requests(5)
    for request in all { rig.receive(request) }
    settle(all[0], &rig)
    #expect(lookUps(&rig) == [[all[3].id]])
    let other = makeRequest()
    lookUp([other, all[3]], &rig)
    #expect(rig.state(other) == .waiting && rig.state(all[3]) == nil && rig.desk.passedOver == [.full: 2])
    settle(all[1], &rig)
    #expect(lookUps(&rig) == [[all[3].id]])
  }

  @Test("are forgotten when they are too old, or called off by whoever has made them")
  func over() {
    var rig = rig()
    let customer = SecretKey.generate()
    let all = requests(3) + [makeRequest(at: DeskRig.now - 3_600), makeRequest(by: customer)]
    for request in all { rig.receive(request) }
    rig.perform { $0.cancelled([all[4].id], by: SecretKey.generate().publicKey, at: DeskRig.now) }
    rig.perform { $0.cancelled([all[0].id], by: all[0].pubkey, at: DeskRig.now + 1) }
    #expect(lookUps(&rig) == [[all[3].id]])
    rig.perform { $0.lookedUp(isWhole: false, at: DeskRig.now + 1) }
    rig.perform { $0.timePassed(at: DeskRig.now + 1) }
    #expect(lookUps(&rig) == [[all[4].id]])
    rig.perform { $0.lookedUp(isWhole: false, at: DeskRig.now + 1) }
    rig.perform { $0.cancelled([all[4].id], by: customer.publicKey, at: DeskRig.now + 1) }
    #expect(!rig.desk.hasTurnedAway)
  }

  @Test("are no bills for whose sake others would end")
  func bills() {
    var rig = rig()
    let all = requests(3, 5_001)
    for request in all { rig.receive(request) }
    #expect(rig.desk.passedOver == [.full: 1])
    for request in all[..<2] {
      rig.compose(request, "pay")
      rig.publish(request)
    }
    #expect(lookUps(&rig).isEmpty)
    rig.perform { $0.cancelled([all[0].id], by: all[0].pubkey, at: DeskRig.now) }
    #expect(lookUps(&rig) == [[all[2].id]])
  }

  @Test("are remembered up to a bound, of which strangers have half and one of them a quarter")
  func bounds() {
    let rules = ServingRules(services: [:], customers: .anyone, waitingMaximum: 8)
    var turnedAway = RefusedRequests()
    func add(_ count: Int, by customer: SecretKey? = nil, isStranger: Bool = true) {
      for number in 0..<count {
        let event = makeRequest(by: customer ?? .generate(), content: "\(number)")
        turnedAway.add(
          RefusedRequests.Request(
            id: event.id, customer: event.pubkey, isForMoney: false, createdAt: event.createdAt,
            isStranger: isStranger), rules)
      }
    }
    add(5, by: .generate())
    #expect(turnedAway.count == 2)
    add(5)
    #expect(turnedAway.count == 4)
    add(9, isStranger: false)
    #expect(turnedAway.count == 8)
    for request in Array(turnedAway.all) { turnedAway.remove(request.id) }
    add(5, by: .generate())
    #expect(turnedAway.count == 2, "what is forgotten does not count")
    #expect(ServingRules(services: [:], waitingMaximum: 100_000).turnedAwayMaximum == 1_000)
  }
}
