import Clocks
import EventLoop
import TestSupport
import Testing

@testable import WebSocket

/// Compression as other people do it.
@Suite(
  .serialized,
  .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
struct DeflatePeerTests {
  @Test(
    "What a server compresses comes as it was, with its window kept or not, and of every size",
    arguments: [[], ["--alone"], ["--bits", "9"], ["--bits", "12", "--alone"]])
  func echoes(options: [String]) async throws {
    try await LoopThread.run {
      let peer = try await PythonPeer("deflate_peer.py", options)
      let port = try #require(UInt16(peer.greeting))
      let endpoint = WebSocketEndpoint(host: "127.0.0.1", port: port, isSecure: false)
      let client = Client(try await WebSocketConnection.connect(to: endpoint))
      client.start()
      var generator = SeededGenerator(seed: 7)
      let noise = String(
        (0..<200_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 32...126, using: &generator))) })
      let event = #"["EVENT","s",{"id":"00","pubkey":"aa","kind":1,"tags":[],"content":"héllo wörld 🐓"}]"#
      let texts = ["hello", "", event, event, String(repeating: event, count: 9_000), noise, event]
      for text in texts.dropFirst() { try client.connection.send(text: Array(text.utf8)) }
      try await eventually("all of them") { client.messages.count == texts.count || !client.ends.isEmpty }
      #expect(client.texts == texts && client.ends.isEmpty, "\(client.ends)")
      client.connection.close()
      try await eventually("the end") { !client.ends.isEmpty }
      try await peer.stop()
    }
  }

  @Test("A message that inflates beyond the bound ends the connection, and a server that may not compress does not")
  func bounds() async throws {
    try await LoopThread.run {
      let peer = try await PythonPeer("deflate_peer.py")
      let port = try #require(UInt16(peer.greeting))
      let endpoint = WebSocketEndpoint(host: "127.0.0.1", port: port, isSecure: false)
      let zeros = [UInt8](repeating: 0x30, count: 1 << 20)
      for offers in [true, false] {
        let limits = WebSocketLimits(messageByteCountMaximum: 1_000_000, offersCompression: offers)
        let client = Client(try await WebSocketConnection.connect(to: endpoint, limits: limits))
        client.start()
        try client.connection.send(text: zeros)
        try await eventually("the end") { !client.ends.isEmpty }
        #expect(client.ends == [.violation(code: 1009)] && client.texts == ["hello"])
      }
      let client = Client(
        try await WebSocketConnection.connect(to: endpoint, limits: WebSocketLimits(offersCompression: false)))
      client.start()
      try client.connection.send(text: zeros)
      try await eventually("the message") { client.messages.last == zeros }
      client.connection.abort()
      try await peer.stop()
    }
  }
}
