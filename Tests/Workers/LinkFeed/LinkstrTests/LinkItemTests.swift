import Clocks
import Cryptography
import Frames
import LinkAddresses
import Nostr
import TestSupport
import Testing

@testable import Linkstr

@Suite("A link in a gift wrap") struct LinkItemTests {
  private let alice = LinkFixtures.alice, bob = LinkFixtures.bob, mallory = LinkFixtures.mallory
  private let now = LinkFixtures.now

  private func post(to peer: SecretKey, by author: SecretKey) throws -> LinkDraft {
    var random = SeededGenerator(seed: 1)
    return try LinkDraft.post(
      try LinkURL("https://example.com/a"), note: " look ", to: peer.publicKey, by: author.publicKey, at: now,
      using: &random)
  }

  /// Sealed and wrapped as it would be sent, and opened by the recipient.
  private func sent(_ rumor: UnsignedEvent, by author: SecretKey, to recipient: SecretKey) throws -> LinkItem {
    var random = SeededGenerator(seed: 2)
    let seal = try Seal(rumor, for: recipient.publicKey, by: author, now: now, using: &random)
    let wrap = try GiftWrap(seal, for: recipient.publicKey, now: now, using: &random)
    return try LinkItem(try GiftWrap(Event(json: wrap.event.json)).open(by: recipient), for: recipient.publicKey)
  }

  @Test("The id of a conversation is the same on both sides, and that of the shared vectors")
  func conversationIDs() throws {
    let one = LinkConversation(of: alice.publicKey, with: bob.publicKey)
    let other = LinkConversation(of: bob.publicKey, with: alice.publicKey)
    #expect(one.id == "e41bdb4693e040ce5d27bec5fdc2507c86c19f7edcd7403f0086a4d54b5b03e1" && one.id == other.id)
    #expect(one.peer == bob.publicKey && other.peer == alice.publicKey)
    guard let cases = try LinkFixtures.vectors("conversation-id.json")?["cases"]?.elements else { return }
    #expect(cases.count == 6)
    for test in cases {
      let texts = test.elements.compactMap(\.text)
      #expect(LinkConversation.id(of: texts[0], and: texts[1]) == texts[2])
    }
  }

