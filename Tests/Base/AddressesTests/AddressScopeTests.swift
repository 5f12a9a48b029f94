import Addresses
import Testing

@Suite("Scopes of addresses") struct AddressScopeTests {
  private static let table: [(AddressScope, [String])] = [
    (
      .global,
      ["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"]
    ),
    (.global, ["192.167.255.255", "192.169.0.0", "223.255.255.255", "2606:4700::1111", "2a00::1", "2001:4860::8888"]),
    (.loopback, ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]),
    (.privateNetwork, ["10.0.0.1", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.1.5"]),
    (.privateNetwork, ["::ffff:10.0.0.1", "::192.168.1.5", "64:ff9b::c0a8:105", "2002:c0a8:105::1"]),
    (.linkLocal, ["169.254.169.254", "fe80::1", "febf::1", "::ffff:169.254.169.254"]),
    (.uniqueLocal, ["fc00::1", "fdff::1", "fec0::1"]),
    (.shared, ["100.64.0.0", "100.127.255.255", "::ffff:100.64.0.1"]),
    (.multicast, ["224.0.0.1", "239.255.255.255", "ff02::1"]),
    (.unspecified, ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"]),
    (.reserved, ["192.0.2.1", "198.18.0.1", "203.0.113.1", "240.0.0.1", "255.255.255.255", "2001:db8::1", "2001::1"]),
    (.reserved, ["3fff::1", "4000::1", "64:ff9b:1::1", "100::1", "fe00::1"]),
  ]

  @Test("Each range ends where the registry says, and an address inside another is judged by what it leads to")
  func ranges() throws {
    for (scope, literals) in Self.table {
      for literal in literals {
        #expect(try #require(IPAddress(literal)).scope == scope, "\(literal)")
      }
    }
  }
}
