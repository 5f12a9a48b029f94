import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension LinkRig {
  /// Adds a contact, to whom sessions are written or not.
  @discardableResult
  func contact(_ key: PublicKey, _ name: String, sessions: Bool) throws -> LinkContact {
    var wanted = LinksContact(publicKey: "\(key)", name: name)
    wanted.sessions = sessions
    return try rig.ask("links.contact", wanted)
  }

  func posts(in conversation: String) throws -> [LinkRow] {
    try rows("links.show", LinksShow(conversation: conversation))
  }

  /// Posts into a session of this name with a contact.
  func post(_ url: String, to contact: String, session: String) throws -> SentLink {
    var wanted = LinksPost(to: contact, url: url)
    (wanted.session, wanted.waitMilliseconds) = (session, 20_000)
    return try rig.ask("links.post", wanted)
  }
}

extension ProcessTests {
  /// Links that are written in sessions (v2), for contacts to whom that is chosen.
  @Suite(
    "Sessions that are written", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkSessionWritingTests {
    @Test("A post to a contact with sessions makes one, and both post in it, each post once and with one notice")
    func exchange() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          try bob.follow()
          #expect(try alice.contact(bob.publicKey, "Bob", sessions: true).sessions == true)
          let first = try alice.post("https://example.com/1", note: "look", to: "bob")
          #expect(first.stage == .sent && first.session == "alice", "\(first)")
          #expect(Set(first.copies.map(\.recipient)) == ["\(alice.publicKey)", "\(bob.publicKey)"])
          try awaitSoon("the session is there", within: 30, every: 50) {
            // The session comes before its first post.
            try bob.conversations().first?.posts == 1
          }
          let row = try #require(try bob.conversations().first)
          #expect(row.id == first.conversation && row.name == "alice" && row.isSession == true)
          #expect(row.members == ["\(alice.publicKey)"] && row.unread == 1 && row.posts == 1)
          let post = try #require(try bob.posts(in: row.id).first)
          #expect(post.id == first.id && post.text == "look" && post.author == "\(alice.publicKey)" && post.isUnread)
          try awaitSoon("its notice comes") { try !bob.notices().isEmpty }
          let own = try #require(try alice.posts(in: row.id).first)
          #expect(own.id == first.id && own.isOwn && !own.isUnread && own.stage == .sent)
          #expect(try alice.conversations().map(\.contact) == ["Bob"])

          // Back into the session by its id, and by a contact of the other side.
          let back = try bob.post("https://example.com/2", to: row.id)
          #expect(back.stage == .sent && back.conversation == row.id && back.session == "alice")
          try awaitSoon("the answer is there", within: 30, every: 50) { try alice.posts(in: row.id).count == 2 }
          #expect(try alice.conversations().map(\.unread) == [1])
          try bob.contact(alice.publicKey, "Alice", sessions: true)
          #expect(try bob.post("https://example.com/3", to: "Alice").conversation == row.id)
          // Times have seconds: two sessions are not used in the same one.
          let now = WallClock.seconds
          try awaitSoon("the next second") { WallClock.seconds > now }
          // A session of another name is a new one, and the last one used from then on.
          let films = try alice.post("https://example.com/4", to: "Bob", session: "Films")
          #expect(films.session == "Films" && films.conversation != row.id)
          #expect(
            try alice.post("https://example.com/5", to: "Bob", session: " Films ").conversation == films.conversation)
          #expect(try alice.post("https://example.com/6", to: "Bob").conversation == films.conversation)
          try awaitSoon("all are there", within: 30, every: 50) {
            // Until the session is here it is refused.
            ((try? bob.posts(in: films.conversation)) ?? []).count == 3
          }
          #expect(try Set(bob.conversations().compactMap(\.name)) == ["alice", "Films"])
          try awaitSoon("the notices come") { try bob.notices().count == 4 }

          let reply = try #require(try bob.rig.refusal("links.reply", LinksReply(post: first.id, text: "nice")))
          #expect(reply.code == .badRequest && reply.message.contains("sessions have no replies"), "\(reply)")
          let message = try #require(try bob.rig.refusal("messages.send", MessagesSend(to: [row.id], text: "hello")))
          #expect(message.code == .badRequest && message.message.contains("messages do not go there"), "\(message)")
          // Without the choice it is the form between two keys again.
          try alice.contact(bob.publicKey, "Bob", sessions: false)
          let plain = try alice.post("https://example.com/7", to: "Bob")
          #expect(plain.session == nil && plain.conversation != row.id)
          var named = LinksPost(to: "Bob", url: "https://example.com/8")
          named.session = "Films"
          #expect(try alice.rig.refusal("links.post", named)?.message.contains("sessions are written") == true)
          // What is in memory is what the files have, and one's own copies are no refused wraps.
          let before = try alice.posts(in: films.conversation)
          try alice.rig.kill("link-feed")
          try awaitSoon("the sessions are read again", within: 60, every: 100) {
            (try? alice.posts(in: films.conversation)) == before
          }
          for rig in [alice, bob] { #expect(try rig.status().refused == 0) }
        }
      }
    }

    @Test("What is called off leaves no session, and a recipient without relays is refused as ever")
    func calledOff() throws {
      let relay = try RealRelay()
      let port = relay.url.split(separator: ":").last.map(String.init) ?? ""
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          try alice.contact(SecretKey.generate().publicKey, "Carol", sessions: true)
          let none = try #require(
            try alice.rig.refusal("links.post", LinksPost(to: "Carol", url: "https://example.com")))
          #expect(none.code == .noRelays && none.message.contains("kind 10050"), "\(none)")
          #expect(try alice.conversations().isEmpty)
          try alice.contact(bob.publicKey, "Bob", sessions: false)
          _ = try alice.post("https://example.com/first", to: "Bob")
          try alice.contact(bob.publicKey, "Bob", sessions: true)
          relay.kill()
          var wanted = LinksPost(to: "Bob", url: "https://example.com/off")
          (wanted.waitMilliseconds, wanted.givesUp) = (1_500, true)
          let off = try #require(try alice.rig.refusal("links.post", wanted))
          #expect(off.code == .notSent && off.outcome == .notStarted, "\(off)")
          #expect(try alice.conversations().count == 1)
          // Two that wait go into one session.
          let queued = try ["a", "b"].map { try alice.post("https://example.com/\($0)", to: "Bob", wait: 300) }
          #expect(queued.allSatisfy { $0.stage == .queued || $0.stage == .kept } && queued[0].id != queued[1].id)
          #expect(queued[0].conversation == queued[1].conversation)
          let again = try RealRelay("--port", port)
          try awaitSoon("both are sent", within: 60, every: 200) {
            try alice.posts(in: queued[0].conversation).map(\.stage) == [.sent, .sent]
          }
          try awaitSoon("both are there", within: 60, every: 100) {
            // Until the session is here it is refused.
            ((try? bob.posts(in: queued[0].conversation)) ?? []).count == 2
          }
          #expect(try bob.conversations().count == 2)
          withExtendedLifetime(again) {}
        }
      }
    }

    /// The payload of a rumor by which the peer makes a session.
    private func creation(_ id: String, _ kind: String, _ members: [PublicKey]) -> String {
      let keys = members.map { "\"\($0)\"" }.joined(separator: ",")
      return #"{"conversation_id":"\#(id)","root_id":"r","kind":"\#(kind)","session_name":"\#(id)","#
        + #""member_pubkeys":[\#(keys)]}"#
    }

    @Test("What is written nostr-sdk opens, each layer and member as the form has it, one wrap for each member")
    func peers() throws {
      let (relay, peer) = (try RealRelay(), try LinkPeer())
      try peer.publishInboxes([relay.url])
      try LinkRig.run("alice", [relay.url]) { alice in
        let key = alice.publicKey
        try alice.contact(peer.sdk, "Pat", sessions: true)
        let sent = try alice.post("https://example.com/\u{E9}", note: "caf\u{E9} \"\u{1F426}\" </a>", to: "Pat")
        #expect(sent.stage == .sent, "\(sent)")
        let shown = try #require(try alice.posts(in: sent.conversation).first)
        var copies = try peer.sessions(relay.url, alice.key, 4)
        #expect(copies.count == 4 && copies.allSatisfy { $0.pubkey == "\(key)" && $0.session == sent.conversation })
        for kind in ["session_create", "root"] {
          let some = copies.filter { $0.kind == kind }
          #expect(
            Set(some.map(\.to)) == ["\(key)", "\(peer.sdk)"] && Set(some.map(\.id)).count == 1 && some.count == 2)
        }
        let creation = try #require(copies.first { $0.kind == "session_create" })
        #expect(creation.name == "alice" && creation.members.map { Set($0) } == ["\(key)", "\(peer.sdk)"])
        let root = try #require(copies.first { $0.kind == "root" })
        #expect(root.id == sent.id && root.url == shown.url && root.note == shown.text)

        // Sessions of others: all members get it, those without relays do not hinder.
        let stranger = SecretKey.generate().publicKey
        for (id, members) in [("three", [key, peer.sdk, peer.monstr]), ("lost", [key, peer.sdk, stranger])] {
          try peer.send([peer.untagged(to: key, self.creation(id, "session_create", members)).wrap], [relay.url])
          try awaitSoon("the session is there", within: 30, every: 50) {
            try alice.conversations().contains { $0.id == id }
          }
        }
        let three = try alice.post("https://example.com/three", to: "three")
        #expect(three.stage == .sent && three.copies.count == 3, "\(three)")
        copies = try peer.sessions(relay.url, alice.key, 7).filter { $0.id == three.id }
        #expect(Set(copies.map(\.to)) == ["\(key)", "\(peer.sdk)", "\(peer.monstr)"] && copies.count == 3)
        let lost = try alice.post("https://example.com/lost", to: "lost")
        #expect(lost.stage == .partly && lost.copies.first { $0.recipient == "\(stranger)" }?.stage == .failed)
        #expect(lost.copies.first { $0.recipient == "\(peer.sdk)" }?.stage == .sent, "\(lost)")
        // Who makes a session chooses its id: a contact of that name comes first.
        try alice.contact(peer.monstr, "Lost", sessions: false)
        let named = try alice.post("https://example.com/named", to: "lost")
        #expect(Set(named.copies.map(\.recipient)) == ["\(key)", "\(peer.monstr)"], "\(named)")
        // The creator takes this account out.
        let now = WallClock.seconds + 2
        let out = try peer.untagged(
          to: key, self.creation("three", "session_members", [peer.sdk, peer.monstr]), at: now)
        try peer.send([out.wrap], [relay.url])
        var refusal: Refusal?
        try awaitSoon("the session takes no more", within: 30, every: 100) {
          refusal = try alice.rig.refusal("links.post", LinksPost(to: "three", url: "https://example.com/out"))
          return refusal != nil
        }
        #expect(refusal?.code == .badRequest && refusal?.message.contains("not among its members") == true)
      }
    }

    /// Whom a post stops at, in the order of its steps: as in ``LinkDeathTests``.
    private static let steps = ["signer", "outbox-planner", "event-store", "relays"]

    @Test("Whatever dies while a session is made, it and its post are at the peer once", .timeLimit(.minutes(8)))
    func deaths() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          try bob.follow()
          try alice.contact(bob.publicKey, "Bob", sessions: true)
          var sent: [SentLink] = []
          func ask(_ number: Int) throws -> UInt64 {
            var wanted = LinksPost(to: "Bob", url: "https://example.com/\(number)", note: "number \(number)")
            (wanted.session, wanted.token, wanted.waitMilliseconds) = ("session \(number)", "post \(number)", 20_000)
            return try alice.client.ask("links.post", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
          }
          func post(_ death: () throws -> Void) throws {
            let number = sent.count + 1
            let id = try ask(number)
            try death()
            _ = try alice.client.answer(to: id, within: 90)
            try awaitSoon("post \(number) is sent", within: 90, every: 100) {
              let answer = try alice.client.answer(to: try ask(number), within: 60)
              guard answer.refusal == nil else { return false }
              let one = try JSONPayload.decode(SentLink.self, from: answer.terminal.payload)
              if one.stage == .sent { sent.append(one) }
              return one.stage == .sent
            }
          }
          for step in Self.steps {
            try post { try alice.killLinkFeed(at: step) }
          }
          for moment: UInt32 in [1, 8, 16, 25, 40] {
            try post {
              usleep(moment * 1_000)
              try alice.rig.kill("link-feed")
            }
          }
          let count = sent.count
          #expect(count == 9 && Set(sent.map(\.conversation)).count == count && Set(sent.map(\.id)).count == count)
          try awaitSoon("all sessions are there", within: 60, every: 100) {
            try bob.conversations().map(\.posts).reduce(0, +) >= count
          }
          let rows = try bob.conversations()
          #expect(Set(rows.map(\.id)) == Set(sent.map(\.conversation)) && rows.count == count)
          #expect(rows.allSatisfy { $0.posts == 1 && $0.unread == 1 })
          #expect(Set(rows.compactMap(\.name)) == Set((1...count).map { "session \($0)" }))
          // A wrap for the session and one for its post, and not more.
          let wraps = try bob.client.call(
            "store.query", ##"{"filters":[{"kinds":[1059],"#p":["\##(bob.publicKey)"]}]}"##)
          #expect(wraps.parts.count == 2 * count)
          try awaitSoon("the notices come") { try bob.notices().count >= count }
          #expect(try bob.notices().count == count)
          #expect(try alice.conversations().count == count)
        }
      }
    }
  }
}
