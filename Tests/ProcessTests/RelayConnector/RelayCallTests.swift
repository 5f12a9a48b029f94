import Contracts
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// What somebody hears who asks a relay for the first time, and wrongly.
  @Suite("Calls to relays")
  struct RelayCallTests {
    /// An address at which nobody listens: ports below 1024 are the superuser's.
    private static let nobody = "ws://127.0.0.1:1"

    @Test(
      "A mistyped argument or filter is refused with its place and the right form, and never taken for a wider question"
    )
    func mistyped() throws {
      let relay = try ScriptedRelay.serving(3)
      try withRoost(.connector("[\"\(relay.url)\"]")) { roost in
        let client = try roost.client()
        let cases = [
          (#"{"filter":[{"kinds":[1]}]}"#, "relay.request has no argument 'filter'; did you mean 'filters'?"),
          (#"{"limit":-1}"#, "'limit' is -1; a whole number from 0 is expected"),
          (#"{"filters":[{},{"kind":[1]}]}"#, #"'filters[1]' has "kind", which no filter has; did you mean 'kinds'?"#),
          (#"{"filters":[{"kinds":1}]}"#, "'filters[0].kinds' is not a list of numbers from 0 to 65535"),
          (##"{"filters":[{"#title":["x"]}]}"##, ##"'filters[0]' has "#title": a tag is asked for by one letter"##),
          (#"{"filters":[7]}"#, "'filters[0]' is not an object"),
          (#"{"filters":[]}"#, "'filters' has 0 filters; 1 to 100 are taken"),
        ]
        for (json, message) in cases {
          let refusal = try client.call("relay.request", json).refusal
          #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted, "\(json)")
          #expect(refusal?.message.hasPrefix(message) == true, "\(refusal?.message ?? json)")
        }
        let npub = "npub1xtscya34g58tk0z605fvr788k263gsu6cy9x0mhnm87echrgufzsevkk5s"
        let people = try client.call("relay.request", #"{"filters":[{"authors":["\#(npub)"]}]}"#).refusal
        #expect(people?.message.contains("\(npub) is 32e1827635450ebb") == true)
        #expect(try client.call("relay.request", "[").refusal?.code == .badPayload)
        #expect(try client.call("relay.request", "{}", flags: .raw).refusal?.code == .badPayload)
        #expect(try client.call("relay.list", #"{"all":true}"#).refusal?.code == .badRequest)
        let none = try client.call("relay.request", #"{"filters":[{"authors":[]}]}"#)
        #expect(none.isResponse && none.parts.isEmpty, "an empty list matches nothing, whatever a relay makes of it")
        let zero = try client.call("relay.request", #"{"limit":0}"#)
        #expect(zero.isResponse && zero.parts.isEmpty)
        #expect(try client.call("relay.request").parts.count == 3)
      }
    }

    @Test("A call that is refused, or asks for nothing, takes no place of those for relays dialled by name")
    func noPlace() throws {
      let relay = try ScriptedRelay.serving(1)
      var layout = Layout.connector("[]")
      layout.workers[0].keys["ephemeral"] = "true"
      try withRoost(layout) { roost in
        let client = try roost.client()
        for number in 0..<70 {
          let url = "\(relay.url)/\(number)"
          let wrong = try client.call("relay.request", #"{"relay":"\#(url)/a","filters":[7]}"#)
          let empty = try client.call("relay.request", #"{"relay":"\#(url)/b","filters":[{"ids":[]}]}"#)
          let noEvent = try client.call("relay.publish", #"{"relay":"\#(url)/c","event":{}}"#)
          #expect(wrong.refusal?.code == .badRequest && empty.isResponse && noEvent.refusal?.code == .badRequest)
        }
        #expect(try client.call("relay.request", #"{"relay":"\#(relay.url)"}"#).parts.count == 1)
      }
    }

    @Test("Relays that are dialled together are told together, and what is told last is true")
    func toldTogether() throws {
      let relay = try ScriptedRelay.serving(0)
      let count = 40
      try withRoost(.connector("[]")) { roost in
        let client = try roost.client()
        #expect(try client.answer(to: try client.ask("relay.states", type: .subscribe)).isResponse)
        let relays = (0..<count).map { "\"\(relay.url)/\($0)\"" }.joined(separator: ",")
        try roost.rewrite { $0.workers[0].keys["relays"] = "[\(relays)]" }
        #expect(try client.call("supervisor.reload").isResponse)
        func areOpen() -> Bool {
          guard let last = client.topicEvents.last,
            let states = try? JSONPayload.decode(RelayStates.self, from: last.payload)
          else { return false }
          return states.relays.count == count && states.relays.allSatisfy { $0.state == "open" }
        }
        try client.wait("all are open", until: areOpen)
        #expect(
          client.topicEvents.count <= count + 1,
          "each is dialled and then open, and all are dialled in one turn: \(client.topicEvents.count)")
      }
    }

    @Test("A relay that takes no connection is told of when the first attempt has failed, not when time has run out")
    func unreachable() throws {
      // So long that only the failure itself can end the call in time.
      let settings = ["request-timeout": "\"1h\"", "ephemeral": "true"]
      try withRoost(.connector("[\"\(Self.nobody)\"]", settings)) { roost in
        let client = try roost.client()
        for relay in [Self.nobody, Self.nobody, "ws://no-such-host.invalid"] {
          let refusal = try client.call("relay.request", #"{"relay":"\#(relay)"}"#).refusal
          #expect(refusal?.code == "relay-unreachable" && refusal?.outcome == .notStarted)
          #expect(refusal?.message.hasPrefix("\(relay) cannot be reached: ") == true, "\(refusal?.message ?? "")")
        }
      }
    }

    @Test("What a relay says by NOTICE is told at once, and again when it said nothing else; exit code 5")
    func notice() throws {
      let relay = try ScriptedRelay(.accept(), .forever(.expect("REQ"), .notice("ERROR: bad req")))
      try withRoost(.connector("[\"\(relay.url)\"]")) { roost in
        let process = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"),
          ["call", "relay.request", "--timeout", "2s", "--socket", roost.socket])
        let said = try process.readLine { $0.contains(" says: ") }
        #expect(said == "\(relay.url) says: ERROR: bad req")
        let refusal = try process.readLine { $0.hasPrefix("roost: ") }
        #expect(refusal == "roost: \(relay.url) did not answer in time; it said meanwhile: \"ERROR: bad req\"")
        #expect(try process.waitForEnd() == .exited(5))
      }
    }
  }
}
