import EventLoop
import TestSupport
import Testing
import WebSocket

@testable import TLS

/// The whole way: a WebSocket over TLS, compressed, with a server by other people.
@Suite(
  .serialized,
  .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
struct EncryptedWebSocketTests {
  @Test("Messages come whole and in order, one for each resume, small ones and a megabyte")
  func pauses() async throws {
    let (certificate, authority) = (try TestCertificates.path("good"), try TestCertificates.path("authority"))
    try await LoopThread.run {
      let peer = try await PythonPeer("deflate_peer.py", ["--tls", certificate])
      let port = try #require(UInt16(peer.greeting))
      let endpoint = WebSocketEndpoint(host: "localhost", port: port, isSecure: true)
      let connection = try await WebSocketConnection.connect(
        to: endpoint, limits: WebSocketLimits(messageByteCountMaximum: 2 << 20),
        security: try TLSClient(authorityFile: authority))
      let large = String(repeating: "a large message, ", count: 1 << 16)
      let texts = (0..<1_000).map(String.init) + [large, "the last"]
      var received: [String] = []
      var ends: [WebSocketEnd] = []
      // The greeting may come with the 101; nobody listens yet.
      try await remains("nothing is handed out", forMilliseconds: 20) { received.isEmpty && ends.isEmpty }
      connection.start { [unowned connection] _, bytes in
        received.append(String(decoding: bytes, as: UTF8.self))
        connection.pauseReading()
      } onEnd: { end in
        ends.append(end)
      }
      for text in texts { try connection.send(text: Array(text.utf8)) }
      for count in 1...(texts.count + 1) {
        if received.count < count { try await eventually("message \(count)") { received.count >= count } }
        #expect(received.count == count, "one for each resume")
        if received.count != count { break }
        connection.resumeReading()
      }
      #expect(received == ["hello"] + texts && ends.isEmpty)
      connection.close()
      try await eventually("the answer to our close") { ends == [.closed(code: 1000)] }
      try await peer.stop()
    }
  }

  @Test("A server that dies is told as a cut, and one that closes by its words")
  func dies() async throws {
    let (certificate, authority) = (try TestCertificates.path("good"), try TestCertificates.path("authority"))
    try await LoopThread.run {
      for dies in [true, false] {
        let peer = try await PythonPeer("deflate_peer.py", ["--tls", certificate])
        let port = try #require(UInt16(peer.greeting))
        let endpoint = WebSocketEndpoint(host: "localhost", port: port, isSecure: true)
        let connection = try await WebSocketConnection.connect(
          to: endpoint, security: try TLSClient(authorityFile: authority))
        var ends: [WebSocketEnd] = []
        var count = 0
        connection.start { _, _ in
          count += 1
        } onEnd: { end in
          ends.append(end)
        }
        try await eventually("the greeting") { count == 1 }
        if dies {
          peer.kill()
          try await eventually("the cut") { ends.count == 1 }
          #expect("\(ends)".contains("without a close_notify"), "\(ends)")
          try await peer.stop()
        } else {
          // It says goodbye to its connections when its input ends.
          peer.endInput()
          try await eventually("the end") { ends.count == 1 }
          #expect(ends == [.closedByPeer(code: 1001, reason: "")], "\(ends)")
          try await peer.stop()
        }
      }
    }
  }
}
