import EventLoop
import TestSupport
import Testing

@testable import WebSocket

// One after the other: they share the one loop, and a heavy one would eat the deadlines of the rest.
@Suite(.serialized) struct WebSocketConnectionTests {
  @Test("Text and binary go both ways, masked by us, whatever the split")
  func echo() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      let sizes = [0, 1, 125, 126, 65_535, 65_536, 300_000]
      for size in sizes { try client.connection.send(text: [UInt8](repeating: UInt8(ascii: "x"), count: size)) }
      try await eventually("frames") { peer.frames.count == sizes.count }
      #expect(peer.frames.map(\.payload.count) == sizes)
      #expect(peer.frames.allSatisfy { $0.mask != nil && $0.opcode == 1 && $0.payload.allSatisfy { $0 == 0x78 } })
      #expect(Set(peer.frames.map(\.mask)).count > 5, "masks differ")
      for size in sizes {
        peer.send(Frame(opcode: size % 2 == 0 ? 1 : 2, payload: .init(repeating: 0x79, count: size)).bytes)
      }
      try await eventually("messages") { client.messages.count == sizes.count }
      #expect(client.messages.map(\.count) == sizes)
      #expect(client.kinds == sizes.map { $0 % 2 == 0 ? .text : .binary })
      server.close()
    }
  }

  @Test("Fragments make one message, and a ping between them is answered at once")
  func fragments() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      let smile = Array("😀".utf8)
      let bytes =
        Frame(opcode: 1, payload: Array("a".utf8) + smile.prefix(2), isFinal: false).bytes
        + Frame(opcode: 9, payload: Array("ping".utf8)).bytes
        + Frame(opcode: 0, payload: Array(smile.suffix(2)), isFinal: false).bytes
        + Frame(opcode: 10, payload: []).bytes + Frame(opcode: 0, payload: Array("z".utf8)).bytes
      for byte in bytes {
        peer.send([byte])
        peer.stream.flush()
        await Task.yield()
      }
      try await eventually("the message") { client.texts == ["a😀z"] }
      try await eventually("the pong") { peer.frames.map(\.opcode) == [10] }
      #expect(peer.frames[0].payload == Array("ping".utf8))
      server.close()
    }
  }

  @Test(
    "What breaks RFC 6455 or a limit is cut with the code that says so",
    arguments: [
      ("a masked frame", Frame(opcode: 1, payload: [0x61], mask: [1, 2, 3, 4]).bytes, 1002),
      ("a reserved bit", Frame(opcode: 1, payload: [0x61], reserved: 4).bytes, 1002),
      ("a reserved opcode", Frame(opcode: 3, payload: []).bytes, 1002),
      ("a long ping", Frame(opcode: 9, payload: .init(repeating: 0, count: 126)).bytes, 1002),
      ("a fragmented ping", Frame(opcode: 9, payload: [], isFinal: false).bytes, 1002),
      ("a continuation of nothing", Frame(opcode: 0, payload: []).bytes, 1002),
      ("a message inside a message", Frame.text("a", isFinal: false).bytes + Frame.text("b").bytes, 1002),
      ("a length of 2^62", [0x81, 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x61], 1009),
      ("a length of 2^63", [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
      ("a close of one byte", [0x88, 1, 3], 1002),
      ("a close with a code that is never sent", Frame.close(1005).bytes, 1002),
      ("a close with a code that is none", Frame.close(999).bytes, 1002),
      ("a close whose reason is no UTF-8", [0x88, 3, 3, 0xE8, 0xFF], 1007),
      ("invalid UTF-8", Frame(opcode: 1, payload: [0x61, 0xFF]).bytes, 1007),
      ("UTF-8 cut short", Frame(opcode: 1, payload: [0xE2, 0x82]).bytes, 1007),
      ("a surrogate in UTF-8", Frame(opcode: 1, payload: [0xED, 0xA0, 0x80]).bytes, 1007),
    ] as [(String, [UInt8], UInt16)])
  func violations(what: String, bytes: [UInt8], code: UInt16) async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      peer.send(bytes)
      try await eventually("the end after \(what)") { !client.ends.isEmpty }
      #expect(client.ends == [.violation(code: code)], "\(what)")
      #expect(client.messages.isEmpty)
      try await eventually("the server is told") { peer.hasEnded }
      #expect(peer.frames.last?.opcode == 8)
      server.close()
    }
  }

  @Test("A message over the limit is cut, in one frame or in many, before it is held")
  func tooLong() async throws {
    try await LoopThread.run {
      for fragmentByteCount in [10 << 20, 100_000, 1_000_000] {
        let (server, peer, client) = try await open(limits: WebSocketLimits(messageByteCountMaximum: 1_000_000))
        let fragment = [UInt8](repeating: 0x61, count: fragmentByteCount)
        for index in 0..<(fragmentByteCount > 1_000_000 ? 1 : 15) {
          peer.send(Frame(opcode: index == 0 ? 1 : 0, payload: fragment, isFinal: false).bytes)
        }
        try await eventually("the end") { !client.ends.isEmpty }
        #expect(client.ends == [.violation(code: 1009)])
        #expect(client.messages.isEmpty)
        server.close()
      }
      let (server, peer, client) = try await open(limits: WebSocketLimits(messageByteCountMaximum: 1_000_000))
      for _ in 0..<3 { peer.send(Frame(opcode: 2, payload: .init(repeating: 1, count: 1_000_000)).bytes) }
      try await eventually("messages of exactly the limit pass") { client.messages.count == 3 }
      server.close()
    }
  }

  @Test("A peer's close comes with its code and reason, and is answered")
  func closedByPeer() async throws {
    try await LoopThread.run {
      for (frame, code, reason) in [
        (Frame.close(1001, "bye"), 1001, "bye"), (Frame.close(4000), 4000, ""),
        (Frame(opcode: 8, payload: []), 1005, ""),
      ] as [(Frame, UInt16, String)] {
        let (server, peer, client) = try await open()
        peer.send(Frame.text("last").bytes + frame.bytes + Frame.text("after").bytes)
        try await eventually("the end") { !client.ends.isEmpty }
        #expect(client.ends == [.closedByPeer(code: code, reason: reason)])
        #expect(client.texts == ["last"])
        try await eventually("the answer") { peer.frames.last?.opcode == 8 }
        #expect(throws: WebSocketFault.self) { try client.connection.send(text: [0x61]) }
        server.close()
      }
    }
  }

  @Test("A stream that ends without a close frame says so, once")
  func endOfStream() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open()
      peer.send(Frame.text("last").bytes + [0x81])
      peer.stream.flushAndClose()
      try await eventually("the end") { !client.ends.isEmpty }
      #expect(client.ends == [.endOfStream] && client.texts == ["last"])
      server.close()
    }
  }

  @Test("Our close waits for the answer, delivers nothing more, and gives up at its deadline")
  func closedByUs() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open(deadlines: WebSocketDeadlines(closeMilliseconds: 20_000))
      client.connection.close(code: 1001, reason: "going")
      peer.send(Frame.text("late").bytes)
      try await eventually("the close frame") { peer.frames.last?.opcode == 8 }
      #expect(peer.frames.last?.payload == Frame.close(1001, "going").payload)
      #expect(client.ends.isEmpty)
      peer.send(Frame.close(1001).bytes)
      try await eventually("the end") { !client.ends.isEmpty }
      #expect(client.ends == [.closed(code: 1001)] && client.messages.isEmpty)
      server.close()
      let (deaf, _, other) = try await open(deadlines: WebSocketDeadlines(closeMilliseconds: 60))
      other.connection.close()
      try await eventually("the deadline") { other.ends == [.closed(code: 1000)] }
      deaf.close()
    }
  }

  @Test("A close before the start is an end that is told at the start")
  func closedBeforeStart() async throws {
    try await LoopThread.run {
      let server = try ScriptedServer { $0.upgrade() }
      let client = try await server.connect()
      client.connection.close(code: 1011)
      client.start()
      #expect(client.ends == [.closed(code: 1011)] && client.messages.isEmpty)
      server.close()
    }
  }

  @Test("An idle connection is pinged; an answer keeps it, silence ends it")
  func liveness() async throws {
    try await LoopThread.run {
      let patient = WebSocketDeadlines(pingIntervalMilliseconds: 30, pongMilliseconds: 60_000)
      let (server, peer, client) = try await open(deadlines: patient)
      for count in 1...3 {
        try await eventually("ping \(count)") { peer.frames.count { $0.opcode == 9 } >= count }
        peer.send(Frame(opcode: 10, payload: []).bytes)
      }
      #expect(client.ends.isEmpty)
      let hasty = WebSocketDeadlines(pingIntervalMilliseconds: 30, pongMilliseconds: 40)
      let (mute, silent, other) = try await open(deadlines: hasty)
      try await eventually("the end") { !other.ends.isEmpty }
      #expect(other.ends == [.unresponsive(milliseconds: 40)])
      #expect(silent.frames.first?.opcode == 9)
      mute.close()
      server.close()
    }
  }

  @Test("Output to a server that does not read is bounded: send refuses, and nothing grows")
  func outputBound() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open(limits: WebSocketLimits(pendingByteCountMaximum: 1 << 20))
      peer.keepsFrames = false
      peer.stream.stopReading()
      let message = [UInt8](repeating: 0x61, count: 100_000)
      var fault: WebSocketFault?
      for _ in 0..<400 where fault == nil {
        do throws(WebSocketFault) {
          try client.connection.send(text: message)
        } catch {
          fault = error
        }
        await Task.yield()
      }
      #expect(fault?.code == .outputFull)
      #expect(client.connection.pendingByteCount <= 1 << 20)
      var didDrain = false
      client.connection.onDrained = { didDrain = true }
      peer.stream.startReading()
      try await eventually("drained") { didDrain }
      try client.connection.send(text: message)
      server.close()
    }
  }

  @Test("A server that pings and never reads the pongs is cut")
  func pingFlood() async throws {
    try await LoopThread.run {
      let (server, peer, client) = try await open(limits: WebSocketLimits(pendingByteCountMaximum: 1 << 16))
      peer.stream.stopReading()
      let ping = Frame(opcode: 9, payload: .init(repeating: 0, count: 125)).bytes
      let batch = Array([[UInt8]](repeating: ping, count: 4_000).joined())
      var batchCount = 0
      try await eventually("cut") {
        if batchCount < 60 { peer.send(batch) }
        batchCount += 1
        return !client.ends.isEmpty
      }
      guard case .failed? = client.ends.first else {
        Issue.record("\(client.ends)")
        return
      }
      server.close()
    }
  }
}

/// A server that upgrades, and a client that has started.
@EventLoopActor
func open(
  limits: WebSocketLimits = WebSocketLimits(), deadlines: WebSocketDeadlines = WebSocketDeadlines()
) async throws -> (ScriptedServer, ScriptedServer.Peer, Client) {
  let server = try ScriptedServer { $0.upgrade() }
  let client = try await server.connect(limits: limits, deadlines: deadlines)
  client.start()
  return (server, server.peers[0], client)
}
