import Clocks
import EventLoop
import Glibc
import TestSupport
import Testing
import WebSocket

@testable import TLS

/// Our server over TLS, with our client and with other people's.
@Suite(.serialized) struct ServerTests {
  @Test("Messages of every size go both ways between our client and our server, and the close is told")
  func echo() async throws {
    let (certificate, authority) = (try TestCertificates.path("good"), try TestCertificates.path("authority"))
    try await LoopThread.run {
      let security = try TLSServer(certificateFile: certificate, keyFile: certificate)
      #expect(security.certificate == "localhost, 127.0.0.1, ::1, until 2099-12-31")
      let echo = try EchoServer(security)
      let endpoint = WebSocketEndpoint(host: "localhost", port: echo.port, isSecure: true)
      let connection = try await WebSocketConnection.connect(
        to: endpoint, security: try TLSClient(authorityFile: authority))
      var byteCounts: [Int] = []
      var ends: [WebSocketEnd] = []
      connection.start { _, bytes in
        byteCounts.append(bytes.count)
      } onEnd: { end in
        ends.append(end)
      }
      let sizes = [0, 1, 125, 126, 16_383, 16_384, 16_385, 65_536, 900_000]
      for size in sizes { try connection.send(text: [UInt8](repeating: 0x61, count: size)) }
      try await eventually("the echoes") { byteCounts.count == sizes.count }
      #expect(byteCounts == sizes)
      connection.close()
      try await eventually("the end") { ends == [.closed(code: 1000)] && echo.ends.count == 1 }
      #expect(echo.ends == [.closedByPeer(code: 1000, reason: "")])
      try await eventually("nothing is left") { echo.server?.connectionCount == 0 }
      // Plain HTTP has its answer, too, and the stream a proper end.
      let bare = try await TLSClient(authorityFile: authority).secure(
        try await echo.dial(), to: endpoint, deadline: EventLoop.process.now.advanced(milliseconds: 20_000))
      let plaintext = Plaintext(bare)
      bare.startReading()
      plaintext.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      try await eventually("the answer") { plaintext.ends == [nil] }
      #expect(plaintext.text.hasPrefix("HTTP/1.1 426 ") && plaintext.text.hasSuffix("HTTP/1.1\n"))
      echo.close()
    }
  }

  @Test(
    "A client by other people is content", .enabled(if: PythonPeer.isAvailable, "run Scripts/python-environment.sh"),
    arguments: [[], ["--deflate"]])
  func peer(options: [String]) async throws {
    let (certificate, authority) = (try TestCertificates.path("good"), try TestCertificates.path("authority"))
    try await LoopThread.run {
      let echo = try EchoServer(try TLSServer(certificateFile: certificate, keyFile: certificate))
      let url = "wss://localhost:\(echo.port)/"
      let peer = try await PythonPeer("websocket_client.py", [url, "--trust", authority] + options)
      #expect(peer.greeting.hasPrefix("done: "), "\(peer.greeting)")
      try await peer.stop()
      echo.close()
    }
  }

