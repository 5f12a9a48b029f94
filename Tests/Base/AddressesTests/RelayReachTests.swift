import Addresses
import Testing

@Suite("The reach of a relay's address")
struct RelayReachTests {
  @Test(
    "is public for names and addresses of the internet",
    arguments: [
      "wss://relay.damus.io", "wss://a.b.c.d.org:444/x", "ws://8.8.8.8", "ws://172.32.0.1", "ws://100.128.0.1",
      "ws://[2606:4700::1111]", "ws://[::ffff:8.8.8.8]", "ws://[64:ff9b::808:808]", "ws://[2002:808:808::1]",
      "wss://xn--80ak6aa92e.com", "wss://local.example.com",
    ])
  func reachable(_ text: String) throws { #expect(try RelayURL(text).isPublic) }

  @Test(
    "is not, for this machine, its neighbours, and what no name server knows",
    arguments: [
      "ws://localhost:7777", "ws://relay", "ws://printer.local", "ws://a.localhost", "ws://nas.lan",
      "ws://x.home.arpa", "ws://abc.onion", "ws://a.internal", "ws://127.0.0.1", "ws://127.9.9.9", "ws://0.0.0.0",
      "ws://10.1.2.3", "ws://172.16.0.1", "ws://172.31.255.255", "ws://192.168.1.1", "ws://169.254.169.254",
      "ws://100.64.0.1", "ws://198.18.0.1", "ws://224.0.0.1", "ws://255.255.255.255", "ws://[::]", "ws://[::1]",
      "ws://[fe80::1]", "ws://[fc00::1]", "ws://[fd12::1]", "ws://[ff02::1]", "ws://[::ffff:127.0.0.1]",
      "ws://[::ffff:10.0.0.1]", "ws://[64:ff9b::a00:1]", "ws://[2002:7f00:1::1]", "ws://[2001:db8::1]",
      "ws://[2001::1]", "ws://[64:ff9b:1::1]",
    ])
  func unreachable(_ text: String) throws { #expect(try !RelayURL(text).isPublic) }
}
