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
  /// Links between two Roosts over two relays of nostr-sdk, one of which wants to know who reads.
  @Suite("Links", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkFeedTests {
    @Test("A post and its replies go both ways over two relays, each once, and what is read is read")
    func exchange() throws {
      let (open, shut) = (try RealRelay(), try RealRelay("--auth", "read"))
      let relays = [open.url, shut.url]
      try LinkRig.run("alice", relays) { alice in
        try LinkRig.run("bob", relays) { bob in
          try bob.follow()
          let sent = try alice.post("HTTPS://Example.com/a", note: "  look ", to: "\(bob.publicKey.npub)")
          #expect(sent.stage == .sent && sent.remarks.isEmpty, "\(sent)")
          #expect(Set(sent.copies.map(\.recipient)) == ["\(alice.publicKey)", "\(bob.publicKey)"])
          let post = try #require(try bob.await(1, postsWith: alice.publicKey).first)
          #expect(post.id == sent.id && post.author == "\(alice.publicKey)" && !post.isOwn && post.isUnread)
          #expect(post.text == "look" && post.label == "Link" && post.conversation == sent.conversation)
          #expect(try bob.conversations().map(\.unread) == [1])
          #expect(try alice.conversations().map(\.unread) == [0])

          let answer = try bob.reply("nice", to: post.id)
          #expect(answer.stage == .sent)
          try awaitSoon("the reply is here", within: 30, every: 50) { try alice.thread(sent.id).count == 2 }
          let reply = try alice.thread(sent.id)[1]
          #expect(reply.sort == .reply && reply.text == "nice" && reply.about == sent.id && reply.isUnread)
          // The reply makes its post unread, once; to open the conversation reads posts, and no replies.
          #expect(try alice.conversations().map(\.unread) == [1])
          func read(_ rig: LinkRig, _ wanted: LinksRead) throws -> Int {
            try rig.rig.ask("links.read", wanted, as: StoreCount.self).count
          }
          #expect(try read(alice, LinksRead(conversation: "\(bob.publicKey)")) == 0)
          #expect(try read(alice, LinksRead(post: sent.id)) == 1)
          #expect(try read(bob, LinksRead(conversation: "\(alice.publicKey)")) == 1)
          #expect(try alice.conversations().map(\.unread) + bob.conversations().map(\.unread) == [0, 0])

          // Both relays have every wrap; here each is once.
          let status = try bob.rig.ask("links.status", NoArguments(), as: LinksStatus.self)
          #expect(status.accounts.map(\.usesLinks) == [true] && status.accounts[0].refused == 0)
          #expect(try bob.posts(with: alice.publicKey).count == 1 && bob.thread(post.id).count == 2)
          try awaitSoon("its notice comes") { try !bob.notices().isEmpty }
          #expect(
            try bob.notices() == [.init(title: "\(alice.publicKey.npub.prefix(12))… shared a post", body: "look")])
        }
      }
    }

    @Test("What cannot be sent is refused with the reason, and nothing is kept of it")
    func refusals() throws {
      let relay = try RealRelay()
      try LinkRig.run("alice", [relay.url]) { alice in
        let stranger = SecretKey.generate().publicKey
        func refusal(_ wanted: LinksPost) throws -> Refusal? {
          var wanted = wanted
          wanted.waitMilliseconds = 3_000
          return try alice.rig.refusal("links.post", wanted)
        }
        let noList = try #require(try refusal(LinksPost(to: stranger.npub, url: "https://example.com")))
        #expect(noList.code == .noRelays && noList.message.contains("kind 10050"), "\(noList)")
        #expect(try alice.conversations().isEmpty)
        for (url, word) in [
          ("ftp://example.com", "http"), ("javascript:alert(1)", "http"),
          ("https://user:word@example.com/", "password"),
          ("https://", "host"),
        ] {
          let bad = try #require(try refusal(LinksPost(to: stranger.npub, url: url)), "\(url)")
          #expect(bad.code == .badRequest && bad.message.contains("cannot be sent"), "\(url) \(word) \(bad)")
        }
        #expect(try refusal(LinksPost(to: "zoe", url: "https://example.com"))?.code == .noSuchConversation)
        #expect(try alice.rig.refusal("links.reply", LinksReply(post: sha(1), text: "x"))?.code == .noSuchPost)

        // Relays that the account has agreed to for a contact.
        var contact = LinksContact(publicKey: stranger.npub, name: " Carol ")
        contact.relays = [relay.url]
        let kept = try alice.rig.ask("links.contact", contact, as: LinkContact.self)
        #expect(kept.name == "Carol" && kept.relays == [relay.url])
        let sent = try alice.post("https://example.com", to: "carol")
        #expect(sent.stage == .sent && sent.copies.contains { $0.relays == [relay.url] }, "\(sent)")
        #expect(try alice.conversations().map(\.contact) == ["Carol"])
        // A name is there once, however it is written.
        let taken = try alice.rig.refusal(
          "links.contact", LinksContact(publicKey: SecretKey.generate().publicKey.npub, name: "CAROL"))
        #expect(taken?.code == .nameTaken)
        // A name that is a key would lead to another than the one who has that key.
        for name in ["\(SecretKey.generate().publicKey)", stranger.npub, "bob@example.com"] {
          #expect(
            try alice.rig.refusal("links.contact", LinksContact(publicKey: "carol", name: name))?.code == .badRequest)
        }
        // Of several recipients, one without relays does not hinder the others.
        let group = try alice.rig.ask(
          "messages.send", MessagesSend(to: ["carol", SecretKey.generate().publicKey.npub], text: "all"),
          as: SentLink.self)
        let stages = group.copies.filter { $0.recipient != "\(alice.publicKey)" }.map(\.stage)
        #expect(group.stage == .partly && Set(stages) == [.sent, .failed], "\(group)")
        let shown = try alice.rows("messages.show", LinksShow(conversation: group.conversation), as: LinkRow.self)
        let missed = try #require(group.copies.first { $0.stage == .failed }.flatMap { PublicKey($0.recipient) })
        let problem = try #require(shown.first?.problem, "it says who does not have it, and why")
        #expect(shown.first?.stage == .partly && problem.hasPrefix("\(missed.npub.prefix(12))…: "), "\(problem)")
        #expect(problem.contains("kind 10050") && !problem.contains("Carol"), "\(problem)")
        #expect(try alice.posts(with: stranger).map(\.problem) == [nil], "what is sent has no problem")
        // No other caller may name relays for gift wraps.
        var publish = PlanPublish(event: RawJSON(alice.inboxList([relay.url]).json))
        publish.agreedRelays = [relay.url]
        #expect(try alice.rig.refusal("plan.publish", publish)?.code == .denied)

        // While the account is left nothing is shown, and nothing is sent.
        #expect(try alice.client.call("signer.leave", #"{"account":"alice"}"#).isResponse)
        let list = LinksList(account: "alice")
        try awaitSoon("the account is left here too") { try alice.rig.refusal("links.list", list) != nil }
        #expect(try refusal(LinksPost(to: "carol", url: "https://example.com"))?.code == .noSuchAccount)
        #expect(try alice.client.call("signer.use", #"{"account":"alice"}"#).isResponse)
        try awaitSoon("the account is back") { try alice.rig.refusal("links.list", list) == nil }
        #expect(try alice.conversations().map(\.contact) == ["Carol"])
      }
    }

    private func sha(_ number: UInt8) -> String { "\(SHA256.hash([number]))" }

    @Test("With no relay in reach a post is called off and taken back, or waits and is sent later, once")
    func waiting() throws {
      let relay = try RealRelay()
      let port = relay.url.split(separator: ":").last.map(String.init) ?? ""
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          _ = try alice.post("https://example.com/first", to: bob.publicKey.npub)
          relay.kill()
          var wanted = LinksPost(to: bob.publicKey.npub, url: "https://example.com/off")
          (wanted.waitMilliseconds, wanted.givesUp) = (1_500, true)
          let off = try #require(try alice.rig.refusal("links.post", wanted))
          #expect(off.code == .notSent, "\(off)")
          #expect(try alice.posts(with: bob.publicKey).count == 1)
          let queued = try alice.post("https://example.com/later", to: bob.publicKey.npub, token: "later", wait: 500)
          #expect(queued.stage == .queued || queued.stage == .kept, "\(queued)")
          try awaitSoon("the reason is shown", within: 30, every: 100) {
            try alice.posts(with: bob.publicKey).first?.problem != nil
          }
          let again = try RealRelay("--port", port)
          try awaitSoon("it is sent", within: 60, every: 200) {
            try alice.posts(with: bob.publicKey).first?.stage == .sent
          }
          #expect(try alice.posts(with: bob.publicKey).allSatisfy { $0.problem == nil })
          // The same token sends nothing again.
          let same = try alice.post("https://example.com/later", to: bob.publicKey.npub, token: "later")
          #expect(same.id == queued.id && same.stage == .sent)
          #expect(
            try bob.await(2, postsWith: alice.publicKey).map(\.url) == [
              "https://example.com/later", "https://example.com/first",
            ])
          withExtendedLifetime(again) {}
        }
      }
    }

    @Test("What was given to a relay that does not answer is not said to be unsent")
    func handedOver() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          _ = try alice.post("https://example.com/first", to: bob.publicKey.npub)
          relay.hang()
          var wanted = LinksPost(to: bob.publicKey.npub, url: "https://example.com/handed")
          (wanted.waitMilliseconds, wanted.givesUp) = (1_500, true)
          let refusal = try #require(try alice.rig.refusal("links.post", wanted))
          #expect(refusal.code == .notSent && refusal.outcome == .unknown, "\(refusal)")
          // The publish queue says so in an answer of its own.
          try awaitSoon("it counts as failed", within: 30, every: 50) {
            try alice.posts(with: bob.publicKey).map(\.stage) == [.failed, .sent]
          }
          relay.wake()
          #expect(try bob.await(2, postsWith: alice.publicKey).count == 2)
          try awaitSoon("alice learns of it", within: 60, every: 50) {
            try alice.posts(with: bob.publicKey).map(\.stage) == [.sent, .sent]
          }
        }
      }
    }

    @Test("A session is shown as its rules say, in whichever order its events come, also after a death")
    func sessions() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try bob.follow()
        let (carol, mallory) = (SecretKey.generate(), SecretKey.generate())
        let now = WallClock.seconds - 100
        var random = SystemRandomNumberGenerator()
        let id = LinkDraft.randomID(using: &random)
        let members = [carol.publicKey, bob.publicKey]
        func give(_ draft: LinkDraft, by key: SecretKey) throws {
          let seal = try Seal(draft.rumor, for: bob.publicKey, by: key, now: now, using: &random)
          let wrap = try GiftWrap(seal, for: bob.publicKey, now: now, using: &random)
          let answer = try bob.client.call("store.publish", String(decoding: wrap.event.json, as: UTF8.self))
          #expect(answer.isResponse)
        }
        func post(_ path: String, by key: SecretKey, at time: Int64) throws -> LinkDraft {
          let url = try LinkURL("https://example.com/\(path)")
          return try LinkDraft.post(url, note: path, in: id, of: members, by: key.publicKey, at: now + time)
        }
        func shown() throws -> [LinkRow] { try bob.rows("links.show", LinksShow(conversation: id)) }

        // The posts come before the session exists.
        let (first, second) = (try post("first", by: carol, at: 1), try post("second", by: carol, at: 2))
        try give(first, by: carol)
        try give(try post("intruder", by: mallory, at: 3), by: mallory)
        try give(
          try LinkDraft.reaction(
            "+", isActive: true, to: first.rumor.id, in: id, of: members, by: carol.publicKey, at: now + 4),
          by: carol)
        try awaitSoon("the wraps are opened", every: 20) {
          try bob.rig.ask("links.status", NoArguments(), as: LinksStatus.self).accounts[0].wraps == 3
        }
        #expect(try bob.conversations().isEmpty && bob.notices().isEmpty)
        try give(
          try LinkDraft.creation(
            of: id, name: "Friends", members: members, by: carol.publicKey, at: now, using: &random), by: carol)
        try awaitSoon("the session is there", every: 20) { try !bob.conversations().isEmpty }
        let session = try #require(try bob.conversations().first)
        #expect(session.name == "Friends" && session.members == ["\(carol.publicKey)"] && session.unread == 1)
        #expect(try shown().map(\.text) == ["first"] && shown()[0].reactions?.map(\.emoji) == ["+"])
        try awaitSoon("its notice comes") { try bob.notices().map(\.body) == ["first"] }

        try bob.rig.kill("link-feed")
        try give(second, by: carol)
        try awaitSoon("the second post is there", within: 60, every: 50) {
          (try? shown().map(\.text)) == ["second", "first"]
        }
        try give(
          try LinkDraft.deletion(of: first.rumor.id, in: id, of: members, by: carol.publicKey, at: now + 9), by: carol)
        try awaitSoon("the first post is gone", every: 20) { try shown().map(\.text) == ["second"] }
        #expect(try bob.conversations().map(\.unread) == [1] && bob.conversations().map(\.posts) == [1])
        #expect(try bob.notices().map(\.body) == ["first", "second"])
      }
    }

    @Test("Private messages go both ways, and reactions and deletions belong to them")
    func messages() throws {
      let relay = try RealRelay()
      try LinkRig.run("alice", [relay.url]) { alice in
        try LinkRig.run("bob", [relay.url]) { bob in
          var wanted = MessagesSend(to: [bob.publicKey.npub], text: "hello")
          wanted.waitMilliseconds = 20_000
          let sent = try alice.rig.ask("messages.send", wanted, as: SentLink.self)
          #expect(sent.stage == .sent)
          try awaitSoon("the message is here", within: 30, every: 50) {
            try bob.rows("messages.show", LinksShow(conversation: "\(alice.publicKey)"), as: LinkRow.self).count == 1
          }
          let row = try bob.rows("messages.show", LinksShow(conversation: "\(alice.publicKey)"), as: LinkRow.self)[0]
          #expect(row.text == "hello" && row.sort == .message && row.isUnread && row.author == "\(alice.publicKey)")
          #expect(try bob.conversations().isEmpty, "messages are no links")
          let listed = try bob.rows("messages.list", LinksList(), as: LinkConversationRow.self)
          #expect(listed.map(\.members) == [["\(alice.publicKey)"]] && listed[0].unread == 1)
          #expect(
            try bob.rig.ask("messages.read", LinksRead(conversation: "\(alice.publicKey)"), as: StoreCount.self).count
              == 1)
          var answer = MessagesSend(to: [row.conversation], text: "hello back")
          (answer.replyTo, answer.waitMilliseconds) = (row.id, 20_000)
          let back = try bob.rig.ask("messages.send", answer, as: SentLink.self)
          #expect(back.conversation == sent.conversation)
          try awaitSoon("the answer is here", within: 30, every: 50) {
            try alice.rows("messages.show", LinksShow(conversation: "\(bob.publicKey)"), as: LinkRow.self)
              .contains { $0.text == "hello back" && $0.about == sent.id }
          }

          // Kind 4, which shows who writes to whom, when it is asked for.
          var old = MessagesSend(to: [bob.publicKey.npub], text: "as of old")
          (old.legacy, old.waitMilliseconds) = (true, 20_000)
          let legacy = try alice.rig.ask("messages.send", old, as: SentLink.self)
          #expect(legacy.stage == .sent && legacy.conversation == sent.conversation, "\(legacy)")
          let event = try alice.client.call("store.query", #"{"filters":[{"ids":["\#(legacy.id)"]}]}"#)
          #expect(
            event.parts.count == 1 && event.parts[0].text.contains(#""kind":4"#)
              && !event.parts[0].text.contains("of old"))
          #expect(try bob.client.call("store.publish", event.parts[0].text).isResponse)
          try awaitSoon("the message of kind 4 is here", within: 30, every: 50) {
            try bob.rows("messages.show", LinksShow(conversation: "\(alice.publicKey)"), as: LinkRow.self)
              .contains { $0.text == "as of old" && $0.isLegacy == true && $0.id == legacy.id && $0.isUnread }
          }
        }
      }
    }

    @Test("A deletion counts also when it comes before its message, and only its author's: neither unread nor a notice")
    func takenBackBefore() throws {
      let (relay, carol, eve) = (try RealRelay(), SecretKey.generate(), SecretKey.generate())
      try LinkRig.run("alice", [relay.url]) { alice in
        try alice.follow()
        let now = WallClock.seconds
        func rumor(_ kind: UInt16, _ content: String, _ tags: [[String]] = [], by key: SecretKey) -> UnsignedEvent {
          let others = [alice.publicKey, carol.publicKey, eve.publicKey].filter { $0 != key.publicKey }
          return UnsignedEvent(
            pubkey: key.publicKey, createdAt: now - 60, kind: kind, tags: others.map { ["p", "\($0)"] } + tags,
            content: content)
        }
        let messages = ["gone", "stays"].map { rumor(14, $0, by: carol) }
        let deletions = zip(messages, [carol, eve]).map { message, author in
          rumor(5, "", [["e", "\(message.id)"]], by: author)
        }
        for (deletion, author) in zip(deletions, [carol, eve]) { try alice.give(deletion, by: author) }
        try alice.await(wraps: 2)
        for message in messages { try alice.give(message, by: carol) }
        try alice.await(wraps: 4)
        let listed = try alice.rows("messages.list", LinksList(), as: LinkConversationRow.self)
        #expect(listed.map(\.unread) == [1], "\(listed)")
        let shown = try alice.rows("messages.show", LinksShow(conversation: listed[0].id), as: LinkRow.self)
        #expect(shown.map(\.text) == ["stays"])
        try awaitSoon("the other's notice comes") { try !alice.notices().isEmpty }
        #expect(try alice.notices().map(\.body) == ["stays"])
      }
    }
  }
}
