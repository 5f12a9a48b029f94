import Addresses
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Our events at other people's relays: an indexer by other programmers, and inboxes that note what they get.
  @Suite(
    "Sending to those who are named",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct OutboxSendingTests {
    private let directory: TemporaryDirectory
    private let own: AnsweringRelay
    private let inbox: AnsweringRelay
    private let bob = SecretKey.generate()

    init() throws {
      directory = try TemporaryDirectory()
      own = try AnsweringRelay(directory, "own")
      inbox = try AnsweringRelay(directory, "inbox")
    }

    private func list(_ author: SecretKey, _ tags: [[String]], _ kind: UInt16 = EventKind.relayList) -> Event {
      UnsignedEvent(pubkey: author.publicKey, createdAt: WallClock.seconds - 100, kind: kind, tags: tags)
        .signed(by: author)
    }

    /// A Roost whose account `alice` writes to ``own``, with an indexer that has these events.
    private func run(indexed: [Event], _ body: (PlannerRig, Event) throws -> Void) throws {
      let indexer = try RealRelay(try file(indexed, "indexer"))
      try withRoost(OutboxReadingTests.layout([own.url], indexers: [indexer.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        _ = try SignerRig(roost: roost, client: rig.client).generate("alice")
        let mine = try rig.sign(10_002, [["r", own.url]])
        try publish(mine, rig)
        try body(rig, mine)
      }
    }

    private func file(_ events: [Event], _ name: String) throws -> String {
      let path = directory.path + "/\(name).jsonl"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(events.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), to: descriptor)
      Descriptors.close(descriptor)
      return path
    }

    @discardableResult
    private func publish(_ event: Event, _ rig: PlannerRig) throws -> Publication {
      let value = try JSONPayload.decode(JSONValue.self, from: event.json)
      return try rig.ask("plan.publish", PlanPublish(event: RawJSON(value)))
    }

    private func publication(_ event: Event, _ rig: PlannerRig) throws -> Publication? {
      let answer = try rig.client.call("plan.publications", #"{"ids":["\#(event.id)"]}"#)
      return try answer.parts.first.map { try JSONPayload.decode(Publication.self, from: $0.payload) }
    }

    @Test("A note reaches the inbox of a person whose list an indexer has, and then the author's list reaches it too")
    func notes() throws {
      try run(indexed: [list(bob, [["r", inbox.url, "read"], ["r", "wss://elsewhere.example", "write"]])]) {
        rig, mine in
        let note = try rig.sign(1, [["p", "\(bob.publicKey)"]])
        let accepted = try publish(note, rig)
        #expect(accepted.targets.map(\.relay) == [own.url], "it is accepted before anybody was asked: \(accepted)")
        try awaitSoon("the inbox has the note, and the list after it") {
          inbox.received == ["\(note.id)", "\(mine.id)"]
        }
        try awaitSoon("both relays have it") { try publication(note, rig)?.state == .confirmed }
        let targets = try #require(try publication(note, rig)).targets
        // In the order of their URLs, which have random ports.
        #expect(Set(targets.map(\.relay)) == [own.url, inbox.url])
        #expect(targets.first { $0.relay == inbox.url }?.why == "\(bob.publicKey.npub)'s list, for reading")
        let answer = try rig.sign(1, [["p", "\(bob.publicKey)"], ["t", "second"]])
        #expect(
          Set(try publish(answer, rig).targets.map(\.relay)) == [own.url, inbox.url], "his list is known by now")
        try awaitSoon("the inbox has the second note") { inbox.received.contains("\(answer.id)") }
        try awaitSoon("both have it") { try publication(answer, rig)?.state == .confirmed }
        #expect(inbox.received.count == 3 && inbox.received.count { $0 == "\(mine.id)" } == 1)
      }
    }

    @Test("9: a gift wrap goes to the list that only the recipient's own relay has, and nowhere else")
    func wraps() throws {
      let home = try RealRelay(try file([list(bob, [["relay", inbox.url]], EventKind.directMessageRelays)], "home"))
      try run(indexed: [list(bob, [["r", home.url, "write"]])]) { rig, _ in
        let key = SecretKey.generate()
        let wrap = UnsignedEvent(
          pubkey: key.publicKey, createdAt: WallClock.seconds, kind: 1_059, tags: [["p", "\(bob.publicKey)"]],
          content: "sealed"
        ).signed(by: key)
        #expect(try publish(wrap, rig).targets.map(\.relay) == [inbox.url])
        try awaitSoon("it has arrived") { inbox.received == ["\(wrap.id)"] }
        #expect(own.count(of: wrap) == 0)
        let stranger = SecretKey.generate()
        let lost = UnsignedEvent(
          pubkey: key.publicKey, createdAt: WallClock.seconds, kind: 1_059, tags: [["p", "\(stranger.publicKey)"]],
          content: "sealed"
        ).signed(by: key)
        #expect(throws: Refusal.self, "without a list of the recipient it is not sent") { try publish(lost, rig) }
        #expect(own.count(of: lost) == 0 && inbox.received.count == 1)
      }
    }

    @Test("An inbox that alice blocks in the part of her list that only her signer can read gets nothing")
    func blocked() throws {
      let theirs = list(bob, [["r", inbox.url]])
      try run(indexed: []) { rig, _ in
        #expect(try rig.client.call("store.publish", String(decoding: theirs.json, as: UTF8.self)).isResponse)
        let me = try rig.sign(1, []).pubkey
        let sealed = try rig.ask(
          "signer.nip44.encrypt",
          SignerCipher(account: "alice", peer: "\(me)", text: #"[["relay","\#(inbox.url)"],["relay","nonsense"],[]]"#),
          as: SignerText.self
        ).text
        let template = JSONValue.object([
          "kind": .integer(10_006), "tags": .array([]), "content": .string(sealed),
        ])
        let answer = try rig.ask("signer.sign", SignerSign(account: "alice", event: template), as: JSONValue.self)
        try publish(try Event(json: JSONPayload.encode(try #require(answer["event"]))), rig)
        let wanted = PlanRoute(
          event: .object([
            "kind": .integer(1), "tags": .array([.array([.string("p"), .string("\(bob.publicKey)")])]),
          ]))
        try awaitSoon("the private entry counts") {
          let route = try rig.ask("plan.route", wanted, as: Route.self)
          return route.skipped.contains { $0.relay == inbox.url && $0.why == ["blocked by alice's list (kind 10006)"] }
        }
        let note = try rig.sign(1, [["p", "\(bob.publicKey)"]])
        try publish(note, rig)
        try awaitSoon("it has gone where alice writes") { try publication(note, rig)?.state == .confirmed }
        #expect(inbox.received.isEmpty)
      }
    }
  }
}
