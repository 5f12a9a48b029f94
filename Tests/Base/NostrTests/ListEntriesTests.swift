import Cryptography
import Testing

@testable import Nostr

@Suite("What a list loses to its next version")
struct ListEntriesTests {
  private let key = SecretKey.generate()

  private func entries(_ kind: UInt16, _ tags: [[String]] = [], content: String = "") throws -> ListEntries {
    let event = UnsignedEvent(pubkey: key.publicKey, createdAt: 1, kind: kind, tags: tags, content: content)
    return try #require(ListEntries(event.signed(by: key)))
  }

  private func people(_ count: Int, from first: Int = 0) -> [[String]] {
    (first..<first + count).map { ["p", String(repeating: "0", count: 61) + String(100 + $0)] }
  }

  @Test("Profiles, follow lists and what NIP-51 names are lists, and nothing else is")
  func kinds() {
    for kind in [0, 3, 10_000, 10_002, 10_003, 10_030, 10_050, 30_000, 30_002, 30_030, 39_089] as [UInt16] {
      #expect(ListEntries.areLists(ofKind: kind), "\(kind)")
    }
    for kind in [1, 5, 7, 1_059, 9_735, 10_008, 13_194, 30_023, 30_078, 31_990] as [UInt16] {
      #expect(!ListEntries.areLists(ofKind: kind), "\(kind)")
    }
  }

  @Test("A loss is told with both numbers")
  func sentences() throws {
    let loss = try entries(3, people(250)).loss(to: entries(3, people(1)))
    #expect(loss?.sentence == "this would replace the list of 250 people with one of 1" && loss?.lostCount == 249)
    let other = try entries(10_002, [["r", "wss://a.org"], ["r", "wss://b.org", "read"]])
    let swapped = try other.loss(to: entries(10_002, [["r", "wss://a.org", "write"], ["r", "wss://c.org"]]))
    #expect(
      swapped?.sentence
        == "this would replace the list of 2 relays (kind 10002) with one of 2, and 1 of them would be lost")
    let profile = try entries(0, content: #"{"name":"a","about":"b","bot":false,"nip05":"","x":null}"#)
    #expect(profile.count == 3)
    let poor = try profile.loss(to: entries(0, content: #"{"name":"x"}"#))
    #expect(poor?.sentence == "this would replace the profile of 3 fields with one of 1, without about, bot")
  }

  @Test("What is added, put in order or described anew loses nothing")
  func nothing() throws {
    let list = try entries(30_000, [["d", "friends"], ["title", "Friends"]] + people(3))
    #expect(try list.loss(to: entries(30_000, [["d", "friends"]] + people(4).reversed())) == nil)
    #expect(
      try entries(3, people(2), content: "{}").loss(to: entries(3, people(2))) == nil, "what stood there is not used")
    #expect(
      try entries(0, content: #"{"name":"a"}"#).loss(to: entries(0, content: #"{"about":"b","name":"c"}"#)) == nil)
  }

  @Test("The part that only its author can read is a loss of its own")
  func hidden() throws {
    let list = try entries(10_000, people(1), content: "ciphertext")
    let loss = try list.loss(to: entries(10_000, people(1)))
    #expect(loss?.losesHiddenPart == true && loss?.lostCount == 0)
    #expect(loss?.sentence.hasSuffix("and its encrypted part would be lost") == true)
    #expect(try list.loss(to: entries(10_000, people(1), content: "other")) == nil)
  }
}