  @Test("Who speaks no TLS, too old a TLS, or nothing at all is left, in time, and counted")
  func strangers() async throws {
    let certificate = try TestCertificates.path("good")
    try await LoopThread.run {
      let echo = try EchoServer(
        try TLSServer(certificateFile: certificate, keyFile: certificate), handshakeMilliseconds: 1_000)
      let plain = Plaintext(try await echo.dial())
      plain.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let silent = Plaintext(try await echo.dial())
      let cutOff = Plaintext(try await echo.dial())
      cutOff.send([22, 3, 1, 2, 0, 1])
      for stranger in [plain, silent, cutOff] { stranger.transport.startReading() }
      try await eventually("all are left") { [plain, silent, cutOff].allSatisfy { $0.ends.count == 1 } }
      try await eventually("nothing is left") { echo.server?.connectionCount == 0 }
      let counts = echo.server?.counts
      #expect(
        (counts?.unencrypted ?? 0) + (counts?.late ?? 0) == 3 && counts?.upgraded == 0, "\(String(describing: counts))")
      echo.close()
    }
  }

  @Test("Files that make no server are told with their names and what is wrong with them")
  func files() async throws {
    let directory = try TemporaryDirectory()
    let (good, other) = (try TestCertificates.path("good"), try TestCertificates.path("other"))
    let (expired, future) = (try TestCertificates.path("expired"), try TestCertificates.path("future"))
    let authority = try TestCertificates.path("authority")
    let (empty, closed) = (directory.path + "/empty.pem", directory.path + "/key.pem")
    for path in [empty, closed] {
      let process = try SpawnedProcess(
        "/usr/bin/openssl",
        path == empty
          ? ["rand", "-hex", "-out", path, "20"]
          : [
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass", "pass:a", "-out",
            path,
          ])
      #expect(try process.waitForEnd() == .exited(0))
    }
    let rsa = directory.path + "/rsa.pem"
    let process = try SpawnedProcess(
      "/usr/bin/openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", rsa])
    #expect(try process.waitForEnd() == .exited(0))
    let cases: [(String, String, String)] = [
      ("/nowhere.pem", good, "/nowhere.pem: it cannot be read: No such file or directory"),
      (good, "/nowhere.pem", "/nowhere.pem: it cannot be read: No such file or directory"),
      (empty, good, "\(empty): there is no certificate in PEM in it"),
      (good, empty, "\(empty): there is no key in PEM in it"),
      (good, authority, "\(authority): there is no key in PEM in it"),
      (good, other, "\(other): the key does not belong to the certificate in \(good)"),
      (good, rsa, "\(rsa): the key does not belong to the certificate in \(good)"),
      (good, closed, "\(closed): the key is under a passphrase, which cannot be entered here"),
      (expired, expired, "\(expired): the certificate has expired (2001-12-31)"),
      (future, future, "\(future): the certificate is not valid before 2101-01-01; is the clock here right?"),
    ]
    try await LoopThread.run {
      for (certificate, key, words) in cases {
        do throws(IdentityFault) {
          _ = try TLSServer(certificateFile: certificate, keyFile: key)
          Issue.record("\(words): it was taken")
        } catch {
          #expect(error.description == words)
        }
      }
      let server = try TLSServer(certificateFile: good, keyFile: good)
      try server.reload()
    }
  }
}

/// Sends back what comes.
@EventLoopActor
private final class EchoServer: WebSocketServerDelegate {
  private(set) var server: WebSocketServer?
  private(set) var port: UInt16 = 0
  private(set) var ends: [WebSocketEnd] = []
  private var connections: [WebSocketConnection] = []

  init(_ security: TLSServer, handshakeMilliseconds: UInt64 = 10_000) throws {
    var limits = WebSocketServerLimits()
    limits.handshakeMilliseconds = handshakeMilliseconds
    limits.connection.packedByteCountMinimum = 64
    let made = WebSocketServer(delegate: self, limits: limits)
    port = try made.listen(on: try #require(SocketAddress(literal: "127.0.0.1", port: 0)), security: security)
    server = made
  }

  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision { .upgrade() }

  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress) {
    connections.append(connection)
    connection.start { [unowned connection] _, bytes in
      do { try connection.send(text: bytes) } catch { Issue.record("\(error)") }
    } onEnd: { [weak self] end in
      self?.ends.append(end)
    }
  }

  func accepting(failedBy fault: LoopFault) { Issue.record("\(fault)") }

  func dial() async throws -> ByteStream {
    let address = try #require(SocketAddress(literal: "127.0.0.1", port: port))
    return try await ByteStream.connect(
      to: address, deadline: EventLoop.process.now.advanced(milliseconds: 20_000))
  }

  func close() {
    server?.close()
    connections = []
  }
}
