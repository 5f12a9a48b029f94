import Contracts
import Cryptography
import Nostr
import Rendering
import Testing

/// People as `roost profile` and `roost find` print them.
@Suite("Text of people")
struct PeopleTextTests {
  private static let key = PublicKey("82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2")

  private func profile(_ name: String, _ state: KnownProfile.State = .known) throws -> KnownProfile {
    KnownProfile(pubkey: try #require(Self.key).description, state: state, shownName: name)
  }

  @Test("A person is one line: the name, the whole key, and what is known of the claimed name")
  func lines() throws {
    let npub = try #require(Self.key).npub
    var known = try profile("Alice")
    (known.nip05, known.claim) = ("alice@example.com", .verified)
    #expect(PeopleText.lines(known, .plain) == ["Alice                     \(npub)  alice@example.com (verified)"])
    let narrow = PeopleText.lines(known, Style(isColoured: false, columns: 80))
    #expect(narrow == ["Alice            \(npub)", "    alice@example.com (verified)"])
    known.claim = .another
    #expect(PeopleText.lines(known, .plain)[0].hasSuffix("(claimed; it is another's)"))
    #expect(PeopleText.lines(try profile("npub1abc", .absent), .plain)[0].hasSuffix("\(npub)  no profile"))
    var broken = try profile("npub1abc", .unreadable)
    broken.fault = "\u{1B}[2J"
    #expect(PeopleText.lines(broken, .plain)[0].hasSuffix(#"not a profile: \e[2J"#))
  }

  @Test("No text of a stranger controls a terminal or breaks a line, however long it is")
  func hostile() throws {
    let npub = try #require(Self.key).npub
    let evil = "\u{202E}\u{1B}]0;x\u{07}\n" + String(repeating: "e\u{301}", count: 5_000)
    var known = try profile(evil)
    known.nip05 = evil
    let lines = PeopleText.lines(known, .plain) + PeopleText.lines(known, Style(isColoured: false, columns: 60))
    var found = FoundPerson(
      pubkey: known.pubkey, shownName: evil, isFollowed: true, field: .petname, way: .beginning)
    (found.petname, found.nip05) = (evil, evil)
    let table = PeopleText.table([found], of: evil, .plain)
    for text in lines + table {
      #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E }, "\(text)")
      #expect(text.count < 330)
    }
    #expect(lines.contains { $0.contains(npub) } && table.contains { $0.contains(npub) })
    #expect(table.contains { $0.contains("followed, petname: its beginning") })
    #expect(PeopleText.table([], of: evil, .plain).allSatisfy { !$0.contains("\u{1B}") })
  }

  @Test("It is said for how many people relays were not asked, and why")
  func notAsked() {
    #expect(PeopleText.notAsked(ProfilesAsked(count: 3)) == nil)
    #expect(
      PeopleText.notAsked(ProfilesAsked(count: 3, failed: 2, reason: "the planner is away"))
        == "Relays were not asked for 2 people: the planner is away")
  }
}
