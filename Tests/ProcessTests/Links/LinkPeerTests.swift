import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension LinkRig {
  func status() throws -> LinksStatus.Account {
    try #require(try rig.ask("links.status", NoArguments(), as: LinksStatus.self).accounts.first { $0.name == name })
  }

  /// Waits until so many gift wraps were opened or refused, and gives the status.
  @discardableResult
  func await(wraps count: Int, within seconds: Double = 60) throws -> LinksStatus.Account {
    try awaitSoon("\(count) gift wraps are opened", within: seconds, every: 50) { try status().wraps >= count }
    return try status()
  }

  func messages(with peer: PublicKey) throws -> [LinkRow] {
    try rows("messages.show", LinksShow(conversation: "\(peer)"))
  }

  /// All posts of a peer, page by page.
  func pages(with peer: String, of limit: Int) throws -> [LinkRow] {
    var wanted = LinksShow(conversation: peer)
    wanted.limit = limit
    var all: [LinkRow] = []
    while true {
      let page = try rows("links.show", wanted, as: LinkRow.self)
      all += page
      guard page.count == limit else { return all }
      wanted.before = page.last?.place
    }
  }
}

extension ProcessTests {
  /// Gift wraps by other people's programs, over two relays of nostr-sdk, one of which wants to know who reads.
  @Suite("Peers of links", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkPeerTests {
    private static let day: Int64 = 86_400

    @Test("What nostr-sdk sends is shown once, in whatever order, however dated, and from however many relays")
    func fromSDK() throws {
      let relays = [try RealRelay(), try RealRelay("--auth", "read")]
      let (urls, peer) = (relays.map(\.url), try LinkPeer())
      try LinkRig.run("alice", urls) { alice in
        let (key, now) = (alice.publicKey, WallClock.seconds)
        // In order.
        let first = try peer.post(to: key, "https://example.com/first", note: " look ")
        try peer.send([first.wrap], urls)
        try alice.await(wraps: 1)
        let answer = try peer.reply(to: key, first.id, "an answer")
        try peer.send([answer.wrap], urls)
        try alice.await(wraps: 2)
        // The reply first: it waits for its post.
        let second = try peer.post(to: key, "https://example.com/second")
        let early = try peer.reply(to: key, second.id, "an early answer")
        try peer.send([early.wrap], urls)
        try alice.await(wraps: 3)
        #expect(try alice.posts(with: peer.sdk).count == 1)
        try peer.send([second.wrap], urls)
        try alice.await(wraps: 4)
        // Dated by two days back and by one day ahead, by the one and by the other relay; and the same post twice.
        let old = try peer.post(to: key, "https://example.com/old", wrapAt: now - 2 * Self.day)
        let ahead = try peer.post(to: key, "https://example.com/ahead", wrapAt: now + Self.day)
        try peer.send([old.wrap], [urls[0]])
        try peer.send([ahead.wrap], [urls[1]])
        try alice.await(wraps: 6)
        try peer.send([ahead.wrap, first.wrap], [urls[0]])
        try peer.send([old.wrap], [urls[1]])
        try peer.send([try peer.message(to: key, "hello")], urls)
        try alice.await(wraps: 7)

        let posts = try alice.posts(with: peer.sdk)
        #expect(Set(posts.map(\.id)) == Set([first, second, old, ahead].map(\.id)) && posts.count == 4)
        let shown = try #require(posts.first { $0.id == first.id })
        #expect(shown.url == "https://example.com/first" && shown.text == "look" && shown.author == "\(peer.sdk)")
        for (post, reply, text) in [(first, answer, "an answer"), (second, early, "an early answer")] {
          let thread = try alice.thread(post.id)
          #expect(thread.map(\.id) == [post.id, reply.id] && thread[1].text == text && thread[1].about == post.id)
          #expect(thread.allSatisfy { $0.author == "\(peer.sdk)" && !$0.isOwn && $0.isUnread })
          #expect(posts.first { $0.id == post.id }?.replies == 1)
        }
        let messages = try alice.messages(with: peer.sdk)
        #expect(messages.map(\.text) == ["hello"] && messages.allSatisfy { $0.author == "\(peer.sdk)" })
        #expect(try alice.conversations().map(\.unread) == [4])
        let status = try alice.status()
        #expect(status.wraps == 7 && status.refused == 0 && status.usesLinks, "\(status)")
      }
    }

    @Test("What Roost sends nostr-sdk finds at both relays and opens, every member as it should be")
    func toSDK() throws {
      let relays = [try RealRelay(), try RealRelay("--auth", "read")]
      let (urls, peer) = (relays.map(\.url), try LinkPeer())
      try peer.publishInboxes(urls)
      try LinkRig.run("alice", urls) { alice in
        let note = "caf\u{E9} \"\u{1F426}\""
        let sent = try alice.post("https://example.com/a?b=\u{E9}", note: note + "\n", to: peer.sdk.npub)
        let reply = try alice.reply("and this", to: sent.id)
        var wanted = MessagesSend(to: [peer.sdk.npub], text: "hello \u{1F426}")
        wanted.waitMilliseconds = 20_000
        let message = try alice.rig.ask("messages.send", wanted, as: SentLink.self)
        for one in [sent, reply, message] { #expect(one.stage == .sent, "\(one)") }
        let shown = try #require(try alice.posts(with: peer.sdk).first)
        let keys = ["\(alice.publicKey)", "\(peer.sdk)"].sorted().joined(separator: ":")
        let conversation = "\(SHA256.hash(Array(keys.utf8)))"
        for url in urls {
          let opened = try peer.fetch(url, 3)
          #expect(opened.count == 3 && Set(opened.map(\.wrapper)).count == 3, "each wrap has a key of its own")
          #expect(opened.allSatisfy { $0.sender == "\(alice.publicKey)" && $0.pubkey == $0.sender })
          let post = try #require(opened.first { $0.id == sent.id })
          #expect(post.kind == 44_001 && post.tags == [["p", "\(peer.sdk)"]] && post.createdAt == shown.at)
          var members = try post.payload()
          #expect(members["conversation_id"] == .string(conversation) && sent.conversation == conversation)
          #expect(members["kind"] == .string("root") && members["url"] == .string(shown.url ?? ""))
          #expect(members["note"] == .string(note))
          guard case .string(let root)? = members["root_id"] else { throw DeadlinePassed(description: "no root_id") }
          #expect(root.count == 32 && root.allSatisfy(\.isHexDigit))
          let answer = try #require(opened.first { $0.id == reply.id })
          members = try answer.payload()
          #expect(
            answer.kind == 44_001 && answer.tags == [["p", "\(peer.sdk)"], ["e", sent.id, "", "root"]],
            "\(answer.tags)")
          #expect(members["conversation_id"] == .string(conversation) && members["root_id"] == .string(sent.id))
          #expect(members["kind"] == .string("reply") && members["note"] == .string("and this"))
          #expect(members["url"] == nil)
          let said = try #require(opened.first { $0.id == message.id })
          #expect(said.kind == 14 && said.content == "hello \u{1F426}" && said.tags == [["p", "\(peer.sdk)"]])
        }
      }
    }

    @Test("Of many posts at a time each answer says that it is sent, and nostr-sdk has each once")
    func manyAtATime() throws {
      let (relay, peer, count) = (try RealRelay(), try LinkPeer(), 60)
      try peer.publishInboxes([relay.url])
      try LinkRig.run("alice", [relay.url]) { alice in
        _ = try alice.post("https://example.com/first", to: peer.sdk.npub)
        let asked = try (0..<count).map { number in
          var wanted = LinksPost(to: peer.sdk.npub, url: "https://example.com/\(number)")
          wanted.waitMilliseconds = 60_000
          return try alice.client.ask("links.post", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
        }
        let sent = try asked.map { id in
          try JSONPayload.decode(SentLink.self, from: try alice.client.answer(to: id, within: 60).terminal.payload)
        }
        let early = sent.filter { one in one.stage != .sent || !one.copies.allSatisfy { $0.stage != .kept } }
        #expect(early.isEmpty, "\(early.count) of \(count): \(early.first.map { "\($0)" } ?? "")")
        #expect(try Set(peer.fetch(relay.url, count + 1).map(\.id)).isSuperset(of: sent.map(\.id)))
        #expect(try alice.posts(with: peer.sdk).count == count + 1)
      }
    }

    @Test("A date at the end of time, and one before 1970, hides nothing")
    func dates() throws {
      let (relay, peer) = (try RealRelay(), try LinkPeer())
      try LinkRig.run("alice", [relay.url]) { alice in
        let dates: [Int64] = [.max, .max - 1, 1 << 53, 4_102_444_800, 1, 0]
        let sent = try dates.map { try peer.post(to: alice.publicKey, "https://example.com/\($0)", at: $0) }
        try peer.send(sent.map(\.wrap), [relay.url])
        let status = try alice.await(wraps: dates.count)
        #expect(status.refused == 0)
        let rows = try alice.pages(with: "\(peer.sdk)", of: 2)
        #expect(rows.map(\.id) == sent.map(\.id) && rows.map(\.at) == dates)
        #expect(try alice.conversations().map(\.posts) == [dates.count])
      }
    }

    @Test("Messages go to monstr and back, over both relays")
    func monstr() throws {
      let relays = [try RealRelay(), try RealRelay("--auth", "read")]
      let (urls, peer) = (relays.map(\.url), try LinkPeer())
      try peer.publishInboxes(urls)
      try LinkRig.run("alice", urls) { alice in
        for (number, url) in urls.enumerated() {
          try peer.sendByMonstr(to: alice.publicKey, "hello \(number)", url)
          try alice.await(wraps: number + 1)
        }
        let came = try alice.messages(with: peer.monstr)
        #expect(Set(came.compactMap(\.text)) == ["hello 0", "hello 1"] && came.count == 2)
        #expect(came.allSatisfy { $0.author == "\(peer.monstr)" && $0.isUnread })
        var wanted = MessagesSend(to: [peer.monstr.npub], text: "back")
        (wanted.replyTo, wanted.waitMilliseconds) = (came.first?.id, 20_000)
        let sent = try alice.rig.ask("messages.send", wanted, as: SentLink.self)
        #expect(sent.stage == .sent && sent.conversation == came.first?.conversation)
        for url in urls {
          let opened = try #require(try peer.fetchByMonstr(url, 1).first)
          #expect(opened.sender == "\(alice.publicKey)" && opened.kind == 14 && opened.content == "back")
          #expect(opened.id == sent.id && opened.tags.contains(["p", "\(peer.monstr)"]))
          #expect(opened.tags.contains { $0[0] == "e" && $0[1] == came.first?.id }, "\(opened.tags)")
        }
      }
    }

    @Test(
      "An account that comes new gets its whole history, once, from relays that send 500 of it",
      .timeLimit(.minutes(10)))
    func history() throws {
      let count = amount("ROOST_LINK_WRAPS", standard: 3_000)
      let (directory, peer, key) = (try TemporaryDirectory(), try LinkPeer(), SecretKey.generate())
      let path = directory.path + "/history.jsonl"
      let width = amount("ROOST_LINK_WIDTH", standard: 330)
      let history = try peer.history(to: key.publicKey, count, path: path, width: width)
      let relays = [try RealRelay("--cap", "500", path), try RealRelay("--auth", "read", "--cap", "500", path)]
      try LinkRig.run("alice", relays.map(\.url), inbox: [], key: key) { alice in
        let began = ContinuousClock.now
        try alice.publish(alice.inboxList(relays.map(\.url)))
        try alice.await(wraps: count, within: 400)
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        print("\(count) gift wraps, made in \(history.seconds) s, are in after \(seconds) s")
        var numbers: Set<String> = []
        for (author, expected) in history.counts {
          let rows = try alice.pages(with: author, of: 130)
          #expect(rows.count == expected && Set(rows.map(\.id)).count == expected)
          #expect(rows.allSatisfy { $0.author == author && $0.sort == .post })
          #expect(rows.map(\.at) == rows.map(\.at).sorted(by: >))
          numbers.formUnion(rows.compactMap(\.text))
        }
        #expect(numbers == Set((0..<count).map { "\($0)" }))
        #expect(try Set(alice.conversations().map(\.posts)) == Set(history.counts.values))
        let status = try alice.status()
        #expect(status.wraps == count && status.refused == 0, "\(status)")
      }
    }

    @Test("Forged seals and contents that break a rule are refused and counted, what is good comes through")
    func forged() throws {
      let (directory, peer, key) = (try TemporaryDirectory(), try LinkPeer(), SecretKey.generate())
      let alice = key.publicKey
      func payload(_ members: String) throws -> String {
        try peer.content(to: alice, #"{"conversation_id":"c","root_id":"","kind":"root",\#(members)}"#).wrap
      }
      let url = #""url":"https://bad.example""#
      let long = String(repeating: "x", count: 16_385)
      let bad = [
        try payload(#""url":5"#), try payload(#""url":["https://bad.example"]"#), try payload(#"\#(url),"note":{}"#),
        try payload(#"\#(url),"timestamp":"now""#), try payload(#"\#(url),"url":"https://other.example""#),
        try payload(#""note":"no link""#), try payload(#""url":"javascript:alert(1)""#),
        try payload(#"\#(url),"note":"\#(long)""#), try payload(#"\#(url),"other":"\#(long)\#(long)""#),
        try peer.content(to: alice, "").wrap, try peer.content(to: alice, "[]").wrap,
        try peer.content(to: alice, #"{"conversation_id":7,"root_id":"","kind":"root",\#(url)}"#).wrap,
        try peer.content(to: alice, #"{"conversation_id":"c","root_id":"x","kind":"reply","note":"to nothing"}"#).wrap,
      ]
      let forged = try peer.forged(to: alice)
      let good = [
        try peer.post(to: alice, "https://example.com/1"), try peer.post(to: alice, "https://example.com/2"),
        try peer.content(
          to: alice,
          #"{"conversation_id":"c","root_id":"","kind":"root","url":"https://example.com/3","note":"\#(long.dropFirst())","more":[{}]}"#
        ),
      ]
      let wraps = [good[0].wrap] + bad + [good[1].wrap] + forged + [good[2].wrap]
      #expect(forged.map(\.utf8.count).max() ?? 0 > 256 << 10, "one is larger than the signer takes")
      let path = directory.path + "/wraps.jsonl"
      try Self.write(wraps, to: path)
      let relays = [try RealRelay(path), try RealRelay("--auth", "read", path)]
      try LinkRig.run("alice", relays.map(\.url), key: key) { alice in
        try alice.await(wraps: wraps.count)
        let status = try alice.status()
        #expect(status.wraps == wraps.count && status.refused == bad.count + forged.count, "\(status)")
        let posts = try alice.posts(with: peer.sdk)
        #expect(Set(posts.map(\.id)) == Set(good.map(\.id)) && posts.count == good.count)
        #expect(try alice.conversations().map(\.members) == [["\(peer.sdk)"]], "nothing is mallory's")
        #expect(try alice.rows("messages.list", LinksList(), as: LinkConversationRow.self).isEmpty)
      }
    }

    @Test("Thirty wraps of another program are shown, kept or refused, each as it says")
    func vectors() throws {
      guard let file = SharedFolder.lines(of: "vectors/linkstr/wraps-generated.json") else { return }
      let vectors = try JSONPayload.decode(WrapVectors.self, from: Array(file.joined(separator: [10])))
      let directory = try TemporaryDirectory()
      let path = directory.path + "/wraps.jsonl"
      try Self.write(vectors.wraps.map { String(decoding: JSONPayload.encode($0.wrap), as: UTF8.self) }, to: path)
      let relays = [try RealRelay(path), try RealRelay("--auth", "read", path)]
      try LinkRig.run("alice", relays.map(\.url), key: try vectors.secret("alice")) { alice in
        for name in ["alice", "bob", "carol"] {
          let rig = LinkRig(rig: alice.rig, key: try vectors.secret(name), name: name)
          if name != alice.name {
            try rig.account(rig.key, name)
            try rig.publish(rig.inboxList(relays.map(\.url)))
          }
          let wraps = try vectors.wraps.filter { try $0.isAddressed(to: rig.publicKey) }
          let refused = wraps.filter { $0.isRefused }
          let status = try rig.await(wraps: wraps.count)
          #expect(status.wraps == wraps.count && status.refused == refused.count, "\(status)")
          // Sessions (v2) are kept, and shown by their own rules.
          let links = try wraps.filter { $0.name.hasPrefix("v1-") }.map { try $0.rumor }
          var wanted = LinksShow(account: name, conversation: "\(try vectors.peer(of: name).publicKey)")
          wanted.limit = LinksList.limitMaximum
          let posts = name == "carol" ? [] : try rig.rows("links.show", wanted, as: LinkRow.self)
          let rows = try posts.flatMap {
            try rig.rows("links.show", LinksShow(account: name, post: $0.id), as: LinkRow.self)
          }
          let shown = rows.map(\.id)
          #expect(Set(shown).isSuperset(of: links.map { "\($0.id)" }), "\(name)")
          #expect(Set(shown).count == shown.count)
          let accepted = try Set(wraps.filter { !$0.isRefused }.map { "\(try $0.rumor.id)" })
          #expect(Set(shown).isSubset(of: accepted), "\(name)")
        }
      }
    }

    private static func write(_ lines: [String], to path: String) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer { Descriptors.close(file) }
      try Descriptors.writeAll(lines.map { $0 + "\n" }.joined(), to: file)
    }
  }
}

/// `vectors/linkstr/wraps-generated.json`.
private struct WrapVectors: Decodable {
  struct Key: Decodable { var secret: String }
  struct Wrap: Decodable {
    var name: String
    var expect: String
    var wrap: JSONValue
    var rumorText: String

    enum CodingKeys: String, CodingKey {
      case name, expect, wrap
      case rumorText = "rumor_text"
    }

    /// Two break a rule of their session, and are kept as they come. Of what may be refused two are.
    var isRefused: Bool {
      let areKept = ["bad-v2-delete-by-other-author", "bad-v2-members-by-non-creator"]
      return expect == "reject" && !areKept.contains(name) || ["bad-seal-tags", "bad-outer-p-not-me"].contains(name)
    }
    var rumor: UnsignedEvent { get throws { try UnsignedEvent(json: Array(rumorText.utf8)) } }
    func isAddressed(to key: PublicKey) throws -> Bool {
      try Event(json: JSONPayload.encode(wrap)).values(of: "p").contains("\(key)")
    }
  }

  var keys: [String: Key]
  var wraps: [Wrap]

  func secret(_ name: String) throws -> SecretKey {
    let text = try #require(keys[name]).secret
    let bytes = try #require(Hexadecimal.decode(text.utf8))
    return try #require(bytes.withUnsafeBytes { SecretKey(bytes: $0) })
  }

  func peer(of name: String) throws -> SecretKey { try secret(name == "bob" ? "alice" : "bob") }
}
