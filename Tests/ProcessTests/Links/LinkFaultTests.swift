import Contracts
import Cryptography
import Frames
import Glibc
import LinkAddresses
import Linkstr
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What goes wrong around links: clocks, a disk, strangers.
  @Suite(
    "Links where something is wrong",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkFaultTests {
    private static let day: Int64 = 86_400

    /// A gift wrap as an author makes it whose clock shows this time: rumor, seal and wrap are dated by it.
    private func wrap(
      _ rumor: UnsignedEvent, to recipient: PublicKey, by key: SecretKey, clock: Int64
    ) throws -> Event {
      var random = SystemRandomNumberGenerator()
      let seal = try Seal(rumor, for: recipient, by: key, now: clock, using: &random)
      return try GiftWrap(seal, for: recipient, now: clock, using: &random).event
    }

    private func draft(
      _ note: String, to recipient: PublicKey, by key: SecretKey, at clock: Int64
    ) throws -> LinkDraft {
      let url = try LinkURL("https://example.com/\(note.count)")
      var random = SystemRandomNumberGenerator()
      return try LinkDraft.post(url, note: note, to: recipient, by: key.publicKey, at: clock, using: &random)
    }

    private func text(_ event: Event) -> String { String(decoding: event.json, as: UTF8.self) }

    private func fault(_ rig: LinkRig) throws -> String? {
      try rig.rig.ask("links.status", NoArguments(), as: LinksStatus.self).fault
    }

    // MARK: Clocks

    @Test("Posts of peers whose clocks are a day ahead or behind are shown once, by their dates, with the notice rule")
    func clocksOfPeers() throws {
      let (relay, peer) = (try RealRelay(), try LinkPeer())
      try LinkRig.run("alice", [relay.url]) { alice in
        try alice.follow()
        let (bob, now) = (SecretKey.generate(), WallClock.seconds)
        // The last one is older than a day, by its author's clock.
        let clocks = [
          ("ahead", now + Self.day), ("right", now), ("behind", now - Self.day + 3_600), ("late", now - Self.day - 60),
        ]
        var drafts: [LinkDraft] = []
        for (name, clock) in clocks.shuffled() {
          let made = try draft(name, to: alice.publicKey, by: bob, at: clock)
          drafts.append(made)
          try peer.send([text(wrap(made.rumor, to: alice.publicKey, by: bob, clock: clock))], [relay.url])
          try alice.await(wraps: drafts.count)
        }
        let rows = try alice.await(clocks.count, postsWith: bob.publicKey)
        #expect(rows.map(\.text) == clocks.map(\.0) && rows.map(\.at) == clocks.map(\.1), "the newest first")
        #expect(rows.allSatisfy { $0.isUnread })
        try awaitSoon("notices come") { try alice.notices().count == 3 }
        #expect(try Set(alice.notices().map(\.body)) == ["ahead", "right", "behind"])
        // A post stays before its replies, also where its author is ahead of who replies.
        let ahead = try #require(drafts.first { $0.rumor.createdAt == now + Self.day })
        let reply = try LinkDraft.reply(
          "so soon", to: ahead.rumor.id, with: alice.publicKey, by: bob.publicKey, at: now)
        try peer.send([text(wrap(reply.rumor, to: alice.publicKey, by: bob, clock: now))], [relay.url])
        try alice.await(wraps: clocks.count + 1)
        #expect(try alice.thread("\(ahead.rumor.id)").map(\.text) == ["ahead", "so soon"])
        #expect(try alice.conversations().map(\.posts) == [clocks.count])
      }
    }

    @Test("While link-feed's own clock is a day off everything is found, and nothing is doubled when it is set right")
    func ownClock() throws {
      let (relay, faults) = (try RealRelay(), try Faults())
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url], faults: faults) { alice in
          try alice.follow()
          var sent: [String] = []
          for (name, ahead) in [("right", 0), ("ahead", Self.day), ("behind", -Self.day), ("right again", 0)] {
            faults.setClock(ahead: Int32(ahead))
            if name == "behind" { try alice.rig.kill("link-feed") }
            sent.append(try bob.post("https://example.com/\(sent.count)", note: name, to: alice.publicKey.npub).id)
            #expect(try alice.await(sent.count, postsWith: bob.publicKey).count == sent.count)
            let own = try alice.post("https://example.com/own", note: name, to: bob.publicKey.npub)
            #expect(own.stage == .sent)
            try awaitSoon("it is at bob's", within: 30, every: 50) {
              try bob.posts(with: alice.publicKey).contains { $0.id == own.id }
            }
            let row = try #require(try alice.posts(with: bob.publicKey).first { $0.id == own.id })
            #expect(abs(row.at - WallClock.seconds - ahead) < 60, "what is written has the date of this clock")
            sent.append(own.id)
          }
          // By a clock that is a day ahead, a post of now is a day old.
          try awaitSoon("notices come") { try alice.notices().count >= 3 }
          let status = try alice.status()
          try alice.rig.kill("link-feed")
          #expect(try Set(alice.posts(with: bob.publicKey).map(\.id)) == Set(sent))
          #expect(try alice.posts(with: bob.publicKey).count == sent.count)
          #expect(try bob.posts(with: alice.publicKey).count == sent.count)
          #expect(try alice.status().wraps == status.wraps)
          #expect(try alice.notices().map(\.body) == ["right", "behind", "right again"])
        }
      }
    }

    // MARK: The disk

    @Test("On a full disk posts are refused, wraps wait, and both go on by themselves when there is room, once")
    func fullDisk() throws {
      let (relay, faults) = (try RealRelay(), try Faults())
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url], faults: faults) { alice in
          // However the test ends, the worker can write when it is stopped.
          defer { faults.end() }
          try alice.follow()
          try bob.follow()
          _ = try alice.post("https://example.com/first", to: bob.publicKey.npub)
          _ = try bob.post("https://example.com/first", note: "first", to: alice.publicKey.npub)
          _ = try alice.await(2, postsWith: bob.publicKey)
          try awaitSoon("its notice comes") { try alice.notices().count == 1 }
          let (process, wraps) = (try alice.rig.roost.worker("link-feed", alice.client).pid, try alice.status().wraps)
          #expect(try fault(alice) == nil)

          faults.fail(.databaseWrite, with: ENOSPC)
          _ = try bob.post("https://example.com/second", note: "second", to: alice.publicKey.npub)
          try awaitSoon("the status says it", every: 50) { try fault(alice) != nil }
          #expect(try fault(alice)?.contains("full") == true)
          var wanted = LinksPost(to: bob.publicKey.npub, url: "https://example.com/refused", note: "refused")
          (wanted.token, wanted.waitMilliseconds) = ("once", 20_000)
          for _ in 0..<2 {
            let refusal = try #require(try alice.rig.refusal("links.post", wanted))
            #expect(refusal.code == .diskFull && refusal.outcome == .notStarted, "\(refusal)")
          }
          #expect(faults.hits(.databaseWrite) > 0)
          #expect(try alice.status().wraps == wraps && alice.notices().count == 1, "the wrap waits")
          #expect(try alice.posts(with: bob.publicKey).count == 2, "what is kept can be read")

          faults.end()
          #expect(try alice.await(3, postsWith: bob.publicKey).first?.text == "second")
          try awaitSoon("the status is well") { try fault(alice) == nil }
          let sent = try alice.rig.ask("links.post", wanted, as: SentLink.self)
          #expect(sent.stage == .sent)
          #expect(try alice.rig.ask("links.post", wanted, as: SentLink.self).id == sent.id)
          #expect(try bob.await(4, postsWith: alice.publicKey).count == 4)
          #expect(try bob.notices().count == 2 && alice.posts(with: bob.publicKey).count == 4)
          try awaitSoon("its notice comes") { try alice.notices().count == 2 }
          #expect(try alice.notices().map(\.body) == ["first", "second"])
          #expect(try alice.rig.roost.worker("link-feed", alice.client).pid == process, "without a restart")
        }
      }
    }

    // MARK: Strangers

    @Test(
      "A post overtakes thousands that came before it, and after a death meanwhile each is here once",
      .timeLimit(.minutes(4)))
    func overtaking() throws {
      let (directory, relay, peer) = (try TemporaryDirectory(), try RealRelay(), try LinkPeer())
      let (key, bob, count) = (SecretKey.generate(), SecretKey.generate(), 8_000)
      let path = directory.path + "/history.jsonl"
      let history = try peer.history(to: key.publicKey, count, path: path, width: 330)
      try withRoost(LinkRig.layout([relay.url])) { roost in
        let alice = LinkRig(rig: PlannerRig(roost: roost, client: try roost.client()), key: key, name: "alice")
        try roost.awaitWorker("link-feed", "is ready", alice.client) { $0.state == "ready" }
        let importing = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["import", path, "--socket", roost.socket])
        #expect(try importing.waitForEnd(within: 60) == .exited(0))
        try alice.follow()
        try alice.account(key, "alice")
        var posts: Set<String> = []
        func post() throws {
          let now = WallClock.seconds
          let made = try draft("number \(posts.count)", to: key.publicKey, by: bob, at: now)
          let event = try wrap(made.rumor, to: key.publicKey, by: bob, clock: now)
          #expect(try alice.client.call("store.publish", text(event)).isResponse)
          posts.insert("\(made.rumor.id)")
        }
        var (sessions, random) = ([String](), SystemRandomNumberGenerator())
        func session() throws {
          let (id, now) = (LinkDraft.randomID(using: &random), WallClock.seconds)
          let members = [bob.publicKey, key.publicKey]
          let url = try LinkURL("https://example.com/session")
          let drafts = [
            try LinkDraft.creation(of: id, name: id, members: members, by: bob.publicKey, at: now, using: &random),
            try LinkDraft.post(url, note: id, in: id, of: members, by: bob.publicKey, at: now),
          ]
          for draft in drafts { try alice.give(draft.rumor, by: bob) }
          sessions.append(id)
        }
        try alice.await(wraps: 1)
        try awaitSoon("a post overtakes", within: 60, every: 50) {
          try post()
          return try !alice.posts(with: bob.publicKey).isEmpty
        }
        let wraps = try alice.status().wraps
        #expect(wraps < count, "it was not the turn of all before it")
        try alice.rig.kill("link-feed")
        try post()
        // What creates them is in both lanes, and does not overtake.
        try awaitSoon("what came before is opened", within: 120, every: 50) {
          try session()
          return try alice.status().wraps >= count
        }
        let all = count + posts.count + 2 * sessions.count
        try alice.await(wraps: all, within: 120)
        for id in sessions { #expect(try alice.posts(in: id).map(\.text) == [id]) }
        #expect(try Set(alice.await(posts.count, postsWith: bob.publicKey).map(\.id)) == posts)
        for (author, expected) in history.counts {
          let rows = try alice.pages(with: author, of: 500)
          #expect(rows.count == expected && Set(rows.map(\.id)).count == expected)
        }
        let status = try alice.status()
        #expect(status.wraps == all && status.refused == 0, "\(status)")
        let bodies = try alice.notices().map(\.body)
        #expect(Set(bodies).count == bodies.count, "no notice comes twice")
      }
    }

    @Test(
      "A payload whose member has a wrong type, whichever, and a wrap of 256 KiB are refused; the good one is shown")
    func wrongTypes() throws {
      let relay = try RealRelay()
      try LinkRig.run("alice", [relay.url]) { alice in
        let (mallory, now) = (SecretKey.generate(), WallClock.seconds)
        let good = [
          "conversation_id": #""c""#, "root_id": #""r""#, "kind": #""root""#, "url": #""https://example.com""#,
          "note": #""n""#, "timestamp": "1", "session_name": #""s""#, "member_pubkeys": #"["a"]"#, "emoji": #""+""#,
          "reaction_active": "true",
        ]
        func content(_ members: [String: String]) -> String {
          "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        }
        func isRight(_ name: String, _ value: String) -> Bool {
          switch name {
          case "timestamp": value == "7"
          case "member_pubkeys": value == "[]"
          case "reaction_active": value == "false"
          default: value == #""""#
          }
        }
        let values = ["7", "1.5", "false", "[]", "[7]", "{}", #""""#]
        var bad = good.keys.sorted().flatMap { name in
          values.filter { !isRight(name, $0) }.map { value in content(good.merging([name: value]) { $1 }) }
        }
        bad += ["null", "7", "true", #""text""#, "[]", "", "{", content(good) + "x"]
        func publish(_ event: Event) throws {
          #expect(try alice.client.call("store.publish", text(event)).isResponse)
        }
        func send(_ content: String) throws {
          let rumor = UnsignedEvent(
            pubkey: mallory.publicKey, createdAt: now, kind: LinkPayload.rumorKind,
            tags: [["p", "\(alice.publicKey)"]], content: content)
          try publish(wrap(rumor, to: alice.publicKey, by: mallory, clock: now))
        }
        for content in bad { try send(content) }
        for count in [256 << 10, (256 << 10) + 1] {
          let once = SecretKey.generate()
          try publish(
            UnsignedEvent(
              pubkey: once.publicKey, createdAt: now, kind: GiftWrap.kind, tags: [["p", "\(alice.publicKey)"]],
              content: String(repeating: "A", count: count)
            ).signed(by: once))
        }
        try send(content(good))
        try alice.await(wraps: bad.count + 3)
        let status = try alice.status()
        #expect(status.wraps == bad.count + 3 && status.refused == bad.count + 2, "\(status)")
        #expect(try alice.posts(with: mallory.publicKey).map(\.text) == ["n"])
      }
    }
  }
}