  @Test("A post is the same item for its recipient and in the author's copy, and is filed under the other")
  func post() throws {
    let draft = try post(to: bob, by: alice)
    #expect(draft.recipients == [alice.publicKey, bob.publicKey].sorted() && draft.rumor.kind == 44_001)
    #expect(draft.rumor.tags == [["p", "\(bob.publicKey)"]])
    let received = try sent(draft.rumor, by: alice, to: bob)
    let copy = try sent(draft.rumor, by: alice, to: alice)
    let url = try LinkURL("https://example.com/a")
    #expect(
      received.body == .post(LinkConversation(of: bob.publicKey, with: alice.publicKey), url: url, note: "look"))
    #expect(copy.body == .post(LinkConversation(of: alice.publicKey, with: bob.publicKey), url: url, note: "look"))
    #expect(received.id == copy.id && received.id == draft.rumor.id && received.thread == copy.thread)
    #expect(!received.isOwn && copy.isOwn && received.sender == alice.publicKey && received.createdAt == now)
    #expect(try LinkItem(verified: draft.rumor, for: bob.publicKey) == received, "a kept rumor is read again")
  }

  @Test("A reply is in the thread of its post, with the tag that other programs look for")
  func reply() throws {
    let root = try post(to: bob, by: alice)
    let draft = try LinkDraft.reply(
      " seen ", to: root.rumor.id, with: alice.publicKey, by: bob.publicKey, at: now + 1)
    #expect(draft.rumor.tags == [["p", "\(alice.publicKey)"], ["e", "\(root.rumor.id)", "", "root"]])
    let item = try sent(draft.rumor, by: bob, to: alice)
    guard case .reply(let conversation, let id, let text) = item.body else {
      Issue.record("\(item.body)")
      return
    }
    #expect(id == root.rumor.id && text == "seen" && conversation.peer == bob.publicKey)
    #expect(item.thread == (try LinkItem(verified: root.rumor, for: alice.publicKey)).thread)
    #expect(throws: LinkFault.blank("note")) {
      try LinkDraft.reply(" \n", to: root.rumor.id, with: alice.publicKey, by: bob.publicKey, at: now)
    }
  }

  @Test("A stranger who knows a post's id replies in a thread of the stranger's own")
  func foreignReply() throws {
    let root = try LinkItem(verified: post(to: bob, by: alice).rumor, for: bob.publicKey)
    let draft = try LinkDraft.reply("x", to: root.id, with: bob.publicKey, by: mallory.publicKey, at: now)
    #expect(try LinkItem(verified: draft.rumor, for: bob.publicKey).thread != root.thread)
  }

  @Test("What the tags and the content say must agree, and it must be for this account")
  func refused() throws {
    let id = String(repeating: "a", count: 64)
    let p = ["p", "\(bob.publicKey)"]
    let reply = #"{"conversation_id":"c","root_id":"\#(id)","kind":"reply","note":"x"}"#
    let root = #"{"conversation_id":"c","root_id":"r","kind":"root","url":"https://a.b"}"#
    let delete = #"{"conversation_id":"c","root_id":"\#(id)","kind":"root_delete"}"#
    let other = ["e", String(repeating: "b", count: 64), "", "root"]
    let cases: [(String, [[String]], LinkFault)] = [
      (reply, [], .noRecipient), (reply, [["p", "x"]], .noRecipient),
      (reply, [p, ["p", "\(alice.publicKey)"]], .severalRecipients),
      (root, [["p", "\(alice.publicKey)"]], .otherRecipient), (reply, [p, other], .otherRoot),
      (reply, [p, ["e", other[1]]], .otherRoot), (reply, [p, ["e", id, "", "root"], other], .otherRoot),
      (#"{"conversation_id":"c","root_id":"r1","kind":"reply"}"#, [p], .badRootID), (root, [], .otherRoot),
      (delete, [other], .otherRoot), (#"{"conversation_id":"c","root_id":"r1","kind":"root_delete"}"#, [], .badRootID),
    ]
    for (content, tags, fault) in cases {
      #expect(throws: fault) {
        try LinkItem(verified: LinkFixtures.rumor(content, by: mallory, tags: tags), for: bob.publicKey)
      }
    }
    // Without the tag, with other marks, and with the own id in capitals it is taken.
    for tags in [[p], [p, ["e", id.uppercased(), "", "root"]], [p, ["e", other[1], "", "mention"]], [p, p]] {
      _ = try LinkItem(verified: LinkFixtures.rumor(reply, by: mallory, tags: tags), for: bob.publicKey)
    }
    #expect(throws: LinkFault.otherKind(14)) {
      try LinkItem(verified: LinkFixtures.rumor(root, by: mallory, tags: [p], kind: 14), for: bob.publicKey)
    }
  }

  @Test("Defect 1: the sender is the author of the seal, whatever the content and the rumor claim")
  func defect1() throws {
    // A content that names the conversation of alice and bob, sealed by mallory.
    let content = try post(to: bob, by: alice).rumor.content
    let rumor = LinkFixtures.rumor(content, by: mallory, tags: [["p", "\(bob.publicKey)"]])
    let item = try sent(rumor, by: mallory, to: bob)
    #expect(item.sender == mallory.publicKey)
    #expect(item.thread?.conversationID == LinkConversation(of: bob.publicKey, with: mallory.publicKey).id)
    // A rumor that names alice as its author, sealed by mallory.
    let forged = try post(to: bob, by: alice).rumor
    let seal = UnsignedEvent(
      pubkey: mallory.publicKey, createdAt: now, kind: Seal.kind,
      content: try NIP44.encrypt(forged.json, with: ConversationKey(mallory, bob.publicKey))
    ).signed(by: mallory)
    let once = SecretKey.generate()
    let wrap = UnsignedEvent(
      pubkey: once.publicKey, createdAt: now, kind: GiftWrap.kind, tags: [["p", "\(bob.publicKey)"]],
      content: try NIP44.encrypt(seal.json, with: ConversationKey(once, bob.publicKey))
    ).signed(by: once)
    #expect(throws: GiftWrapFault.impersonation(seal: mallory.publicKey, rumor: alice.publicKey)) {
      try GiftWrap(wrap).open(by: bob)
    }
  }

  @Test("Defect 4: wraps are asked for by their recipient and never by an author; own posts come as copies")
  func defect4() throws {
    let filter = LinkWraps.filter(for: alice.publicKey)
    var random = SeededGenerator(seed: 3)
    let draft = try post(to: bob, by: alice)
    for recipient in draft.recipients {
      let seal = try Seal(draft.rumor, for: recipient, by: alice, now: now, using: &random)
      let wrap = try GiftWrap(seal, for: recipient, now: now, using: &random)
      #expect(wrap.isAddressed(to: recipient) && wrap.event.pubkey != alice.publicKey)
    }
    #expect(filter.authors == nil && filter.since == nil && filter.kinds == [GiftWrap.kind])
    let letter = try #require(TagLetter("p"))
    #expect(filter.tags == [letter: [TagValue("\(alice.publicKey)")]])
  }

  @Test("Thirty wraps of another program are taken, refused or left to others, each as it says")
  func vectors() throws {
    guard let file = try LinkFixtures.vectors("wraps-generated.json") else { return }
    let wraps = try #require(file["wraps"]).elements
    #expect(wraps.count == 30)
    var sessions: [PublicKey: LinkSessions] = [:]
    var ids: Set<EventID> = []
    var outcomes: [String: Int] = [:]
    // What other wraps must come before is stored for the account first.
    for test in wraps {
      let name = try #require(test["name"]?.text)
      let recipient = try #require(
        LinkFixtures.secretKey(file["keys"]?[test["recipient"]?.text ?? ""]?["secret"]?.text ?? ""))
      let account = recipient.publicKey
      if test["why"]?.text?.contains("(needs ") == true {
        for before in ["v2-session-create", "v2-root"] {
          let rumor = try #require(wraps.first { $0["name"]?.text == before }?["rumor_text"]?.text)
          let item = try LinkItem(verified: UnsignedEvent(json: Array(rumor.utf8)), for: account)
          _ = try sessions[account, default: LinkSessions(account)].received(item, fromContact: true)
        }
      }
      let outcome = try outcome(of: test, by: recipient, &sessions, &ids)
      outcomes[outcome, default: 0] += 1
      let expected = try #require(test["expect"]?.text)
      switch expected {
      case "reject-or-warn": #expect(outcome == "warn", "\(name)")
      case "accept-or-reject": #expect(outcome == "warn", "\(name)")
      // The rumor without an id is taken, and noticed.
      case "accept" where name == "v1-root-missing-rumor-id": #expect(outcome == "warn", "\(name)")
      default: #expect(outcome == expected, "\(name)")
      }
    }
    #expect(outcomes == ["accept": 11, "warn": 4, "reject": 14, "not-linkstr": 1], "\(outcomes)")
    #expect(!ids.isEmpty)
  }

  /// `accept`, `warn`, `reject`, `not-linkstr`; twice the same rumor is one.
  private func outcome(
    of test: JSONValue, by recipient: SecretKey, _ sessions: inout [PublicKey: LinkSessions], _ ids: inout Set<EventID>
  ) throws -> String {
    let account = recipient.publicKey
    let rumor: Rumor
    do {
      rumor = try GiftWrap(Event(json: try #require(test["wrap"]).json)).open(by: recipient)
    } catch is GiftWrapFault {
      return "reject"
    }
    do {
      let item = try LinkItem(rumor, for: account)
      ids.insert(item.id)
      if case .session = item.body {
        _ = try sessions[account, default: LinkSessions(account)].received(item, fromContact: true)
      }
    } catch LinkFault.otherKind {
      return "not-linkstr"
    } catch {
      return "reject"
    }
    return rumor.warnings.isEmpty ? "accept" : "warn"
  }
}
