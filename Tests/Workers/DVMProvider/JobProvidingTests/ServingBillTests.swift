import Contracts
import Cryptography
import JobProviding
import Nostr
import Testing

@Suite("Bills that nobody will pay")
struct ServingBillTests {
  private static let rules: ServingRules = {
    var rules = ServingRules.usual
    rules.services[5_001]?.priceMillisatoshis = 21_000
    return rules
  }()

  /// A desk with a bill that its customer has.
  private func billed(_ request: Event) -> DeskRig {
    var rig = DeskRig(Self.rules)
    rig.receive(request)
    rig.compose(request, "pay")
    rig.publish(request)
    #expect(rig.state(request) == .paymentRequired && rig.desk.unpaidCount == 1)
    rig.actions = []
    return rig
  }

  @Test("One whose request is called off ends at once, and nobody is told")
  func calledOff() {
    let customer = SecretKey.generate()
    let request = makeRequest(5_001, by: customer)
    var rig = billed(request)
    rig.perform { $0.cancelled([request.id], by: customer.publicKey, at: DeskRig.now) }
    #expect(rig.state(request) == .cancelled)
    #expect(rig.actions == [] && rig.desk.unpaidCount == 0 && rig.desk[request.id] == nil)
  }

  @Test("One that was told ends with a reason that is told as well, and is signed once")
  func expired() {
    let request = makeRequest(5_001, tags: [["expiration", "\(DeskRig.now + 60)"]])
    var rig = billed(request)
    rig.perform { $0.timePassed(at: DeskRig.now + 60) }
    rig.perform { $0.timePassed(at: DeskRig.now + 61) }
    #expect(rig.actions == [.compose(request.id, .error("its time was over before it was paid"))])
    #expect(rig.desk.unpaidCount == 0)
    rig.compose(request, "over")
    rig.publish(request)
    #expect(rig.ledger[request.id]?.isSettled == true)
  }

  @Test("One that is still to be signed or published when its time is over is not told, and nothing is")
  func unsent() {
    for isSigned in [false, true] {
      let request = makeRequest(5_001)
      var rig = DeskRig(Self.rules)
      rig.receive(request)
      if isSigned { rig.compose(request, "pay") }
      rig.actions = []
      rig.perform { $0.timePassed(at: DeskRig.now + Self.rules.paymentSeconds) }
      // The signer, or the publisher, comes back too late.
      rig.compose(request, "pay")
      rig.publish(request)
      #expect(rig.actions == [] && rig.state(request) == .failed && rig.desk.unpaidCount == 0)
      #expect(rig.ledger[request.id]?.isSettled == true)
    }
  }

  @Test("After a start, of a kind that is not served any more, or is free now, nobody is to pay")
  func changed() {
    let request = makeRequest(5_001)
    var rig = billed(request)
    var free = rig
    free.die(.usual)
    #expect(free.actions == [.run(request.id)] && free.desk.unpaidCount == 0)
    free.finish(request)
    free.compose(request, "result")
    free.publish(request)
    #expect(free.state(request) == .answered)
    var without = Self.rules
    without.services[5_001] = nil
    rig.die(without)
    #expect(rig.state(request) == .failed && rig.desk.unpaidCount == 0)
    #expect(rig.actions == [.compose(request.id, .error("jobs of kind 5001 are no longer done here"))])
  }

  @Test("A signed bill that was not published is published after a start")
  func unpublished() {
    let request = makeRequest(5_001)
    var rig = DeskRig(Self.rules)
    rig.receive(request)
    rig.compose(request, "pay")
    rig.die(Self.rules)
    #expect(rig.actions == [.publish(request.id, Array("pay".utf8))])
    #expect(rig.desk.unpaidCount == 1)
  }
}
