import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// How much a relay has, without fetching it.
  @Suite(
    "Counting at a relay", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct CountRelayTests {
    @Test("By COUNT and by a comparison a relay says how much it has, and nothing of it is stored")
    func counts() throws {
      let directory = try TemporaryDirectory()
      let alice = SecretKey.generate()
      let events = (0..<120).map { number in
        UnsignedEvent(
          pubkey: alice.publicKey, createdAt: WallClock.seconds - Int64(number) - 10, kind: 1, tags: [],
          content: "\(number)"
        ).signed(by: alice)
      }
      let relay = try RealRelay(events, in: directory, "relay")
      try PlannerRig.run(relays: [relay.url]) { rig in
        let filter = #"{"authors":["\#(alice.publicKey)"]}"#
        for event in events.prefix(20) {
          _ = try rig.client.call("store.publish", String(decoding: event.json, as: UTF8.self))
        }
        let stored = try rig.storeStatus().events
        let counted = try rig.client.call("relay.count", #"{"relay":"\#(relay.url)","filter":\#(filter)}"#)
        let count = try JSONPayload.decode(RelayCounted.self, from: counted.terminal.payload)
        #expect(count.count == 120 && !count.isApproximate, "\(counted.text)")
        let compared = try rig.client.call(
          "relay.reconcile", #"{"relay":"\#(relay.url)","filter":\#(filter),"countsOnly":true}"#)
        let result = try JSONPayload.decode(RelayReconcileResult.self, from: compared.terminal.payload)
        #expect(result.end == .complete && result.counts.needed == 100 && result.counts.common == 20)
        #expect(result.counts.fetched == 0)
        #expect(try rig.storeStatus().events == stored)
      }
    }

    @Test("A relay that only others name is not dialled at a private address, neither for a count nor for events")
    func foreign() throws {
      let directory = try TemporaryDirectory()
      let relay = try RealRelay([], in: directory, "relay")
      try PlannerRig.run(relays: []) { rig in
        for (method, rest) in [
          ("relay.count", #""filter":{"kinds":[1]}"#), ("relay.reconcile", #""filter":{"kinds":[1]}"#),
          ("relay.request", #""filters":[{"kinds":[1]}]"#),
        ] {
          let arguments = #"{"relay":"\#(relay.url)",\#(rest),"isForeign":true}"#
          let answer = try rig.client.call(method, arguments)
          let said = answer.refusal?.message ?? answer.text
          #expect(said.contains("a loopback address"), "\(method): \(said)")
        }
        let own = try rig.client.call("relay.count", #"{"relay":"\#(relay.url)","filter":{"kinds":[1]}}"#)
        #expect(own.isResponse, "\(own.text)")
      }
    }
  }
}
