import Clocks
import Contracts
import Cryptography
import JobProviding
import Nostr
import TestSupport
import Testing

@Suite("What becomes of a request for a job")
struct ProviderMachineTests {
  @Test("It is written down as begun before the work begins, and signed before it is published")
  func order() {
    var rig = DeskRig()
    rig.writesAtOnce = false
    let request = makeRequest()
    rig.receive(request)
    #expect(rig.actions == [])
    rig.write()
    #expect(rig.state(request) == .running)
    #expect(rig.actions == [.run(request.id)])
    rig.finish(request)
    #expect(rig.actions.last == .compose(request.id, .result("42")))
    rig.compose(request)
    #expect(rig.actions.count == 2)
    rig.write()
    #expect(rig.actions.last == .publish(request.id, Array("signed".utf8)))
    #expect(rig.state(request) == .answering)
    rig.publish(request)
    rig.write()
    #expect(rig.state(request) == .answered)
    #expect(rig.ledger[request.id]?.isSettled == true)
    #expect(rig.ledger[request.id]?.request == [])
    #expect(rig.desk[request.id] == nil)
  }

  @Test("The same request is taken up once, also by a later process")
  func once() {
    var rig = DeskRig()
    let request = makeRequest()
    rig.receive(request)
    rig.receive(request)
    #expect(rig.actions == [.run(request.id)])
    rig.finish(request)
    rig.compose(request)
    rig.publish(request)
    rig.die()
    rig.receive(request)
    #expect(rig.actions == [])
    #expect(rig.desk.passedOver[.known] == 1)
  }

  @Test("A death at any step leads to one result, and a signed one is the one that is published")
  func deaths() {
    // How far it came before the death: taken up, finished, signed, published.
    for step in 0...3 {
      var rig = DeskRig()
      let request = makeRequest()
      rig.receive(request)
      if step > 0 { rig.finish(request) }
      if step > 1 { rig.compose(request, "first") }
      if step > 2 { rig.publish(request) }
      rig.die()
      switch step {
      case 0, 1:
        #expect(rig.actions == [.run(request.id)], "step \(step)")
        rig.finish(request)
        rig.compose(request, "second")
        #expect(rig.actions.last == .publish(request.id, Array("second".utf8)))
        rig.publish(request)
      case 2:
        #expect(rig.actions == [.publish(request.id, Array("first".utf8))])
        rig.publish(request)
      default: #expect(rig.actions == [])
      }
      #expect(rig.state(request) == .answered, "step \(step)")
    }
  }

  @Test("A program that may not be run again is not: its customer is told that it was interrupted")
  func interrupted() {
    var rig = DeskRig()
    let request = makeRequest(5_001)
    rig.receive(request)
    rig.die()
    guard case .compose(request.id, .error(let reason))? = rig.actions.last else {
      Issue.record("\(rig.actions)")
      return
    }
    #expect(reason.hasPrefix("interrupted"))
    rig.compose(request, "sorry")
    rig.die()
    #expect(rig.actions == [.publish(request.id, Array("sorry".utf8))])
    rig.publish(request)
    #expect(rig.state(request) == .failed)
    rig.die()
    #expect(rig.actions == [])
  }

  @Test("Each kind has its places, and one that is full does not hold up the others")
  func places() {
    var rig = DeskRig()
    let slow = (0..<3).map { _ in makeRequest(5_001) }
    let other = makeRequest()
    for request in slow + [other] { rig.receive(request) }
    #expect(rig.actions == [.run(slow[0].id), .run(other.id)])
    #expect(rig.desk.waitingCount == 2)
    #expect(rig.state(slow[1]) == .waiting)
    rig.finish(slow[0], .failed("no"))
    #expect(rig.actions.contains(.run(slow[1].id)))
    #expect(!rig.actions.contains(.run(slow[2].id)))
    rig.finish(slow[1])
    #expect(rig.actions.contains(.run(slow[2].id)))
  }

