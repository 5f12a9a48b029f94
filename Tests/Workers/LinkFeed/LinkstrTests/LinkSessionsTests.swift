import Clocks
import Cryptography
import Frames
import LinkAddresses
import Nostr
import TestSupport
import Testing

@testable import Linkstr

@Suite("Sessions") struct LinkSessionsTests {
  private let alice = LinkFixtures.alice.publicKey, bob = LinkFixtures.bob.publicKey
  private let carol = LinkFixtures.carol.publicKey, mallory = LinkFixtures.mallory.publicKey
  private let now = LinkFixtures.now, session = LinkFixtures.session

  private func item(_ draft: LinkDraft, for account: PublicKey? = nil) throws -> LinkItem {
    try LinkItem(verified: draft.rumor, for: account ?? bob)
  }

  private func creation(
    _ members: [PublicKey], by author: PublicKey, at time: Int64 = 0, name: String = "Friends"
  ) throws -> LinkItem {
    var random = SeededGenerator(seed: UInt64(time + 5))
    return try item(
      LinkDraft.creation(of: session, name: name, members: members, by: author, at: now + time, using: &random))
  }

  private func members(_ members: [PublicKey], by author: PublicKey, at time: Int64) throws -> LinkItem {
    var random = SeededGenerator(seed: UInt64(time + 99))
    return try item(
      LinkDraft.members(of: session, members, formerMembers: [], by: author, at: now + time, using: &random))
  }

  private func post(_ name: String, by author: PublicKey, at time: Int64) throws -> LinkItem {
    try item(
      LinkDraft.post(
        LinkURL("https://example.com/\(name)"), note: nil, in: session, of: [], by: author, at: now + time))
  }

  private func deletion(of post: LinkItem, by author: PublicKey, at time: Int64 = 9) throws -> LinkItem {
    try item(LinkDraft.deletion(of: post.id, in: session, of: [], by: author, at: now + time))
  }

  private func reaction(
    to post: LinkItem, _ isActive: Bool, by author: PublicKey, at time: Int64, emoji: String = "👍"
  ) throws -> LinkItem {
    try item(
      LinkDraft.reaction(emoji, isActive: isActive, to: post.id, in: session, of: [], by: author, at: now + time))
  }

  // MARK: Orders

  @Test("are the same after every order of six events, and as the rules say", arguments: seeds(12))
  func everyOrder(seed: UInt64) throws {
    let world = try SessionWorld(seed: seed, eventCount: 6)
    let expected = SessionWorld.oracle(world.items)
    var count = 0
    permute(world.items) { order in
      count += 1
      let (sessions, kept) = SessionWorld.taken(order)
      #expect(SessionWorld.view(sessions) == expected, "seed \(seed)")
      #expect(SessionWorld.view(SessionWorld.taken(kept.reversed()).sessions) == expected, "rebuilt, seed \(seed)")
    }
    #expect(count == 720)
  }

  @Test("are the same after drawn orders of long histories, each event twice", arguments: seeds(20))
  func drawnOrders(seed: UInt64) throws {
    let world = try SessionWorld(seed: seed, eventCount: 60)
    var random = SeededGenerator(seed: seed &+ 1)
    let expected = SessionWorld.oracle(world.items)
    for _ in 0..<8 {
      let order = (world.items + world.items).shuffled(using: &random)
      let (sessions, kept) = SessionWorld.taken(order)
      #expect(SessionWorld.view(sessions) == expected, "seed \(seed)")
      let rebuilt = LinkSessions(SessionWorld.account, from: kept.shuffled(using: &random), contacts: [])
      #expect(SessionWorld.view(rebuilt) == expected, "rebuilt, seed \(seed)")
      #expect(kept.count <= world.items.count, "no event is kept twice")
    }
  }

  @Test("of drawn histories have posts, former posts, reactions and refusals: the property is not empty")
  func drawnHistories() throws {
    var (posts, former, reactions, refused) = (0, 0, 0, 0)
    for seed in seeds(20) {
      let world = try SessionWorld(seed: seed, eventCount: 60)
      let view = SessionWorld.oracle(world.items)
      (posts, former, reactions) = (
        posts + view.posts.count, former + view.former.count, reactions + view.reactions.count
      )
      refused += world.items.count - SessionWorld.taken(world.items).kept.count
    }
    #expect(posts > 20 && former > 5 && reactions > 5 && refused > 20, "\(posts) \(former) \(reactions) \(refused)")
  }

