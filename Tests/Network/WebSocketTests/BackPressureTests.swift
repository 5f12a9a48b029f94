import EventLoop
import Glibc
import TestSupport
import Testing

@testable import WebSocket

// One after the other: they share the one loop, and a heavy one would eat the deadlines of the rest.
@Suite(.serialized) struct BackPressureTests {
  @Test("While paused nothing is delivered and the server's bytes stay with the server")
  func blocked() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      client.connection.pauseReading()
      let message = Frame(opcode: 1, payload: .init(repeating: 0x61, count: 1 << 16)).bytes
      // 64 MB: far beyond what two socket buffers can swallow.
      for _ in 0..<1_024 { peer.send(message) }
      let last = try await standstill("the server", forMilliseconds: 100) { peer.stream.pendingByteCount }
      #expect(client.messages.isEmpty)
      #expect(last > 48 << 20, "\(last) bytes wait at the server")
      client.connection.resumeReading()
      try await eventually("everything arrives") { client.messages.count == 1_024 }
      server.close()
    }
  }

  @Test("A pause inside a message's delivery holds the very next one, and order is kept")
  func pauseInside() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      let count = 3_000
      // Small messages, so that many lie in one read, and in what the framing reads ahead.
      client.onMessage = { [unowned client] in client.connection.pauseReading() }
      peer.send((0..<count).flatMap { Frame.text("\($0)").bytes })
      for expected in 1...count {
        if client.messages.count < expected {
          try await eventually("message \(expected)") { client.messages.count >= expected }
        }
        #expect(client.messages.count == expected, "one delivery for each resume")
        if client.messages.count != expected { break }
        client.connection.resumeReading()
      }
      #expect(client.texts == (0..<count).map(String.init))
      server.close()
    }
  }

  @Test("A pause and a resume inside one delivery change nothing")
  func pauseAndResumeInside() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      client.onMessage = { [unowned client] in
        client.connection.pauseReading()
        client.connection.resumeReading()
      }
      peer.send((0..<2_000).flatMap { Frame.text("\($0)").bytes })
      try await eventually("all") { client.messages.count == 2_000 }
      #expect(client.texts == (0..<2_000).map(String.init))
      server.close()
    }
  }

  @Test("A close that was read before the pause ended is told after the messages before it")
  func closeBehindPause() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      client.onMessage = { [unowned client] in client.connection.pauseReading() }
      peer.send(Frame.text("1").bytes + Frame.text("2").bytes + Frame.close(1001, "bye").bytes)
      try await eventually("the first") { client.messages.count == 1 }
      try await remains("only the first", forMilliseconds: 20) { client.messages.count == 1 && client.ends.isEmpty }
      client.connection.resumeReading()
      #expect(client.messages.count == 2 && client.ends.isEmpty)
      client.connection.resumeReading()
      try await eventually("the end") { client.ends == [.closedByPeer(code: 1001, reason: "bye")] }
      server.close()
    }
  }

  @Test("A connection paused before its start delivers only when resumed")
  func pausedFirst() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { peer in
        peer.send(Array(peer.response().utf8) + Frame.text("early").bytes)
      }
      let client = try await server.connect()
      client.connection.pauseReading()
      client.start()
      try await remains("nothing comes", forMilliseconds: 20) { client.messages.isEmpty }
      client.connection.resumeReading()
      try await eventually("the message") { client.texts == ["early"] }
      server.close()
    }
  }

  @Test("A paused connection is not taken for dead")
  func pausedIsAlive() async throws {
    try await LoopThread.run {
      let (server, _, client) = try await open(
        deadlines: WebSocketDeadlines(pingIntervalMilliseconds: 10, pongMilliseconds: 10))
      client.connection.pauseReading()
      try await remains("it is there", forMilliseconds: 120) { client.ends.isEmpty }
      client.connection.resumeReading()
      try await eventually("silence is noticed again") { !client.ends.isEmpty }
      server.close()
    }
  }

  @Test("That we stop and go on reading is no life of the other side: one that says nothing is pinged, and left")
  func pausesAreNoLife() async throws {
    try await LoopThread.run {
      let (server, _, client) = try await open(
        deadlines: WebSocketDeadlines(pingIntervalMilliseconds: 40, pongMilliseconds: 40))
      let pausing = EventLoopActor.task {
        while client.ends.isEmpty, !Task.isCancelled {
          client.connection.pauseReading()
          client.connection.resumeReading()
          await EventLoopActor.sleep(milliseconds: 5)
        }
      }
      try await eventually("the end") { client.ends == [.unresponsive(milliseconds: 40)] }
      pausing.cancel()
      server.close()
    }
  }

  @Test("A connection may be closed, aborted or let go inside a message's delivery")
  func endInside() async throws {
    try await LoopThread.run {
      for way in 0..<3 {
        let server = try ScriptedServer { $0.upgrade() }
        var connection: WebSocketConnection? = try await WebSocketConnection.connect(to: server.endpoint)
        var count = 0
        connection?.start { _, _ in
          count += 1
          if way == 0 { connection?.close() }
          if way == 1 { connection?.abort() }
          connection = way == 2 ? nil : connection
        } onEnd: { _ in
        }
        server.peers[0].send((0..<500).flatMap { Frame.text("\($0)").bytes })
        try await eventually("the server sees it") {
          server.peers[0].hasEnded || server.peers[0].frames.last?.opcode == 8
        }
        // One that is let go lives until the present read is worked off.
        try await remains("no more comes", forMilliseconds: 10) { count == (way == 2 ? 500 : 1) }
        connection?.abort()
        server.close()
      }
    }
  }
}
