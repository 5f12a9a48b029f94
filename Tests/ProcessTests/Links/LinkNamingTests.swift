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
  /// Posts that are named by the first digits of their ids.
  @Suite("Names of posts", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkNamingTests {
    /// Two posts of one stranger whose ids begin with the same eight digits.
    private func sameBeginning(by author: SecretKey, to recipient: PublicKey) throws -> [UnsignedEvent] {
      let content =
        #"{"conversation_id":"c","root_id":"1","kind":"root","url":"https://example.com/same","note":"same"}"#
      var seen: [UInt64: Int64] = [:]
      func rumor(_ at: Int64) -> UnsignedEvent {
        UnsignedEvent(
          pubkey: author.publicKey, createdAt: at, kind: LinkPayload.rumorKind, tags: [["p", "\(recipient)"]],
          content: content)
      }
      // Of 77,000 ids two have the same first 32 bits, more often than not.
      for at in Int64(1_600_000_000)..<1_603_000_000 {
        let digits = rumor(at).id.octets.bytes.prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if let other = seen.updateValue(at, forKey: digits) { return [rumor(other), rumor(at)] }
      }
      throw DeadlinePassed(description: "no two ids begin with the same digits")
    }

    @Test("The first digits name a post among those of many strangers; with several the refusal says so")
    func firstDigits() throws {
      let relay = try RealRelay()
      let stranger = SecretKey.generate()
      try LinkRig.run("bob", [relay.url]) { bob in
        let same = try sameBeginning(by: stranger, to: bob.publicKey)
        for rumor in same { try bob.give(rumor, by: stranger) }
        // Newer conversations of others, more than a page of them.
        let count = 60
        var sent: [EventID] = []
        for number in 0..<count {
          let author = SecretKey.generate()
          var random = SystemRandomNumberGenerator()
          let url = try LinkURL("https://example.com/\(number)")
          let draft = try LinkDraft.post(
            url, note: nil, to: bob.publicKey, by: author.publicKey, at: WallClock.seconds, using: &random)
          sent.append(draft.rumor.id)
          try bob.give(draft.rumor, by: author)
        }
        try bob.await(wraps: count + 2)
        for id in sent {
          for digits in [8, 9, 64] {
            let shown = try bob.thread(String("\(id)".prefix(digits)).uppercased())
            #expect(shown.map(\.id) == ["\(id)"])
          }
        }
        let begin = String("\(same[0].id)".prefix(8))
        func refusal(_ post: String) throws -> Refusal? { try bob.rig.refusal("links.show", LinksShow(post: post)) }
        let several = try #require(try refusal(begin))
        #expect(several.code == .badRequest && several.message.contains("ambiguous"), "\(several)")
        #expect(try bob.rig.refusal("links.read", LinksRead(post: begin))?.code == .badRequest)
        #expect(try bob.rig.refusal("links.reply", LinksReply(post: begin, text: "x"))?.code == .badRequest)
        for rumor in same {
          let shared = zip("\(same[0].id)", "\(same[1].id)").prefix { $0 == $1 }.count
          #expect(try bob.thread(String("\(rumor.id)".prefix(shared + 1))).map(\.id) == ["\(rumor.id)"])
        }
        #expect(try refusal("00000000")?.code == .noSuchPost || "\(sent)".contains("00000000"))
        for wrong in [String("\(sent[0])".prefix(7)), "\(sent[0])0", "0000000g", "", "\u{0663}0000000"] {
          let refusal = try #require(try refusal(wrong))
          #expect(refusal.code == .badRequest && refusal.message.contains("the first 8"), "\(wrong): \(refusal)")
        }
        // A message has another family, and a reply answers the whole id.
        let first = String("\(sent[0])".prefix(10))
        #expect(try bob.rig.refusal("messages.show", LinksShow(post: first))?.code == .noSuchPost)
        #expect(try bob.rig.ask("links.read", LinksRead(post: first), as: StoreCount.self).count == 1)
      }
    }

    @Test("A reply and an answer go to what the first digits name")
    func answering() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          let sent = try alice.post("https://example.com/a", to: bob.publicKey.npub)
          _ = try bob.await(1, postsWith: alice.publicKey)
          let reply = try bob.reply("nice", to: String(sent.id.prefix(8)))
          #expect(try bob.thread(sent.id).first { $0.id == reply.id }?.about == sent.id)
          let command = try bob.rig.command("links", "show", "--post", String(sent.id.prefix(8)))
          #expect(command.ending == .exited(0) && command.output.contains("nice"), "\(command)")
          var message = MessagesSend(to: [bob.publicKey.npub], text: "hello")
          message.waitMilliseconds = 20_000
          let first = try alice.rig.ask("messages.send", message, as: SentLink.self)
          (message.text, message.replyTo) = ("again", String(first.id.prefix(9)))
          let second = try alice.rig.ask("messages.send", message, as: SentLink.self)
          let rows = try alice.rows("messages.show", LinksShow(conversation: first.conversation), as: LinkRow.self)
          #expect(rows.first { $0.id == second.id }?.about == first.id)
          message.replyTo = "ffffffff"
          #expect(try alice.rig.refusal("messages.send", message)?.code == .noSuchPost)
        }
      }
    }
  }
}