  @Test("Of all kinds together no more are worked on than is allowed")
  func together() {
    var rules = ServingRules.usual
    rules.concurrentMaximum = 1
    var rig = DeskRig(rules)
    let requests = (0..<2).map { _ in makeRequest() }
    for request in requests { rig.receive(request) }
    #expect(rig.actions == [.run(requests[0].id)])
    rig.finish(requests[0])
    #expect(rig.actions.contains(.run(requests[1].id)))
  }

  @Test("What waits is found by the next process, in its order")
  func waiting() {
    var rig = DeskRig()
    let requests = (0..<3).map { _ in makeRequest(5_001) }
    for request in requests { rig.receive(request) }
    rig.die()
    // The first was begun; the second takes its place.
    #expect(rig.actions.contains(.run(requests[1].id)))
    #expect(rig.desk.waitingCount == 1)
  }

  @Test("A start begins no more at a time than there are places, whose work was done and not signed among them")
  func placesAfterStart() {
    var rules = ServingRules.usual
    rules.concurrentMaximum = 2
    var rig = DeskRig(rules)
    let requests = (0..<4).map { _ in makeRequest() }
    for request in requests { rig.receive(request) }
    for request in requests.prefix(2) { rig.finish(request) }
    rig.die(rules)
    #expect(rig.actions == requests.prefix(2).map { .run($0.id) })
    #expect(rig.desk.waitingCount == 2 && rig.state(requests[3]) == .waiting)
    rig.finish(requests[0])
    #expect(rig.actions.last == .run(requests[2].id))
  }

  @Test("After a start what was worked on has its place before what came earlier and waits")
  func runningFirst() {
    var rules = ServingRules.usual
    rules.concurrentMaximum = 3
    rules.services[5_001] = ServingRules.Service(concurrentMaximum: 1, isRepeatable: true)
    var rig = DeskRig(rules)
    let requests = [5_001, 5_001, 5_302, 5_302].map { makeRequest($0) }
    for request in requests { rig.receive(request) }
    rules.services[5_001]?.concurrentMaximum = 3
    rig.die(rules)
    #expect(rig.desk.runningIDs == Set([0, 2, 3].map { requests[$0].id }) && rig.desk.waitingCount == 1)
  }

  @Test("A request is called off by its customer and by nobody else, in any state before its answer")
  func cancelling() {
    let customer = SecretKey.generate()
    var rig = DeskRig()
    let (first, second) = (makeRequest(5_001, by: customer), makeRequest(5_001, by: customer))
    rig.receive(first)
    rig.receive(second)
    rig.perform { $0.cancelled([first.id, second.id], by: SecretKey.generate().publicKey, at: DeskRig.now) }
    #expect(rig.state(first) == .running)
    rig.perform { $0.cancelled([first.id, second.id], by: customer.publicKey, at: DeskRig.now) }
    #expect(rig.actions.contains(.stop(first.id)))
    #expect(rig.state(first) == .cancelled)
    #expect(rig.state(second) == .cancelled)
    rig.finish(first)
    rig.compose(first)
    #expect(!rig.actions.contains { if case .publish = $0 { true } else { false } })
    rig.die()
    #expect(rig.actions == [])
  }

  @Test("A request that was called off before it came is not taken up")
  func cancelledBefore() {
    let customer = SecretKey.generate()
    let request = makeRequest(by: customer)
    var rig = DeskRig()
    rig.perform { $0.cancelled([request.id], by: customer.publicKey, at: DeskRig.now) }
    rig.receive(request)
    #expect(rig.desk.passedOver == [.cancelled: 1])
  }

  @Test("What is called off while it is signed is not published, and the place is free at once")
  func cancelledWhileSigned() {
    let customer = SecretKey.generate()
    var rig = DeskRig()
    let (first, second) = (makeRequest(5_001, by: customer), makeRequest(5_001))
    rig.receive(first)
    rig.receive(second)
    rig.finish(first)
    #expect(rig.actions.contains(.run(second.id)))
    rig.perform { $0.cancelled([first.id], by: customer.publicKey, at: DeskRig.now) }
    rig.compose(first)
    #expect(rig.state(first) == .cancelled)
  }

