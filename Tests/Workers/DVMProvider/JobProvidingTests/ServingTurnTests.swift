import Contracts
import Cryptography
import JobProviding
import Nostr
import Testing

@Suite("Whose turn it is")
struct ServingTurnTests {
  private static func rules(places: Int, room: Int = 1_000) -> ServingRules {
    ServingRules(
      services: [5_302: ServingRules.Service(concurrentMaximum: places)], customers: .anyone,
      concurrentMaximum: places, waitingMaximum: room)
  }

  private func begun(_ rig: DeskRig) -> [EventID] {
    rig.actions.compactMap { if case .run(let id) = $0 { id } else { nil } }
  }

  @Test("Who has nothing under way comes before who has, however many of those came first")
  func others() {
    let (greedy, other, third) = (SecretKey.generate(), SecretKey.generate(), SecretKey.generate())
    var rig = DeskRig(Self.rules(places: 2))
    let many = (0..<10).map { makeRequest(by: greedy, content: "\($0)") }
    for request in many { rig.receive(request) }
    #expect(begun(rig) == many.prefix(2).map(\.id), "places that nobody else wants are anybody's")
    let few = [other, third].map { makeRequest(by: $0) }
    for request in few { rig.receive(request) }
    rig.finish(many[0])
    #expect(begun(rig).last == few[0].id)
    rig.finish(few[0])
    #expect(begun(rig).last == few[1].id)
    rig.finish(few[1])
    #expect(begun(rig).last == many[2].id, "nobody waits for ever")
  }

  @Test("Of a single place each customer has a turn, and who comes anew all the time keeps nobody waiting for ever")
  func rounds() {
    let greedy = SecretKey.generate()
    var rig = DeskRig(Self.rules(places: 1))
    let many = (0..<5).map { makeRequest(by: greedy, content: "\($0)") }
    for request in many { rig.receive(request) }
    let other = makeRequest()
    rig.receive(other)
    var order: [EventID] = []
    while let id = rig.desk.runningIDs.first, order.count < 40 {
      order.append(id)
      if order.count < 30 { rig.receive(makeRequest()) }
      rig.perform { $0.finished(id, .done("42"), at: DeskRig.now) }
    }
    let places = many.compactMap { request in order.firstIndex(of: request.id) }
    #expect(places.count == 5 && places == places.sorted() && places[4] < 15, "\(places)")
    #expect(order.firstIndex(of: other.id) ?? .max <= 2)
  }

  @Test("While others wait nobody gets more than half of the places")
  func half() {
    let (greedy, other) = (SecretKey.generate(), SecretKey.generate())
    var rig = DeskRig(Self.rules(places: 4))
    let many = (0..<40).map { makeRequest(by: greedy, content: "\($0)") }
    let some = (0..<10).map { makeRequest(by: other, content: "\($0)") }
    for request in many + some { rig.receive(request) }
    let owners = Dictionary(uniqueKeysWithValues: (many + some).map { ($0.id, $0.pubkey) })
    var running = begun(rig)
    for turn in 0..<12 {
      // Whoever began first ends first.
      let id = running.removeFirst()
      rig.perform { $0.finished(id, .done("42"), at: DeskRig.now) }
      running = begun(rig).filter { rig.desk[$0]?.state == .running && rig.desk.runningIDs.contains($0) }
      let share = running.count { owners[$0] == greedy.publicKey }
      if turn >= 1, rig.desk.waitingCount > 30 { #expect(share == 2, "turn \(turn)") }
    }
  }

  @Test("Of the room one stranger has a quarter, and an account of this machine all")
  func room() {
    let (stranger, own) = (SecretKey.generate(), SecretKey.generate())
    for (customer, count, isOwn) in [(stranger, 1 + 2, false), (own, 1 + 10, true)] {
      var rig = DeskRig(Self.rules(places: 1, room: 10), accounts: [own.publicKey])
      for number in 0..<20 { rig.receive(makeRequest(by: customer, content: "\(number)")) }
      #expect(rig.ledger.count == count)
      rig.receive(makeRequest())
      #expect(rig.ledger.count == (isOwn ? count : count + 1))
      #expect(rig.desk.passedOver == (isOwn ? [.full: 10] : [.customerFull: 17]))
    }
  }

  @Test("What cannot begin here waits for the next process, and so does all else; what is under way ends")
  func putBack() {
    var rig = DeskRig(Self.rules(places: 2))
    let requests = (0..<4).map { _ in makeRequest() }
    for request in requests.prefix(3) { rig.receive(request) }
    rig.perform { $0.putBack(requests[1].id) }
    #expect(rig.state(requests[1]) == .waiting && rig.desk.isHolding && rig.desk.isAtWork)
    rig.receive(requests[3])
    rig.finish(requests[0])
    #expect(rig.desk.isAtWork, "its result is to be signed")
    rig.compose(requests[0])
    #expect(!rig.desk.isAtWork)
    #expect(begun(rig) == requests.prefix(2).map(\.id))
    rig.die(Self.rules(places: 2))
    #expect(!rig.desk.isHolding)
    #expect(begun(rig) == [requests[1].id, requests[2].id])
  }

  @Test("Room that becomes free is the stranger's again")
  func freed() {
    let stranger = SecretKey.generate()
    var rig = DeskRig(Self.rules(places: 1, room: 8))
    let requests = (0..<6).map { makeRequest(by: stranger, content: "\($0)") }
    for request in requests { rig.receive(request) }
    #expect(rig.ledger.count == 3)
    rig.finish(requests[0])
    rig.compose(requests[0])
    rig.publish(requests[0])
    rig.receive(requests[3])
    #expect(rig.ledger.count == 4 && rig.state(requests[3]) == .waiting)
  }
}
