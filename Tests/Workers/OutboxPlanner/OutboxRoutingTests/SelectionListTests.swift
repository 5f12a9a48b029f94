import Addresses
import Contracts
import Cryptography
import Frames
import Nostr
import OutboxRouting
import TestSupport
import Testing

/// The parts of the corpus of relay selection that are about single lists and addresses. Where Roost decides otherwise,
/// the case is named with the reason. Hints for tags and zap requests are the business of clients, and are not here.
@Suite("Lists of the corpus of relay selection")
struct SelectionListTests {
  private struct Template: Decodable {
    let kind: UInt16
    let pubkey: String
    let tags: [[String]]
    var createdAt: Int64?

    enum CodingKeys: String, CodingKey {
      case kind, pubkey, tags
      case createdAt = "created_at"
    }

    func event() throws -> Event {
      let unsigned = UnsignedEvent(
        pubkey: try #require(PublicKey(pubkey)), createdAt: createdAt ?? 1, kind: kind, tags: tags)
      return Event(unsigned, signature: try #require(Signature(String(repeating: "0", count: 128))))
    }
  }
  private struct Extraction: Decodable {
    let function: String
    let name: String
    let tags: [[String]]
    let expected: [String]
  }
  private struct Inbox: Decodable {
    struct Context: Decodable {
      let authorPubkey: String
      let relayListEvents: [Template]
    }
    let name: String
    let context: Context
    let expected: [String]
  }
  private struct Missing: Decodable {
    let name: String
    let event: Template
    let relayListEvents: [Template]
    let expected: [String]
  }
  private struct Place: Decodable {
    let name: String
    let input: String
    let isOnion: Bool
    let isLocalAddr: Bool
  }
  private struct Person: Decodable {
    struct Expected: Decodable {
      let inbox: [String]
      let outbox: [String]
      let dm: [String]
    }
    let name: String
    let events: [Template]
    let expected: Expected
  }

  private func read<Value: Decodable>(_ file: String, _ type: Value.Type) throws -> Value? {
    guard let lines = SharedFolder.lines(of: "vectors/relay-selection/\(file).json") else { return nil }
    return try JSONPayload.decode(Value.self, from: Array(lines.joined(separator: [10])))
  }

  private static let both = "NIP-65 has no marker 'both', and such an entry is left out"
  private static let deviations = [
    "returns read and both markers from r tags": both, "returns write and both markers from r tags": both,
  ]

  @Test("A list names the relays that the corpus takes from it")
  func extraction() throws {
    let key = String(repeating: "1", count: 64)
    for row in try read("extract-relay-urls", [Extraction].self) ?? [] {
      let isRelayList = ["extractInboxRelayUrls", "extractOutboxRelayUrls"].contains(row.function)
      let kind = isRelayList ? EventKind.relayList : EventKind.directMessageRelays
      let event = try Template(kind: kind, pubkey: key, tags: row.tags).event()
      let relays =
        switch row.function {
        case "extractInboxRelayUrls": try RelayList(event).readRelays
        case "extractOutboxRelayUrls": try RelayList(event).writeRelays
        default: try RelaySet(event).relays
        }
      if Self.deviations[row.name] != nil {
        #expect(relays.map(\.text) != row.expected, "no deviation: \(row.name)")
      } else {
        #expect(relays.map(\.text) == row.expected, "\(row.name)")
      }
    }
  }

  @Test("Real people write, read and receive where the corpus says")
  func people() throws {
    for name in ["alex-gleason", "derek-ross", "fiatjaf", "pablof7z", "utxo", "vitor"] {
      guard let person = try read("real-world/\(name)", Person.self) else { return }
      var (inbox, outbox, messages): ([RelayURL], [RelayURL], [RelayURL]) = ([], [], [])
      for event in try person.events.map({ try $0.event() }) {
        if event.kind == EventKind.relayList {
          (inbox, outbox) = (try RelayList(event).readRelays, try RelayList(event).writeRelays)
        }
        if event.kind == EventKind.directMessageRelays { messages = try RelaySet(event).relays }
      }
      #expect(inbox.map(\.text) == person.expected.inbox, "\(name)")
      #expect(outbox.map(\.text) == person.expected.outbox, "\(name)")
      #expect(messages.map(\.text) == person.expected.dm, "\(name)")
    }
  }

  @Test("The relays where an author reads are those of the newest list")
  func inboxes() throws {
    for row in try read("select-author-inbox-relays", [Inbox].self) ?? [] {
      var newest: Event?
      for event in try row.context.relayListEvents.map({ try $0.event() })
      where event.kind == EventKind.relayList && event.pubkey.description == row.context.authorPubkey {
        if event.createdAt > newest?.createdAt ?? .min { newest = event }
      }
      #expect(try newest.map { try RelayList($0).readRelays.map(\.text) } ?? [] == row.expected, "\(row.name)")
    }
  }

  @Test("The people whose lists are not known are named")
  func missing() throws {
    for row in try read("missing-relay-list-pubkeys", [Missing].self) ?? [] {
      var directory = RelayDirectory.sample([], relays: [])
      directory.accountsAre([("me", try #require(PublicKey(row.event.pubkey)))])
      for list in row.relayListEvents { _ = directory.learn(try list.event()) }
      let event = try row.event.event().unsigned
      #expect(
        Set(directory.unlisted(directory.addressees(of: event)).map(\.description)) == Set(row.expected), "\(row.name)")
    }
  }

  @Test("Addresses that others may not name are those of the corpus: local ones and .onion")
  func addresses() throws {
    for row in try read("classify-url", [Place].self) ?? [] {
      // `try?`: what is no relay's address is not dialled either.
      let isPublic = (try? RelayURL(row.input))?.isPublic ?? false
      #expect(isPublic == !(row.isOnion || row.isLocalAddr), "\(row.name)")
    }
  }
}
