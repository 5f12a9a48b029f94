import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Where the mirror looks beside an account's present lists, with relays by other people.
  @Suite("The mirror's places", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct MirrorPlacesTests {
    private func put(_ event: Event, on relay: RealRelay, _ rig: PlannerRig) throws {
      let value = try JSONPayload.decode(JSONValue.self, from: event.json)
      let result = try rig.ask(
        "relay.publish", RelayPublish(relay: relay.url, event: RawJSON(value), isForeign: false),
        as: RelayPublishResult.self)
      #expect(result.isAccepted)
    }

    private func isHere(_ event: Event, _ rig: PlannerRig) throws -> Bool {
      let answer = try rig.client.call("store.count", #"{"filters":[{"ids":["\#(event.id)"]}]}"#)
      return try JSONPayload.decode(StoreCount.self, from: answer.terminal.payload).count == 1
    }

    @Test("Past lists and relays that sent its events are asked; for gift wraps present and past inboxes, and no other")
    func places() throws {
      let alice = SecretKey.generate()
      func event(_ age: Int64, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = "x") -> Event {
        UnsignedEvent(
          pubkey: alice.publicKey, createdAt: WallClock.seconds - age, kind: kind, tags: tags, content: content
        ).signed(by: alice)
      }
      func wrap(_ content: String) -> Event {
        let sender = SecretKey.generate()
        return UnsignedEvent(
          pubkey: sender.publicKey, createdAt: WallClock.seconds - 5_000, kind: 1_059,
          tags: [["p", "\(alice.publicKey)"]], content: content
        ).signed(by: sender)
      }
      let directory = try TemporaryDirectory()
      let known = event(9_000)
      let old = try RealRelay([], in: directory, "old")
      let (oldInbox, inbox) = (try RealRelay([], in: directory, "old-inbox"), try RealRelay([], in: directory, "inbox"))
      let seen = try RealRelay([known], in: directory, "seen")
      let first = event(8_000, kind: 10_002, [["r", old.url]])
      let firstInbox = event(8_000, kind: 10_050, [["relay", oldInbox.url]])
      let configured = try RealRelay([first, firstInbox], in: directory, "configured")
      var layout = PlannerRig.layout([configured.url])
      layout.workers.append(
        Layout.Worker(
          name: "mirror",
          keys: [
            "role": "\"mirror\"", "program": "\"\(SpawnedProcess.builtProgram("mirror"))\"", "sandbox": "\"try\"",
            "scrub": "\"0s\"",
          ]))
      for place in layout.workers.indices where layout.workers[place].name == "outbox-planner" {
        layout.workers[place].keys["allow-private-relays"] = "true"
      }
      try withRoost(layout) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.importAlice(alice)
        func relays(_ kind: MirrorClass) throws -> [String] {
          let status = try rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self)
          return status.entries.first { $0.kind == kind }?.relays.map(\.relay) ?? []
        }
        // Any client has an event fetched from there.
        let filter = #"{"authors":["\#(alice.publicKey)"],"kinds":[1]}"#
        _ = try rig.client.ask(
          "store.observe", #"{"filters":[\#(filter)],"relays":["\#(seen.url)"],"exclusiveRelays":true}"#)
        try awaitSoon("it is here", every: 100) { try isHere(known, rig) }
        try awaitSoon("its lists are known", every: 100) {
          try relays(.own).contains(old.url) && relays(.wraps).contains(oldInbox.url)
        }
        // The lists change; what is at the old relays comes there after that, and from elsewhere.
        let second = event(0, kind: 10_002, [["r", configured.url]])
        let secondInbox = event(0, kind: 10_050, [["relay", inbox.url]])
        for list in [second, secondInbox] { try put(list, on: configured, rig) }
        try awaitSoon("the new lists are here", every: 100) { try isHere(second, rig) && isHere(secondInbox, rig) }
        let (atOld, atSeen) = (event(7_000, [], "old"), event(7_000, [], "seen"))
        let (toOld, toNew, toConfigured) = (wrap("old"), wrap("new"), wrap("configured"))
        try put(atOld, on: old, rig)
        try put(atSeen, on: seen, rig)
        try put(toOld, on: oldInbox, rig)
        try put(toNew, on: inbox, rig)
        try put(toConfigured, on: configured, rig)
        try put(toConfigured, on: old, rig)
        try rig.kill("mirror")
        try awaitSoon(
          "what it wrote comes from a relay of a past list, and from one that sent its events", within: 60, every: 100
        ) {
          try isHere(atOld, rig) && isHere(atSeen, rig)
        }
        try awaitSoon("wraps come from its present and its past inbox", within: 60, every: 100) {
          try isHere(toOld, rig) && isHere(toNew, rig)
        }
        try awaitSoon("the fetch tells where it asked, and nowhere else for wraps", every: 100) {
          try relays(.own).contains(seen.url) && Set(relays(.wraps)) == [inbox.url, oldInbox.url]
        }
        #expect(try !isHere(toConfigured, rig))
      }
    }
  }
}
