import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The provider beside the other workers: with relays, and with a customer's own ledger of jobs.
  @Suite("Serving jobs with others")
  struct ServingWorldTests {
    @Test("With the network, a request comes from a relay, and the answer goes there")
    func network() throws {
      let relay = try KeepingRelay()
      var layout = PlannerRig.layout([relay.url])
      layout.workers += ServingRig.layout(["network": "true"]).workers.filter { $0.name == "dvm-provider" }
      try withRoost(layout) { roost in
        let rig = try ServingRig(roost)
        let planner = PlannerRig(roost: roost, client: rig.client)
        let customer = SecretKey.generate()
        let request = UnsignedEvent(
          pubkey: customer.publicKey, createdAt: WallClock.seconds, kind: 5_400,
          tags: [["p", "\(rig.provider)"]], content: #"[{"kinds":[2]}]"#
        ).signed(by: customer)
        try planner.put(request, on: relay)
        let result = try rig.awaitResult(request)
        #expect(result.content.text == "0")
        try awaitSoon("the relay has the answer") {
          let filter = "{\"kinds\":[6400],\"#e\":[\"\(request.id)\"]}"
          let answer = try rig.client.call("relay.request", "{\"relay\":\"\(relay.url)\",\"filters\":[\(filter)]}")
          return answer.parts.contains { $0.text.contains("\(result.answer.id)") }
        }
      }
    }

    @Test("A job that is submitted here is done here, with no network and no setting")
    func submitted() throws {
      var layout = ServingRig.layout(["customers": "\"accounts\""])
      var tracker = Layout.Worker(name: "dvm-tracker")
      tracker.keys = [
        "role": "\"dvm-tracker\"", "program": "\"\(SpawnedProcess.builtProgram("dvm-tracker"))\"", "sandbox": "\"try\"",
      ]
      layout.workers.append(tracker)
      try withRoost(layout) { roost in
        let rig = try ServingRig(roost)
        let author = SecretKey.generate()
        let note = UnsignedEvent(
          pubkey: author.publicKey, createdAt: WallClock.seconds, kind: 1, content: "hello nostr"
        ).signed(by: author)
        #expect(try rig.store.publish(note).isResponse)
        let answer = try rig.client.call("job.submit", #"{"kind":5302,"params":[["search","nostr"]]}"#)
        #expect(answer.isResponse, "\(answer.text)")
        let id = try JSONPayload.decode(Job.self, from: answer.terminal.payload).id
        var job: Job?
        try awaitSoon("the job is settled; it is \(job as Any)") {
          let shown = try rig.client.call("job.show", "{\"job\":\"\(id)\"}")
          job = try JSONPayload.decode(Job.self, from: shown.terminal.payload)
          return job?.state == .settled
        }
        #expect(job?.result?.content == "[[\"e\",\"\(note.id)\"]]")
      }
    }
  }
}
