import EventLoop
import TestSupport
import Testing

@testable import WebSocket

// One after the other: they share the one loop, and a heavy one would eat the deadlines of the rest.
@Suite(.serialized) struct ServerConnectionTests {
  @Test("Our client and our server understand each other: every size, both ways, in order")
  func echo() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      let (client, visitor) = try await rig.dial()
      visitor.echo()
      #expect(visitor.head.target == "/inbox?a=b" && visitor.connection.endpoint.requestTarget == "/inbox?a=b")
      let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 300_000]
      for size in sizes { try client.connection.send(text: [UInt8](repeating: UInt8(ascii: "x"), count: size)) }
      try await eventually("the echoes") { client.messages.count == sizes.count }
      #expect(client.messages.map(\.count) == sizes && visitor.byteCounts == sizes)
      #expect(client.messages.allSatisfy { $0.allSatisfy { $0 == 0x78 } })
      client.connection.close(code: 1001, reason: "going")
      try await eventually("the end") { !client.ends.isEmpty && !visitor.ends.isEmpty }
      #expect(visitor.ends == [.closedByPeer(code: 1001, reason: "going")] && client.ends == [.closed(code: 1001)])
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
    }
  }

  @Test("What a server sends is not masked, and what comes byte by byte, head and frames, is understood")
  func byteByByte() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      rig.onOpened = { visitor in
        visitor.echo()
        visitor.start()
      }
      let client = try await rig.raw()
      let smile = Array("😀".utf8)
      let frames =
        Frame(opcode: 1, payload: Array("a".utf8) + smile.prefix(2), isFinal: false).masked
        + Frame(opcode: 9, payload: Array("ping".utf8)).masked
        + Frame(opcode: 0, payload: Array(smile.suffix(2)), isFinal: false).masked
        + Frame(opcode: 10, payload: []).masked + Frame(opcode: 0, payload: Array("z".utf8)).masked
        + Frame.close(1000, "Пока ✓").masked
      await client.trickle(Array(RawClient.request().utf8) + frames)
      try await eventually("the end") { client.hasEnded }
      #expect(client.frames.map(\.opcode) == [10, 1, 8] && client.frames.allSatisfy { $0.mask == nil })
      #expect(client.frames[0].payload == Array("ping".utf8) && client.frames[1].text == "a😀z")
      #expect(client.frames[2].closeCode == 1000 && client.endFault == nil)
      #expect(rig.visitors[0].ends == [.closedByPeer(code: 1000, reason: "Пока ✓")])
      rig.close()
    }
  }

  @Test("Frames that come with the request are delivered once the WebSocket is started, now or later")
  func early() async throws {
    try await LoopThread.run {
      for isLater in [false, true] {
        let rig = try ServerRig()
        if isLater { rig.onOpened = { _ in } }
        let client = try await rig.raw()
        client.send(Array(RawClient.request().utf8) + Frame.text("early").masked + Frame.text("bird").masked)
        try await eventually("the 101") { client.hasHead }
        if isLater {
          #expect(rig.visitors[0].texts.isEmpty)
          rig.visitors[0].start()
        }
        try await eventually("both") { rig.visitors[0].texts == ["early", "bird"] }
        rig.close()
      }
    }
  }

  @Test(
    "What breaks RFC 6455 or a limit is answered with the code that says so, which a client that goes on sending hears",
    arguments: [
      ("a frame that is not masked", Frame.text("a").bytes, 1002),
      ("a close that is not masked", Frame.close(1000).bytes, 1002),
      ("a ping that is not masked", Frame(opcode: 9, payload: []).bytes, 1002),
      ("a reserved bit", Frame(opcode: 1, payload: [0x61], reserved: 4).masked, 1002),
      ("another reserved bit", Frame(opcode: 1, payload: [0x61], reserved: 1).masked, 1002),
      ("a reserved opcode", Frame(opcode: 11, payload: []).masked, 1002),
      ("a long ping", Frame(opcode: 9, payload: .init(repeating: 0, count: 126)).masked, 1002),
      ("a fragmented close", Frame(opcode: 8, payload: [], isFinal: false).masked, 1002),
      ("a continuation of nothing", Frame(opcode: 0, payload: []).masked, 1002),
      ("a message inside a message", Frame.text("a", isFinal: false).masked + Frame.text("b").masked, 1002),
      ("a length of 2^62", [0x81, 255, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0x61], 1009),
      ("a length of 2^63", [0x81, 255, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 1002),
      ("one byte too many", Frame(opcode: 2, payload: .init(repeating: 0, count: 65_537)).masked, 1009),
      (
        "one byte too many in fragments",
        Frame(opcode: 2, payload: .init(repeating: 0, count: 65_000), isFinal: false).masked
          + Frame(opcode: 0, payload: .init(repeating: 0, count: 537)).masked, 1009
      ),
      ("a close of one byte", Frame(opcode: 8, payload: [3]).masked, 1002),
      ("a close with a code that is never sent", Frame.close(1006).masked, 1002),
      ("a close whose reason is no UTF-8", Frame(opcode: 8, payload: [3, 0xE8, 0xFF]).masked, 1007),
      ("invalid UTF-8", Frame(opcode: 1, payload: [0x61, 0xFF]).masked, 1007),
      ("UTF-8 cut short", Frame(opcode: 1, payload: [0xE2, 0x82]).masked, 1007),
      ("noise", (0..<64).map { UInt8($0 * 37 & 255) }, 1002),
    ] as [(String, [UInt8], UInt16)])
  func violations(what: String, bytes: [UInt8], code: UInt16) async throws {
    var limits = WebSocketServerLimits()
    limits.connection.messageByteCountMaximum = 1 << 16
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (client, visitor) = try await rig.rawUpgraded()
      client.send(bytes)
      // What comes behind must not make the kernel throw the close away.
      client.send([UInt8](repeating: 0, count: 200_000))
      try await eventually("the end after \(what)") { client.hasEnded }
      #expect(client.endFault == nil && client.frames.last?.closeCode == code, "\(what): \(client.frames)")
      #expect(visitor.ends == [.violation(code: code)] && visitor.texts.isEmpty, "\(what)")
      client.stream.close()
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
    }
  }

  @Test("A paused server keeps nothing that its client sends, and a client that reads nothing costs a bounded amount")
  func backPressure() async throws {
    var limits = WebSocketServerLimits()
    limits.connection.pendingByteCountMaximum = 1 << 20
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (client, visitor) = try await rig.dial(WebSocketLimits(pendingByteCountMaximum: 512 << 20))
      visitor.connection.pauseReading()
      let message = [UInt8](repeating: 0x61, count: 1 << 16)
      for _ in 0..<512 { try client.connection.send(text: message) }
      let last = try await standstill("the client", forMilliseconds: 100) { client.connection.pendingByteCount }
      #expect(visitor.texts.isEmpty && last > 16 << 20, "\(last) bytes wait at the client")
      visitor.connection.resumeReading()
      try await eventually("everything arrives") { visitor.texts.count == 512 }
      // The other way: whoever sends sees what waits, is refused at the bound, and is told when to go on.
      client.connection.pauseReading()
      var fault: WebSocketFault?
      for _ in 0..<2_000 where fault == nil {
        do throws(WebSocketFault) { try visitor.connection.send(text: message) } catch { fault = error }
        await Task.yield()
      }
      #expect(fault?.code == .outputFull && visitor.connection.pendingByteCount <= 1 << 20)
      var drainedCount = 0
      visitor.connection.onDrained = { drainedCount += 1 }
      client.connection.resumeReading()
      try await eventually("drained") { drainedCount > 0 && visitor.connection.pendingByteCount == 0 }
      try visitor.connection.send(text: [0x61])
      try await eventually("the last") { client.messages.last == [0x61] }
      rig.close()
    }
  }

  @Test("A sender that stops at a count of waiting bytes is told every time when to go on, full kernel or not")
  func drains() async throws {
    try await LoopThread.run {
      for size in [100, 30_000] {
        let rig = try ServerRig()
        let (client, visitor) = try await rig.dial()
        var sentCount = 0
        let message = [UInt8](repeating: 0x62, count: size)
        let connection = visitor.connection
        @EventLoopActor func sendMore() {
          connection.together {
            while sentCount < 5_000, connection.pendingByteCount < 40_000 {
              do { try connection.send(text: message) } catch { Issue.record("\(error)") }
              sentCount += 1
            }
          }
        }
        connection.onDrained = { sendMore() }
        sendMore()
        #expect(sentCount < 500)
        try await eventually("all") { client.messages.count == 5_000 }
        connection.onDrained = nil
        rig.close()
      }
    }
  }

  @Test("Messages that are sent together come one by one, and what is sent inside stays in order with pongs and closes")
  func together() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      let (client, visitor) = try await rig.dial()
      try visitor.connection.together {
        for number in 0..<10_000 { try visitor.connection.send(text: Array("\(number)".utf8)) }
        // What is sent inside of what is sent together is part of it.
        try visitor.connection.together { try visitor.connection.send(text: Array("last".utf8)) }
      }
      visitor.connection.close()
      try await eventually("the end") { !client.ends.isEmpty }
      #expect(client.texts == (0..<10_000).map(String.init) + ["last"])
      #expect(client.ends == [.closedByPeer(code: 1000, reason: "")])
      rig.close()
    }
  }

  @Test("A server pings, an answer keeps the connection and silence ends it; or it does not ping at all")
  func liveness() async throws {
    try await LoopThread.run {
      var limits = WebSocketServerLimits()
      limits.deadlines = WebSocketDeadlines(pingIntervalMilliseconds: 30, pongMilliseconds: 60_000)
      let patient = try ServerRig(limits)
      let (answering, kept) = try await patient.rawUpgraded()
      for count in 1...3 {
        try await eventually("ping \(count)") { answering.frames.count { $0.opcode == 9 } >= count }
        answering.send(Frame(opcode: 10, payload: []).masked)
      }
      #expect(answering.frames.allSatisfy { $0.mask == nil } && kept.ends.isEmpty)
      limits.deadlines.pongMilliseconds = 40
      let hasty = try ServerRig(limits)
      let (mute, left) = try await hasty.rawUpgraded()
      try await eventually("the silent one is left") { left.ends == [.unresponsive(milliseconds: 40)] }
      try await eventually("the connection is closed") { mute.hasEnded }
      #expect(mute.frames.map(\.opcode) == [9])
      limits.deadlines.pingIntervalMilliseconds = 0
      let quiet = try ServerRig(limits)
      let (silent, visitor) = try await quiet.rawUpgraded()
      try await remains("nobody pings", forMilliseconds: 200) { silent.frames.isEmpty && visitor.ends.isEmpty }
      for rig in [patient, hasty, quiet] { rig.close() }
    }
  }

  @Test("Whoever pings and never reads the pongs is cut")
  func pingFlood() async throws {
    var limits = WebSocketServerLimits()
    limits.connection.pendingByteCountMaximum = 1 << 16
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (client, visitor) = try await rig.rawUpgraded()
      client.stream.outputLimit = 1 << 30
      client.stream.stopReading()
      let ping = Frame(opcode: 9, payload: .init(repeating: 0, count: 125)).masked
      let batch = Array([[UInt8]](repeating: ping, count: 4_000).joined())
      var batchCount = 0
      try await eventually("cut") {
        if batchCount < 60 { client.send(batch) }
        batchCount += 1
        return !visitor.ends.isEmpty
      }
      guard case .failed? = visitor.ends.first else {
        Issue.record("\(visitor.ends)")
        return
      }
      rig.close()
    }
  }

  @Test("Compression goes both ways if it was offered, and to a client only what is long enough")
  func compression() async throws {
    var limits = WebSocketServerLimits()
    limits.connection.packedByteCountMinimum = 100
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (client, visitor) = try await rig.dial()
      visitor.echo()
      let long = Array(String(repeating: "an event looks like the one before; ", count: 100).utf8)
      for text in [[0x61], long, [], long] { try client.connection.send(text: text) }
      try await eventually("the echoes") { client.messages.count == 4 }
      #expect(client.messages == [[0x61], long, [], long])
      for (offer, isPacked) in [
        ("permessage-deflate", true), ("permessage-deflate; server_max_window_bits=9", true),
        ("permessage-deflate; server_max_window_bits=8", false), ("x", false),
      ] {
        let (raw, server) = try await rig.rawUpgraded(extensions: offer)
        for text in [Array(long[..<99]), long, long] { try server.connection.send(text: text) }
        try await eventually("three frames") { raw.frames.count == 3 }
        #expect(raw.frames.map(\.reserved) == (isPacked ? [0, 4, 4] : [0, 0, 0]), "\(offer)")
        #expect(raw.frames[1].payload == raw.frames[2].payload && (raw.frames[1].payload.count < 200) == isPacked)
        // What a client compresses, that a server has never kept a window for: "Hello", of the RFC, twice.
        let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        for _ in 0..<2 { raw.send(Frame(opcode: 1, payload: hello, reserved: 4).masked) }
        if offer == "x" {
          try await eventually("a violation") { server.ends == [.violation(code: 1002)] }
        } else {
          try await eventually("hello") { server.texts == ["Hello", "Hello"] }
          raw.send(Frame(opcode: 1, payload: [0xF2, 0x00, 0x11, 0x00, 0x00], reserved: 4).masked)
          try await eventually("a reference to another message") { server.ends == [.violation(code: 1002)] }
        }
      }
      rig.close()
    }
  }

  @Test("A bomb ends its connection with 1009, and the others notice nothing")
  func bomb() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      let (client, visitor) = try await rig.dial()
      visitor.echo()
      let (raw, server) = try await rig.rawUpgraded(extensions: "permessage-deflate")
      let zeros = [UInt8](repeating: 0, count: 110 << 20)
      let deflater = Deflater()
      let packed = try #require(zeros.withUnsafeBytes { deflater.deflate($0, windowBits: 15) })
      #expect(packed.count < 1 << 20)
      raw.send(Frame(opcode: 2, payload: packed, reserved: 4).masked)
      try await eventually("the end") { raw.frames.last?.closeCode == 1009 }
      #expect(server.ends == [.violation(code: 1009)] && server.byteCounts.isEmpty)
      try client.connection.send(text: [0x61])
      try await eventually("the echo") { client.messages == [[0x61]] }
      rig.close()
    }
  }

  @Test("A WebSocket may be closed, aborted or let go inside a delivery, or where it is opened")
  func endInside() async throws {
    try await LoopThread.run {
      for way in 0..<4 {
        let rig = try ServerRig()
        var held: WebSocketConnection?
        rig.onOpened = { [unowned rig] visitor in
          if way == 3 { return visitor.connection.abort() }
          held = visitor.connection
          rig.visitors = []
          var count = 0
          held?.start { _, _ in
            count += 1
            if way == 0 { held?.close(code: 4_000) }
            if way == 1 { held?.abort() }
            if way == 2 { held = nil }
            #expect(count == 1 || way == 2)
          } onEnd: { _ in
          }
        }
        let client = try await rig.raw()
        client.send(Array(RawClient.request().utf8) + (0..<50).flatMap { Frame.text("\($0)").masked })
        try await eventually("the client sees it") { client.hasEnded || client.frames.last?.opcode == 8 }
        if way == 0 { client.send(Frame.close(4_000).masked) }
        rig.close()
        if way == 2 { #expect(held == nil) } else { held = nil }
        try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      }
    }
  }
}
