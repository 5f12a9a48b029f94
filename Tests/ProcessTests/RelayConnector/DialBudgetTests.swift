import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The budget for relays outside the groups, where it is kept: in the connector that dials.
  @Suite("The budget of dials")
  struct DialBudgetTests {
    private static let reason =
      "8 new relays were dialled within the last minute, which is the budget; 4 more are kept for private messages"

    private func relays(_ count: Int) throws -> [ScriptedRelay] { try (0..<count).map { _ in try .serving(1) } }

    private func states(_ client: BusPeer) throws -> [RelayStates.Relay] {
      try JSONPayload.decode(RelayStates.self, from: client.call("relay.list").terminal.payload).relays
    }

    @Test("Scenario 16: many relays in a list: eight are dialled, the others wait and say why, also with a new planner")
    func interests() throws {
      let relays = try relays(12)
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire(relays.map(\.url))
        for relay in relays.prefix(8) {
          try rig.await(following, "EOSE of \(relay.url)") { $0.relay == relay.url && $0.state == .stored }
        }
        try rig.await(following, "the reason") { $0.state == .waiting && $0.reason == Self.reason }
        let waiting = try states(rig.client).filter { $0.waitsForBudget == true }
        #expect(waiting.count == 4 && waiting.allSatisfy { $0.state == .waiting && $0.reason == Self.reason })

        try rig.desire(relays.reversed().map(\.url), generation: 2)
        #expect(try states(rig.client).count { $0.waitsForBudget == true } == 4, "a new planner changes nothing")
        #expect(relays.reduce(0) { $0 + $1.visits.count } == 8)

        // A look-up waits in the same queue, and says why when its time is over.
        let asked = try rig.client.call("relay.request", #"{"relay":"\#(relays[11].url)"}"#, ttlMilliseconds: 2_000)
        #expect(asked.refusal?.code == "relay-unreachable" && asked.refusal?.outcome == .notStarted)
        #expect(asked.refusal?.message == "\(relays[11].url) was not dialled in time: \(Self.reason)")
        #expect(relays.reduce(0) { $0 + $1.visits.count } == 8)
      }
    }

    @Test("A gift wrap is delivered when the others have used their dials; another event is refused with the reason")
    func giftWraps() throws {
      let relays = try relays(8)
      let taking = try (0..<2).map { _ in
        try ScriptedRelay(.accept(), .forever(.expect("EVENT"), .ok(true, "")))
      }
      try withRoost(.connector("[]", ["ephemeral": "true"])) { roost in
        let client = try roost.client()
        for relay in relays {
          #expect(try client.call("relay.request", #"{"relay":"\#(relay.url)"}"#).isResponse)
        }
        func publish(_ relay: ScriptedRelay, kind: Int) throws -> BusPeer.Answer {
          let event = RelayStep.eventJSON(1, kind: kind)
          return try client.call("relay.publish", #"{"relay":"\#(relay.url)","event":\#(event)}"#)
        }
        let refusal = try publish(taking[0], kind: 1).refusal
        #expect(refusal?.code == .full && refusal?.outcome == .notStarted)
        #expect(refusal?.message == "\(taking[0].url) is not dialled yet: \(Self.reason)")
        let milliseconds = refusal?.retryAfterMilliseconds ?? 0
        #expect((30_000...60_000).contains(milliseconds), "\(milliseconds)")
        #expect(try states(client).first { $0.relay == taking[0].url }?.waitsForBudget == true, "its place is kept")
        #expect(try publish(taking[1], kind: 1_059).isResponse)
        #expect(try publish(taking[0], kind: 1_059).isResponse, "its relay waits for another event already")
        #expect(try publish(taking[0], kind: 1).isResponse, "the relay is connected now")
      }
    }

    @Test("Scenario 15: a relay that hangs up at once is dialled as often as the budget allows, and then waits")
    func flapping() throws {
      let relay = try ScriptedRelay(.accept(), .hangUp)
      let steady = try ScriptedRelay.serving(1)
      try withRoost(.connector("[\"\(steady.url)\"]", ["ephemeral": "true"])) { roost in
        let client = try roost.client()
        for _ in 0..<40 {
          let answer = try client.call("relay.request", #"{"relay":"\#(relay.url)"}"#, ttlMilliseconds: 500)
          #expect(answer.refusal != nil)
          _ = try client.call("relay.retry", #"{"relay":"\#(relay.url)"}"#)
        }
        #expect(relay.visits.count == 8)
        let state = try states(client).first { $0.relay == relay.url }
        #expect(state?.reason?.contains("budget") == true || state?.state == .idle, "\(String(describing: state))")
        for _ in 0..<3 { #expect(try client.call("relay.request", #"{"relay":"\#(steady.url)"}"#).isResponse) }
        #expect(steady.visits.count == 1, "a relay of the group does not count")
      }
    }

    @Test("roost publish and the progress of an observe say that the budget is why a relay waits")
    func words() throws {
      let relays = try relays(8)
      let late = try KeepingRelay()
      try PlannerRig.run([]) { rig in
        for relay in relays {
          #expect(try rig.client.call("relay.request", #"{"relay":"\#(relay.url)"}"#).isResponse)
        }
        let event = String(decoding: makeEvents(0..<1)[0].json, as: UTF8.self)
        let published = try rig.command("publish", event, "--relay", late.url, "--timeout", "3s")
        #expect(published.output.contains("\(late.url): is not dialled yet: \(Self.reason)"), "\(published.output)")
        let observe = #"{"filters":[{"kinds":[1]}],"relays":["\#(late.url)"],"exclusiveRelays":true}"#
        try rig.client.ask("store.observe", observe)
        let following = try rig.client.ask("plan.progress", observe)
        try rig.client.wait("the reason") {
          rig.client.parts(of: following).contains { $0.text.contains(Self.reason) }
        }
        let last = try #require(rig.client.parts(of: following).last)
        #expect(try !JSONPayload.decode(ObserveProgress.self, from: last.payload).isComplete, "it will be dialled")
      }
    }
  }
}
