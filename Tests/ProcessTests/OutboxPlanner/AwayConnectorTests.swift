import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What is published while those who know where it goes, or who bring it there, are away.
  @Suite("Publishing without connector or signer")
  struct AwayConnectorTests {
    private func withHouse(_ body: (LocalRelayHouse, KeepingRelay, Author) throws -> Void) throws {
      let relay = try KeepingRelay()
      try LocalRelayHouse.run(beside: PlannerRig.layout([relay.url])) { house in
        let alice = Author()
        try house.account(of: alice)
        try body(house, relay, alice)
      }
    }

    private func change(_ house: LocalRelayHouse, _ verb: String, _ worker: String, _ rest: String = "") throws {
      let answer = try house.client.call("supervisor.\(verb)", #"{"worker":"\#(worker)"\#(rest)}"#)
      #expect(answer.isResponse, "\(answer.text)")
    }

    private func awaitEvent(_ event: Event, at relay: KeepingRelay, _ house: LocalRelayHouse) throws {
      try awaitSoon("the relay has \(event.id)") {
        let wanted = #"{"relay":"\#(relay.url)","filters":[{"ids":["\#(event.id)"]}]}"#
        return try house.client.call("relay.request", wanted).parts.contains { $0.text.contains("\(event.id)") }
      }
    }

    private func doctor(_ house: LocalRelayHouse) throws -> String {
      try house.roost.command(["doctor"]).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test(
      "An own event is queued while the configured connector is away and the planner is new, and sent when it is back",
      arguments: ["hold", "stop"])
    func connectorAway(verb: String) throws {
      try withHouse { house, relay, alice in
        try change(house, verb, "relays")
        try house.kill("outbox-planner")
        let event = alice.event("is not lost")
        #expect(try house.visitor().publish(event) == .init(isAccepted: true, reason: ""))
        let queued = try house.ask("plan.publications", #"{"ids":["\#(event.id)"]}"#, as: StoreCount.self)
        #expect(queued.count == 1, "the queue has it")
        #expect(try doctor(house).contains("relays is held, stopped or starting, and 1 publication waits"))
        #expect(try house.roost.command(["doctor"]).status == .exited(1))
        if verb == "hold" {
          try change(house, "hold", "relays", #","hold":false"#)
        } else {
          try change(house, "start", "relays")
        }
        try awaitEvent(event, at: relay, house)
        try awaitSoon("the doctor is content") { try doctor(house).contains("every configured connector is there") }
      }
    }

    @Test("An own event is queued while the configured connector is stuck and the planner is new")
    func connectorStuck() throws {
      try withHouse { house, relay, alice in
        let pid = pid_t(try #require(try house.roost.worker("relays", house.client).pid))
        Glibc.kill(pid, SIGSTOP)
        defer { Glibc.kill(pid, SIGCONT) }
        try house.kill("outbox-planner")
        let event = alice.event("is not lost")
        #expect(try house.visitor().publish(event) == .init(isAccepted: true, reason: ""))
        Glibc.kill(pid, SIGCONT)
        try awaitEvent(event, at: relay, house)
      }
    }

    @Test("Nobody is told that an own event goes nowhere because the signer is away and the planner is new")
    func signerAway() throws {
      try withHouse { house, relay, alice in
        try change(house, "stop", "signer")
        let before = alice.event("before")
        #expect(try house.visitor().publish(before) == .init(isAccepted: true, reason: ""))
        try house.kill("outbox-planner")
        let event = alice.event("is not lost")
        let answer = try house.client.call(
          "plan.publish", #"{"event":\#(String(decoding: event.json, as: UTF8.self))}"#)
        #expect(answer.refusal?.code == .unavailable && answer.refusal?.outcome == .notStarted, "\(answer.text)")
        #expect(answer.refusal?.message.contains("the signer has not said") == true, "\(answer.text)")
        try change(house, "start", "signer")
        try awaitSoon("it is taken") { try house.visitor().publish(event) == .init(isAccepted: true, reason: "") }
        for event in [before, event] { try awaitEvent(event, at: relay, house) }
      }
    }

    @Test("Where the signer is switched off there is no account, and nobody waits for one")
    func noSigner() throws {
      let relay = try KeepingRelay()
      var layout = PlannerRig.layout([relay.url])
      for index in layout.workers.indices where layout.workers[index].name == "signer" {
        layout.workers[index].keys["enabled"] = "false"
      }
      try withRoost(layout, awaitsReady: false) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let event = try value(Author().event("by a key that is elsewhere"))
        // "Not yet" only until all have spoken.
        try awaitSoon("it is said where it goes") {
          try rig.refusal("plan.publish", PlanPublish(event: RawJSON(event)))?.code == .noRelays
        }
        #expect(try rig.refusal("plan.publish", PlanPublish(event: RawJSON(event), relays: [relay.url])) == nil)
      }
    }

    @Test("Relays that a reload brings are known to the planner before their connector is there")
    func reload() throws {
      let relay = try KeepingRelay()
      try withRoost(PlannerRig.layout([])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        _ = try SignerRig(roost: roost, client: rig.client).generate("alice")
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"relays"}"#).isResponse)
        try rig.kill("outbox-planner")
        let none = try rig.refusal("plan.publish", PlanPublish(event: RawJSON(try value(rig.sign(1, [])))))
        #expect(none?.code == .noRelays, "truly none is configured: \(none?.message ?? "")")
        try roost.rewrite { layout in
          guard let index = layout.workers.firstIndex(where: { $0.name == "relays" }) else { return }
          layout.workers[index].keys["relays"] = "[\"\(relay.url)\"]"
        }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        let event = try value(rig.sign(1, [["t", "later"]]))
        try awaitSoon("it is queued") {
          try rig.refusal("plan.publish", PlanPublish(event: RawJSON(event))) == nil
        }
      }
    }

    private func value(_ event: Event) throws -> JSONValue { try JSONPayload.decode(JSONValue.self, from: event.json) }
  }
}
