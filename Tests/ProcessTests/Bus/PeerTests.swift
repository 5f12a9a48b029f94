import Clocks
import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Peers that break the protocol, and those that speak another version of it.
  @Suite("Peers that are wrong")
  struct PeerTests {
    @Test("Each rule that a peer breaks is named to it, and it alone is cut")
    func rules() throws {
      try withRoost(Layout(bus: ["partial-frame-deadline": "\"300ms\"", "hello-deadline": "\"400ms\""])) { roost in
        let witness = try roost.client("witness")
        let number = try witness.number(of: "example.echo")
        for (code, misdeed) in Self.violations(number) {
          let peer = try roost.client("wrong")
          misdeed(peer)
          try awaitSoon("the end of the peer for \(code)") {
            peer.receive(withinMilliseconds: 20)
            return peer.isEnded
          }
          #expect(peer.fatal?.code == code, "\(peer.fatal?.message ?? "no FATAL")")
          #expect(try witness.call("example.echo", "\(code)").text == "\(code)")
        }
        for bytes in [[], [44, 0, 0, 0, 1, 16, 0, 0], [1], Array(repeating: 0xFF, count: 64)] as [[UInt8]] {
          let peer = try BusPeer(socket: roost.socket, hello: nil)
          peer.sendBytes(bytes)
          try awaitSoon("the end of a peer that does not greet") {
            peer.receive(withinMilliseconds: 20)
            return peer.isEnded
          }
        }
        #expect(witness.fatal == nil)
      }
    }

    /// What a client does wrong, by the word it is told.
    private static func violations(_ echo: UInt16) -> [(RefusalCode, (BusPeer) -> Void)] {
      [
        (.badLength, { $0.sendBytes([0xFF, 0xFF, 0xFF, 0xFF]) }), (.badLength, { $0.sendBytes([43, 0, 0, 0]) }),
        (.badVersion, { $0.sendBytes([44, 0, 0, 0, 2, 16, 0, 0]) }),
        (.unknownType, { $0.sendBytes([44, 0, 0, 0, 1, 99, 0, 0]) }),
        (.unknownFlags, { $0.sendBytes([44, 0, 0, 0, 1, 16, 0, 0x80]) }),
        (.unknownType, { $0.send(FrameHeader(type: .welcome)) }),
        (.outOfTurn, { $0.send(FrameHeader(type: .hello)) }),
        (.outOfTurn, { $0.send(FrameHeader(type: .response, re: 1, method: echo)) }),
        (.badPayload, { $0.send(FrameHeader(type: .credit), [1, 2, 3]) }),
        (
          .forgedSource,
          { $0.send(FrameHeader(type: .request, source: Endpoint(seat: 1, turn: 1), id: 1, method: echo)) }
        ),
        (.idNotIncreasing, { for _ in 0..<2 { $0.send(FrameHeader(type: .request, id: 7, method: echo)) } }),
        (
          .noCredit,
          { peer in
            // In one write, so that no CREDIT can come in between.
            let one = (1...2_000).flatMap {
              BusPeer.bytes(FrameHeader(type: .request, id: UInt64($0), method: echo), [])
            }
            peer.sendBytes(one)
          }
        ),
        (.tooSlow, { $0.sendBytes([44, 0, 0, 0, 1]) }),
      ]
    }

    @Test("A busy peer may end every write inside a frame: the deadline is for one frame")
    func busyPeer() throws {
      try withRoost(Layout(bus: ["partial-frame-deadline": "\"300ms\""])) { roost in
        let peer = try roost.client("busy")
        let ping = BusPeer.bytes(FrameHeader(type: .ping), [])
        let end = Monotonic.seconds + 1
        peer.sendBytes(Array(ping[..<20]))
        while Monotonic.seconds < end {
          peer.receive(withinMilliseconds: 20)
          peer.sendBytes(Array(ping[20...] + ping[..<20]))
        }
        peer.sendBytes(Array(ping[20...]))
        #expect(try peer.call("example.echo", "still here").text == "still here")
        #expect(peer.fatal == nil)
      }
    }

    @Test("Of many connections that say nothing the oldest give way, and nobody else notices")
    func silentCrowd() throws {
      try withRoost { roost in
        let witness = try roost.client("witness")
        var crowd: [BusPeer] = []
        for number in 0..<400 {
          crowd.append(try BusPeer(socket: roost.socket, hello: nil))
          if number % 50 == 0 { #expect(try witness.call("example.echo", "\(number)").text == "\(number)") }
        }
        try awaitSoon("the end of the oldest") {
          crowd[0].receive(withinMilliseconds: 20)
          return crowd[0].isEnded
        }
        #expect(try witness.call("example.echo", "still").text == "still")
        crowd.removeAll()
      }
    }

    @Test("A peer that is always in the middle of a frame, but of another each time, is not too slow")
    func busyWithParts() throws {
      try withRoost(Layout(bus: ["partial-frame-deadline": "\"400ms\""])) { roost in
        let peer = try roost.client()
        let frame = BusPeer.bytes(FrameHeader(type: .ping), [])
        let start = Monotonic.seconds
        peer.sendBytes(Array(frame[..<20]))
        while Monotonic.seconds - start < 1.5 {
          peer.receive(withinMilliseconds: 100)
          peer.sendBytes(Array(frame[20...] + frame[..<20]))
        }
        #expect(!peer.isEnded, "\(peer.fatal?.message ?? "")")
        try awaitSoon("the end of a frame that never ends") {
          peer.receive(withinMilliseconds: 20)
          return peer.isEnded
        }
        #expect(peer.fatal?.code == .tooSlow)
      }
    }

    @Test("A frame begun in one breath with HELLO must end like any other")
    func partBehindHello() throws {
      try withRoost(Layout(bus: ["partial-frame-deadline": "\"300ms\""])) { roost in
        let peer = try BusPeer(socket: roost.socket, hello: nil)
        let hello = BusPeer.bytes(FrameHeader(type: .hello), JSONPayload.encode(Hello(name: "test", role: "client")))
        peer.sendBytes(Array(hello[..<60]))
        peer.receive(withinMilliseconds: 100)
        peer.sendBytes(Array(hello[60...]) + [44, 0, 0, 0, 1])
        try awaitSoon("the end of the peer") {
          peer.receive(withinMilliseconds: 20)
          return peer.isEnded
        }
        #expect(peer.fatal?.code == .tooSlow)
      }
    }

    @Test("Peers that send random bytes and random frames disturb nobody", arguments: seeds(1))
    func randomPeers(seed: UInt64) throws {
      try withRoost(Layout(bus: ["partial-frame-deadline": "\"500ms\"", "hello-deadline": "\"500ms\""])) { roost in
        let witness = try roost.client("witness")
        var random = Mixed(seed: seed, echo: try witness.number(of: "example.echo"))
        let alone = try Self.exchange(witness)
        var crowd: [BusPeer] = []
        for round in 0..<60 {
          let peer =
            round % 3 == 0 ? try BusPeer(socket: roost.socket, hello: nil) : try roost.client("random \(round)")
          for _ in 0..<20 { peer.sendBytes(random.bytes()) }
          crowd.append(peer)
          if crowd.count > 20 { crowd.removeFirst() }
          #expect(try witness.call("example.echo", "\(round)").text == "\(round)")
        }
        let together = try Self.exchange(witness)
        print("300 exchanges: \(alone) s alone, \(together) s among \(crowd.count) random peers")
        #expect(witness.fatal == nil)
        #expect(try roost.worker("example", witness).generation == 1, "no worker was hurt by it")
      }
    }

    /// Seconds for 300 requests and answers.
    private static func exchange(_ client: BusPeer) throws -> Double {
      let start = Monotonic.seconds
      for number in 0..<300 { #expect(try client.call("example.echo", "\(number)").text == "\(number)") }
      return Monotonic.seconds - start
    }

    @Test("The hub speaks version 1 to whoever can, and says so to whoever cannot")
    func versions() throws {
      try withRoost { roost in
        for versions in [nil, [1, 1], [1, 9], [0, 1]] as [[UInt8]?] {
          var hello = Hello(name: "versions", role: "client")
          hello.protocol = versions
          let peer = try BusPeer(socket: roost.socket, hello: hello)
          #expect(peer.welcome?.protocol == 1, "\(versions ?? [])")
          #expect(try peer.call("example.echo", "hi").text == "hi")
        }
        for versions in [[2, 3], [0, 0], [1], [], [1, 1, 1]] as [[UInt8]] {
          var hello = Hello(name: "versions", role: "client")
          hello.protocol = versions
          let peer = try BusPeer(socket: roost.socket, hello: nil)
          peer.send(FrameHeader(type: .hello), JSONPayload.encode(hello))
          try awaitSoon("the refusal of \(versions)") {
            peer.receive(withinMilliseconds: 20)
            return peer.isEnded
          }
          #expect(peer.fatal?.code == .badVersion, "\(versions)")
        }
        // A HELLO of a later version, with what we do not know in it, is a HELLO.
        let peer = try BusPeer(socket: roost.socket, hello: nil)
        peer.send(
          FrameHeader(type: .hello),
          Array(#"{"protocol":[1,4],"name":"later","role":"client","wings":{"count":2}}"#.utf8))
        try peer.wait("WELCOME") { peer.welcome != nil }
      }
    }
  }
}

/// Bytes that are often nearly right.
private struct Mixed {
  private var random: SeededGenerator
  /// The one method that is called in earnest: others are there to hurt the worker.
  private let echo: UInt16

  init(seed: UInt64, echo: UInt16) {
    random = SeededGenerator(seed: seed)
    self.echo = echo
  }

  mutating func next() -> UInt64 { random.next() }

  mutating func bytes() -> [UInt8] {
    let payload = (0..<Int(next() % 200)).map { _ in UInt8(truncatingIfNeeded: next()) }
    let type = FrameType.allCases[Int(next() % UInt64(FrameType.allCases.count))]
    var bytes = BusPeer.bytes(
      FrameHeader(
        type: type, flags: FrameFlags(rawValue: UInt16(truncatingIfNeeded: next()) & FrameFlags.known.rawValue),
        destination: Endpoint(rawValue: UInt32(next() % 4)), id: next() % 1_000, re: next() % 8,
        attempt: UInt16(next() % 3), method: next() % 2 == 0 ? echo : 0x4800 + UInt16(next() % 400)),
      payload)
    if next() % 3 == 0 { bytes[Int(next() % UInt64(bytes.count))] ^= UInt8(truncatingIfNeeded: next() | 1) }
    return next() % 5 == 0 ? Array(bytes.prefix(Int(next() % UInt64(bytes.count)))) : bytes
  }
}
