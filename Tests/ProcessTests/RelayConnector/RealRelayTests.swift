import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What nostr-sdk's LocalRelay does otherwise than others.
  @Suite(
    "A relay with limits of its own",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct RealRelayTests {
    /// It closes a connection, without a word, when so many events were published over it.
    private static let eventsOfConnection = 6_000

    @Test("A relay that cuts a connection after 6,000 events gets the others over the next one, each confirmed")
    func cut() throws {
      let relay = try RealRelay()
      try PlannerRig.run(relays: [relay.url]) { rig in
        let events = makeEvents(0..<Self.eventsOfConnection + 40)
        // Nearly as many as it takes, not one by one.
        for start in stride(from: 0, to: Self.eventsOfConnection - 20, by: 260) {
          let some = events[start..<min(start + 260, Self.eventsOfConnection - 20)]
          let asked = try some.map { event in
            let text = String(decoding: event.json, as: UTF8.self)
            return try rig.client.ask("relay.publish", #"{"relay":"\#(relay.url)","event":\#(text)}"#)
          }
          for id in asked { #expect(try rig.client.answer(to: id).isResponse) }
        }
        let publications = try PublishClient(rig.roost)
        let rest = events.suffix(60)
        for event in rest {
          let value = try JSONPayload.decode(JSONValue.self, from: event.json)
          _ = try rig.ask("plan.publish", PlanPublish(event: RawJSON(value), relays: [relay.url]), as: Publication.self)
        }
        for event in rest { try publications.await(event, .confirmed, within: 60) }
        let states = try rig.ask("relay.list", NoArguments(), as: RelayStates.self).relays
        #expect(states[0].connections == 2, "\(states)")
        let last = makeEvents(900_000..<900_001)[0]
        let shown = try rig.observed(#"{"kinds":[1]}"#, at: [relay.url], last: last)
        #expect(shown.count == events.count && Set(shown) == Set(events), "an answer may be as long as it likes")
      }
    }

    @Test("It answers CLOSE by CLOSED without a word, and what is asked next is not taken for refused")
    func closed() throws {
      let relay = try RealRelay(SharedFolder.repository + "/Tests/Peers/events.jsonl")
      try PlannerRig.run(relays: [relay.url]) { rig in
        for _ in 0..<30 {
          let some = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)","limit":3}"#)
          #expect(
            some.isResponse && some.parts.count == 3 && some.text.contains(#""isComplete":false"#), "\(some.text)")
        }
        let all = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)"}"#)
        #expect(all.parts.count == 24 && all.text.contains(#""isComplete":true"#), "\(all.text)")
        let states = try rig.ask("relay.list", NoArguments(), as: RelayStates.self).relays
        #expect(states.map(\.connections) == [1] && states.map(\.refusals) == [0], "\(states)")
      }
    }
  }
}
