import Addresses
import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Which key a relay sees that asks for authentication: the setting `authenticate`.
  @Suite("Which key a relay may see")
  struct RelayKeyTests {
    private static let account = String(repeating: "1", count: 64)

    /// A relay that refuses the first REQ until a client has authenticated.
    private static func asking() throws -> ScriptedRelay {
      try ScriptedRelay(
        .accept(), .challenge("who"), .expect("REQ"), .closed("auth-required: who?"), .expect("AUTH"), .ok(true, ""),
        .expect("REQ"), .events(0..<2), .endOfStored())
    }

    /// The keys of the AUTH messages that came, each with a valid signature.
    private static func keys(_ relay: ScriptedRelay) throws -> [String] {
      try relay.visits.flatMap { $0.texts("AUTH") }.map { text in
        let event = try Event(json: Array(text.dropFirst(#"["AUTH","#.count).dropLast().utf8))
        let url = try RelayURL(relay.url)
        _ = try RelayAuthentication.check(
          event, relays: [url], challenge: "who", now: event.createdAt)
        return "\(event.pubkey)"
      }
    }

    @Test("A throw-away key answers for work without an account, differs from relay to relay, and is reported as such")
    func throwAway() throws {
      let (relay, other) = (try Self.asking(), try Self.asking())
      try withRoost(
        .connector(#"["\#(relay.url)", "\#(other.url)"]"#, ["authenticate": "\"throw-away\""])
      ) { roost in
        let client = try roost.client()
        for url in [relay.url, other.url] {
          let answer = try client.call("relay.request", #"{"relay":"\#(url)"}"#)
          #expect(answer.isResponse && answer.parts.count == 2, "\(answer.text)")
        }
        let (first, second) = (try Self.keys(relay), try Self.keys(other))
        #expect(first.count == 1 && second.count == 1 && first != second)
        let list = try client.call("relay.list", "{}")
        let states = try JSONPayload.decode(RelayStates.self, from: list.terminal.payload).relays
        let state = try #require(states.first { $0.relay == relay.url })
        #expect(state.authenticate == .throwAway && state.authenticated == first)
        #expect(state.refusalsByClass == ["authentication": 1] && state.refusals == 1)
        #expect(state.connectMilliseconds != nil && state.storedMilliseconds != nil && state.failuresInRow == nil)
        #expect(try #require(state.dialledMilliseconds) >= state.openMilliseconds)
      }
    }

    @Test("With 'never' nothing is answered, and the work fails as refused")
    func never() throws {
      try withRelay(try Self.asking(), ["authenticate": "\"never\""]) { rig in
        let refusal = try rig.ask().refusal
        #expect(refusal?.code == "closed-by-relay" && refusal?.message.contains("auth-required: who?") == true)
        #expect(try Self.keys(rig.relay).isEmpty)
      }
    }

    @Test(
      "A protected event is not sent where no account is shown, and the reason names the setting",
      arguments: ["throw-away", "never"])
    func protected(word: String) throws {
      let relay = try ScriptedRelay(.accept(), .challenge("who"), .forever(.expect("EVENT"), .ok(true, "")))
      try withRelay(relay, ["authenticate": "\"\(word)\""]) { rig in
        let arguments =
          #"{"relay":"\#(relay.url)","event":\#(RelayStep.eventJSON(1)),"account":"\#(Self.account)","isProtected":true}"#
        let refusal = try rig.client.call("relay.publish", arguments).refusal
        #expect(refusal?.code == "not-shown" && refusal?.outcome == .notStarted, "\(refusal?.message ?? "")")
        #expect(refusal?.message.contains("'authenticate = \"\(word)\"' in supervisor.conf forbids that") == true)
        #expect(try rig.publish(2).isResponse, "other events are sent")
        #expect(relay.visits.allSatisfy { $0.texts("EVENT").allSatisfy { !$0.contains(#"0000001","pubkey"#) } })
      }
    }
  }
}
