import Clocks
import EventLoop
import TestSupport
import Testing

@testable import WebSocket

@Suite("Connections whose clients have not shown themselves") struct OutsideShareTests {
  @Test("The oldest gives way when the part is full, whoever has left before it")
  func oldest() {
    var share = OutsideShare(maximum: 3)
    let first = (0..<3).map { _ in share.enter() }
    #expect(first.allSatisfy { $0.displaced == nil } && share.count == 3)
    share.leave(first[1].number)
    let displaced = (0..<3).map { _ in share.enter().displaced }
    #expect(displaced == [nil, first[0].number, 2], "the second had left")
    #expect(share.count == 3 && !share.contains(first[0].number))
  }

  @Test("It is never more than its bound, and none is left out, in any order of coming and leaving")
  func anyOrder() {
    var (share, generator) = (OutsideShare(maximum: 5), SeededGenerator(seed: 7))
    var present: [UInt64] = []
    for _ in 0..<2_000 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0 where !present.isEmpty:
        share.leave(present.remove(at: Int.random(in: 0..<present.count, using: &generator)))
      case 1:
        let (oldest, expected) = (share.takeOldest(), present.first)
        present = Array(present.dropFirst())
        #expect(oldest == expected)
      default:
        let (number, displaced) = share.enter()
        #expect(displaced == (present.count == 5 ? present.first : nil))
        present = (present.count == 5 ? Array(present.dropFirst()) : present) + [number]
      }
      #expect(share.count == present.count && present.allSatisfy(share.contains))
    }
  }
}

@Suite("The time of a message that has begun") struct MessageClockTests {
  @Test("One that does not go on is given up after its period and one more look; more bytes alone do not help")
  func stuck() {
    let bench = MessageBench()
    #expect(bench.received(10) && !bench.received(20))
    bench.pass(1_000)
    #expect(!bench.fire())
    bench.pass(Liveness.lastLookMilliseconds)
    #expect(bench.fire() && bench.left == nil)
  }

  @Test("One that grows by 64 KiB in each period has another, and one that ends has none")
  func goingOn() {
    let bench = MessageBench()
    #expect(bench.received(10))
    for round in 1...5 {
      #expect(!bench.received(10 + round * MessageClock.leastByteCount))
      bench.pass(1_000)
      #expect(!bench.fire() && bench.left == 1_000)
    }
    #expect(bench.received(nil, hasEnded: true) && bench.left == nil)
    #expect(!bench.received(nil) && bench.received(1))
    bench.pass(900)
    #expect(bench.received(1, hasEnded: true), "another one has begun")
    #expect(bench.left == 1_000)
  }

  @Test("While nothing is read time stands still; without a period there is no bound")
  func pauses() {
    let bench = MessageBench()
    #expect(bench.received(10))
    bench.pass(400)
    bench.clock.paused(at: bench.now)
    #expect(bench.left == nil)
    bench.pass(60_000)
    bench.clock.resumed(at: bench.now)
    #expect(bench.left == 600)
    bench.clock = MessageClock(periodMilliseconds: 0)
    #expect(!bench.received(10) && bench.left == nil)
  }
}

/// A clock of one second, and a time that passes by hand.
private final class MessageBench {
  var now = Instant(nanoseconds: 1_000_000_000)
  var clock = MessageClock(periodMilliseconds: 1_000)

  func pass(_ milliseconds: UInt64) { now = now.advanced(milliseconds: milliseconds) }
  func received(_ count: Int?, hasEnded: Bool = false) -> Bool {
    clock.received(heldByteCount: count, hasEnded: hasEnded, at: now)
  }
  func fire() -> Bool { clock.timerFired(at: now) }
  var left: UInt64? { clock.due.map { $0.milliseconds(since: now) } }
}

@Suite("A server and clients that have not shown themselves", .serialized) struct OutsideServerTests {
  /// Those who ask for `/raw` are outside; our own client is inside.
  @EventLoopActor
  private func rig(
    _ limits: WebSocketServerLimits, milliseconds: UInt64? = nil
  ) throws -> ServerRig {
    let rig = try ServerRig(limits)
    rig.admission = { $0.path == "/raw" ? .outside(milliseconds: milliseconds) : .inside }
    return rig
  }

  @Test("They get their part, the oldest gives way, and those inside have all the rest and the whole if they need it")
  func part() async throws {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = 16
    try await LoopThread.run { [limits] in
      let rig = try rig(limits)
      var outside: [RawClient] = []
      for _ in 0..<20 { outside.append(try await rig.rawUpgraded().0) }
      try await eventually("eighteen have given way") { outside.count(where: \.hasEnded) == 18 }
      #expect(outside[0].frames.last?.closeCode == 1013 && !outside[18].hasEnded && !outside[19].hasEnded)
      #expect(rig.server.counts.displaced == 18 && rig.server.outsideCount == 2 && rig.server.connectionCount == 2)
      var inside: [Client] = []
      for _ in 0..<16 { inside.append(try await rig.dial().0) }
      #expect(rig.server.counts.turnedAway == 0 && rig.server.outsideCount == 0 && rig.server.displacedAt != nil)
      await expectFault(.upgradeRefused) { _ = try await rig.dial() }
      #expect(rig.server.counts.turnedAway == 1 && rig.server.turnedAwayAt != nil)
      rig.close()
      for client in inside { client.connection.abort() }
    }
  }

