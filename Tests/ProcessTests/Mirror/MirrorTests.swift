import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The mirror with real workers, and relays by other people.
  @Suite("The mirror", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct MirrorTests {
    private static func layout(_ relays: [String]) -> Layout {
      var layout = PlannerRig.layout(relays)
      layout.workers.append(
        Layout.Worker(
          name: "mirror",
          keys: [
            "role": "\"mirror\"", "program": "\"\(SpawnedProcess.builtProgram("mirror"))\"", "sandbox": "\"try\"",
          ]))
      return layout
    }

    private func event(
      _ author: SecretKey, _ number: Int, _ tags: [[String]] = [], kind: UInt16 = 1
    ) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 1_000 * Int64(number) - 100, kind: kind, tags: tags,
        content: "\(number)"
      ).signed(by: author)
    }

    private func status(_ rig: PlannerRig) throws -> [MirrorClass: MirrorStatus.Entry] {
      let status = try rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self)
      return Dictionary(uniqueKeysWithValues: status.entries.map { ($0.kind, $0) })
    }

    @Test("Without any client all that an account wrote, and all that names it, is fetched; the figure says so")
    func fetched() throws {
      let (alice, bob, carol) = (SecretKey.generate(), SecretKey.generate(), SecretKey.generate())
      let me = ["p", "\(alice.publicKey)"]
      let own = (0..<650).map { event(alice, $0) }
      let naming = (0..<300).map { event(bob, $0, [me], kind: $0 % 2 == 0 ? 1 : 7) }
      let others = (0..<50).map { event(carol, $0) }
      let follows = event(alice, 1, [["p", "\(carol.publicKey)"]], kind: 3)
      let wraps = (0..<20).map { event(SecretKey.generate(), $0, [me], kind: 1_059) }
      let directory = try TemporaryDirectory()
      // Each has some of it, and some twice.
      let first = try RealRelay(
        Array(own.prefix(400)) + Array(naming.suffix(200)) + wraps + others + [follows], in: directory, "1")
      let second = try RealRelay(Array(own.suffix(300)) + Array(naming.prefix(150)), in: directory, "2")
      try withRoost(Self.layout([first.url, second.url, "ws://127.0.0.1:1"])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.importAlice(alice)
        try awaitSoon("everything is here") {
          let status = try status(rig)
          return status[.own]?.events == 651 && status[.named]?.events == 300 && status[.wraps]?.events == 20
            && status[.follows]?.events == 50
        }
        try awaitSoon("two of three relays have sent everything, of what it wrote and of what names it") {
          let status = try status(rig)
          return [.own, .named].allSatisfy { status[$0]?.completeCount == 2 && status[$0]?.isFetching == false }
        }
        let entry = try #require(try status(rig)[.own])
        #expect(entry.account == "alice" && entry.relays.count == 3)
        let dead = try #require(entry.relays.first { $0.relay == "ws://127.0.0.1:1" })
        #expect(dead.since == nil && dead.reason?.isEmpty == false)
        let late = UnsignedEvent(
          pubkey: alice.publicKey, createdAt: WallClock.seconds, kind: 1, tags: [], content: "from elsewhere"
        ).signed(by: alice)
        let value = try JSONPayload.decode(JSONValue.self, from: late.json)
        _ = try rig.ask(
          "relay.publish", RelayPublish(relay: second.url, event: RawJSON(value), isForeign: false),
          as: RelayPublishResult.self)
        try awaitSoon("what is new comes too") { try status(rig)[.own]?.events == 652 }
        try rig.kill("mirror")
        try awaitSoon("it knows the same after its death") { try status(rig)[.own]?.completeCount == 2 }
      }
    }

    private func held(_ rig: PlannerRig, _ relay: String, _ events: [Event]) throws -> Int {
      var count = 0
      for start in stride(from: 0, to: events.count, by: 100) {
        let filter = Filter(ids: events[start..<min(start + 100, events.count)].map(\.id))
        let json = String(decoding: filter.json, as: UTF8.self)
        let answer = try rig.client.call("relay.request", "{\"relay\":\"\(relay)\",\"filters\":[\(json)]}")
        count += answer.parts.count
      }
      return count
    }

    @Test("Relays are sent what they lack, once; what must not be spread stays; a refusal ends it; deaths lose nothing")
    func repaired() throws {
      let alice = SecretKey.generate()
      let deletion = event(alice, 3, [["e", String(repeating: "0", count: 64)]], kind: 5)
      let own = (0..<300).map { event(alice, $0) } + [deletion]
      let staying = [event(alice, 5, kind: 4), event(alice, 6, [["h", "group"]], kind: 9)]
      let directory = try TemporaryDirectory()
      let full = try RealRelay(own + staying, in: directory, "full", cap: 260)
      // Its cap holds for reconciliations too: it names older events as lacking that it has.
      let partial = try RealRelay(Array(own.prefix(20)) + Array(own.suffix(260)), in: directory, "partial", cap: 260)
      let empty = try NostrRelay()
      let refusing = try AnsweringRelay(directory, "refusing")
      try refusing.answer("false blocked: you are not on my list")
      try withRoost(Self.layout([full.url, partial.url, empty.url, refusing.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.importAlice(alice)
        func copies() throws -> CopyStatus {
          try #require(rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self).copies.first)
        }
        func place(_ url: String) throws -> CopyStatus.Relay? {
          let status = try rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self)
          // After a start the accounts are not known at once.
          return status.copies.first?.relays.first { $0.relay == url }
        }
        // Without being asked: the account is new, so all its relays are.
        try awaitSoon("the first relay has taken what it lacked") { try place(partial.url)?.taken == 21 }
        try rig.kill("mirror")
        try awaitSoon("the others have too") { try place(empty.url)?.taken == 301 && copies().endedAt != nil }
        let status = try copies()
        #expect(status.events == 301)
        #expect(status.copies == [0, 0, 0, 301, 0], "of four that were compared, one takes nothing")
        let left = try #require(try place(refusing.url))
        #expect(left.refused == 16 && left.left == 285 && left.open == 0)
        #expect(try held(rig, empty.url, own) == 301 && held(rig, partial.url, Array(own[20..<41])) == 21)
        #expect(try held(rig, empty.url, staying) == 0 && held(rig, partial.url, staying) == 0)
        // Again: nothing is sent.
        let sentBefore = refusing.received.count
        let answer = try rig.client.call("mirror.scrub", "{}")
        #expect(try JSONPayload.decode(StoreCount.self, from: answer.terminal.payload).count == 0)
        #expect(answer.parts.count == 4)
        #expect(refusing.received.count == sentBefore)
        #expect(try copies().copies == status.copies)
        // A person's own word: what was left goes out now that the relay takes it.
        try refusing.answer("true")
        let pushed = try rig.client.call("mirror.scrub", #"{"relay":"\#(refusing.url)"}"#)
        #expect(try JSONPayload.decode(StoreCount.self, from: pushed.terminal.payload).count == 285)
        let note = try rig.ask("mirror.copies", MirrorCopies(id: "\(own[30].id)"), as: EventCopies.self)
        #expect(note.relays.first { $0.relay == partial.url }?.state == .held && note.exception == nil)
        let message = try rig.ask("mirror.copies", MirrorCopies(id: "\(staying[0].id)"), as: EventCopies.self)
        #expect(message.exception?.contains("direct message") == true)
        let output = try rig.command("mirror", "status").output
        #expect(output.contains("Copies of what alice wrote: all 301 events have 3 or more living copies"), "\(output)")
      }
    }
  }
}