  @Test("A price is asked for, and nothing is done before it is paid; in the end it is given up")
  func price() {
    var rules = ServingRules.usual
    rules.services[5_001]?.priceMillisatoshis = 21_000
    var rig = DeskRig(rules)
    let request = makeRequest(5_001)
    rig.receive(request)
    #expect(rig.actions == [.compose(request.id, .paymentRequired(21_000))])
    rig.die(rules)
    #expect(rig.actions == [.compose(request.id, .paymentRequired(21_000))])
    rig.compose(request, "pay")
    rig.publish(request)
    #expect(rig.state(request) == .paymentRequired)
    rig.die(rules)
    #expect(rig.actions == [])
    rig.perform { $0.timePassed(at: DeskRig.now + rules.paymentSeconds - 1) }
    #expect(rig.state(request) == .paymentRequired)
    rig.perform { $0.timePassed(at: DeskRig.now + rules.paymentSeconds) }
    #expect(rig.state(request) == .failed)
    #expect(rig.actions == [.compose(request.id, .error("it was not paid in time"))])
  }

  @Test("An answer that can never be signed becomes a reason, and a reason that cannot be is left")
  func unsignable() {
    var rig = DeskRig()
    let request = makeRequest()
    rig.receive(request)
    rig.finish(request)
    rig.perform { $0.couldNotCompose(request.id, "it is too long", at: DeskRig.now) }
    #expect(rig.actions.last == .compose(request.id, .error("it is too long")))
    rig.perform { $0.couldNotCompose(request.id, "never", at: DeskRig.now) }
    #expect(rig.state(request) == .failed)
    #expect(rig.ledger[request.id]?.isSettled == true)
  }

  @Test("A request that is over before its turn ends with that reason")
  func expiredInLine() {
    var rig = DeskRig()
    let first = makeRequest(5_001)
    let second = makeRequest(5_001, tags: [["expiration", "\(DeskRig.now + 10)"]])
    rig.receive(first)
    rig.receive(second)
    rig.perform { $0.finished(first.id, .done(""), at: DeskRig.now + 20) }
    #expect(rig.state(second) == .failed)
    #expect(rig.ledger[second.id]?.reason?.contains("its time was over") == true)
  }

  @Test("A kind that is not served any more is told to those who wait for it")
  func withdrawn() {
    var rig = DeskRig()
    let requests = (0..<2).map { _ in makeRequest(5_001) }
    for request in requests { rig.receive(request) }
    var rules = ServingRules.usual
    rules.services[5_001] = nil
    rig.die(rules)
    #expect(rig.ledger[requests[1].id]?.reason?.contains("no longer done here") == true)
  }

  @Test(
    "The steps of many requests, in any order and with deaths between, give each at most one signed result",
    arguments: seeds(20))
  func anyOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    for _ in 0..<10 {
      var rig = DeskRig()
      let requests = (0..<4).map { makeRequest($0 % 2 == 0 ? 5_302 : 5_001) }
      var results: [EventID: Set<[UInt8]>] = [:]
      for step in 0..<60 {
        let request = requests[below(requests.count)]
        switch below(6) {
        case 0: rig.receive(request)
        case 1: rig.finish(request, below(3) == 0 ? .failed("no") : .done("yes"))
        case 2: rig.compose(request, "\(step)")
        case 3: rig.publish(request)
        case 4: rig.writesAtOnce.toggle()
        default: if below(3) == 0 { rig.die() } else { rig.write() }
        }
        for case .publish(let id, let event) in rig.actions where rig.ledger[id]?.state != .failed {
          results[id, default: []].insert(event)
        }
      }
      #expect(results.values.allSatisfy { $0.count == 1 })
    }
  }

  @Test("What is worked on and cannot be answered fills the room as well")
  func unanswered() {
    var rules = ServingRules.usual
    rules.waitingMaximum = 4
    var rig = DeskRig(rules)
    let requests = (0..<3).map { _ in makeRequest() }
    for request in requests {
      rig.receive(request)
      rig.finish(request)
    }
    #expect(rig.state(requests[2]) == nil && rig.desk.passedOver == [.full: 1])
    rig.compose(requests[0])
    rig.publish(requests[0])
    let next = makeRequest()
    rig.receive(next)
    #expect(rig.state(next) == .running)
  }
}
