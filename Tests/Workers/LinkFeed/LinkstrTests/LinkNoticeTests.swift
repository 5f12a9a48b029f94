import Clocks
import Contracts
import Cryptography
import LinkAddresses
import Nostr
import Testing

@testable import Linkstr

@Suite("What is shown of a link that comes in") struct LinkNoticeTests {
  private let alice = LinkFixtures.alice.publicKey, bob = LinkFixtures.bob.publicKey

  private func post(_ url: String, note: String?, for account: PublicKey? = nil) throws -> LinkItem {
    var random = SeededGenerator(seed: 1)
    let draft = try LinkDraft.post(
      try LinkURL(url), note: note, to: bob, by: alice, at: LinkFixtures.now, using: &random)
    return try LinkItem(verified: draft.rumor, for: account ?? bob)
  }

  @Test("A post has its note, otherwise what it leads to; a reply has its text")
  func texts() throws {
    let noted = try #require(LinkNotice(post("https://a.b/", note: "look at this"), from: "Ann"))
    #expect(noted.title == "Ann shared a post" && noted.body == "look at this")
    #expect(noted.conversationID == LinkConversation(of: bob, with: alice).id)
    #expect(try LinkNotice(post("https://a.b/", note: nil), from: "Ann")?.body == "Link from a.b")
    #expect(
      try LinkNotice(post("https://vm.tiktok.com/Zx/", note: nil), from: "Ann")?.body == "Video from vm.tiktok.com")
    let reply = try LinkDraft.reply("seen", to: noted.root, with: bob, by: alice, at: LinkFixtures.now)
    let notice = try #require(LinkNotice(LinkItem(verified: reply.rumor, for: bob), from: "Ann"))
    #expect(notice.title == "Ann replied" && notice.body == "seen")
    let json = #"{"conversation_id":"c","root_id":"\#(noted.root)","kind":"reply"}"#
    let empty = LinkFixtures.rumor(json, by: LinkFixtures.alice, tags: [["p", "\(bob)"]])
    #expect(try LinkNotice(LinkItem(verified: empty, for: bob), from: "")?.title == "Unknown replied")
    #expect(try LinkNotice(LinkItem(verified: empty, for: bob), from: "A")?.body == "New reply")
  }

  @Test("A post in a session has the same texts, and other events of sessions have none")
  func sessions() throws {
    let url = try LinkURL("https://a.b/")
    let draft = try LinkDraft.post(
      url, note: "n", in: LinkFixtures.session, of: [bob], by: alice, at: LinkFixtures.now)
    let notice = try #require(LinkNotice(LinkItem(verified: draft.rumor, for: bob), from: "Ann"))
    #expect(notice.title == "Ann shared a post" && notice.conversationID == LinkFixtures.session)
    let delete = try LinkDraft.deletion(
      of: draft.rumor.id, in: LinkFixtures.session, of: [bob], by: alice, at: LinkFixtures.now)
    #expect(try LinkNotice(LinkItem(verified: delete.rumor, for: bob), from: "Ann") == nil)
  }

  @Test("What the account itself has sent has none")
  func own() throws {
    #expect(try LinkNotice(post("https://a.b/", note: "n", for: alice), from: "Ann") == nil)
  }

  @Test("Texts of strangers are one short line that cannot control a terminal or reorder what is read")
  func harmless() throws {
    let notice = try #require(
      LinkNotice(post("https://a.b/", note: "one\n two\u{1B}[2J \u{202E}x"), from: "A\u{7}\nB"))
    #expect(notice.title == "A\\u{7} B shared a post" && notice.body == "one two\\e[2J \\u{202E}x")
    let long = try #require(
      LinkNotice(
        post("https://a.b/", note: String(repeating: "é", count: 8_000)), from: String(repeating: "n", count: 999)))
    #expect(long.body.count == 240 && long.body.hasSuffix("é…") && long.title.count == 64 + " shared a post".count)
  }

  @Test("A state of the relays in which nothing can be sent has words, and says whether waiting helps")
  func obstacles() {
    func relay(_ state: RelayStateWord, writes: Bool = true, failures: UInt64 = 0) -> PlanRelayList.Relay {
      var told = RelayStates.Relay(relay: "wss://a.example", state: state)
      told.failuresInRow = failures
      return .init(relay: "wss://a.example", sources: [], reads: true, writes: writes, connector: "c", state: told)
    }
    let cases: [([PlanRelayList.Relay], SendingObstacle?)] = [
      ([], .noRelays), ([relay(.open, writes: false)], .readOnly), ([relay(.connecting)], .reconnecting),
      ([relay(.waiting, failures: 3)], .offline), ([relay(.open), relay(.waiting, failures: 9)], nil),
      ([relay(.idle)], nil),
    ]
    for (relays, obstacle) in cases { #expect(SendingObstacle(SendingState(of: relays)) == obstacle) }
    #expect(SendingObstacle.allCases.filter(\.isTemporary) == [.reconnecting, .offline])
    #expect(Set(SendingObstacle.allCases.map(\.description)).count == 4)
  }
}

extension LinkNotice {
  /// An id for a reply.
  fileprivate var root: EventID { EventID(SHA256.hash(Array(body.utf8))) }
}
