import Addresses
import Contracts
import Cryptography
import Frames
import Nostr
import OutboxRouting
import TestSupport
import Testing

/// The language-neutral corpus of relay selection. Where Roost decides otherwise, the case is named with the reason.
@Suite("The corpus of relay selection")
struct SelectionVectorTests {
  private struct Template: Decodable {
    let kind: UInt16
    let pubkey: String
    let createdAt: Int64
    let tags: [[String]]

    enum CodingKeys: String, CodingKey {
      case kind, pubkey, tags
      case createdAt = "created_at"
    }

    func event() throws -> Event {
      let unsigned = UnsignedEvent(
        pubkey: try #require(PublicKey(pubkey)), createdAt: createdAt, kind: kind, tags: tags)
      return Event(unsigned, signature: try #require(Signature(String(repeating: "0", count: 128))))
    }
  }

  private struct Reads: Decodable {
    struct Context: Decodable {
      let authorPubkeys: [String]
      let relayListEvents: [Template]
      let fallbackRelays: [String]
      let blockedRelays: [String]?
    }
    struct Plan: Decodable {
      let relays: [String]
      let authorChunks: [[String]]
    }
    let name: String
    let context: Context
    let expected: [Plan]
  }

  private struct Publish: Decodable {
    struct Context: Decodable {
      let relayListEvents: [Template]
      let indexerRelays: [String]?
      let blockedRelays: [String]?
    }
    struct Expected: Decodable {
      /// Nil: it must not be sent.
      let relays: [String]?
    }
    let name: String
    let event: Template
    let context: Context
    let expected: Expected
  }

  private func directory(
    of account: String, _ relays: [String], _ lists: [Template], blocked: [String], indexers: [String] = []
  ) throws -> RelayDirectory {
    var directory = RelayDirectory.sample([], relays: relays.map { .configured($0) })
    let key = try #require(PublicKey(account))
    directory.accountsAre([("me", key)])
    directory.lookedUp([key])
    var settings = PlannerSettings()
    settings.indexers = indexers
    directory.settingsAre(settings)
    for list in lists { _ = directory.learn(try list.event()) }
    if !blocked.isEmpty {
      let tags = blocked.map { ["relay", $0] }
      _ = directory.learn(
        try Template(kind: EventKind.blockedRelays, pubkey: account, createdAt: 1, tags: tags).event())
    }
    return directory
  }

  private func cases<Case: Decodable>(_ file: String, _ type: Case.Type) throws -> [Case] {
    guard let lines = SharedFolder.lines(of: "vectors/relay-selection/\(file).json") else { return [] }
    return try JSONPayload.decode([Case].self, from: Array(lines.joined(separator: [10])))
  }

  private static let reads = [
    "mixed: per-outbox plans plus a fallback plan for authors lacking kind 10002":
      "who has no list is also asked for at the five largest relays",
    "redundancy=1 picks the minimal cover (one relay per author when possible)":
      "each relay that is open is asked for all who name it",
  ]

  @Test("Authors are asked for as the corpus says")
  func authors() throws {
    for row in try cases("route-author-reads", Reads.self) {
      let context = row.context
      var directory = try directory(
        of: String(repeating: "1", count: 64), context.fallbackRelays, context.relayListEvents,
        blocked: context.blockedRelays ?? [])
      let authors = context.authorPubkeys.compactMap { PublicKey($0) }
      let filters = [Filter(authors: authors, kinds: [1]).canonical]
      directory.want(Interest(own: "x", filters))
      _ = directory.selectRelays(at: 1_000)
      var found: [String: Set<String>] = [:]
      for stop in directory.route(filters).stops {
        found[stop.choice.url.text] = Set(stop.filters.flatMap { $0.authors ?? [] }.map(\.description))
      }
      var expected: [String: Set<String>] = [:]
      for plan in row.expected {
        for relay in plan.relays { expected[relay, default: []].formUnion(plan.authorChunks.joined()) }
      }
      if Self.reads[row.name] != nil {
        #expect(found != expected, "no deviation: \(row.name)")
      } else {
        #expect(found == expected, "\(row.name)")
      }
    }
  }

  /// A configured relay, which each event goes to: the corpus knows none, and without one nothing is sent to inboxes.
  private static let own = "wss://configured.example.com"

  private static let publishes = [
    "p-tag position-[2] hint is used as fallback inbox when kind 10002 is missing":
      "an inbox comes from a list; it is sought, and joins later",
    "duplicate p-tags for the same pubkey use the first occurrence's hint":
      "an inbox comes from a list; it is sought, and joins later",
    "write-only kind 10002 (no read/both relays) falls back to position-[2] hint":
      "who names no relay for reading is written to at those for writing",
    "kind 30024 draft with privateContentRelays routes exclusively to those":
      "lists of relays for drafts (kind 10013) are not read",
    "kind 30403 classified listing draft with privateContentRelays routes exclusively to those":
      "lists of relays for drafts (kind 10013) are not read",
    "kind 31234 draft wrap with privateContentRelays routes exclusively to those":
      "lists of relays for drafts (kind 10013) are not read",
    "privateContentRelays dedupes multiple entries into a single set":
      "lists of relays for drafts (kind 10013) are not read",
    "blockedRelays applies to the draft branch privateContentRelays":
      "lists of relays for drafts (kind 10013) are not read",
    "self-p-tag dedupes against user outbox; user's relay appears once":
      "NIP-65 has no marker 'both', and such an entry is left out",
    "default perRecipientCap of 3 truncates per-recipient fan-out":
      "two relays of one person",
    "custom perRecipientCap 1 caps per-recipient fan-out":
      "two relays of one person",
    "first kind 10002 (no prior outbox) publishes to indexer relays alone":
      "a list also goes to the relays that it names",
    "blockedRelays removes a user-blocked relay from the publish set":
      "what the account's own list names is open for its own events, although blocked",
    "real-world: kind 9 group message with relay hint in h tag routes to the hinted relay":
      "a group is not looked for: its relay is named by the caller",
    "real-world: kind 9 group message without relay hint uses caller-supplied groupRelays":
      "a group is not looked for: its relay is named by the caller",
  ]

  @Test("Events are sent where the corpus says")
  func events() throws {
    for row in try cases("route-publish", Publish.self) {
      let context = row.context
      let directory = try directory(
        of: row.event.pubkey, [Self.own], context.relayListEvents, blocked: context.blockedRelays ?? [],
        indexers: context.indexerRelays ?? [])
      let found = Set(directory.plan(try row.event.event().unsigned).choices.map(\.url.text)).subtracting([Self.own])
      if Self.publishes[row.name] != nil {
        #expect(found != Set(row.expected.relays ?? []), "no deviation: \(row.name)")
      } else {
        #expect(found == Set(row.expected.relays ?? []), "\(row.name)")
      }
    }
  }
}
