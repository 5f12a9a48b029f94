import Contracts
import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// What a connector counts of its relays, and the one word that the planner makes of their states.
  @Suite("Figures of relays")
  struct RelayFigureTests {
    @Test("Events that no author signed are counted for the relay that sent them")
    func invalidEvents() throws {
      let relay = try ScriptedRelay.serving(3)
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire([relay.url])
        try rig.await(following, "EOSE") { $0.state == .stored }
        let list = try rig.client.call("relay.list", "{}")
        let answer = try JSONPayload.decode(RelayStates.self, from: list.terminal.payload)
        let latencies = try #require(answer.latencies)
        #expect(latencies.connect.counts.reduce(0, +) == 1 && latencies.connect.sumMicroseconds > 0)
        #expect(latencies.stored.counts.reduce(0, +) >= 1 && latencies.accepted.counts.isEmpty)
        let state = try #require(answer.relays.first { $0.relay == relay.url })
        // It sends them for the REQ that asks for nothing stored too.
        #expect(state.invalidEvents == 6 && state.events == 6)
        #expect(state.storedMilliseconds != nil && state.refusalsByClass == nil)
        #expect(try rig.count() == 0)
      }
    }

    /// Whether events can be sent, as `roost status` says with and without `--json`.
    private static func expectSending(_ word: String, _ relays: String) throws {
      var layout = Layout.publishing
      for index in layout.workers.indices where layout.workers[index].name == "relay-connector" {
        layout.workers[index].keys["relays"] = relays
      }
      try withRoost(layout) { roost in
        try awaitSoon("sending is \(word)") {
          let (output, ending) = try roost.tool(["status", "--json"])
          guard ending == .exited(0) else { return false }
          let status = try JSONPayload.decode(JSONValue.self, from: Array(output.utf8))
          return status["sending"] == .string(word) && status["workers"] != nil
        }
        let (text, _) = try roost.tool(["status"])
        #expect(text.contains("\nSending: \(word)"), "\(text)")
      }
    }

    @Test("Whether events can be sent is one word in 'roost status': online, offline and no-relays")
    func sending() throws {
      let relay = try ScriptedRelay.serving(1)
      try Self.expectSending("online", "[\"\(relay.url)\"]")
      try Self.expectSending("offline", "[\"ws://127.0.0.1:9\"]")
      try Self.expectSending("no-relays", "[]")
    }
  }
}