  @Test("What is only answered counts as well, and last words to such a client hold nobody's place")
  func answers() async throws {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = 16
    limits.lingerMilliseconds = 60_000
    limits.deadlines.closeMilliseconds = 60_000
    try await LoopThread.run { [limits] in
      let rig = try rig(limits)
      rig.decision = { $0.wantsWebSocket ? .upgrade() : .refuse(403, "not you") }
      var clients: [RawClient] = []
      // They read nothing, so that they never close: for a minute the server would wait for that.
      for round in 1...8 {
        for request in ["GET /raw HTTP/1.1\r\nHost: a\r\n\r\n", "NONSENSE\r\n\r\n"] {
          let (client, before) = (try await rig.raw(), rig.server.counts.answered)
          client.stream.stopReading()
          client.send(request)
          clients.append(client)
          try await eventually("the answer") { rig.server.counts.answered == before + 1 }
        }
        let (client, visitor) = try await rig.rawUpgraded()
        client.stream.stopReading()
        client.send(Frame.text("not masked").bytes)
        clients.append(client)
        try await eventually("the end") { visitor.ends == [.violation(code: 1002)] }
        #expect(rig.server.connectionCount == 2, "in round \(round)")
      }
      #expect(rig.server.outsideCount == 2 && rig.server.counts.displaced == 22)
      rig.close()
      for client in clients { client.stream.close() }
    }
  }

  @Test("Until it is admitted a client sends 16 KiB at most, and what it holds back takes nothing from those inside")
  func messages() async throws {
    var limits = WebSocketServerLimits()
    limits.outsideReceivingByteCountMaximum = 20_000
    limits.receivingByteCountMaximum = 450_000
    try await LoopThread.run { [limits] in
      let rig = try rig(limits)
      let (large, refused) = try await rig.rawUpgraded()
      large.send(Frame(opcode: 2, payload: .init(repeating: 0, count: (16 << 10) + 1)).masked)
      try await eventually("the close") { large.frames.last?.closeCode == 1009 }
      #expect(refused.ends == [.violation(code: 1009)])
      let part = Frame(opcode: 2, payload: .init(repeating: 0, count: 15_000), isFinal: false).masked
      let (first, _) = try await rig.rawUpgraded()
      first.send(part + Frame(opcode: 9, payload: []).masked)
      try await eventually("the part has come") { first.frames.count == 1 }
      let (second, _) = try await rig.rawUpgraded()
      second.send(part)
      try await eventually("the second is closed") { second.frames.last?.closeCode == 1013 }
      // Admitted within a message, as by AUTH: what stands behind it in the same bytes may be large.
      let (third, served) = try await rig.rawUpgraded()
      served.onMessage = { [unowned served] _ in served.connection.admit() }
      let long = Frame(opcode: 2, payload: .init(repeating: 0, count: 400_000), isFinal: false).masked
      third.send(Frame(opcode: 2, payload: [1]).masked + long + Frame(opcode: 0, payload: [1]).masked)
      try await eventually("the message") { served.byteCounts == [1, 400_001] }
      #expect(rig.server.outsideCount <= 2)
      rig.close()
    }
  }

  @Test("A client that does not show itself in time is closed, one that was admitted is not")
  func time() async throws {
    try await LoopThread.run {
      let rig = try rig(WebSocketServerLimits(), milliseconds: 300)
      let (client, visitor) = try await rig.rawUpgraded()
      visitor.connection.admit()
      let (late, _) = try await rig.rawUpgraded()
      try await eventually("the close") { late.frames.last?.closeCode == 1008 }
      visitor.echo()
      client.send(Frame.text("still here").masked)
      try await eventually("the echo") { client.frames.count == 1 }
      rig.close()
    }
  }

  @Test("A message that was begun and does not go on is closed, also of a client that is inside")
  func unfinished() async throws {
    var limits = WebSocketServerLimits()
    limits.deadlines.messageMilliseconds = 300
    try await LoopThread.run { [limits] in
      let rig = try ServerRig(limits)
      let (idle, visitor) = try await rig.rawUpgraded()
      let beginnings: [[UInt8]] = [
        Frame(opcode: 2, payload: [0], isFinal: false).masked, [0x82], Array(Frame.text("cut short").masked.dropLast()),
      ]
      for beginning in beginnings {
        let (client, _) = try await rig.rawUpgraded()
        client.send(beginning)
        try await eventually("the close") { client.frames.last?.closeCode == 1008 }
      }
      visitor.echo()
      idle.send(Frame.text("here").masked)
      try await eventually("the echo") { idle.frames.count == 1 }
      rig.close()
    }
  }
}
