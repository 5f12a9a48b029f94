import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Relays that the customers of jobs name.
  @Suite("Relays that customers name")
  struct ForeignJobTests {
    @Test("A stranger's job has no private address dialled, however it is written and wherever its name leads")
    func privateAddresses() throws {
      let (relay, listener) = (
        try KeepingRelay(), try ScriptedRelay(.accept(), .forever(.expect("EVENT"), .ok(true, "")))
      )
      let port = try #require(listener.url.split(separator: ":").last)
      // What looks like a public name is looked up; these lead to 127.0.0.1 without a name server.
      let named = ["ws://0x7f.1:\(port)", "ws://127.1:\(port)/admin?reboot=1"]
      let hosts = [
        "127.0.0.1", "localhost", "x.localhost", "2130706433", "0.0.0.0", "10.0.0.1", "169.254.169.254", "[::1]",
        "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]",
      ]
      let relays = named + hosts.map { "ws://\($0):\(port)/admin?reboot=1" }
      var layout = PlannerRig.layout([relay.url])
      layout.workers += ServingRig.layout(["network": "true"]).workers.filter { $0.name == "dvm-provider" }
      try withRoost(layout) { roost in
        let rig = try ServingRig(roost)
        let planner = PlannerRig(roost: roost, client: rig.client)
        let customer = SecretKey.generate()
        let request = UnsignedEvent(
          pubkey: customer.publicKey, createdAt: WallClock.seconds, kind: 5_400,
          tags: [["p", "\(rig.provider)"], ["relays"] + relays], content: #"[{"kinds":[2]}]"#
        ).signed(by: customer)
        try planner.put(request, on: relay)
        let result = try rig.awaitResult(request)
        var targets: [PublicationTarget] = []
        try awaitSoon("each has been tried") {
          targets = try Self.targets(of: result.answer.id, rig)
          return !targets.isEmpty && targets.allSatisfy { $0.confirmedAt != nil || $0.message != nil }
        }
        #expect(targets.first { $0.relay == relay.url }?.state == .confirmed, "\(relay.url) in \(targets)")
        let foreign = targets.filter { $0.why != "configured" }
        #expect(foreign.count <= named.count, "the others are left out by their looks: \(foreign.map(\.relay))")
        for target in foreign {
          #expect(target.why == "named by others" && target.state == .pending, "\(target), not \(relay.url)")
          #expect(target.message?.contains("relays that other people name are not dialled there") == true, "\(target)")
        }
        #expect(listener.visits.isEmpty)
      }
    }

    private static func targets(of id: EventID, _ rig: ServingRig) throws -> [PublicationTarget] {
      let answer = try rig.client.call("plan.publications", #"{"ids":["\#(id)"]}"#)
      return try answer.parts.flatMap { try JSONPayload.decode(Publication.self, from: $0.payload).targets }
    }
  }
}
