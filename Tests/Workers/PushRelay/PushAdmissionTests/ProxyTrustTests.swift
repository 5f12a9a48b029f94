import Addresses
import PushAdmission
import Testing

@Suite("Where a request comes from") struct ProxyTrustTests {
  private func trust(_ ranges: String...) -> ProxyTrust { ProxyTrust(ranges.compactMap { AddressRange($0) }) }
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text), "\(text)") }

  @Test("What somebody says who is not trusted counts for nothing (case 32)")
  func spoofed() throws {
    let peer = try address("203.0.113.9")
    #expect(trust().client(peer: peer, forwardedFor: ["192.0.2.1"]) == peer)
    #expect(trust("10.0.0.0/8").client(peer: peer, forwardedFor: ["10.0.0.1"]) == peer)
  }

  @Test(
    "Behind proxies it is the rightmost address that is none of theirs",
    arguments: [
      (["192.0.2.1"], "192.0.2.1"), (["6.6.6.6, 192.0.2.1"], "192.0.2.1"),
      (["6.6.6.6", "192.0.2.1, 10.0.0.2"], "192.0.2.1"),
      ([" 192.0.2.1\t,10.1.1.1 "], "192.0.2.1"), (["192.0.2.1:4711"], "192.0.2.1"),
      (["[2001:db8::5]:1"], "2001:db8::5"),
      (["2001:db8::5"], "2001:db8::5"), (["::ffff:192.0.2.1"], "192.0.2.1"), ([], "10.0.0.1"),
      (["10.0.0.7"], "10.0.0.7"), (["192.0.2.1, unknown"], "10.0.0.1"), (["192.0.2.1, unknown, 10.0.0.3"], "10.0.0.3"),
      ([""], "10.0.0.1"),
    ])
  func behind(fields: [String], client: String) throws {
    let found = try trust("10.0.0.0/8", "::1").client(peer: address("10.0.0.1"), forwardedFor: fields)
    #expect(try found == address(client))
  }

  @Test("A list without an end is read from its right end")
  func long() throws {
    let list = Array(repeating: "6.6.6.6", count: 100_000).joined(separator: ",") + ",192.0.2.1"
    #expect(
      try trust("10.0.0.0/8").client(peer: address("10.0.0.1"), forwardedFor: [list]) == address("192.0.2.1"))
    let ours = Array(repeating: "10.0.0.2", count: 100_000).joined(separator: ",")
    #expect(
      try trust("10.0.0.0/8").client(peer: address("10.0.0.1"), forwardedFor: [ours]) == address("10.0.0.2"))
  }

  @Test("A network is written in one way")
  func ranges() throws {
    for text in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08x", "example.org", "", "/8", "::/129", "10/8"] {
      #expect(AddressRange(text) == nil, "\(text)")
    }
    let all = try #require(AddressRange("0.0.0.0/0"))
    #expect(try all.contains(address("192.0.2.1")) && all.contains(address("::ffff:1.2.3.4")))
    #expect(try !all.contains(address("2001:db8::1")))
    let odd = try #require(AddressRange("172.16.0.0/12"))
    #expect(try odd.contains(address("172.31.255.255")) && !odd.contains(address("172.32.0.0")))
  }

  @Test("An IPv4 address is a customer, and so is an IPv6 network of /64")
  func prefixes() throws {
    func prefix(_ text: String) throws -> AddressPrefix { AddressPrefix(try address(text)) }
    #expect(try prefix("2001:db8:1:2:3::4") == prefix("2001:db8:1:2:ffff::"))
    #expect(try prefix("2001:db8:1:2::") != prefix("2001:db8:1:3::"))
    #expect(try prefix("::ffff:192.0.2.1") == prefix("192.0.2.1") && prefix("192.0.2.1") != prefix("192.0.2.2"))
    #expect(try prefix("192.0.2.1").description == "192.0.2.1/32")
    #expect(try prefix("2001:db8:1:2:3::4").description == "2001:db8:1:2::/64")
  }
}
