import Nostr
import Testing

@Suite("A lightning address") struct NIP57AddressTests {
  @Test("names a page, whose address is written in bech32, and is read back from that")
  func page() throws {
    let address = try #require(LightningAddress("Alice.1+x@Pay.Example.com:8443"))
    #expect(address.description == "alice.1+x@pay.example.com:8443")
    #expect(address.page == "https://pay.example.com:8443/.well-known/lnurlp/alice.1+x")
    #expect(LightningAddress(lnurl: address.lnurl) == address)
    #expect(LightningAddress(lnurl: address.lnurl.uppercased()) == address)
  }

  @Test("is written as other programs write it")
  func vector() throws {
    // The `lnurl` of the example in NIP-57.
    let other = "lnurl1dp68gurn8ghj7um5v93kketj9ehx2amn9uh8wetvdskkkmn0wahz7mrww4excup0dajx2mrv92x9xp"
    let known = try #require(LightningAddress(lnurl: other))
    #expect(known.domain == "stacker.news" && known.lnurl == other)
    let own = try #require(LightningAddress("alice@example.com")).lnurl
    let (hrp, data) = try Bech32.decode(own, maximumCount: 1_000)
    #expect(hrp == "lnurl" && String(decoding: data, as: UTF8.self) == "https://example.com/.well-known/lnurlp/alice")
  }

  @Test(
    "is nothing that could lead elsewhere",
    arguments: [
      "", "alice", "@example.com", "alice@", "alice@localhost", "a@b@example.com", "a/b@example.com",
      "alice@example.com/x", "alice@example.com:0", "alice@example.com:99999", "alice@example.com:08", "alice@.com",
      "alice@example..com", "al ice@example.com", "alice@exa\u{0}mple.com", "alice@[::1]", "älice@example.com",
      "alice?x=1@example.com", "alice@example.com#x", String(repeating: "a", count: 400) + "@example.com",
    ])
  func wrong(text: String) {
    #expect(LightningAddress(text) == nil)
  }
}
