import Addresses
import Testing

@Suite("An IP address") struct IPAddressTests {
  @Test(
    "is read from its text and written in the shortest form",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("::", "::"), ("2001:DB8:0:0::5", "2001:db8::5"),
      ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ])
  func texts(text: String, written: String) throws {
    let address = try #require(IPAddress(text))
    #expect("\(address)" == written && IPAddress(octets: address.octets) == address)
    #expect(address.isVersion6 == text.contains(":"))
  }

  @Test(
    "is nothing else", arguments: ["", "127.1", "192.0.2.256", "[::1]", "::1%lo", "1.1.1.1 ", "relay.example.com"])
  func others(text: String) { #expect(IPAddress(text) == nil) }

  @Test("has 4 bytes or 16")
  func sizes() {
    for count in 0..<20 {
      #expect((IPAddress(octets: [UInt8](repeating: 1, count: count)) != nil) == [4, 16].contains(count))
    }
  }

  @Test("of IPv4 is found where a socket of both versions has put it, and only there")
  func unmapped() {
    #expect(IPAddress("::ffff:127.0.0.1")?.unmapped == IPAddress("127.0.0.1"))
    for text in ["127.0.0.1", "::1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"] {
      #expect(IPAddress(text)?.unmapped == IPAddress(text))
    }
  }

  @Test("of nobody is all zeros")
  func unspecified() {
    #expect(IPAddress("0.0.0.0")?.isUnspecified == true && IPAddress("::")?.isUnspecified == true)
    #expect(IPAddress("0.0.0.1")?.isUnspecified == false && IPAddress("::1")?.isUnspecified == false)
  }
}
