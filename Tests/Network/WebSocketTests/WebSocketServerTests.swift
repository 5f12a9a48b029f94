import Clocks
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import WebSocket

// One after the other: they share the one loop, and a heavy one would eat the deadlines of the rest.
@Suite(.serialized) struct WebSocketServerTests {
  @Test("Plain HTTP is answered on the same port, to HEAD without a body, and the connection closes")
  func plain() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      rig.decision = { head in
        head.path == "/" ? .respond(HTTPAnswer(status: 200, text: "a relay")) : .refuse(404, "nothing is there")
      }
      for (request, status, body) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200, "a relay\n"), ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 200, ""),
        ("GET / HTTP/1.0\r\n\r\n", 200, "a relay\n"), ("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 404, "nothing is there\n"),
      ] {
        let client = try await rig.raw()
        await client.trickle(Array(request.utf8))
        try await eventually("the end") { client.hasEnded }
        #expect(client.status == status && client.text.hasSuffix("\r\n\r\n" + body) && client.endFault == nil)
        #expect(client.text.contains("\r\nConnection: close\r\n"))
      }
      #expect(rig.server.counts.answered == 4 && rig.server.counts.accepted == 4)
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
    }
  }

  @Test(
    "A bad head is answered with its status, which a client that goes on sending hears",
    arguments: [
      ("GET / HTTP/1.1\n\n", 400), ("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}", 400), ("EHLO relay\r\n", 400),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n", 413),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
      ("GET / HTTP/2.0\r\n", 505), ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 426),
      ("GET / HTTP/1.0\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", 426),
      ("GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "b", count: 20_000), 431),
    ])
  func refusals(request: String, status: Int) async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      let client = try await rig.raw()
      client.send(request)
      client.send([UInt8](repeating: 0x61, count: 900_000))
      try await eventually("the end") { client.hasEnded }
      #expect(client.status == status && client.endFault == nil, "\(client.text)")
      client.stream.close()
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
    }
  }

  @Test("Random bytes and cut heads cost nothing that stays")
  func garbage() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      var generator = SystemRandomNumberGenerator()
      for round in 0..<60 {
        let client = try await rig.raw()
        let noise = (0..<Int.random(in: 0...3_000, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        let request = Array(RawClient.request().utf8)
        client.send(round % 2 == 0 ? noise : Array(request.prefix(Int.random(in: 0...request.count))) + noise)
        await Task.yield()
        if round % 3 == 0 { client.stream.flushAndClose() } else { client.stream.finishWriting() }
      }
      try await eventually("nothing is left") {
        rig.server.counts.accepted == 60 && rig.server.connectionCount == 0
      }
      rig.close()
    }
  }

  @Test("A head that does not come in time is answered 408, and a silent connection is closed without a word")
  func slow() async throws {
    var limits = WebSocketServerLimits()
    limits.handshakeMilliseconds = 1_000
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (silent, slow) = (try await rig.raw(), try await rig.raw())
      slow.send("GET / HT")
      try await eventually("both ends") { silent.hasEnded && slow.hasEnded }
      #expect(silent.input.isEmpty && slow.status == 408)
      #expect(rig.server.counts.late == 2 && rig.heads.isEmpty)
      rig.close()
    }
  }

  @Test("Beyond the bound a connection is told 503 and when to come again; as soon as one leaves, the next comes in")
  func tooMany() async throws {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = 3
    limits.turnedAwayMaximum = 2
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      var inside: [Client] = []
      for _ in 0..<3 { inside.append(try await rig.dial().0) }
      do {
        _ = try await rig.dial()
        Issue.record("a fourth came in")
      } catch let fault as WebSocketFault {
        #expect(fault.retryAfterMilliseconds == 10_000, "\(fault)")
      }
      // Some that do not even listen: beyond two, nobody gets a word.
      var deaf: [RawClient] = []
      for _ in 0..<6 { deaf.append(try await rig.raw()) }
      try await eventually("all are done with") { deaf.allSatisfy(\.hasEnded) }
      #expect(Set(deaf.map(\.status)) == [503, nil] && deaf.count { $0.status == 503 } >= 2)
      #expect(rig.server.counts.turnedAway == 7 && rig.server.connectionCount == 3)
      inside[0].connection.close()
      try await eventually("room") { rig.server.connectionCount == 2 }
      _ = try await rig.dial()
      rig.close()
      for client in inside { client.connection.abort() }
    }
  }

  @Test("One network gets its share and no more")
  func tooManyOfOne() async throws {
    var limits = WebSocketServerLimits()
    limits.connectionsPerNetworkMaximum = 2
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let first = try await rig.dial().0
      let second = try await rig.dial().0
      await expectFault(.upgradeRefused) { _ = try await rig.dial() }
      first.connection.close()
      try await eventually("room") { rig.server.connectionCount == 1 }
      _ = try await rig.dial()
      second.connection.abort()
      rig.close()
      let six = try #require(SocketAddress(literal: "2001:db8:1:2:3:4:5:6", port: 1))
      let mapped = try #require(SocketAddress(literal: "::ffff:10.1.2.3", port: 1))
      #expect(six.network == [0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2] && mapped.network == [10, 1, 2, 3])
    }
  }

  @Test("A flood of connections that say nothing keeps out nobody who speaks")
  func silentFlood() async throws {
    var limits = WebSocketServerLimits()
    limits.handshakesMaximum = 8
    limits.connectionsMaximum = 20
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      var silent: [RawClient] = []
      for _ in 0..<100 { silent.append(try await rig.raw()) }
      let (client, visitor) = try await rig.dial()
      visitor.echo()
      try client.connection.send(text: [0x61])
      try await eventually("the echo") { client.messages == [[0x61]] }
      try await eventually("the oldest are cut") { silent.count(where: \.hasEnded) >= 92 }
      #expect(!silent[99].hasEnded && rig.server.connectionCount <= 9 && rig.server.counts.turnedAway == 0)
      rig.close()
      client.connection.abort()
    }
  }

  @Test("An answer may come later or not at all; and a client that is gone by then does no harm")
  func later() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      var responders: [String: HTTPResponder] = [:]
      rig.decision = { head in .later { responders[head.path] = $0 } }
      var clients: [String: RawClient] = [:]
      for path in ["/good", "/dropped", "/gone"] {
        clients[path] = try await rig.raw()
        clients[path]?.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the question") { responders[path] != nil }
      }
      let large = [UInt8](repeating: 0x62, count: 3 << 20)
      responders["/good"]?.respond(HTTPAnswer(status: 200, body: large))
      responders["/good"]?.respond(HTTPAnswer(status: 500))
      responders["/dropped"] = nil
      clients["/gone"]?.stream.close()
      responders["/gone"]?.respond(HTTPAnswer(status: 200, body: large))
      try await eventually("all answers") { clients.values.count(where: \.hasEnded) == 2 }
      #expect(clients["/good"]?.status == 200 && clients["/dropped"]?.status == 500)
      #expect(clients["/good"]?.input.suffix(large.count).elementsEqual(large) == true)
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
    }
  }

  @Test("An answer that does not come in time is 504, and what comes then is dropped")
  func tooLate() async throws {
    var limits = WebSocketServerLimits()
    limits.answerMilliseconds = 50
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      var responder: HTTPResponder?
      rig.decision = { head in .later { responder = $0 } }
      let client = try await rig.raw()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the answer") { client.hasEnded }
      #expect(client.status == 504 && responder != nil)
      responder?.respond(HTTPAnswer(status: 200))
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
    }
  }

  @Test("A client that takes no answer is left when its time is over")
  func deafToAnswer() async throws {
    var limits = WebSocketServerLimits()
    limits.writeMilliseconds = 200
    limits.connection.pendingByteCountMaximum = 64 << 20
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      rig.decision = { _ in .respond(HTTPAnswer(status: 200, body: [UInt8](repeating: 0, count: 32 << 20))) }
      let client = try await rig.raw()
      client.stream.stopReading()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the request") { rig.heads.count == 1 }
      try await eventually("nothing is left") { rig.server.connectionCount == 0 }
      rig.close()
      client.stream.close()
    }
  }

  @Test("It listens on IPv6 beside IPv4, on the same port, and no more once it is closed; WebSockets go on")
  func addresses() async throws {
    try await LoopThread.run {
      let rig = try ServerRig()
      let (four, visitor) = try await rig.dial()
      visitor.echo()
      let six = try #require(SocketAddress(literal: "::1", port: rig.port))
      try rig.server.listen(on: six)
      let deadline = EventLoop.process.now.advanced(milliseconds: 20_000)
      let client = RawClient(try await ByteStream.connect(to: six, deadline: deadline))
      client.send(RawClient.request())
      try await eventually("the 101") { client.hasHead }
      #expect(rig.visitors[1].connection.endpoint.host == "::1")
      let arriving = try await rig.raw()
      try await eventually("it has come") { rig.server.connectionCount == 3 }
      rig.server.close()
      try await eventually("it is cut") { arriving.hasEnded }
      try four.connection.send(text: [0x61])
      try await eventually("the echo") { four.messages == [[0x61]] }
      await expectFault(.unreachable) { _ = try await rig.dial() }
      rig.close()
      four.connection.abort()
    }
  }

  @Test("Messages that never end share one bound; short ones pass meanwhile, and room comes back with who leaves")
  func unfinished() async throws {
    var limits = WebSocketServerLimits()
    limits.receivingByteCountMaximum = 1 << 20
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (client, visitor) = try await rig.dial()
      visitor.echo()
      let part = Frame(opcode: 2, payload: .init(repeating: 0, count: 400_000), isFinal: false).masked
      var hoarders: [(RawClient, ServerRig.Visitor)] = []
      for _ in 0..<2 {
        hoarders.append(try await rig.rawUpgraded())
        hoarders.last?.0.send(part + Frame(opcode: 9, payload: []).masked)
        try await eventually("the part has come") { hoarders.last?.0.frames.count == 1 }
      }
      let (third, refused) = try await rig.rawUpgraded()
      third.send(part)
      try await eventually("the third is closed") { third.frames.last?.closeCode == 1013 }
      #expect(refused.ends == [.violation(code: 1013)])
      try client.connection.send(text: [0x61])
      try await eventually("the echo") { client.messages == [[0x61]] }
      hoarders[0].0.stream.close()
      try await eventually("it has left") { !hoarders[0].1.ends.isEmpty }
      hoarders.removeFirst()
      rig.visitors = [visitor]
      let (fourth, served) = try await rig.rawUpgraded()
      fourth.send(part + Frame(opcode: 0, payload: [1]).masked)
      try await eventually("the message") { served.byteCounts == [400_001] }
      rig.close()
      client.connection.abort()
    }
  }

  @Test("Whoever lets go of server and WebSockets is rid of them")
  func letGo() async throws {
    try await LoopThread.run {
      var rig: ServerRig? = try ServerRig()
      let client = try await rig?.rawUpgraded().0
      let arriving = try await rig?.raw()
      rig = nil
      try await eventually("both are cut") { client?.hasEnded == true && arriving?.hasEnded == true }
      // However a WebSocket ended: once its owner has let go of it, nothing holds it.
      let other = try ServerRig()
      for way in 0..<3 {
        let (client, _) = try await other.rawUpgraded()
        weak let connection = other.visitors.first?.connection
        if way == 0 { client.stream.close() }
        if way == 1 { client.send(Frame.close(1000).masked) }
        if way == 2 { client.send(Frame.text("not masked").bytes) }
        try await eventually("the end") { other.visitors.first?.ends.count == 1 }
        client.stream.close()
        other.visitors = []
        try await eventually("it is gone") { connection == nil && other.server.connectionCount == 0 }
      }
      other.close()
    }
  }
}
