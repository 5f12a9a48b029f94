import Cryptography
import Nostr
import TestSupport
import Testing

@Suite struct EventAddressTests {
  @Test("Kinds are of the class that NIP-01 says, at every edge")
  func classes() {
    let cases: [(ClosedRange<UInt16>, KindClass)] = [
      (0...0, .replaceable), (1...2, .regular), (3...3, .replaceable), (4...9_999, .regular),
      (10_000...19_999, .replaceable), (20_000...29_999, .ephemeral), (30_000...39_999, .addressable),
      (40_000...65_535, .regular),
    ]
    for (kinds, expected) in cases { for kind in kinds { #expect(KindClass(kind) == expected, "\(kind)") } }
  }

  @Test("An address written is the address read", arguments: seeds(2))
  func roundTrip(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<300 {
      let address = try generator.address()
      #expect(EventAddress(address.description) == address)
    }
    let key = NIP19Tests.key
    #expect(EventAddress("30023:\(key):a:b::")?.identifier == "a:b::")
    #expect(EventAddress("30023:\(key):")?.identifier == "" && EventAddress("0:\(key):")?.kind == 0)
  }

  @Test(
    "What is no address is refused",
    arguments: [
      "", "::", "30023", "30023:KEY", "1:KEY:", "20001:KEY:x", "0:KEY:x", "030023:KEY:x", "+30023:KEY:x", "65536:KEY:",
      " 30023:KEY:x", "30023:ab:x", "-1:KEY:", "99999999999999999999:KEY:x",
    ])
  func refused(text: String) {
    #expect(EventAddress(text.replacing("KEY", with: NIP19Tests.key)) == nil)
    #expect(EventAddress("30023:\(NIP19Tests.key.uppercased()):x") == nil)
  }

  @Test("An event's address is the same however the event is held", arguments: seeds(2))
  func ofEvents(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<500 {
      let json = generator.json()
      let event = try Event(json: json)
      let scanned = try ScannedEvent.read(json)
      let indexed = json.withUnsafeBytes { IndexedEvent(scanned, in: $0) }
      #expect(EventAddress(of: event) == EventAddress(of: indexed))
    }
    let key = try publicTestKey().publicKey
    let tags = [["d"], ["d", "first"], ["d", "second"]]
    let article = UnsignedEvent(pubkey: key, createdAt: 1, kind: 30_023, tags: tags)
    #expect(EventAddress(of: article)?.identifier == "first")
    #expect(EventAddress(of: UnsignedEvent(pubkey: key, createdAt: 1, kind: 0, tags: tags))?.identifier == "")
    #expect(EventAddress(of: UnsignedEvent(pubkey: key, createdAt: 1, kind: 1, tags: tags)) == nil)
  }
}
