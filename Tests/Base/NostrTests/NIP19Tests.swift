import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Entities (NIP-19, NIP-21)") struct NIP19Tests {
  static let key = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"
  static let npub = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"
  static let nprofile =
    "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuumpv"
    + "34kytnrdaksjlyr9p"

  @Test("The examples of NIP-19 are read and written")
  func examples() throws {
    let key = try #require(PublicKey(Self.key))
    #expect(try NostrEntity(Self.npub) == .publicKey(key) && key.npub == Self.npub)
    #expect(try NostrEntity(Self.npub.uppercased()) == .publicKey(key))
    let relays = [try RelayURL("wss://r.x.com"), try RelayURL("wss://djbas.sadkb.com")]
    #expect(try NostrEntity(Self.nprofile) == .profile(ProfilePointer(pubkey: key, relays: relays)))
    #expect(try NostrEntity(Self.nprofile).text == Self.nprofile)
    let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    let secret = try Array(nsec.utf8).withUnsafeBytes { try SecretKey.read(nsec: $0) }
    #expect(secret.publicKey.description == "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e")
    for text in [nsec, nsec.uppercased(), "nsec1", nsec + "x"] {
      #expect(throws: EntityFault.secret) { try NostrEntity(text) }
    }
  }

  @Test("Every entity of the collected vectors is read, and written where it is canonical")
  func vectors() throws {
    guard let vectors = try sharedVectors(Vectors.self, "nip19/nip19.json") else { return }
    for bare in vectors.bare {
      switch bare[0] {
      case "npub":
        let key = try #require(PublicKey(bare[1]))
        #expect(try NostrEntity(bare[2]) == .publicKey(key) && key.npub == bare[2])
      case "note":
        let id = try #require(EventID(bare[1]))
        #expect(try NostrEntity(bare[2]) == .note(id) && id.note == bare[2])
      default:
        let key = try Array(bare[2].utf8).withUnsafeBytes { try SecretKey.read(nsec: $0) }
        #expect(key.withSecret { Hexadecimal.text(of: $0) } == bare[1])
      }
    }
    for row in vectors.nprofile {
      guard case .profile(let profile) = try NostrEntity(row.bech32) else {
        Issue.record("\(row)")
        continue
      }
      #expect(profile.pubkey.description == row.pubkey)
      #expect(profile.relays == (row.relays ?? []).compactMap { try? RelayURL($0) }, "\(row)")
      if row.canonical == true { #expect(profile.nprofile == row.bech32) }
    }
    for row in vectors.nevent {
      guard case .event(let event) = try NostrEntity(row.bech32) else {
        Issue.record("\(row)")
        continue
      }
      #expect(event.id.description == row.id && event.author?.description == row.author && event.kind == row.kind)
      #expect(event.relays.map(\.text) == row.relays)
    }
    for row in vectors.naddr {
      guard case .address(let pointer) = try NostrEntity(row.bech32) else {
        Issue.record("\(row)")
        continue
      }
      #expect(pointer.address.description == "\(row.kind ?? 0):\(row.pubkey ?? ""):\(row.identifier ?? "")")
      #expect(pointer.relays.map(\.text) == row.relays)
    }
    for row in vectors.invalid { #expect(throws: EntityFault.self, "\(row)") { try NostrEntity(row[0]) } }
    for row in vectors.lenient {
      guard case .event(let event) = try NostrEntity(row[0]) else {
        Issue.record("\(row)")
        continue
      }
      #expect(event.author == nil)
    }
  }

  private struct Vectors: Decodable {
    let bare: [[String]], nprofile: [Row], nevent: [Row], naddr: [Row], invalid: [[String]], lenient: [[String]]
    struct Row: Decodable {
      let bech32: String, pubkey: String?, id: String?, author: String?, identifier: String?, kind: UInt16?
      let relays: [String]?, canonical: Bool?
    }
  }

  @Test("What was written is read as the same", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<300 {
      let entity = try generator.entity()
      let text = try #require(entity.text)
      #expect(try NostrEntity(text) == entity, "\(text)")
      let uri = try #require(entity.uri)
      #expect(try NostrEntity(uri: uri.uppercased()) == entity, "\(text)")
      let found = NostrReference.find(in: "é nostr:\(text), nostr:\(text)x nostr:x (\(uri.uppercased()))")
      #expect(found.map(\.entity) == [entity, entity])
    }
  }

  @Test("Entities that are none are refused for their reason")
  func refused() throws {
    let author: [UInt8] = [2, 32] + [UInt8](repeating: 3, count: 32)
    let article: [UInt8] = [3, 4, 0, 0, 0x75, 0x47]
    let id: [UInt8] = [0, 32] + [UInt8](repeating: 7, count: 32)
    let cases: [(String, [UInt8], EntityFault)] = [
      ("npub", [1, 2], .badLength(prefix: "npub", byteCount: 2)),
      ("note", [UInt8](repeating: 0, count: 33), .badLength(prefix: "note", byteCount: 33)),
      ("nfoo", [], .unknownPrefix("nfoo")), ("nprofile", [], .missingField("public key")),
      ("nprofile", [0], .brokenFields), ("nprofile", [0, 32, 1], .brokenFields), ("nevent", id + [9], .brokenFields),
      ("nprofile", [0, 2, 1, 1], .badField("public key", "of 32 bytes")), ("nevent", id + id, .repeatedField("id")),
      ("nevent", id + author + author, .repeatedField("author")),
      ("nevent", id + article + article, .repeatedField("kind")), ("nevent", author, .missingField("id")),
      ("naddr", author + article, .missingField("identifier")), ("naddr", [0, 0] + article, .missingField("author")),
      ("naddr", [0, 0] + author, .missingField("kind")),
      ("naddr", [0, 1, 0xFF] + author + article, .badField("identifier", "UTF-8")),
      ("naddr", [0, 0] + author + [3, 1, 0], .badField("kind", "four bytes with a number from 0 to 65535")),
      ("naddr", [0, 0] + author + [3, 4, 0, 1, 0, 0], .badField("kind", "four bytes with a number from 0 to 65535")),
      (
        "naddr", [0, 0] + author + [3, 4, 0, 0, 0, 1],
        .badField("kind", "one whose events have an address with this identifier")
      ),
      (
        "naddr", [0, 1, 0x61] + author + [3, 4, 0, 0, 0, 0],
        .badField("kind", "one whose events have an address with this identifier")
      ), ("nrelay", [1, 0], .missingField("relay")), ("nrelay", [0, 1, 0x61], .badField("relay", "a relay's address")),
    ]
    for (hrp, data, fault) in cases {
      #expect(throws: fault) { try NostrEntity(Bech32.encode(hrp: hrp, data: data)) }
      #expect(!fault.description.isEmpty)
    }
    #expect(throws: EntityFault.notBech32(.tooLong(count: 5_001, maximum: 5_000))) {
      try NostrEntity(String(repeating: "q", count: 5_001))
    }
    #expect(throws: EntityFault.noScheme) { try NostrEntity(uri: Self.npub) }
    #expect(throws: EntityFault.notBech32(.badChecksum)) { try NostrEntity(String(Self.npub.dropLast()) + "7") }
  }

  @Test("What is not understood is passed over, and relays are bounded")
  func tolerated() throws {
    let id = [UInt8](repeating: 7, count: 32)
    let relay = { (text: String) -> [UInt8] in [1, UInt8(text.utf8.count)] + Array(text.utf8) }
    var data: [UInt8] =
      [9, 2, 1, 1, 0, 32] + id + [2, 1, 5, 3, 2, 0, 1] + relay("wss://A.example/") + relay("not one")
    data += relay("wss://a.example") + [1, 1, 0xFF]
    for number in 0..<20 { data += relay("wss://\(number).example.com") }
    guard case .event(let event) = try NostrEntity(Bech32.encode(hrp: "nevent", data: data)) else {
      Issue.record("no event")
      return
    }
    #expect(event.id.octets.bytes == id && event.author == nil && event.kind == nil)
    #expect(event.relays.count == NostrEntity.relayCountMaximum && event.relays[0].text == "wss://a.example")
    let legacy = try NostrEntity(Bech32.encode(hrp: "nrelay", data: [0, 15] + Array("wss://a.example".utf8)))
    #expect(legacy == .relay(try RelayURL("wss://a.example")) && legacy.text == nil)
    let address = try #require(
      EventAddress(
        kind: 30_023, pubkey: try publicTestKey().publicKey, identifier: TagValue(String(repeating: "d", count: 256))))
    #expect(AddressPointer(address).naddr == nil)
  }

  @Test("A key that is none is refused without a word of it")
  func secrets() {
    let cases: [(String, [UInt8], EntityFault)] = [
      ("nsec", [UInt8](repeating: 0, count: 32), .notAKey), ("nsec", [UInt8](repeating: 0xFF, count: 32), .notAKey),
      ("nsec", [1, 2, 3], .badLength(prefix: "nsec", byteCount: 3)),
      ("nsec", [UInt8](repeating: 1, count: 33), .notBech32(.tooMuchData(maximumByteCount: 32))),
      ("npub", [UInt8](repeating: 1, count: 32), .otherEntity(expected: "a secret key (nsec1…)")),
    ]
    for (hrp, data, fault) in cases {
      let text = Array(Bech32.encode(hrp: hrp, data: data).utf8)
      #expect(throws: fault) { try text.withUnsafeBytes { _ = try SecretKey.read(nsec: $0) } }
    }
  }

  @Test("Keys and ids are taken in every spelling a person has, and no other")
  func spelled() throws {
    let key = try #require(PublicKey(Self.key))
    for text in [Self.key, Self.npub, Self.nprofile, "nostr:" + Self.npub, "NOSTR:" + Self.nprofile.uppercased()] {
      #expect(try PublicKey(spelled: text) == key)
    }
    let id = EventID(key.octets)
    for text in [Self.key, id.note, EventPointer(id: id).nevent, "nostr:" + id.note] {
      #expect(try EventID(spelled: text) == id)
    }
    for text in ["", id.note, Self.key.uppercased(), Self.key + "0", "nostr:" + Self.key] {
      #expect(throws: EntityFault.self) { try PublicKey(spelled: text) }
    }
    #expect(throws: EntityFault.self) { try EventID(spelled: Self.npub) }
  }

  @Test("References are found where they stand, and only what is one")
  func references() {
    let text = "gm 🪶nostr:\(Self.npub)é (NOSTR:\(Self.npub)) xnostr:\(Self.npub) nostr: nostr:\(Self.npub)q :nostr:"
    let found = NostrReference.find(in: text)
    #expect(found.map { String(text[$0.range]) } == ["nostr:" + Self.npub, "NOSTR:" + Self.npub])
    let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    #expect(NostrReference.find(in: "nostr:\(nsec)").isEmpty)
    let many = String(repeating: "nostr:\(Self.npub) ", count: NostrReference.countMaximum + 5)
    #expect(NostrReference.find(in: many).count == NostrReference.countMaximum)
  }
}

