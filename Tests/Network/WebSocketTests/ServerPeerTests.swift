import EventLoop
import TestSupport
import Testing

@testable import WebSocket

/// Our server as other people's client sees it.
@Suite(
  .serialized,
  .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
struct ServerPeerTests {
  private static let plain = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

  @Test(
    "It has back what it sends, compressed as it wished or not at all",
    arguments: [
      ([], "no extension"), (["--deflate"], plain), (["--deflate", "--alone"], plain),
      (["--deflate", "--server-bits", "9", "--client-bits", "10"], plain + "; server_max_window_bits=9"),
    ])
  func echoes(options: [String], extensions: String) async throws {
    var limits = WebSocketServerLimits()
    limits.connection.messageByteCountMaximum = 2 << 20
    limits.connection.packedByteCountMinimum = 64
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      rig.onOpened = { visitor in
        visitor.echo()
        visitor.start()
      }
      let peer = try await PythonPeer("websocket_client.py", ["ws://127.0.0.1:\(rig.port)/echo"] + options)
      #expect(peer.greeting == "done: \(extensions)")
      try await eventually("the end") { rig.visitors.first?.ends == [.closedByPeer(code: 1000, reason: "")] }
      try await peer.stop()
      rig.close()
    }
  }
}
