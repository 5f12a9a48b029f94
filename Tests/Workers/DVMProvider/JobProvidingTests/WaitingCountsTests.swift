import Contracts
import Cryptography
import JobProviding
import Nostr
import Testing

@Suite("For whom there is room")
struct WaitingCountsTests {
  private let own = SecretKey.generate()

  /// One place to work, one free kind and one that costs something.
  private func rig(room: Int) -> DeskRig {
    let rules = ServingRules(
      services: [5_302: .init(), 5_001: .init(priceMillisatoshis: 21_000)], customers: .anyone, concurrentMaximum: 1,
      waitingMaximum: room)
    return DeskRig(rules, accounts: [own.publicKey])
  }

  private func bill(_ request: Event, _ rig: inout DeskRig) {
    rig.receive(request)
    rig.compose(request, "pay")
    rig.publish(request)
  }

  private func requests(_ count: Int, _ kind: UInt16 = 5_302) -> [Event] { (0..<count).map { _ in makeRequest(kind) } }

  @Test("However many strangers come, the accounts of this machine have their half")
  func ownHalf() {
    var rig = rig(room: 8)
    for request in requests(20) { rig.receive(request) }
    #expect(rig.ledger.count == 1 + 4 && rig.desk.passedOver == [.full: 15])
    let ours = (0..<5).map { makeRequest(by: own, content: "\($0)") }
    for request in ours { rig.receive(request) }
    #expect(ours.prefix(4).allSatisfy { rig.state($0) == .waiting })
    #expect(rig.state(ours[4]) == nil, "the bound is one for them too")
  }

  @Test("Where there is room for one, a stranger does not take it from an account of this machine")
  func single() {
    var rig = rig(room: 1)
    for request in requests(3) { rig.receive(request) }
    let ours = makeRequest(by: own)
    rig.receive(ours)
    #expect(rig.ledger.count == 3 && rig.state(ours) == .waiting)
  }

  @Test("Work of strangers that ended and cannot be signed is not at the cost of the accounts of this machine")
  func unsigned() {
    var rig = rig(room: 4)
    let theirs = requests(6)
    for request in theirs {
      rig.receive(request)
      rig.finish(request)
    }
    let ours = (0..<2).map { makeRequest(by: own, content: "\($0)") }
    for request in ours {
      rig.receive(request)
      rig.finish(request)
    }
    #expect(ours.allSatisfy { rig.state($0) == .running })
  }

  @Test("Bills of strangers keep nobody out of the room")
  func bills() {
    var rig = rig(room: 8)
    for request in requests(20, 5_001) { bill(request, &rig) }
    let (stranger, ours) = (makeRequest(), makeRequest(by: own))
    rig.receive(stranger)
    rig.receive(ours)
    #expect(rig.state(stranger) == .running && rig.state(ours) == .waiting)
    for request in requests(3) { rig.receive(request) }
    #expect(rig.desk.waitingCount == 4)
  }

  @Test("Where there are too many bills, the one that was told first ends, and its customer is told why")
  func givingWay() {
    var rig = rig(room: 8)
    let theirs = requests(5, 5_001)
    let ours = makeRequest(5_001, by: own)
    bill(ours, &rig)
    for request in theirs { bill(request, &rig) }
    #expect(rig.state(theirs[0]) == .failed && rig.state(theirs[4]) == .paymentRequired)
    #expect(rig.state(ours) == .paymentRequired && rig.desk.unpaidCount == 5)
    let reason = "it was not paid, and newer requests need its place"
    #expect(rig.actions.contains(.compose(theirs[0].id, .error(reason))))
    rig.compose(theirs[0], "sorry")
    rig.publish(theirs[0])
    #expect(rig.ledger[theirs[0].id]?.isSettled == true)
  }

  @Test("One stranger who has a quarter ends his own bills only")
  func ownShare() {
    let stranger = SecretKey.generate()
    var rig = rig(room: 8)
    let other = makeRequest(5_001)
    bill(other, &rig)
    let many = (0..<6).map { makeRequest(5_001, by: stranger, content: "\($0)") }
    for request in many { bill(request, &rig) }
    #expect(rig.state(other) == .paymentRequired)
    #expect(many.map { rig.state($0) == .paymentRequired } == [false, false, false, false, true, true])
  }

  @Test("A bill that nobody was told yet does not give way, nor does any while too many wait to be told of their end")
  func pace() {
    var rig = rig(room: 4)
    let first = requests(2, 5_001)
    for request in first { rig.receive(request) }
    rig.receive(makeRequest(5_001))
    #expect(rig.ledger.count == 2 && rig.desk.passedOver == [.full: 1])
    for request in first {
      rig.compose(request, "pay")
      rig.publish(request)
    }
    // Two bills end for these; nobody signs that.
    for request in requests(2, 5_001) { bill(request, &rig) }
    let last = makeRequest(5_001)
    bill(last, &rig)
    #expect(rig.state(last) == nil && rig.desk.passedOver == [.full: 2])
    rig.compose(first[0], "sorry")
    rig.publish(first[0])
    bill(last, &rig)
    #expect(rig.state(last) == .paymentRequired)
  }

  @Test("Bills that the last process left count as before")
  func restored() {
    var rig = rig(room: 4)
    let rules = rig.desk.rules
    let theirs = requests(2, 5_001)
    for request in theirs { bill(request, &rig) }
    rig.die(rules)
    let free = requests(2)
    for request in free { rig.receive(request) }
    #expect(rig.state(free[0]) == .running && rig.state(free[1]) == .waiting)
    bill(makeRequest(5_001), &rig)
    #expect(rig.state(theirs[0]) == .failed && rig.desk.unpaidCount == 2)
  }
}
