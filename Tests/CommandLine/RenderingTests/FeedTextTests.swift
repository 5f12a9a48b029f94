import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

@testable import Rendering

/// Feeds and inboxes as they are shown.
@Suite struct FeedTextTests {
  private let bob = SecretKey.generate()
  private let carol = SecretKey.generate()

  private func event(_ author: SecretKey, _ kind: UInt16 = 1, _ content: String) -> Event {
    UnsignedEvent(pubkey: author.publicKey, createdAt: 0, kind: kind, content: content).signed(by: author)
  }

  private func short(_ key: SecretKey) -> String { "\(key.publicKey.npub.prefix(11))…\(key.publicKey.npub.suffix(4))" }

  private func name(_ key: PublicKey) -> String? { key == bob.publicKey ? "Bob\u{202E}" : nil }

  @Test("A repost shows what it repeats and whose that is, unless it is forged or missing")
  func reposts() {
    let inner = event(carol, 1, "hello \u{1B}[2J\nyou")
    let text = String(decoding: inner.json, as: UTF8.self)
    let heading = "1970-01-01 00:00:00  Bob\\u{202E} \(short(bob))  repost  of \(short(carol))"
    let repost = event(bob, 6, text)
    #expect(FeedText.lines(repost, isBlock: false, name: name, .plain) == [heading + "  hello \\e[2J\\nyou"])
    #expect(
      FeedText.lines(repost, isBlock: true, name: name, .plain) == [heading, "  hello \\e[2J", "  you"])
    let forged = event(bob, 6, text.replacing("hello", with: "hallo"))
    let plain = "1970-01-01 00:00:00  Bob\\u{202E} \(short(bob))  repost"
    #expect(FeedText.reposted(forged) == nil && FeedText.reposted(event(bob, 6, "")) == nil)
    #expect(FeedText.lines(forged, isBlock: false, name: name, .plain) == [plain])
    #expect(
      FeedText.lines(event(bob, 1, "x"), isBlock: false, name: name, .plain)
        == ["1970-01-01 00:00:00  Bob\\u{202E} \(short(bob))  note  x"])
  }

  private func line(_ sort: InboxItem.Sort, text: String? = nil, amount: Int64? = nil) -> String {
    let event = event(bob, 1, "what it says")
    let id = String(repeating: "0", count: 63) + "1"
    var item = InboxItem(seq: 1, sort: sort, author: "\(bob.publicKey)", about: id, event: RawJSON(event.json))
    (item.text, item.amountMillisatoshis) = (text, amount)
    let lines = FeedText.lines(item, isBlock: false, name: name, .plain)
    return String(lines[0].dropFirst("1970-01-01 00:00:00  Bob\\u{202E} \(short(bob))  ".count))
  }

  @Test("An item of an inbox says what it is, about what, and in which words")
  func items() {
    let note = EventID(String(repeating: "0", count: 63) + "1")?.note.prefix(14) ?? ""
    #expect(line(.reply) == "answers you  \(note)…  what it says")
    #expect(line(.mention) == "mentions you  \(note)…  what it says")
    #expect(line(.quote) == "quotes you  \(note)…  what it says")
    #expect(line(.reaction, text: "+") == "likes  \(note)…")
    #expect(line(.reaction, text: "-") == "dislikes  \(note)…")
    #expect(line(.reaction, text: "\u{202E}🤙") == "reacts \\u{202E}🤙  \(note)…")
    #expect(line(.repost) == "reposts you  \(note)…")
    #expect(line(.zap, text: "ta\u{7}", amount: 21_000) == "zaps 21 sats  \(note)…  ta\\u{7}")
    #expect(line(.zap, amount: 1_500) == "zaps 1500 thousandths of a sat  \(note)…")
    #expect(line(.zap, amount: 1_000) == "zaps 1 sat  \(note)…")
  }

  @Test("What a reader has to know of the lists is said, and nothing else")
  func remarks() {
    var state = FeedState(account: "x", privateMutes: .read)
    #expect(FeedText.remarks(state).isEmpty)
    (state.isListKnown, state.people, state.privatePeople) = (true, 0, FeedState.PrivateEntries.none)
    #expect(FeedText.remarks(state).count == 1)
    (state.isListKnown, state.privateMutes, state.privatePeople) = (false, .locked, .foreign)
    let remarks = FeedText.remarks(state)
    #expect(remarks.count == 3 && remarks[2].contains("roost key unlock"), "\(remarks)")
  }
}
