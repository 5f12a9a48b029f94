import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

/// An event of the test key; its signature is not looked at by what reads lists.
func testEvent(
  kind: UInt16, tags: [[String]] = [], content: String = "", createdAt: Int64 = 1_000, key: UInt8 = 1
) throws -> Event {
  let key = try publicTestKey(key)
  return UnsignedEvent(pubkey: key.publicKey, createdAt: createdAt, kind: kind, tags: tags, content: content)
    .signed(by: key)
}

@Suite("Lists: follows (NIP-02), relays (NIP-51, NIP-65)") struct ListTests {
  @Test("A relay list says where its author writes and reads, each relay once")
  func relayList() throws {
    let list = try RelayList(
      testEvent(
        kind: 10_002,
        tags: [
          ["r", "wss://both.example/"], ["r", "wss://w.example", "write"], ["r", "wss://r.example", "read", "x"],
          ["r", "WSS://W.example:443", "read"], ["r", "wss://empty.example", ""], ["r", "https://page.example"], ["r"],
          ["r", "wss://odd.example", "WRITE"], ["relay", "wss://other.example"],
        ]))
    #expect(list.writeRelays.map(\.host) == ["both.example", "w.example", "empty.example"])
    #expect(list.readRelays.map(\.host) == ["both.example", "w.example", "r.example", "empty.example"])
    #expect(list.droppedCount == 3 && list.createdAt == 1_000)
    #expect(try RelayList(testEvent(kind: 10_002)).entries.isEmpty)
  }

  @Test("Lists that are too long are cut, and say by how much")
  func bounds() throws {
    let addresses = (0..<300).map { "wss://r\($0).example" }
    let list = try RelayList(
      testEvent(kind: 10_002, tags: addresses.map { ["r", $0] } + [["r", addresses[0], "read"]]))
    #expect(list.entries.count == RelayList.countMaximum && list.droppedCount == 300 - RelayList.countMaximum)
    let set = try RelaySet(testEvent(kind: 10_050, tags: addresses.map { ["relay", $0] }))
    #expect(set.relays.count == RelaySet.countMaximum && set.droppedCount == 300 - RelaySet.countMaximum)
  }

  @Test(
    "A set of relays is read from each kind that is one, and garbage is counted", arguments: [10_006, 10_007, 10_050])
  func relaySets(kind: UInt16) throws {
    let tags = [
      ["relay", "wss://a.example/"], ["relay", "wss://a.example"], ["relay"], ["relay", "a"], ["r", "wss://b.example"],
    ]
    let set = try RelaySet(testEvent(kind: kind, tags: tags, content: "encrypted"))
    #expect(set.kind == kind && set.relays.map(\.text) == ["wss://a.example"] && set.droppedCount == 3)
  }

  @Test("Follows are read with what is known of them, each key once")
  func follows() throws {
    let (one, two) = (try publicTestKey(2).publicKey, try publicTestKey(3).publicKey)
    let list = try FollowList(
      testEvent(
        kind: 3,
        tags: [
          ["p", one.description, "wss://a.example/", "al"], ["p", two.description, "nowhere", ""],
          ["p", one.description],
          ["p"], ["p", "xyz"], ["p", one.description.uppercased()], ["t", "x"],
        ], content: "{\"wss://old.example\":{}}"))
    #expect(list.follows.map(\.pubkey) == [one, two] && list.droppedCount == 4)
    #expect(list.follows[0].relay?.text == "wss://a.example" && list.follows[0].petname == "al")
    #expect(list.follows[1].relay == nil && list.follows[1].petname == nil)
  }

  @Test("A list that was published is the list that is read", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    let key = try publicTestKey()
    for _ in 0..<20 {
      let follows = try (0..<generator.below(30)).map { _ in
        FollowList.Follow(
          pubkey: PublicKey(try generator.octets()), relay: try generator.relays().first,
          petname: generator.oneIn(2) ? generator.text(5) : nil)
      }
      let template = FollowList.template(follows, by: key.publicKey, createdAt: 5, content: "kept")
      let list = try FollowList(template.signed(by: key))
      #expect(list.follows == follows && list.droppedCount == 0 && template.content == "kept")
      let entries = try (0..<generator.below(9)).map { number in
        RelayList.Entry(
          try RelayURL("wss://r\(number).example"), reads: number % 3 != 1, writes: number % 3 != 2)
      }
      let relayList = try RelayList(
        RelayList.template(entries, by: key.publicKey, createdAt: 5).signed(by: key))
      #expect(relayList.entries == entries && relayList.droppedCount == 0)
      let relays = entries.map(\.relay)
      let set = try RelaySet(
        RelaySet.template(relays, kind: 10_050, by: key.publicKey, createdAt: 5).signed(by: key))
      #expect(set.relays == relays && set.droppedCount == 0)
    }
  }

  @Test("Another kind is refused by its number")
  func wrongKinds() throws {
    let event = try testEvent(kind: 1)
    #expect(throws: KindFault.wrongKind(1, expected: [10_002])) { try RelayList(event) }
    #expect(throws: KindFault.wrongKind(1, expected: [10_006, 10_007, 10_050])) { try RelaySet(event) }
    #expect(throws: KindFault.wrongKind(1, expected: [3])) { try FollowList(event) }
    #expect(throws: KindFault.wrongKind(1, expected: [0])) { try Profile(event) }
    #expect(throws: KindFault.wrongKind(1, expected: [5])) { try DeletionRequest(event) }
    #expect(throws: KindFault.wrongKind(1, expected: [62])) { try VanishRequest(event) }
    #expect(
      KindFault.wrongKind(1, expected: [2, 3]).description == "an event of kind 1 where kind 2 or 3 was expected")
  }

  @Test("Real lists are read without harm")
  func real() throws {
    var counts = [0, 0, 0]
    for line in SharedFolder.lines(of: "events/valid.jsonl") ?? [] {
      let event = try Event(json: line)
      switch event.kind {
      case 0:
        _ = try? Profile(event)
        counts[0] += 1
      case 3:
        let list = try FollowList(event)
        #expect(list.follows.count + list.droppedCount == event.tags.filter { $0[0] == "p" }.count)
        counts[1] += 1
      case 10_002:
        _ = try RelayList(event)
        counts[2] += 1
      default: break
      }
      _ = ThreadPlace(tags: event.tags)
      _ = NostrReference.find(in: event.content)
    }
    if SharedFolder.has("events/valid.jsonl") { #expect(counts.allSatisfy { $0 > 0 }, "\(counts)") }
  }
}
