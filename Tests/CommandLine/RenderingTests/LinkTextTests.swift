import Contracts
import Cryptography
import Frames
import Nostr
import QRCode
import Rendering
import TestSupport
import Testing

/// Links and messages as `roost links` and `roost messages` print them.
@Suite("Text of links and messages")
struct LinkTextTests {
  private static let bob = "82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"
  private static let ann = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"
  private static let id = "3f2a91" + String(repeating: "0", count: 58)
  private static let evil = "\u{202E}\u{1B}]0;x\u{07}\r\n\u{200B}" + String(repeating: "e\u{301}", count: 5_000)

  private static let names = LinkNames(
    contacts: [LinkContact(publicKey: bob, name: "Bob")],
    profiles: [KnownProfile(pubkey: ann, state: .known, shownName: "Ann")])

  private static func post(_ id: String = id, unread: Bool = true) -> LinkRow {
    var row = LinkRow(
      id: id, conversation: bob, sort: .post, author: bob, isOwn: false, at: 1_771_700_000, isUnread: unread, place: "1"
    )
    (row.url, row.label, row.text) = ("https://example.com/v", "Video", "look\n\nat this")
    (row.replies, row.unreadReplies) = (2, 1)
    row.reactions = [LinkReactionRow(emoji: "🤙", author: ann)]
    return row
  }

  private func isHarmless(_ text: String) -> Bool {
    !text.unicodeScalars.contains { $0.value < 0x20 || [0x7F, 0x202E, 0x200B].contains($0.value) }
  }

  @Test("A conversation is a row: a dot and no number for what is unread, and a key only where no name is known")
  func conversations() throws {
    var known = LinkConversationRow(id: "a", members: [Self.bob], lastAt: 1_771_700_000, posts: 3, unread: 2)
    known.contact = "Bob"
    let stranger = LinkConversationRow(id: "b", members: [Self.ann], lastAt: 1_771_600_000, posts: 1, unread: 0)
    var session = LinkConversationRow(
      id: "3F3AF1EC", members: [Self.ann, Self.bob], lastAt: 1_771_500_000, posts: 1, unread: 0)
    session.name = "tea"
    let npub = try #require(PublicKey(Self.ann)).npub
    let short = "\(npub.prefix(11))…\(npub.suffix(4))"
    let lines = LinkText.table([known, stranger, session], entries: "POSTS", empty: "", names: Self.names, .plain)
    #expect(lines.count == 4)
    #expect(lines[1].split(separator: "  ").map { $0.drop { $0 == " " } } == ["•", "Bob", "3", "2026-02-21 18:53:20"])
    #expect(!lines[2].contains("•") && lines[2].contains("Ann \(short)") && lines[2].hasSuffix(npub))
    #expect(lines[3].contains("tea: Ann \(short), Bob") && lines[3].hasSuffix("3F3AF1EC"))
    #expect(LinkText.table([], entries: "POSTS", empty: "No links.", names: Self.names, .plain) == ["No links."])
  }

