import Addresses
import Cryptography
import JSON
import Nostr
import Testing

@Suite("What people write about events (NIP-10, 18, 22, 25, 30, 73)") struct EventTemplateTests {
  private let relay: RelayURL
  private let me: PublicKey
  private let other: PublicKey

  init() throws {
    relay = try RelayURL("wss://example.relay")
    me = try publicTestKey(3).publicKey
    other = try publicTestKey(2).publicKey
  }

  private func subject(
    kind: UInt16 = 1, tags: [[String]] = [], content: String = "", at relay: RelayURL? = nil
  ) throws -> SubjectEvent {
    SubjectEvent(try testEvent(kind: kind, tags: tags, content: content), at: relay ?? self.relay)
  }

  // MARK: Answers

  @Test("An answer to the root has one marked tag; an answer to an answer has root and reply; with relay and author")
  func reply() throws {
    let root = try subject()
    let author = "\(root.event.pubkey)"
    let first = try EventTemplate.reply("yes", to: root, by: me)
    #expect(first.kind == 1 && first.content == "yes")
    #expect(first.tags == [["e", "\(root.event.id)", relay.text, "root", author], ["p", author, relay.text]])
    let answer = SubjectEvent(try testEvent(kind: 1, tags: first.tags, key: 2), at: relay)
    let second = try EventTemplate.reply("no", to: answer, by: me)
    #expect(
      second.tags == [
        ["e", "\(root.event.id)", relay.text, "root", author],
        ["e", "\(answer.event.id)", relay.text, "reply", "\(other)"], ["p", "\(other)", relay.text],
        ["p", author, relay.text],
      ])
  }

  @Test("An answer names each participant once, oneself never, and a hundred at most")
  func participants() throws {
    let many = (0..<150).map { ["p", "\(SHA256.hash(Array("\($0)".utf8)))"] }
    let root = try subject(tags: [
      ["p", "\(me)"], ["p", "\(other)", "ws://192.168.1.1", "bob"], ["p", "x"], ["p", "\(other)"],
    ])
    let tags = try EventTemplate.reply("", to: root, by: me).tags
    #expect(tags.filter { $0[0] == "p" } == [["p", "\(root.event.pubkey)", relay.text], ["p", "\(other)"]])
    let crowd = try EventTemplate.reply("", to: subject(tags: many), by: me).tags
    #expect(crowd.count { $0[0] == "p" } == EventTemplate.peopleMaximum)
    let own = try EventTemplate.reply("", to: root, by: root.event.pubkey).tags
    #expect(own.filter { $0[0] == "p" }.map { $0[1] } == ["\(me)", "\(other)"])
  }

  @Test("A text names whom it mentions and what it quotes, each once, and not its author")
  func note() throws {
    let (event, mine) = (try subject().event, me.npub)
    let text = "nostr:\(other.npub) nostr:\(event.id.note) nostr:\(mine) nostr:\(other.npub)"
    let note = EventTemplate.note(text, by: me)
    #expect(note.kind == 1 && note.content == text)
    #expect(note.tags == [["q", "\(event.id)", ""], ["p", "\(other)"]])
    #expect(EventTemplate.note("plain").tags.isEmpty)
  }

  @Test("A relay at home is not told to strangers")
  func privateRelay() throws {
    let home = try RelayURL("ws://192.168.1.5")
    let root = try subject(tags: [["e", String(repeating: "0", count: 64), home.text, "root"]], at: home)
    let written =
      try EventTemplate.reply("", to: root).tags.joined().joined()
      + EventTemplate.repost(of: root).tags.joined().joined()
      + EventTemplate.reaction(.like, to: root).tags.joined().joined()
    #expect(!written.contains("192.168"))
  }

  @Test("A text answers a text, a comment everything else; the wrong one of the two is refused")
  func dispatch() throws {
    let article = try subject(kind: 30_023, tags: [["d", "a"]])
    #expect(try EventTemplate.answer("", to: subject()).kind == 1)
    #expect(EventTemplate.answer("", to: article).kind == 1_111)
    #expect(throws: TemplateFault.replyToOther(30_023)) { try EventTemplate.reply("", to: article) }
    #expect(throws: TemplateFault.commentOnNote) { try EventTemplate.comment("", on: .event(subject())) }
  }

  @Test("What a text names with nostr: is tagged: events and addresses with q, people with p, each once")
  func references() throws {
    let event = try testEvent(kind: 1, key: 2)
    let pointer = EventPointer(id: event.id, relays: [relay], author: other, kind: 1).nevent
    let address = try #require(EventAddress(kind: 30_023, pubkey: other, identifier: "a"))
    let naddr = try #require(AddressPointer(address).naddr)
    let text = "see nostr:\(pointer), nostr:\(naddr), nostr:\(pointer), nostr:\(me.npub) and nostr:\(event.id.note)"
    let tags = try EventTemplate.reply(text, to: subject(), by: me).tags
    #expect(tags.filter { $0[0] == "q" } == [["q", "\(event.id)", relay.text, "\(other)"], ["q", "\(address)", ""]])
    #expect(tags.filter { $0[0] == "p" }.map { $0[1] } == ["\(try subject().event.pubkey)", "\(other)"])
    let quote = EventTemplate.quote(of: SubjectEvent(event, at: relay), "look", by: me)
    #expect(quote.kind == 1 && quote.content == "look\nnostr:\(pointer)")
    #expect(quote.tags == [["q", "\(event.id)", relay.text, "\(other)"], ["p", "\(other)"]])
  }

  // MARK: Reposts

  @Test("A text is reposted with kind 6, anything else with kind 16, its kind and its address")
  func repost() throws {
    let text = try subject(content: "hi \"you\"")
    let plain = EventTemplate.repost(of: text, json: text.event.json)
    #expect(plain.kind == 6 && Array(plain.content.utf8) == text.event.json)
    #expect(
      plain.tags == [
        ["e", "\(text.event.id)", relay.text, "\(text.event.pubkey)"], ["p", "\(text.event.pubkey)", relay.text],
      ])
    let article = try subject(kind: 30_023, tags: [["d", "x:y"]])
    let generic = EventTemplate.repost(of: article)
    #expect(generic.kind == 16 && generic.tags.contains(["k", "30023"]))
    #expect(generic.tags.contains(["a", "30023:\(article.event.pubkey):x:y", relay.text]))
    #expect(try Event(json: Array(generic.content.utf8)) == article.event)
    let unknown = EventTemplate.repost(of: SubjectEvent(text.event))
    #expect(unknown.tags[0][2].isEmpty && unknown.tags[1].count == 2)
  }

  @Test("A protected event is reposted without its text (NIP-70)")
  func protected() throws {
    #expect(EventTemplate.repost(of: try subject(tags: [["-"]])).content.isEmpty)
    #expect(EventTemplate.repost(of: try subject(kind: 20, tags: [["-"]])).content.isEmpty)
  }

  // MARK: Comments: the examples of NIP-22

  @Test("A comment on an article has its address, and which version was meant")
  func commentOnArticle() throws {
    let article = try subject(kind: 30_023, tags: [["d", "f9347ca7"]])
    let (author, id) = ("\(article.event.pubkey)", "\(article.event.id)")
    let comment = try EventTemplate.comment("Great blog post!", on: .event(article), by: me)
    #expect(comment.kind == 1_111 && comment.content == "Great blog post!")
    #expect(
      comment.tags == [
        ["A", "30023:\(author):f9347ca7", relay.text], ["K", "30023"], ["P", author, relay.text],
        ["a", "30023:\(author):f9347ca7", relay.text], ["e", id, relay.text], ["k", "30023"],
        ["p", author, relay.text],
      ])
  }

  @Test("A comment on a file, and an answer to it, keep the file as the root")
  func commentOnFile() throws {
    let file = try subject(kind: 1_063)
    let (author, id) = ("\(file.event.pubkey)", "\(file.event.id)")
    let tags = try EventTemplate.comment("Great file!", on: .event(file), by: me).tags
    #expect(
      tags == [
        ["E", id, relay.text, author], ["K", "1063"], ["P", author, relay.text], ["e", id, relay.text, author],
        ["k", "1063"], ["p", author, relay.text],
      ])
    let comment = SubjectEvent(try testEvent(kind: 1_111, tags: tags, key: 2), at: relay)
    let answer = EventTemplate.answer("This is a reply", to: comment, by: me)
    #expect(
      answer.tags == [
        ["E", id, relay.text, author], ["K", "1063"], ["P", author, relay.text],
        ["e", "\(comment.event.id)", relay.text, "\(other)"], ["k", "1111"], ["p", "\(other)", relay.text],
      ])
  }

  @Test("A comment on a page and an answer to a comment on an episode are those of NIP-22")
  func commentOutside() throws {
    let page = try ExternalContent("https://abc.com/articles/1")
    #expect(
      try EventTemplate.comment("Nice article!", on: .external(page)).tags == [
        ["I", "https://abc.com/articles/1"], ["K", "web"], ["i", "https://abc.com/articles/1"], ["k", "web"],
      ])
    let guid = "podcast:item:guid:d98d189b-dc7b-45b1-8720-d4b98690f31f"
    let link = "https://fountain.fm/episode/z1y9TMQRuqXl2awyrQxg"
    let episode = try subject(
      kind: 1_111, tags: [["I", guid, link], ["K", "podcast:item:guid"], ["i", guid], ["k", "podcast:item:guid"]])
    let (author, id) = ("\(episode.event.pubkey)", "\(episode.event.id)")
    #expect(
      EventTemplate.answer("", to: episode, by: me).tags == [
        ["I", guid, link], ["K", "podcast:item:guid"], ["e", id, relay.text, author], ["k", "1111"],
        ["p", author, relay.text],
      ])
  }

  @Test("A comment that does not say what it is about begins a conversation of its own")
  func brokenComment() throws {
    for tags in [
      [], [["E", "x"], ["K", "1063"]], [["E", String(repeating: "0", count: 64)]], [["I", ""], ["K", "web"]],
    ] {
      let comment = try subject(kind: 1_111, tags: tags)
      let answer = EventTemplate.answer("", to: comment, by: me)
      #expect(answer.tags.first?.prefix(2) == ["E", "\(comment.event.id)"] && answer.tags.contains(["K", "1111"]))
    }
  }

  // MARK: Reactions

  @Test("A reaction has event, author, kind, and the address of what has one; the example of NIP-25")
  func reaction() throws {
    let text = try subject()
    let like = EventTemplate.reaction(.like, to: text)
    #expect(like.kind == 7 && like.content == "+")
    #expect(
      like.tags == [
        ["e", "\(text.event.id)", relay.text, "\(text.event.pubkey)"], ["p", "\(text.event.pubkey)", relay.text],
        ["k", "1"],
      ])
    let article = try subject(kind: 30_023, tags: [["d", "a"]])
    #expect(
      EventTemplate.reaction(.dislike, to: article).tags[1] == [
        "a", "30023:\(article.event.pubkey):a", relay.text, "\(article.event.pubkey)",
      ])
    let site = try EventTemplate.reaction(ReactionContent(typed: "⭐"), to: ExternalContent("https://example.com"))
    #expect(site.kind == 17 && site.content == "⭐")
    #expect(site.tags == [["k", "web"], ["i", "https://example.com/"]])
  }

  @Test("What is typed is +, -, one emoji, or a name with an image")
  func reactionContent() throws {
    #expect(try ReactionContent(typed: "") == .like && ReactionContent(typed: "+") == .like)
    #expect(try ReactionContent(typed: "-") == .dislike)
    for emoji in ["🤙", "❤️", "⚡", "👩🏽‍🚀", "1️⃣", "🇨🇭"] {
      #expect(try ReactionContent(typed: emoji) == .emoji(emoji))
    }
    for text in ["a", "1", "#", "🤙🤙", "hello", ":soapbox:", "\u{202E}"] {
      #expect(throws: TemplateFault.badReaction) { try ReactionContent(typed: text) }
    }
    let custom = try ReactionContent(typed: ":soapbox:", image: "https://gleasonator.com/emoji/Gleasonator/soapbox.png")
    let template = EventTemplate.reaction(custom, to: try subject())
    #expect(template.content == ":soapbox:")
    #expect(
      template.tags.last == ["emoji", "soapbox", "https://gleasonator.com/emoji/Gleasonator/soapbox.png"])
    for (name, image) in [
      (":a b:", "https://a.example"), ("a", "ftp://a.example"), ("a", "https://a b"), ("", "https://a"),
    ] {
      #expect(throws: TemplateFault.badEmoji) { try ReactionContent(typed: name, image: image) }
    }
    let event = try testEvent(kind: 7, tags: template.tags, content: template.content)
    #expect(ReactionContent(event) == custom)
    #expect(ReactionContent(try testEvent(kind: 7, content: ":soapbox:")) == .emoji(":soapbox:"))
    #expect(ReactionContent(try testEvent(kind: 7, content: String(repeating: "x", count: 65))) == nil)
  }

  @Test("Ids of things outside are spelled as NIP-73 does")
  func external() throws {
    let cases = [
      ("https://MyBlog.example.com/Post#part", "https://myblog.example.com/Post", "web"),
      ("HTTP://a.example", "http://a.example/", "web"), ("https://a.example?q=1", "https://a.example?q=1", "web"),
      ("#Nostr", "#nostr", "#"), ("isbn:978-0765382030", "isbn:9780765382030", "isbn"),
      ("geo:EZS42", "geo:ezs42", "geo"), ("iso3166:us-ca", "iso3166:US-CA", "iso3166"),
      ("bitcoin:tx:a107", "bitcoin:tx:a107", "bitcoin:tx"),
      ("ethereum:1:address:0xd8", "ethereum:1:address:0xd8", "ethereum:address"),
      ("podcast:guid:c90e", "podcast:guid:c90e", "podcast:guid"),
    ]
    for (typed, id, kind) in cases {
      let content = try ExternalContent(typed)
      #expect(content.id == id && content.kind == kind, "\(typed)")
    }
    for text in [
      "", "#", "hello", "isbn:", "https://", "https://a:b@c.example/", "a b", "https://a.example/\u{7}", "x:y",
    ] {
      #expect(throws: TemplateFault.badExternal, "\(text)") { try ExternalContent(text) }
    }
  }
}
