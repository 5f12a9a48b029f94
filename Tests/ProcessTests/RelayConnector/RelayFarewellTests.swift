import Contracts
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// Relays that say that it is over: a subscription behind its EOSE, or the connection for good.
  @Suite("Relays that say farewell")
  struct RelayFarewellTests {
    @Test("EVENT, EOSE and CLOSED without a reason is an answer, which is asked for once")
    func closedBehindEnd() throws {
      let relay = try ScriptedRelay(
        .accept(), .forever(.expect("REQ"), .events(7..<8), .endOfStored(), .closed("")))
      try WishRig.run { rig in
        let following = try rig.follow()
        let id = String(repeating: "0", count: 63) + "7"
        let desired = DesiredSubscription(
          key: "ids", relay: relay.url, filters: [.object(["ids": .array([.string(id)])])], isLive: true,
          isForeign: false)
        let wanted = RelayDesire(generation: 1, version: 1, changed: [desired])
        let text = String(decoding: JSONPayload.encode(wanted), as: UTF8.self)
        #expect(try rig.planner.call("relay.desire", text).isResponse)
        try rig.await(following, "the answer") { $0.state == .stored && $0.events == 1 }
        let asked = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)","filters":[{"ids":["\#(id)"]}]}"#)
        #expect(asked.isResponse && asked.parts.count == 1, "\(asked.text)")
        #expect(relay.visits[0].texts("REQ").count == 2, "one for each of those who ask")
      }
    }

    @Test("A relay that closes with 4000 is not dialled again until somebody asks for it")
    func dismissed() throws {
      let relay = try ScriptedRelay(scripts: [
        [.accept(), .expect("REQ"), .close(4000, "go away")],
        [.accept(), .forever(.expect("REQ"), .events(0..<3), .endOfStored())],
      ])
      try withRelay(relay) { rig in
        #expect(try !rig.ask().isResponse)
        try awaitSoon("the relay is left alone") {
          let answer = try rig.ask()
          return answer.refusal?.code == "relay-unreachable" && answer.text.contains("4000") == true
            && answer.text.contains("go away")
        }
        #expect(relay.visits.count == 1, "nobody has dialled it for that")
        let retry = try rig.client.call("relay.retry", #"{"relay":"\#(relay.url)"}"#)
        #expect(retry.isResponse, "\(retry.text)")
        try awaitSoon("it is dialled, and answers") { try rig.ask().parts.count == 3 }
        #expect(relay.visits.count == 2)
      }
    }
  }
}
