import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `people.inbox` with real workers.
  @Suite("An inbox") struct InboxFeedTests {
    private func signed(_ template: EventTemplate, by key: SecretKey) -> Event {
      template.unsigned(by: key.publicKey, createdAt: WallClock.seconds).signed(by: key)
    }

    @Test("Answers, mentions, quotes, reactions, reposts and zaps come, each with what it is and what it is about")
    func sorts() throws {
      try FeedRig.run { rig in
        let (bob, carol) = (SecretKey.generate(), SecretKey.generate())
        let mine = rig.event(rig.alice, [], "mine")
        let subject = SubjectEvent(mine)
        let reply = signed(EventTemplate.answer("yes", to: subject), by: bob)
        let sent: [(InboxItem.Sort, Event)] = [
          (.reply, reply), (.mention, rig.event(bob, [["p", "\(rig.alice.publicKey)"]], "hello")),
          (.quote, signed(EventTemplate.quote(of: subject, "look"), by: bob)),
          (.reaction, signed(EventTemplate.reaction(.emoji("🤙"), to: subject), by: bob)),
          (.repost, signed(EventTemplate.repost(of: subject), by: bob)), (.zap, try zap(mine, rig, payer: bob)),
        ]
        try rig.store(mine)
        for (_, event) in sent.prefix(3) { try rig.store(event) }
        let inbox = try rig.follow("people.inbox")
        try inbox.awaitStored()
        #expect(Set(inbox.items.map(\.id)) == Set(sent.prefix(3).map { "\($0.1.id)" }))
        for (_, event) in sent.dropFirst(3) { try rig.store(event) }
        // Not for an inbox: one's own, another's, and a receipt that nobody has signed a request for.
        try rig.store(signed(EventTemplate.answer("own", to: SubjectEvent(reply)), by: rig.alice))
        try rig.store(rig.event(carol, kind: 9_735, [["p", "\(rig.alice.publicKey)"], ["bolt11", "lnbc1"]]))
        try rig.rig.kill("people")
        try rig.store(rig.event(rig.alice, kind: 10_000, [["p", "\(carol.publicKey)"]]))
        try rig.store(try zap(mine, rig, payer: carol))
        let last = rig.event(bob, [["p", "\(rig.alice.publicKey)"]], "last")
        try rig.store(last)
        try inbox.await(last)
        #expect(inbox.resumedCount == 1 && inbox.items.count == sent.count + 1, "\(inbox.items.map(\.sort))")
        for (sort, event) in sent {
          let item = try #require(inbox.items.first { $0.id == "\(event.id)" }, "\(sort)")
          #expect(item.sort == sort && item.author == "\(bob.publicKey)")
          if sort != .mention { #expect(item.about == "\(mine.id)", "\(sort)") }
        }
        let paid = try #require(inbox.items.first { $0.sort == .zap })
        #expect(paid.amountMillisatoshis == 21_000 && paid.text == "thanks")
        #expect(inbox.items.first { $0.sort == .reaction }?.text == "🤙")
        let zaps = try rig.follow("people.inbox", #""account":"alice","only":["zap"],"policy":"cache-only""#)
        try zaps.awaitStored()
        #expect(zaps.items.map(\.sort) == [.zap])
      }
    }

    private func zap(_ mine: Event, _ rig: FeedRig, payer: SecretKey) throws -> Event {
      let me = ["p", "\(rig.alice.publicKey)"]
      let about = ["e", "\(mine.id)"]
      let tags = [me, about, ["amount", "21000"], ["relays", "wss://a.example"]]
      let text = String(decoding: rig.event(payer, kind: 9_734, tags, "thanks").json, as: UTF8.self)
      let wallet = SecretKey.generate()
      let terms = InvoiceTerms(
        amountMillisatoshis: 21_000, paymentHash: SHA256.hash([1]), createdAt: WallClock.seconds,
        descriptionHash: SHA256.hash(Array(text.utf8)))
      let invoice = try terms.signed(by: wallet).text
      return rig.event(wallet, kind: 9_735, [me, about, ["bolt11", invoice], ["description", text]])
    }
  }
}
