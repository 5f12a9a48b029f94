import Contracts
import Cryptography
import Feeds
import Nostr
import Testing

@Suite("What is in an inbox") struct InboxJudgeTests {
  private let world = FeedWorld()
  private var me: [String] { ["p", "\(world.me.publicKey)"] }
  private var judge: InboxJudge { InboxJudge(world.me.publicKey) }
  private var mine: Event { world.event(world.me) }

  private func answer(_ event: Event, by author: SecretKey) -> Event {
    let template = EventTemplate.answer("yes", to: SubjectEvent(event), by: author.publicKey)
    return template.unsigned(by: author.publicKey, createdAt: 2_000).signed(by: author)
  }

  @Test("An answer to one's own text is an answer; one to another's in the conversation is a mention")
  func answers() throws {
    let first = answer(mine, by: world.bob)
    let found = try #require(judge.judge(first))
    #expect(found.sort == .reply && found.about == "\(mine.id)" && found.author == world.bob.publicKey)
    let second = try #require(judge.judge(answer(first, by: world.carol)))
    #expect(second.sort == .mention && second.about == "\(first.id)")
    #expect(judge.judge(answer(answer(first, by: world.carol), by: world.me)) == nil, "it is one's own")
    let positional = world.event(world.bob, [["e", "\(mine.id)"], me])
    #expect(judge.judge(positional)?.sort == .reply)
  }

  @Test("Comments on one's own are answers, those below them mentions")
  func comments() throws {
    let article = world.event(world.me, kind: 30_023, [["d", "a"]])
    let comment = answer(article, by: world.bob)
    let found = try #require(judge.judge(comment))
    #expect(found.sort == .reply && found.about == "30023:\(world.me.publicKey):a")
    #expect(judge.judge(answer(comment, by: world.carol)) == nil, "it does not name me")
  }

  @Test("Mentions, quotes, reactions and reposts are told apart")
  func sorts() throws {
    #expect(judge.judge(world.event(world.bob, [me]))?.sort == .mention)
    let quote = EventTemplate.quote(of: SubjectEvent(mine), "look").unsigned(by: world.bob.publicKey, createdAt: 1)
      .signed(by: world.bob)
    let quoted = try #require(judge.judge(quote))
    #expect(quoted.sort == .quote && quoted.about == "\(mine.id)")
    let like = EventTemplate.reaction(.emoji("🤙"), to: SubjectEvent(mine))
      .unsigned(by: world.bob.publicKey, createdAt: 1).signed(by: world.bob)
    let liked = try #require(judge.judge(like))
    #expect(liked.sort == .reaction && liked.text == "🤙" && liked.about == "\(mine.id)")
    let other = world.event(world.bob, kind: 7, [me, ["p", "\(world.carol.publicKey)"], ["e", "\(mine.id)"]], "+")
    #expect(judge.judge(other) == nil, "the last p is meant")
    let repost = EventTemplate.repost(of: SubjectEvent(mine)).unsigned(by: world.bob.publicKey, createdAt: 1)
      .signed(by: world.bob)
    #expect(judge.judge(repost)?.sort == .repost && judge.judge(repost)?.about == "\(mine.id)")
    #expect(judge.judge(world.event(world.bob)) == nil)
    let crowd = (0...InboxJudge.crowdMaximum).map { ["p", "\(FeedWorld.key($0 + 50).publicKey)"] }
    #expect(judge.judge(world.event(world.bob, crowd + [me])) == nil)
  }

  // MARK: Zaps

  private func zap(
    _ more: [[String]] = [], amount: Int64 = 21_000, asked: Int64? = nil, by payer: SecretKey? = nil,
    preimage: String? = nil
  ) throws -> Event {
    let payer = payer ?? world.bob
    let relays = [["relays", "wss://a.example"], me, ["e", "\(mine.id)"], ["amount", "\(asked ?? amount)"]]
    let request = world.event(payer, kind: 9_734, relays + more, "Zap!")
    let text = String(decoding: request.json, as: UTF8.self)
    let terms = InvoiceTerms(
      amountMillisatoshis: amount, paymentHash: SHA256.hash([7]), createdAt: 1_000,
      descriptionHash: SHA256.hash(Array(text.utf8)))
    let invoice = try terms.signed(by: world.dave).text
    let proof = preimage.map { [["preimage", $0]] } ?? []
    return world.event(
      world.dave, kind: 9_735, [me, ["e", "\(mine.id)"], ["bolt11", invoice], ["description", text]] + proof)
  }

  @Test("A zap has its payer, its amount by the invoice and what it is for")
  func zaps() throws {
    let found = try #require(judge.judge(zap()))
    #expect(found.sort == .zap && found.author == world.bob.publicKey && found.amountMillisatoshis == 21_000)
    #expect(found.about == "\(mine.id)" && found.text == "Zap!" && found.wallet == world.dave.publicKey)
    #expect(judge.judge(try zap(by: world.me)) == nil, "paid by oneself")
    let item = found.item(seq: 7, Array("{}".utf8))
    #expect(item.seq == 7 && item.author == "\(world.bob.publicKey)" && item.amountMillisatoshis == 21_000)
  }

  @Test("What only looks like a zap is left out")
  func falseZaps() throws {
    #expect(judge.judge(try zap(asked: 99_000)) == nil, "the invoice is for another amount")
    #expect(judge.judge(try zap([["P", "\(world.carol.publicKey)"]])) == nil, "another wallet should have signed")
    #expect(judge.judge(try zap(preimage: String(repeating: "0", count: 64))) == nil, "it is not the invoice's")
    #expect(
      judge.judge(world.event(world.dave, kind: 9_735, [me, ["bolt11", "lnbc1"], ["description", "{}"]])) == nil)
    let forged = try zap()
    let tags = forged.tags.map { tag in
      tag[0] == "description" ? [tag[0], tag[1].replacing("Zap!", with: "Zip!")] : tag
    }
    #expect(judge.judge(world.event(world.dave, kind: 9_735, tags)) == nil, "the payer has not signed that")
  }

  @Test("An inbox shows only the sorts that are wanted, and nothing of the muted, not even with a zap")
  func course() throws {
    var course = FeedCourse(of: world.me.publicKey, .inbox(only: [.zap, .mention]), after: 0)
    #expect(course.received(world.event(world.bob, [me]), seq: 1).verdict.finding?.sort == .mention)
    #expect(!course.received(answer(mine, by: world.bob), seq: 2).verdict.isShown)
    #expect(course.received(try zap(), seq: 3).verdict.finding?.sort == .zap)
    _ = course.received(world.mutes([["p", "\(world.bob.publicKey)"]]), seq: 4)
    #expect(!course.received(try zap(amount: 1_000), seq: 5).verdict.isShown)
    #expect(!course.received(world.event(world.bob, [me], at: 2), seq: 6).verdict.isShown)
    #expect(course.received(world.event(world.carol, [me]), seq: 7).verdict.isShown)
    #expect(course.lists.state.people == nil && course.observedFilters(byteMaximum: 10_000).count == 2)
  }
}
