import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Lists on their way to relays, whose own versions are read before.
  @Suite("Sending lists") struct ListSendingTests {
    @Test("A list that is called off while its relay is still being read is not sent; the next one is")
    func calledOff() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      try relay.answer("unread")
      try FeedRig.run([relay.url]) { rig in
        func publish(_ kind: UInt16) throws -> Event {
          let list = rig.event(rig.alice, kind: kind, [["d", "x"], ["p", "\(SecretKey.generate().publicKey)"]])
          let wanted = PlanPublish(event: RawJSON(list.json), relays: [relay.url], replace: true)
          _ = try rig.rig.ask("plan.publish", wanted, as: Publication.self)
          return list
        }
        let first = try publish(3)
        try awaitSoon("the relay is being read") {
          let found = try rig.rig.client.call("plan.publications", #"{"ids":["\#(first.id)"]}"#)
          return found.parts.first?.text.contains("\"sent\"") == true
        }
        let cancelled = try rig.rig.ask("plan.cancel", PlanPublication(id: "\(first.id)"), as: Publication.self)
        #expect(cancelled.state == .cancelled)
        // It is read as long as the first one, and later.
        let second = try publish(10_000)
        try awaitSoon("the second one is sent", within: 40, every: 200) { relay.count(of: second) == 1 }
        #expect(relay.count(of: first) == 0)
        let told = try rig.rig.client.call("plan.publications", #"{"ids":["\#(first.id)"],"states":["cancelled"]}"#)
        #expect(told.parts.count == 1)
        // The relay is not waited for again.
        let third = try publish(30_000)
        try awaitSoon("the third one is sent", within: 5, every: 50) { relay.count(of: third) == 1 }
      }
    }
  }
}