  @Test("A post is a block on a terminal, and one line in a pipe, without colours")
  func post() {
    let block = LinkText.lines(Self.post(), isBlock: true, names: Self.names, .plain)
    #expect(
      block == [
        "2026-02-21 18:53:20  Bob  Video  •  3f2a9100", "  https://example.com/v", "  look", "  ", "  at this",
        "  2 replies •", "  🤙 \(Self.names.text(Self.ann))",
      ])
    let line = LinkText.lines(Self.post(unread: false), isBlock: false, names: Self.names, .plain)
    #expect(line.count == 1 && isHarmless(line[0]))
    #expect(line[0].hasPrefix(#"2026-02-21 18:53:20  Bob  Video  3f2a9100  https://example.com/v  look\n\nat this"#))
    let painted = LinkText.lines(Self.post(), isBlock: true, names: Self.names, Style(isColoured: true, columns: 80))
    #expect(painted.joined().contains("\u{1B}[32m•\u{1B}[0m"))
    #expect(!(block + line).joined().contains("\u{1B}"))
  }

  @Test("One's own entries say when no relay has them yet, and kind 4 says what it shows")
  func stages() {
    var row = LinkRow(
      id: Self.id, conversation: "c", sort: .message, author: Self.bob, isOwn: true, at: 1_771_700_000, isUnread: false,
      place: "1")
    (row.text, row.stage, row.isLegacy, row.about) = ("hi", .queued, true, Self.id)
    let lines = LinkText.lines(row, isBlock: true, names: Self.names, .plain)
    #expect(
      lines == [
        "2026-02-21 18:53:20  you  message  not sent yet  kind 4, relays see who writes to whom  3f2a9100", "  hi",
        "  answers 3f2a9100",
      ])
    row.problem = "Bob: wss://relay.example/: blocked\u{1B}; 2 more"
    let reason = LinkText.lines(row, isBlock: true, names: Self.names, .plain)
    #expect(reason.count == 4 && reason[2].hasPrefix("  Bob: wss://relay.example/: blocked") && isHarmless(reason[2]))
    #expect(LinkText.lines(row, isBlock: false, names: Self.names, .plain)[0].contains(": blocked"))
    row.stage = .sent
    #expect(!LinkText.lines(row, isBlock: true, names: Self.names, .plain).joined().contains("blocked"))
    #expect(!LinkText.lines(row, isBlock: true, names: Self.names, .plain)[0].contains("sent"))
  }

  @Test("No text of a stranger controls a terminal or breaks a line, however long it is")
  func hostile() {
    let evil = Self.evil
    let names = LinkNames(
      contacts: [LinkContact(publicKey: Self.bob, name: evil)],
      profiles: [KnownProfile(pubkey: Self.ann, state: .known, shownName: evil)])
    var row = Self.post(evil)
    (row.url, row.label, row.text, row.author, row.at) = ("https://a.b/" + evil, evil, evil, Self.ann, .min)
    row.reactions = Array(repeating: LinkReactionRow(emoji: evil, author: evil), count: 1_000)
    (row.sort, row.about, row.stage, row.problem) = (.message, evil, .failed, evil)
    var conversation = LinkConversationRow(
      id: evil, members: [Self.bob, evil, Self.ann] + Array(repeating: evil, count: 1_000), lastAt: .max, posts: 1,
      unread: 1)
    conversation.name = evil
    let contact = LinkContact(publicKey: evil, name: evil, relays: [evil])
    var copy = SentLink.Copy(recipient: evil, wrap: evil, stage: .sent, relays: Array(repeating: evil, count: 100))
    var sent = SentLink(id: evil, conversation: evil, stage: .sent, copies: [copy], remarks: [evil])
    (copy.stage, copy.message) = (.failed, evil)
    sent.copies.append(copy)
    var lines = LinkSendingText.lines(sent, own: nil, names: names, command: "roost links list", .plain)
    for style in [Style.plain, Style(isColoured: false, columns: 60)] {
      lines += LinkText.lines(row, isBlock: true, names: names, style)
      lines += LinkText.lines(row, isBlock: false, names: names, style)
      lines += LinkText.table([conversation], entries: "POSTS", empty: "", names: names, style)
      lines += LinkText.contacts([contact], style)
    }
    lines += [LinkText.contact(contact), LinkText.agreement(contact, relays: [evil]), LinkText.name(contact)]
    for line in lines { #expect(isHarmless(line), "\(line.debugDescription.prefix(300))") }
    // A text of a stranger fills no screen after screen.
    #expect(LinkText.lines(row, isBlock: true, names: names, Style(isColoured: false, columns: 60)).count < 70)
  }

  @Test("10,000 rows are as many lines, in little time, and none is lost")
  func many() {
    let clock = ContinuousClock()
    var lines: [String] = []
    let time = clock.measure {
      for number in 0..<10_000 {
        lines += LinkText.lines(
          Self.post(String(number, radix: 16) + Self.id), isBlock: false, names: Self.names, .plain)
      }
      let rows = (0..<10_000).map {
        LinkConversationRow(id: "\($0)", members: [Self.ann], lastAt: Int64($0), posts: $0, unread: $0 % 2)
      }
      lines += LinkText.table(rows, entries: "POSTS", empty: "", names: Self.names, .plain)
    }
    #expect(lines.count == 20_001 && time < .seconds(60))
    #expect(lines.last?.contains("9999") == true)
  }

  @Test("What was sent says which relays have it for whom; what was not sent says why")
  func sending() {
    let own = Self.ann
    var sent = SentLink(
      id: Self.id, conversation: "c", stage: .sent,
      copies: [
        SentLink.Copy(recipient: Self.bob, wrap: "w", stage: .sent, relays: ["wss://b", "wss://a"]),
        SentLink.Copy(recipient: own, wrap: "w", stage: .sent, relays: ["wss://c"]),
      ])
    func lines() -> [String] {
      LinkSendingText.lines(sent, own: own, names: Self.names, command: "roost links show Bob", .plain)
    }
    #expect(lines() == ["Sent to Bob: wss://a, wss://b have it.", "  \(Self.id)"])
    sent.copies[0] = SentLink.Copy(recipient: Self.bob, wrap: "w", stage: .queued, message: "wss://a refuses\nit")
    sent.copies[1].stage = .failed
    #expect(
      lines() == [
        #"Not sent yet to Bob: wss://a refuses\nit"#, "It is kept here and tried again: roost links show Bob",
        "No relay has the copy for your other devices.", "  \(Self.id)",
      ])
    sent.copies = [SentLink.Copy(recipient: own, wrap: "w", stage: .failed, message: "no relay takes it")]
    #expect(lines().first == "Not sent to \(Self.names.text(own)), and not tried again: no relay takes it")
    #expect(LinkSendingText.typed("a\n\u{1B}[2J", isTerminal: true) == "a\n\\e[2J")
    #expect(LinkSendingText.typed("a\n\u{1B}[2J", isTerminal: false) == "a\n\u{1B}[2J")
  }

  @Test("The sending state is a sentence, and relays are in the order of their addresses")
  func relays() {
    let list = PlanRelayList(relays: [
      PlanRelayList.Relay(relay: "wss://b.example", sources: [], reads: true, writes: true),
      PlanRelayList.Relay(relay: "wss://a.example", sources: [], reads: true, writes: false),
    ])
    for state in SendingState.allCases {
      let lines = LinkText.relays(state, list, .plain)
      #expect(lines[0].hasSuffix(".") && lines[3].hasPrefix("wss://a.example") && lines[4].hasPrefix("wss://b.example"))
    }
    #expect(LinkText.relays(nil, PlanRelayList(relays: []), .plain).count == 1)
    #expect(Set(SendingState.allCases.map { LinkText.relays($0, list, .plain)[0] }).count == 6)
  }

  @Test("The question about relays names them and says what their operators learn")
  func agreement() {
    let text = LinkText.agreement(LinkContact(publicKey: Self.bob, name: "Bob"), relays: ["wss://a", "wss://b"])
    #expect(text.contains("wss://a, wss://b") && text.contains("While Bob names no relays"))
    #expect(text.contains("learns that messages for this key arrive"))
  }

  @Test("A QR code is drawn as a square in half blocks, in two fixed colours or in none")
  func code() throws {
    let code = try #require(QRCode("npub1"))
    let side = code.sideLength + 8
    #expect(QRText.columns(code) == side)
    let plain = QRText.lines(code, .plain)
    #expect(plain.count == (side + 1) / 2 && plain.allSatisfy { $0.count == side && !$0.contains("\u{1B}") })
    #expect(plain[0] == String(repeating: "█", count: side))
    let painted = QRText.lines(code, Style(isColoured: true))
    #expect(painted.count == plain.count)
    let (begin, end) = ("\u{1B}[38;5;16;48;5;231m", "\u{1B}[0m")
    #expect(
      painted.allSatisfy { $0.hasPrefix(begin) && $0.hasSuffix(end) && !$0.dropFirst(2).dropLast(4).contains("[0m") })
    #expect(painted[0] == begin + String(repeating: " ", count: side) + end)
  }

  @Test(
    "What is drawn is read by another program, on a dark ground and on a light one", .enabled(if: QRReader.isAvailable))
  func readBack() throws {
    let npub = try #require(PublicKey(Self.bob)).npub
    let code = try #require(QRCode(npub))
    for style in [Style.plain, Style(isColoured: true)] {
      let shown = QRText.lines(code, style).joined(separator: "\n")
      for isGroundLight in [false, true] {
        #expect(try QRReader.read(shown, isGroundLight: isGroundLight) == ["QRCode \(npub)"])
      }
    }
  }
}
