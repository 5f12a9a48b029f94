import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Events that only relays get which know who sends them (NIP-70), and accounts that cannot show themselves.
  @Suite("Protected events and locked accounts")
  struct ProtectedTests {
    private static func run(_ body: (PlannerRig, Event) throws -> Void) throws {
      try withRoost(PlannerRig.layout([])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        _ = try SignerRig(roost: roost, client: rig.client).generate("alice")
        try body(rig, try rig.sign(1, [["-"]]))
      }
    }

    private static func publish(_ event: Event, to relay: String, _ rig: PlannerRig) throws -> Publication {
      let value = try JSONPayload.decode(JSONValue.self, from: event.json)
      return try rig.ask("plan.publish", PlanPublish(event: RawJSON(value), relays: [relay]))
    }

    private static func await(
      _ event: Event, _ rig: PlannerRig, _ description: String, _ isTrue: (Publication) -> Bool
    ) throws {
      try awaitSoon(description) {
        let answer = try rig.client.call("plan.publications", #"{"ids":["\#(event.id)"]}"#)
        return try answer.parts.contains { isTrue(try JSONPayload.decode(Publication.self, from: $0.payload)) }
      }
    }

    @Test(
      "A relay that sends its challenge only on need is asked for it, and takes the event from its author",
      .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"),
      arguments: ["write", "both", "read"])
    func real(mode: String) throws {
      let relay = try RealRelay("--auth", mode)
      try Self.run { rig, event in
        _ = try Self.publish(event, to: relay.url, rig)
        try Self.await(event, rig, "the relay has it") { $0.state == .confirmed }
      }
    }

    @Test("13: a relay that takes protected events from anybody never sees one")
    func exposed() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "open")
      try Self.run { rig, event in
        _ = try Self.publish(event, to: relay.url, rig)
        try Self.await(event, rig, "it is refused for good") { publication in
          publication.state == .failed
            && publication.targets.first?.message?.contains("takes protected events without authentication") == true
        }
        #expect(relay.count(of: event) == 0 && relay.received.count == 1, "the question alone")
      }
    }

    @Test(
      "What waits for a locked account is sent when it is unlocked, and says meanwhile what it waits for",
      .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
    func locked() throws {
      let relay = try RealRelay("--auth", "write")
      try withRoost(PlannerRig.layout([])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let signer = SignerRig(roost: roost, client: rig.client)
        try signer.generate("alice", "correct horse")
        let event = try rig.sign(1, [])
        _ = try rig.ask("signer.lock", SignerLock(account: "alice"), as: SignerAccounts.self)
        _ = try Self.publish(event, to: relay.url, rig)
        try Self.await(event, rig, "it waits for the account") {
          $0.targets.first?.state == .pending && $0.targets.first?.message?.contains("locked") == true
        }
        #expect(try signer.unlock("alice", "correct horse") == nil)
        try Self.await(event, rig, "the relay has it") { $0.state == .confirmed }
      }
    }
  }
}
