import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// Clients that ask for much and take nothing, beside others of the same worker.
  @Suite("Slow callers")
  struct SlowCallerTests {
    static let memoryMaximum = 64 << 20

    @Test(
      "Beside a client that takes nothing of a long stream, 20 others stream from the same worker at full speed"
    )
    func oneStream() throws {
      try withRoost { roost in
        let alone = try Self.stream(20, roost)
        let deaf = try roost.client("deaf")
        try deaf.ask("example.flow", #"{"parts":1000000,"bytes":1000}"#)
        try Self.awaitHeld(roost, byteCount: 50_000)
        let beside = try Self.stream(20, roost)
        print("20 streams: \(alone) s alone, \(beside) s beside a stream that nobody takes")
        #expect(beside < 3 * alone + 1)
        try Self.expectSound(roost)
      }
    }

    @Test("A client that opens all the streams it may and takes nothing stops itself, and memory is bounded")
    func allStreams() throws {
      try withRoost { roost in
        let deaf = try roost.client("deaf")
        let header = try deaf.request("example.flow")
        let order = Array(#"{"parts":1000000,"bytes":20000}"#.utf8)
        var id = header.id
        // It reads no CREDIT, so its window is all it can send.
        while deaf.hasCredit {
          deaf.spend(order.count)
          deaf.send(FrameHeader(type: .request, id: id, method: header.method), order)
          id += 1
        }
        // Of 12 MiB one client has two thirds. On top come its own requests, and the one part that reached the bound.
        try Self.awaitHeld(roost, byteCount: 7 << 20)
        let keptBytes = try roost.status().keptBytes
        #expect(keptBytes < (8 << 20) + 20_000 + Int(id - header.id) * order.count)
        let beside = try Self.stream(20, roost)
        print("20 streams: \(beside) s beside \(id - header.id) streams that nobody takes")
        try Self.expectSound(roost)
        // Whoever reads in the end gets all that is owed to it: every request ends.
        shutdown(deaf.descriptor, Int32(SHUT_RDWR))
        try roost.awaitWorker("example", "has nothing in hand") { $0.inHand == 0 }
        #expect(try roost.status().keptBytes == 0)
      }
    }

    @Test("Callers of a connector's other relays go on while one takes nothing of a relay without end")
    func otherRelays() throws {
      let endless = try ScriptedRelay.serving(10_000_000)
      let small = try ScriptedRelay.serving(3_000)
      let layout = Layout.connector("[\"\(endless.url)\", \"\(small.url)\"]")
      try withRoost(layout) { roost in
        let deaf = try roost.client("deaf")
        for _ in 0..<4 { try deaf.ask("relay.request", #"{"relay":"\#(endless.url)"}"#) }
        try Self.awaitHeld(roost, byteCount: 10_000)
        let app = try roost.client("app")
        for _ in 0..<3 {
          let answer = try app.call("relay.request", #"{"relay":"\#(small.url)"}"#)
          #expect(answer.isResponse && answer.parts.count == 3_000, "\(answer.text)")
        }
        try Self.expectSound(roost)
      }
    }

    /// Waits until the hub keeps so much for the client that takes nothing.
    private static func awaitHeld(_ roost: RunningRoost, byteCount: Int) throws {
      let client = try roost.client("looking")
      try awaitSoon("\(byteCount) bytes are kept") { try roost.status(client).keptBytes >= byteCount }
    }

    /// So many clients with a stream each, all at once; how many seconds it takes.
    private static func stream(_ count: Int, _ roost: RunningRoost) throws -> Double {
      let clients = try (0..<count).map { try roost.client("app \($0)") }
      let start = Monotonic.seconds
      let ids = try clients.map { try $0.ask("example.flow", #"{"parts":500,"bytes":1000}"#) }
      var left = Set(clients.indices)
      while !left.isEmpty {
        if Monotonic.seconds > start + 60 { throw DeadlinePassed(description: "\(left.count) streams did not end") }
        var entries = left.map { pollfd(fd: clients[$0].descriptor, events: Int16(POLLIN), revents: 0) }
        _ = poll(&entries, UInt(entries.count), 100)
        for index in left {
          clients[index].receive()
          guard let answer = clients[index].takeAnswer(to: ids[index]) else { continue }
          #expect(answer.isResponse && answer.parts.count == 500)
          left.remove(index)
        }
      }
      return Monotonic.seconds - start
    }

    /// Bounded memory, and attention for everybody.
    private static func expectSound(_ roost: RunningRoost) throws {
      try roost.expectPromptStatus()
      let peak = roost.memory(peak: true)
      print("\(peak >> 20) MiB at most")
      #expect(peak < memoryMaximum, "\(peak >> 20) MiB")
    }
  }
}