extension EventGenerator {
  mutating func octets() throws -> Octets32 { try #require(Octets32((0..<32).map { _ in UInt8(below(256)) })) }

  mutating func relays() throws -> [RelayURL] {
    try (0..<below(4)).map { try RelayURL("wss://r\($0).example\(below(9)).com/\(below(3))") }
  }

  mutating func address() throws -> EventAddress {
    let kind = oneIn(3) ? 10_002 : UInt16(30_000 + below(10_000))
    let identifier = (0..<below(30)).map { _ in Character(UnicodeScalar(0x21 + below(0x200)) ?? "x") }
    return try #require(
      EventAddress(
        kind: kind, pubkey: PublicKey(try octets()), identifier: kind < 30_000 ? "" : TagValue(String(identifier))))
  }

  mutating func entity() throws -> NostrEntity {
    switch below(5) {
    case 0: .publicKey(PublicKey(try octets()))
    case 1: .note(EventID(try octets()))
    case 2: .profile(ProfilePointer(pubkey: PublicKey(try octets()), relays: try relays()))
    case 3:
      .event(
        EventPointer(
          id: EventID(try octets()), relays: try relays(), author: oneIn(2) ? PublicKey(try octets()) : nil,
          kind: oneIn(2) ? UInt16(below(65_536)) : nil))
    default: .address(AddressPointer(try address(), relays: try relays()))
    }
  }
}
