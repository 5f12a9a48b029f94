import EventLoop
import TestSupport
import Testing
import TLS

@testable import HTTPClient

// One after the other: they share the one loop, and each has a server of its own.
@Suite("Fetching over TLS", .serialized)
struct TLSTests {
  @Test("A good certificate is good by name and by address, and its connection is kept")
  func good() async throws {
    let peer = try HTTPPeer("good")
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      for host in ["localhost", "127.0.0.1", "localhost"] {
        let url = peer.url.replacing("localhost", with: host)
        #expect(try await client.get(url + "/hello").body == Array("hello".utf8))
      }
      let connections = try await client.get(peer.url + "/connections").body
      #expect(String(decoding: connections, as: UTF8.self) == "2")
    }
  }

  @Test(
    "A certificate that is not good is told in the words that relays have",
    arguments: [
      ("expired", "the certificate of localhost has expired (2001-12-31)"),
      ("future", "the certificate of localhost is not valid before 2101-01-01; is the clock here right?"),
      ("other", "the certificate is for other.example, *.other.example, 192.0.2.7 and 2 more, not localhost"),
      ("named", "the certificate is for no host at all, not localhost"),
      ("self", "the certificate of localhost is from no authority that this machine trusts (self-signed)"),
      (
        "stranger",
        "the certificate of localhost is from no authority that this machine trusts (by \"Nobody You Know\")"
      ),
    ])
  func bad(certificate: String, words: String) async throws {
    let peer = try HTTPPeer(certificate)
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      for _ in 0..<2 {
        let fault = await client.fault(peer.url + "/hello")
        #expect(fault?.code == .tls && fault?.detail == words, "\(fault?.description ?? "")")
      }
      if certificate == "other" {
        let fault = await client.fault(peer.url.replacing("localhost", with: "127.0.0.1") + "/hello")
        #expect(fault?.detail.hasSuffix("not 127.0.0.1") == true)
      }
    }
  }

  @Test("Without the file of its authority a certificate is refused")
  func authority() async throws {
    let peer = try HTTPPeer("good")
    try await LoopThread.run {
      let fault = await (try HTTPClient.forTests(authority: nil)).fault(peer.url + "/hello")
      #expect(fault?.detail.contains("no authority that this machine trusts (by \"Roost Test Authority\")") == true)
      let client = HTTPClient { () throws(TrustFault) in try TLSClient(authorityFile: "/nonexistent/ca.pem") }
      #expect(await client.fault(peer.url + "/hello")?.code == .trust)
    }
  }

  @Test("A server without TLS, and one that leaves during the handshake, are told as that")
  func noTLS() async throws {
    let plain = try HTTPPeer()
    let leaving = try ScriptedRelay(.hangUp)
    try await LoopThread.run {
      let client = try HTTPClient.forTests()
      let fault = await client.fault("https" + plain.url.dropFirst(4) + "/hello")
      #expect(
        fault?.detail == "127.0.0.1 speaks no TLS on this port (without it an address begins with http://)",
        "\(fault?.description ?? "")")
      let cut = await client.fault("https" + leaving.url.dropFirst(2))
      #expect(
        cut?.detail == "the connection to 127.0.0.1 ended in the middle of the TLS handshake",
        "\(cut?.description ?? "")")
      #expect(fault?.code == .tls && cut?.code == .tls)
    }
  }
}
