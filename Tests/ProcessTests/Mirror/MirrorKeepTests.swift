import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What the mirror keeps within bounds, and by filters of the configuration, with relays by other people.
  @Suite("The mirror's bounds", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct MirrorKeepTests {
    private static func layout(
      _ relays: [String], _ keys: [String: String] = [:], keeps: [String: [String: String]] = [:]
    ) -> Layout {
      var layout = PlannerRig.layout(relays)
      var mirror = Layout.Worker(
        name: "mirror",
        keys: [
          "role": "\"mirror\"", "program": "\"\(SpawnedProcess.builtProgram("mirror"))\"", "sandbox": "\"try\"",
        ].merging(keys) { _, new in new })
      for (name, keep) in keeps { mirror.tables["keep.\(name)"] = keep }
      layout.workers.append(mirror)
      return layout
    }

    private func event(
      _ author: SecretKey, _ number: Int, _ tags: [[String]] = [], kind: UInt16 = 1, byteCount: Int = 0
    ) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 500 * Int64(number) - 100, kind: kind, tags: tags,
        content: "\(number) " + String(repeating: "x", count: byteCount)
      ).signed(by: author)
    }

    private func status(_ rig: PlannerRig) throws -> MirrorStatus {
      try rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self)
    }

    private func seq(_ rig: PlannerRig) throws -> Int64 {
      try rig.ask("store.status", NoArguments(), as: StoreStatus.self).seq
    }

    private func count(_ rig: PlannerRig, _ filter: Filter) throws -> StoreCount {
      let json = String(decoding: filter.json, as: UTF8.self)
      let answer = try rig.client.call("store.count", #"{"filters":[\#(json)],"bytes":true}"#)
      return try JSONPayload.decode(StoreCount.self, from: answer.terminal.payload)
    }

    @Test(
      "A class full in mid-fetch keeps the newest and says so; it is not fetched again, after a start neither")
    func bound() throws {
      let (alice, friend) = (SecretKey.generate(), SecretKey.generate())
      let me = ["p", "\(alice.publicKey)"]
      let own = (0..<250).map { event(alice, 3 * $0) }
      let follows = event(alice, 1, [["p", "\(friend.publicKey)"]], kind: 3)
      // Forty megabytes, where four may be.
      let strangers = (0..<4).map { _ in SecretKey.generate() }
      let naming = (0..<4_000).map { event(strangers[$0 % 4], $0, [me], kind: 7, byteCount: 10_000) }
      let friendly = event(friend, 200, [me], kind: 7)
      let directory = try TemporaryDirectory()
      let source = try RealRelay(own + naming + [follows, friendly], in: directory, "source", cap: 100)
      let layout = Self.layout([source.url], ["keep-bytes-named": "\"4MiB\"", "scrub": "\"0s\""])
      try withRoost(layout) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.importAlice(alice)
        func bound() throws -> MirrorStatus.Bound? {
          return try status(rig).bounds.first { $0.kind == .named }
        }
        try awaitSoon("it is full", within: 90, every: 250) { try bound()?.since != nil }
        try awaitSoon("what is newer than its floor is here, and all of one's own", within: 90, every: 250) {
          let entries = try status(rig).entries
          let (one, other) = (entries.first { $0.kind == .own }, entries.first { $0.kind == .named })
          return one?.completeCount == 1 && other?.completeCount == 1 && other?.isFetching == false
            && other?.end == .complete
        }
        let letter = try #require(TagLetter("p"))
        let filter = Filter(kinds: [7], tags: [letter: [TagValue("\(alice.publicKey)")]])
        // What was on its way when the fetch ended comes after the removal, and goes at the next count.
        try awaitSoon("it is within its bound", within: 90, every: 250) {
          return try #require(count(rig, filter).bytes) <= 4 << 20
        }
        let full = try #require(try bound())
        let since = try #require(full.since)
        #expect(try count(rig, Filter(authors: [alice.publicKey])).count == 251)
        let held = try count(rig, filter)
        #expect(held.count > 250)
        let newer = naming.filter { $0.createdAt >= since }
        #expect(try count(rig, Filter(ids: newer.map(\.id))).count == newer.count, "no gap above the floor")
        let stored = try seq(rig)
        #expect(stored < 4_000, "it does not fetch everything first, and then remove it: \(stored)")
        let entry = try #require(try status(rig).entries.first { $0.kind == .own })
        #expect(entry.relays.first?.since == 0, "one's own is complete from the beginning")
        let output = try rig.command("mirror", "status").output
        #expect(output.contains("names you: full: ") && output.contains(" of 4.0 MiB; what is older than"), "\(output)")
        // What is new is asked for three days back, which is further than the floor.
        #expect(since > WallClock.seconds - 3 * 86_400)
        try rig.kill("mirror")
        try awaitSoon("it was fetched again, or compared", within: 90, every: 250) {
          let other = try status(rig).entries.first { $0.kind == .named }
          return other?.end == .complete && other?.isFetching == false
        }
        #expect(try seq(rig) == stored && bound()?.since == since)
        #expect(try count(rig, filter).count == held.count)
      }
    }

    @Test(
      "A filter is fetched without an account, from its author's relays or from those it names")
    func kept() throws {
      let (author, writer) = (SecretKey.generate(), SecretKey.generate())
      let directory = try TemporaryDirectory()
      let notes = (0..<130).map { event(author, $0) }
      let others = (0..<20).map { event(author, $0, kind: 7) }
      let articles = (0..<40).map { event(writer, $0, [["d", "\($0)"]], kind: 30_023) }
      let outbox = try RealRelay(notes + others, in: directory, "outbox", cap: 100)
      let given = try RealRelay(articles + [event(writer, 1)], in: directory, "given", cap: 100)
      let list = event(author, 0, [["r", outbox.url, "write"]], kind: 10_002)
      let configured = try RealRelay([list], in: directory, "configured", cap: 100)
      var layout = Self.layout(
        [configured.url],
        keeps: [
          "notes": ["filter": #"'{"authors":["\#(author.publicKey)"],"kinds":[1]}'"#],
          "articles": [
            "filter": ##"'{"authors":["\##(writer.publicKey)"],"kinds":[30023],"since":1000}'"##,
            "relays": "[\"\(given.url)\"]",
            "bytes": "\"64MiB\"",
          ],
        ])
      for place in layout.workers.indices where layout.workers[place].name == "outbox-planner" {
        layout.workers[place].keys["allow-private-relays"] = "true"
        layout.workers[place].keys["indexers"] = "[\"\(configured.url)\"]"
      }
      try withRoost(layout) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        func entry(_ name: String) throws -> MirrorStatus.Entry? {
          try status(rig).entries.first { $0.name == name }
        }
        try awaitSoon("both are here", every: 250) {
          try entry("notes")?.events == 130 && entry("articles")?.events == 40
        }
        try awaitSoon("it is known that this is everything", every: 250) {
          try entry("notes")?.completeCount ?? 0 >= 1 && entry("articles")?.completeCount == 1
        }
        let notes = try #require(try entry("notes"))
        #expect(notes.account == nil && notes.kind == .keep && notes.relays.contains { $0.relay == outbox.url })
        let articles = try #require(try entry("articles"))
        #expect(articles.relays.map(\.relay) == [given.url], "only those it names")
        #expect(try count(rig, Filter(kinds: [7])).count == 0)
        #expect(try count(rig, Filter(authors: [writer.publicKey])).count == 40)
        let bounds = try status(rig).bounds
        #expect(bounds.contains { $0.name == "articles" && $0.byteMaximum == 64 << 20 && $0.since == nil })
        #expect(!bounds.contains { $0.name == "notes" })
        let output = try rig.command("mirror", "status").output
        #expect(output.contains("articles") && output.contains("kept"), "\(output)")
      }
    }
  }
}
