import EventLoop
import Glibc
import LinuxSystem
import TestSupport
import Testing
import WebSocket

@testable import TLS

// One after the other: they share the one loop, and each has a server of its own.
@Suite(.serialized) struct HandshakeTests {
  @Test("A good certificate is good by name, by IPv4 and by IPv6 address, with TLS 1.2 and 1.3")
  func good() async throws {
    for version in ["1.2", "1.3"] {
      let peer = try TLSPeer("echo", "good", "--only", version)
      try await LoopThread.run {
        for host in ["localhost", "127.0.0.1", "::1"] {
          let plaintext = try await peer.secure(host: host)
          plaintext.send("to \(host)")
          plaintext.transport.startReading()
          try await eventually("the echo") { plaintext.text == "to \(host)" }
          plaintext.transport.flushAndClose()
        }
      }
    }
  }

  @Test(
    "A certificate that is not good is told in words: what is wrong, and of whom",
    arguments: [
      ("expired", "localhost", "the certificate of localhost has expired (2001-12-31)"),
      (
        "future", "localhost",
        "the certificate of localhost is not valid before 2101-01-01; is the clock here right?"
      ),
      (
        "other", "localhost",
        "the certificate is for other.example, *.other.example, 192.0.2.7 and 2 more, not localhost"
      ),
      ("good", "relay.example", "the certificate is for localhost, 127.0.0.1, ::1, not relay.example"),
      ("good", "127.0.0.2", "the certificate is for localhost, 127.0.0.1, ::1, not 127.0.0.2"),
      ("named", "localhost", "the certificate is for no host at all, not localhost"),
      ("self", "localhost", "the certificate of localhost is from no authority that this machine trusts (self-signed)"),
      (
        "stranger", "localhost",
        "the certificate of localhost is from no authority that this machine trusts (by \"Nobody You Know\")"
      ),
    ])
  func badCertificates(certificate: String, host: String, words: String) async throws {
    for version in ["1.2", "1.3"] {
      let peer = try TLSPeer("echo", certificate, "--only", version)
      let fault = try await connectingFault { _ = try await peer.secure(host: host) }
      #expect(fault?.code == .tls && fault?.detail == words, "\(fault?.description ?? "")")
    }
  }

  @Test("Without the file of its authority a certificate is refused, and with a wrong file the client is not made")
  func authorityFile() async throws {
    let peer = try TLSPeer("echo")
    let fault = try await connectingFault { _ = try await peer.secure(authority: nil) }
    #expect(fault?.detail.contains("no authority that this machine trusts (by \"Roost Test Authority\")") == true)
    let own = try TLSPeer("echo", "self")
    try await LoopThread.run {
      let plaintext = try await own.secure(authority: "self")
      plaintext.transport.close()
      let missing = #expect(throws: TrustFault.self) { try TLSClient(authorityFile: "/nonexistent/ca.pem") }
      #expect(
        missing?.description == "the authorities in /nonexistent/ca.pem cannot be read: No such file or directory")
      let script = SharedFolder.repository + "/Tests/Peers/certificates.sh"
      let empty = #expect(throws: TrustFault.self) { try TLSClient(authorityFile: script) }
      #expect(empty?.detail == "there is no certificate in PEM in it")
      let folder = #expect(throws: TrustFault.self) { try TLSClient(authorityFile: "/tmp") }
      #expect(folder != nil, "a directory is no file")
    }
  }

  @Test(
    "A server that speaks something else is told as that",
    arguments: [
      ("echo", ["--only", "1.0"], WebSocketFault.Code.tls, "localhost speaks no TLS of version 1.2 or later"),
      ("echo", ["--only", "1.1"], .tls, "localhost speaks no TLS of version 1.2 or later"),
      ("plain", [], .tls, "localhost speaks no TLS on this port"),
      ("wants", ["--only", "1.2"], .tls, "localhost refused the TLS handshake: handshake failure"),
      ("cut", [], .cut, "the connection to localhost ended in the middle of the TLS handshake"),
    ] as [(String, [String], WebSocketFault.Code, String)])
  func otherPeers(mode: String, options: [String], code: WebSocketFault.Code, words: String) async throws {
    let peer = options.isEmpty ? try TLSPeer(mode) : try TLSPeer(mode, "good", options[0], options[1])
    let fault = try await connectingFault { _ = try await peer.secure() }
    #expect(fault?.code == code && fault?.detail.hasPrefix(words) == true, "\(fault?.description ?? "")")
    #expect(fault?.endpoint == "wss://localhost:\(peer.port)/")
  }

  @Test("A handshake that never ends costs the deadline, and a cancelled one nothing")
  func neverEnds() async throws {
    let peer = try TLSPeer("silent", nil)
    let fault = try await connectingFault { _ = try await peer.secure(milliseconds: 100) }
    #expect(fault?.code == .timedOut && fault?.detail.contains("TLS handshake in time") == true)
    // Without the cancellation this would take an hour.
    let cancelled = try await connectingFault {
      let task = EventLoopActor.task { () -> WebSocketFault? in
        do {
          _ = try await peer.secure(milliseconds: 3_600_000)
          return nil
        } catch let fault as LoopFault where fault.code == -ECANCELED {
          // On a slow machine it is cancelled before there is a connection.
          return WebSocketFault(.cancelled, endpoint: "", detail: fault.description)
        } catch { return error as? WebSocketFault }
      }
      // In the middle, as far as this side can make it so; earlier or later the end is the same.
      await EventLoopActor.sleep(milliseconds: 50)
      task.cancel()
      if let fault = await task.value { throw fault }
    }
    #expect(cancelled?.code == .cancelled)
  }

  @Test("What is said together with the handshake's last flight is not lost")
  func together() async throws {
    for version in ["1.2", "1.3"] {
      let peer = try TLSPeer("speak", "good", "--only", version)
      try await LoopThread.run {
        let plaintext = try await peer.secure()
        // It has all come, and nobody has asked for it yet.
        try await remains("nothing is handed out", forMilliseconds: 50) { plaintext.bytes.isEmpty }
        plaintext.transport.startReading()
        try await eventually("the greeting") { plaintext.text == "hello there" }
        plaintext.transport.close()
      }
    }
  }
}

/// The fault that connecting ends with.
private func connectingFault(
  _ body: @escaping @Sendable @EventLoopActor () async throws -> Void
) async throws -> WebSocketFault? {
  try await LoopThread.run {
    do {
      try await body()
      Issue.record("no fault")
    } catch let fault as WebSocketFault { return fault }
    return nil
  }
}
