import Addresses
import Contracts
import Cryptography
import Frames
import Nostr
import Testing

@testable import RoostClient

/// Drafts of what people write, against the examples of the NIPs.
@Suite struct DraftTests {
  private let me = SecretKey.generate()
  private let bob = SecretKey.generate()
  private let carol = SecretKey.generate()
  private let relay: RelayURL

  init() throws { relay = try RelayURL("wss://example.relay") }

  private func subject(
    _ author: SecretKey, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = ""
  ) -> SubjectEvent {
    let event = UnsignedEvent(
      pubkey: author.publicKey, createdAt: 1_000, kind: kind, tags: tags, content: content
    ).signed(by: author)
    return SubjectEvent(event, at: relay)
  }

  @Test("NIP-10: an answer names root and reply, and everyone in the conversation but its author")
  func answer() {
    let root = subject(bob)
    let first = EventDraft.answer("yes", to: root, by: carol.publicKey)
    #expect(first.kind == 1 && first.content == "yes")
    #expect(
      first.tags == [
        ["e", "\(root.event.id)", relay.text, "root", "\(bob.publicKey)"], ["p", "\(bob.publicKey)", relay.text],
      ])
    let answered = subject(carol, first.tags)
    let second = EventDraft.answer("no", to: answered, by: me.publicKey)
    #expect(
      second.tags == [
        ["e", "\(root.event.id)", relay.text, "root", "\(bob.publicKey)"],
        ["e", "\(answered.event.id)", relay.text, "reply", "\(carol.publicKey)"],
        ["p", "\(carol.publicKey)", relay.text], ["p", "\(bob.publicKey)", relay.text],
      ])
  }

  @Test("NIP-22: a comment on a blog post has its address in upper and in lower case")
  func comment() throws {
    let post = subject(bob, kind: 30_023, [["d", "post"]])
    let address = "30023:\(bob.publicKey):post"
    let draft = try EventDraft.comment("Great blog post!", on: .event(post), by: me.publicKey)
    #expect(draft.kind == 1_111)
    #expect(
      draft.tags == [
        ["A", address, relay.text], ["K", "30023"], ["P", "\(bob.publicKey)", relay.text],
        ["a", address, relay.text], ["e", "\(post.event.id)", relay.text], ["k", "30023"],
        ["p", "\(bob.publicKey)", relay.text],
      ])
    #expect(EventDraft.answer("Great blog post!", to: post, by: me.publicKey) == draft)
    #expect(throws: TemplateFault.commentOnNote) { try EventDraft.comment("", on: .event(subject(bob))) }
  }

  @Test("NIP-25: a reaction has e, p and k of the event; NIP-30: its own emoji has the image")
  func reaction() throws {
    let note = subject(bob)
    let like = try EventDraft.reaction(to: note)
    #expect(like.kind == 7 && like.content == "+")
    #expect(
      like.tags == [
        ["e", "\(note.event.id)", relay.text, "\(bob.publicKey)"], ["p", "\(bob.publicKey)", relay.text], ["k", "1"],
      ])
    let own = try EventDraft.reaction(":soapbox:", image: "https://example.com/s.png", to: note)
    #expect(own.tags.contains(["emoji", "soapbox", "https://example.com/s.png"]) && own.content == ":soapbox:")
    #expect(throws: TemplateFault.badReaction) { try EventDraft.reaction("two words", to: note) }
  }

  @Test("NIP-18: a repost has the event in it, of another kind than 1 its kind; a quote has q")
  func repost() {
    let note = subject(bob, [], "hello")
    let repost = EventDraft.repost(of: note)
    #expect(repost.kind == 6 && repost.content == String(decoding: note.event.json, as: UTF8.self))
    #expect(
      repost.tags == [
        ["e", "\(note.event.id)", relay.text, "\(bob.publicKey)"], ["p", "\(bob.publicKey)", relay.text],
      ])
    let other = EventDraft.repost(of: subject(bob, kind: 20))
    #expect(other.kind == 16 && other.tags.contains(["k", "20"]))
    let quote = EventDraft.quote(of: note, "look", by: me.publicKey)
    #expect(quote.kind == 1 && quote.content.hasPrefix("look\nnostr:nevent1"))
    #expect(quote.tags.contains(["q", "\(note.event.id)", relay.text, "\(bob.publicKey)"]))
    #expect(quote.tags.contains(["p", "\(bob.publicKey)"]))
  }

  @Test("NIP-27: a text names whom it mentions, and not its own author")
  func note() {
    let text = "nostr:\(bob.publicKey.npub) and nostr:\(me.publicKey.npub)"
    #expect(EventDraft.note(text, by: me.publicKey).tags == [["p", "\(bob.publicKey)"]])
    #expect(EventDraft.note("nothing", by: me.publicKey) == EventDraft.note("nothing"))
  }

  @Test("Differences of lists say what they do")
  func edits() {
    #expect(EntryEdit.adding(["t", "nostr"], isPrivate: true).isPrivate == true)
    #expect(EntryEdit.adding(["t", "nostr"]).add == ["t", "nostr"])
    #expect(EntryEdit.removing("p", "x").remove == ["p", "x"])
    #expect(EntryEdit.unsetting("about").unset == "about")
    #expect(EntryEdit.setting("name", to: .string("a")).value == .string("a"))
  }
}
