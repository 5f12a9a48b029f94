import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// A store that comes back without what ledgers know that it has: from a backup, or from a rescue.
  @Suite("A store with an earlier file")
  struct OfferAgainTests {
    @Test("has publications and requests that are under way offered again, and what is called off by newer ones stays")
    func again() throws {
      let relay = "ws://127.0.0.1:1"
      try withRoost(JobRig.layout()) { roost in
        var rig = JobRig(roost: roost, client: try roost.client(), relay: try AnsweringRelay(roost.directory, "unused"))
        let author = SecretKey.generate()
        let events = try (0..<130).map { number in
          let event = UnsignedEvent(
            pubkey: author.publicKey, createdAt: 1_700_000_000 + Int64(number), kind: number < 2 ? 10_050 : 1,
            tags: [["relay", "wss://relay.example"]], content: "\(number)"
          ).signed(by: author)
          let value = try JSONPayload.decode(JSONValue.self, from: event.json)
          _ = try rig.ask("plan.publish", PlanPublish(event: RawJSON(value), relays: [relay]), as: Publication.self)
          return event
        }
        let made = try rig.client.call("signer.generate", #"{"name":"alice"}"#)
        #expect(made.isResponse, "\(made.text)")
        var submit = JobMaker().job()
        submit.account = "alice"
        let request = try rig.request(try rig.submit(submit))
        try roost.killDaemonAndWorkers()
        for suffix in ["", "-wal", "-shm", ".seqs"] { unlink(roost.path("state/event-store/events.db" + suffix)) }
        try roost.startAgain()
        rig.client = try roost.client()
        let wanted = Set(events[1...].map { "\($0.id)" } + ["\(request.id)"])
        try awaitSoon("the store has them again", within: 60) {
          let store = try StoreClient(roost)
          let told = try store.query(#"{"kinds":[1,5050,10050],"limit":1000}"#)
          return Set(try told.map { "\(try Event(json: Array($0.utf8)).id)" }) == wanted
        }
        let known = try PublishClient(roost).publications(#"{"limit":1000}"#)
        #expect(known.count == events.count && known.allSatisfy { $0.state == .optimistic })
      }
    }
  }
}