  /// Heap's algorithm.
  private func permute(_ items: [LinkItem], _ body: ([LinkItem]) -> Void) {
    var items = items
    func step(_ count: Int) {
      if count <= 1 { return body(items) }
      for index in 0..<count {
        step(count - 1)
        items.swapAt(count.isMultiple(of: 2) ? index : 0, count - 1)
      }
    }
    step(items.count)
  }

  // MARK: Rules

  @Test("are created with the sender and the account among the members, by one author")
  func creation() throws {
    var sessions = LinkSessions(bob)
    let json = #"{"conversation_id":"\#(session)","root_id":"r","kind":"session_create","session_name":"x","#
    let alone = #"\#(json)"member_pubkeys":["\#(bob)"]}"#
    let without = try LinkItem(verified: LinkFixtures.rumor(alone, by: LinkFixtures.alice), for: bob)
    #expect(throws: LinkFault.creatorNotMember) { try sessions.received(without, fromContact: true) }
    #expect(throws: LinkFault.accountNotMember) {
      try sessions.received(creation([carol], by: alice), fromContact: true)
    }
    #expect(sessions.sessions.isEmpty, "what is refused leaves nothing")
    #expect(try sessions.received(creation([bob], by: alice), fromContact: true) == .accepted(shown: []))
    #expect(throws: LinkFault.otherCreator) {
      try sessions.received(creation([alice, bob], by: carol, at: -3), fromContact: true)
    }
    let again = try creation([bob, carol], by: alice, at: 1, name: "Best friends")
    #expect(try sessions.received(again, fromContact: true) == .accepted(shown: []))
    #expect(try sessions.received(again, fromContact: true) == .duplicate)
    #expect(try sessions.received(creation([bob], by: alice, at: -1, name: "Old"), fromContact: true) != .duplicate)
    let known = try #require(sessions.sessions[session])
    #expect(known.name == "Best friends" && known.members == [alice, bob, carol].sorted() && known.creator == alice)
  }

  @Test("keep the creator that came first, also when they are made again from what was kept")
  func rival() throws {
    let first = try creation([bob], by: alice, at: 5)
    let rival = try creation([alice, bob], by: mallory, at: -5)
    let (sessions, kept) = SessionWorld.taken([first, rival])
    #expect(sessions.sessions[session]?.creator == alice && kept == [first])
    #expect(LinkSessions(bob, from: kept, contacts: []).sessions[session]?.creator == alice)
  }

  @Test("have their members from the creator alone, who stays in; the last by time and id counts")
  func memberSnapshots() throws {
    var sessions = LinkSessions(bob)
    _ = try sessions.received(creation([bob], by: alice), fromContact: true)
    #expect(throws: LinkFault.notCreator) { try sessions.received(members([bob], by: carol, at: 1), fromContact: true) }
    let json = #"{"conversation_id":"\#(session)","root_id":"r","kind":"session_members","member_pubkeys":["\#(bob)"]}"#
    let gone = try LinkItem(verified: LinkFixtures.rumor(json, by: LinkFixtures.alice), for: bob)
    #expect(throws: LinkFault.creatorNotMember) { try sessions.received(gone, fromContact: true) }
    _ = try sessions.received(members([alice, bob, carol], by: alice, at: 2), fromContact: true)
    _ = try sessions.received(members([alice, bob, mallory], by: alice, at: 1), fromContact: true)
    #expect(sessions.sessions[session]?.members == [alice, bob, carol].sorted())
    let one = try members([alice, bob], by: alice, at: 3)
    let other = try members([alice, bob, mallory], by: alice, at: 3)
    for item in [one, other] { _ = try sessions.received(item, fromContact: true) }
    #expect(sessions.sessions[session]?.members.contains(mallory) == (other.id > one.id))
  }

  @Test("show a post if its author and the account were members at its time, and are now")
  func posts() throws {
    var sessions = LinkSessions(bob)
    let (early, mid, late) = (
      try post("early", by: carol, at: 1), try post("mid", by: carol, at: 3), try post("late", by: carol, at: 5)
    )
    _ = try sessions.received(creation([bob], by: alice), fromContact: true)
    #expect(try sessions.received(early, fromContact: true) == .waiting)
    #expect(try sessions.received(mid, fromContact: true) == .waiting)
    #expect(
      try sessions.received(members([bob, carol], by: alice, at: 2), fromContact: true) == .accepted(shown: [mid.id]))
    #expect(try sessions.received(late, fromContact: true) == .accepted(shown: [late.id]))
    #expect(try sessions.received(late, fromContact: true) == .duplicate)
    #expect(sessions.sessions[session]?.shownPosts.map(\.id) == [mid.id, late.id])
    _ = try sessions.received(members([bob], by: alice, at: 4), fromContact: true)
    #expect(sessions.sessions[session]?.shownPosts.isEmpty == true)
    #expect(sessions.sessions[session]?.formerPosts.map(\.id) == [mid.id])
    _ = try sessions.received(members([carol], by: alice, at: 6), fromContact: true)
    #expect(sessions.sessions[session]?.isMember == false && sessions.sessions[session]?.shownPosts.isEmpty == true)
    let again = try sessions.received(members([bob, carol], by: alice, at: 7), fromContact: true)
    #expect(again == .accepted(shown: [mid.id]))
  }

  @Test("wait for their creation, which shows what came before it")
  func waiting() throws {
    var sessions = LinkSessions(bob)
    let root = try post("a", by: alice, at: 1)
    #expect(try sessions.received(root, fromContact: true) == .waiting)
    #expect(try sessions.received(reaction(to: root, true, by: bob, at: 2), fromContact: true) == .waiting)
    #expect(try sessions.received(members([bob, carol], by: alice, at: 2), fromContact: true) == .waiting)
    #expect(try sessions.received(members([bob, mallory], by: mallory, at: 3), fromContact: false) == .waiting)
    #expect(sessions.sessions[session]?.shownPosts.isEmpty == true && sessions.sessions[session]?.name == nil)
    let shown = try sessions.received(creation([bob], by: alice), fromContact: true)
    #expect(shown == .accepted(shown: [root.id]))
    #expect(sessions.sessions[session]?.members == [alice, bob, carol].sorted())
    #expect(sessions.sessions[session]?.reactions(to: root.id).map(\.author) == [bob])
  }

  @Test("delete a post for its author only, and a late post stays deleted")
  func deletions() throws {
    let (kept, gone, late) = (
      try post("kept", by: carol, at: 1), try post("gone", by: carol, at: 2), try post("late", by: carol, at: 3)
    )
    var sessions = LinkSessions(bob)
    for item in try [creation([bob, carol], by: alice), kept, gone, reaction(to: gone, true, by: bob, at: 4)] {
      _ = try sessions.received(item, fromContact: true)
    }
    #expect(throws: LinkFault.notAuthor) { try sessions.received(deletion(of: kept, by: alice), fromContact: true) }
    #expect(try sessions.received(deletion(of: gone, by: carol), fromContact: true) == .accepted(shown: []))
    #expect(try sessions.received(deletion(of: gone, by: carol), fromContact: true) == .duplicate)
    #expect(try sessions.received(deletion(of: late, by: alice), fromContact: true) == .waiting)
    #expect(try sessions.received(deletion(of: late, by: carol), fromContact: true) == .waiting)
    #expect(try sessions.received(late, fromContact: true) == .superseded)
    #expect(try sessions.received(late, fromContact: true) == .duplicate)
    #expect(try sessions.received(reaction(to: late, true, by: bob, at: 5), fromContact: true) == .superseded)
    let known = try #require(sessions.sessions[session])
    #expect(known.shownPosts.map(\.id) == [kept.id] && known.formerPosts.isEmpty)
    #expect(known.reactions(to: gone.id).isEmpty)
  }

  @Test("have of each sender the last reaction with each emoji, and none of others than members")
  func reactions() throws {
    let root = try post("a", by: alice, at: 1)
    var sessions = LinkSessions(bob)
    for item in try [creation([bob, carol], by: alice), root] { _ = try sessions.received(item, fromContact: true) }
    for item in try [
      reaction(to: root, true, by: carol, at: 2), reaction(to: root, true, by: bob, at: 2),
      reaction(to: root, false, by: bob, at: 4), reaction(to: root, true, by: carol, at: 3, emoji: "🎉"),
      reaction(to: root, true, by: mallory, at: 3),
    ] { _ = try sessions.received(item, fromContact: true) }
    #expect(try sessions.received(reaction(to: root, true, by: bob, at: 3), fromContact: true) == .superseded)
    let shown = try #require(sessions.sessions[session]).reactions(to: root.id)
    #expect(shown.map(\.author) == [carol, carol] && Set(shown.map(\.emoji)) == ["👍", "🎉"])
    _ = try sessions.received(members([bob], by: alice, at: 5), fromContact: true)
    #expect(sessions.sessions[session]?.reactions(to: root.id).isEmpty == true)
  }

  @Test("of one second are ordered by their ids, whichever comes first")
  func sameSecond() throws {
    let root = try post("a", by: alice, at: 1)
    let both = try [true, false].map { try reaction(to: root, $0, by: bob, at: 2) }
    let last = try #require(both.max { $0.id < $1.id })
    for order in [both, both.reversed()] {
      let sessions = try LinkSessions(bob, from: [creation([bob], by: alice), root], contacts: [])
      var changed = sessions
      for item in order { _ = try changed.received(item, fromContact: true) }
      #expect(changed.sessions[session]?.reactions(to: root.id).isEmpty == (last == both[1]))
    }
  }

  @Test("Defect 7: a rumor that comes again is known by its id, also after everything was made again")
  func defect7() throws {
    let items = try [creation([bob], by: alice), post("a", by: alice, at: 1)]
    var sessions = LinkSessions(bob, from: items, contacts: [])
    for item in items { #expect(try sessions.received(item, fromContact: false) == .duplicate) }
  }

  // MARK: Limits

  @Test("give strangers little room, which contacts do not need, and which is free again when they become members")
  func room() throws {
    let note = String(repeating: "x", count: 16_000)
    func large(_ number: Int, by author: PublicKey, in session: String) throws -> LinkItem {
      try item(
        LinkDraft.post(
          LinkURL("https://a.b/\(number)"), note: note, in: session, of: [], by: author, at: now + 1))
    }
    var sessions = LinkSessions(bob)
    var count = 0
    while (try? sessions.received(large(count, by: carol, in: session), fromContact: false)) != nil { count += 1 }
    #expect(count == LinkSessions.strangerByteCountMaximum / (LinkSessions.eventByteCount + 16_000 + 15))
    let another = try large(0, by: mallory, in: "other")
    #expect(throws: LinkFault.tooManyFromStrangers) { try sessions.received(another, fromContact: false) }
    #expect(!LinkFault.tooManyFromStrangers.isFinal && sessions.sessions["other"] == nil)
    #expect(try sessions.received(large(0, by: alice, in: session), fromContact: true) == .waiting)
    guard case .accepted(let shown) = try sessions.received(creation([bob, carol], by: alice), fromContact: true) else {
      Issue.record("the creation is refused")
      return
    }
    #expect(shown.count == count + 1)
    #expect(try sessions.received(another, fromContact: false) == .waiting)
    #expect(try sessions.received(large(count, by: carol, in: session), fromContact: false) != .waiting)
  }

  @Test("take a batch best with the creations first")
  func order() throws {
    let items = try [
      post("b", by: alice, at: 4), post("a", by: alice, at: 1), members([bob, carol], by: alice, at: 3),
      creation([bob], by: alice),
    ]
    #expect(LinkSessions.ordered(items) == [items[3], items[2], items[1], items[0]])
  }

  @Test("are read as they were written: the new session of both, then the post in it")
  func written() throws {
    var random = SeededGenerator(seed: 5)
    let id = LinkDraft.randomID(using: &random)
    let drafts = [
      try LinkDraft.creation(of: id, name: " alice, Bob ", members: [bob], by: alice, at: now, using: &random),
      try LinkDraft.post(LinkURL("https://a.b/\"c"), note: " look ", in: id, of: [bob], by: alice, at: now),
    ]
    for draft in drafts {
      #expect(draft.rumor.tags.isEmpty && draft.recipients == [alice, bob].sorted() && draft.rumor.createdAt == now)
    }
    let payloads = try drafts.map { try JSONPayload.decode(JSONValue.self, from: Array($0.rumor.content.utf8)) }
    #expect(payloads[0]["kind"]?.text == "session_create" && payloads[0]["session_name"]?.text == "alice, Bob")
    #expect(payloads[0]["member_pubkeys"]?.elements.compactMap(\.text) == [alice, bob].sorted().map { "\($0)" })
    #expect(payloads[1]["kind"]?.text == "root" && payloads[1]["root_id"]?.text == "")
    #expect(payloads.allSatisfy { $0["conversation_id"]?.text == id && $0["timestamp"] == .integer(now) })
    for account in [alice, bob] {
      var sessions = LinkSessions(account)
      for draft in drafts { _ = try sessions.received(item(draft, for: account), fromContact: false) }
      let session = try #require(sessions.sessions[id])
      #expect(session.name == "alice, Bob" && session.members == [alice, bob].sorted() && session.isMember)
      #expect(session.shownPosts.map(\.note) == ["look"] && session.membersSince == now && session.lastUsedAt == now)
      #expect(session.creations == [drafts[0].rumor.id] && session.hasForeignPosts == (account == bob))
    }
  }

  @Test("forget what the account has made and no one got, and nothing else")
  func takenBack() throws {
    let own = try [creation([alice], by: bob), post("a", by: bob, at: 1), post("b", by: bob, at: 2)]
    var sessions = LinkSessions(bob)
    let empty = sessions.sessions
    for item in own { _ = try sessions.received(item, fromContact: false) }
    sessions.takeBack(own[2])
    sessions.takeBack(own[2])
    #expect(sessions.sessions[session]?.shownPosts.map(\.id) == [own[1].id])
    #expect(try sessions.received(own[2], fromContact: false) == .accepted(shown: [own[2].id]))
    let foreign = try post("c", by: alice, at: 3)
    _ = try sessions.received(foreign, fromContact: false)
    sessions.takeBack(foreign)
    #expect(sessions.sessions[session]?.shownPosts.count == 3)
    var other = LinkSessions(bob)
    for item in own.prefix(2) { _ = try other.received(item, fromContact: false) }
    for item in own.prefix(2).reversed() { other.takeBack(item) }
    #expect(other.sessions == empty && other.byteCount == 0)
  }

  @Test("are written so that others take them: no recipient in tags, a wrap for each member and oneself")
  func drafts() throws {
    var random = SeededGenerator(seed: 4)
    let draft = try LinkDraft.members(
      of: session, [bob], formerMembers: [bob, carol], by: alice, at: now, using: &random)
    #expect(draft.recipients == [alice, bob, carol].sorted() && draft.rumor.tags.isEmpty)
    let root = try item(LinkDraft.post(LinkURL("https://a.b"), note: nil, in: session, of: [bob], by: alice, at: now))
    let reaction = try LinkDraft.reaction(
      "👍", isActive: true, to: root.id, in: session, of: [alice], by: bob, at: now)
    #expect(reaction.rumor.tags == [["e", "\(root.id)", "", "root"]] && reaction.recipients == [alice, bob].sorted())
    #expect(throws: LinkFault.blank("session_name")) { try creation([bob], by: alice, name: " ") }
    // What reads as a key, or as the id of a conversation between keys, would take the posts to these.
    for id in ["a b", "\(bob)", "\(bob)".uppercased(), bob.npub, "NPUB1x", "nostr:x"] {
      #expect(throws: LinkFault.badSessionID) {
        try LinkDraft.deletion(of: root.id, in: id, of: [], by: alice, at: now)
      }
    }
    let id = LinkDraft.randomID(using: &random)
    #expect(id.count == 32 && id == id.uppercased() && id != LinkDraft.randomID(using: &random))
  }
}
