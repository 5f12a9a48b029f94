import Clocks
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import WebSocket

@Suite("Which address of a name is dialled when") struct AddressRaceTests {
  private static func address(_ literal: String, port: UInt16 = 80) -> SocketAddress {
    guard let address = SocketAddress(literal: literal, port: port) else {
      preconditionFailure("\(literal) is an address")
    }
    return address
  }
  private static let start = Instant(nanoseconds: 1_000_000_000)
  private static func at(_ milliseconds: UInt64) -> Instant { start.advanced(milliseconds: milliseconds) }
  private static func race(_ literals: [String], milliseconds: UInt64 = 10_000) -> AddressRace {
    AddressRace(literals.map { address($0) }, until: at(milliseconds))
  }
  private static func failure(_ detail: String, _ code: WebSocketFault.Code = .unreachable) -> AddressRace.Failure {
    AddressRace.Failure(code: code, detail: detail)
  }

  @Test(
    "The families take turns, IPv6 first, each in the resolver's order",
    arguments: [
      (["1.1.1.1", "2.2.2.2", "::1", "::2"], ["::1", "1.1.1.1", "::2", "2.2.2.2"]),
      (["::1", "::2", "::3", "1.1.1.1"], ["::1", "1.1.1.1", "::2", "::3"]),
      (["1.1.1.1", "2.2.2.2"], ["1.1.1.1", "2.2.2.2"]),
      (["::2", "::1"], ["::2", "::1"]),
    ])
  func order(resolved: [String], dialled: [String]) {
    #expect(Self.race(resolved).addresses.map(\.host) == dialled)
  }

  @Test("An attempt that hangs is joined by the next after 250 ms, and the first connection ends the others")
  func hanging() {
    var race = Self.race(["::1", "1.1.1.1", "2.2.2.2"])
    #expect(race.started(at: Self.start) == [.dial(0), .setTimer(Self.at(250))])
    #expect(race.timerFired(at: Self.at(250)) == [.dial(1), .setTimer(Self.at(500))])
    #expect(race.timerFired(at: Self.at(500)) == [.dial(2)])
    #expect(race.connected(1) == [.win(1), .abandon(0), .abandon(2)])
    #expect(race.connected(0).isEmpty && race.failed(2, Self.failure("late"), at: Self.at(501)).isEmpty)
    #expect(race.timerFired(at: Self.at(600)).isEmpty)
  }

  @Test("An attempt that fails is followed at once, and the time to the one after counts from there")
  func failing() {
    var race = Self.race(["::1", "1.1.1.1", "2.2.2.2"])
    _ = race.started(at: Self.start)
    #expect(race.failed(0, Self.failure("first"), at: Self.at(10)) == [.dial(1), .setTimer(Self.at(260))])
    #expect(race.failed(1, Self.failure("second"), at: Self.at(20)) == [.dial(2)])
    #expect(race.failed(2, Self.failure("third"), at: Self.at(30)) == [.lose])
    #expect(race.fault("ws://a").description == "ws://a: first; second; third")
    #expect(race.fault("ws://a").code == .unreachable)
  }

  @Test("An early attempt may win late, and is lost only with the last one")
  func late() {
    var race = Self.race(["::1", "1.1.1.1"])
    _ = race.started(at: Self.start)
    #expect(race.timerFired(at: Self.at(250)) == [.dial(1)])
    #expect(race.failed(1, Self.failure("refused"), at: Self.at(260)).isEmpty, "the first is still under way")
    #expect(race.connected(0) == [.win(0)])
  }

  @Test("At most eight addresses are dialled, none after the end, and the fault counts those that were not")
  func bounded() {
    let many = (1...12).map { "10.0.0.\($0)" }
    var race = Self.race(many)
    #expect(race.addresses.count == 8)
    _ = race.started(at: Self.start)
    for index in 0..<7 {
      #expect(race.failed(index, Self.failure("\(index)"), at: Self.start).first == .dial(index + 1))
    }
    #expect(race.failed(7, Self.failure("7"), at: Self.start) == [.lose])
    #expect(race.fault("").detail == "0; 1; 2; 3; 4; 5; 6; 7; 4 more addresses were not tried")

    var short = Self.race(["1.1.1.1", "2.2.2.2", "3.3.3.3"], milliseconds: 400)
    _ = short.started(at: Self.start)
    #expect(short.timerFired(at: Self.at(250)) == [.dial(1)], "the third would begin at the end")
    #expect(short.failed(0, Self.failure("a"), at: Self.at(400)).isEmpty)
    #expect(short.failed(1, Self.failure("b"), at: Self.at(400)) == [.lose])
    #expect(short.fault("").detail == "a; b; 1 more address was not tried")
  }

  @Test("An unwanted connection counts as failed, and is the reason when no other address can be used")
  func unwanted() {
    var race = Self.race(["::1", "1.1.1.1"])
    _ = race.started(at: Self.start)
    #expect(race.failed(0, Self.failure("that is us", .unwantedAddress), at: Self.at(1)) == [.dial(1)])
    #expect(race.failed(1, Self.failure("refused"), at: Self.at(2)) == [.lose])
    #expect(race.fault("").code == .unwantedAddress && race.fault("").detail == "that is us")
  }
}

/// Real sockets on 127.0.0.0/8.
@Suite("Addresses of this machine, raced", .serialized) struct AddressDiallerTests {
  /// A socket that listens on an address and takes no connection: its queue is full, so the kernel drops what comes.
  private final class Full {
    private var descriptors: [Int32] = []

    init(_ host: String, port: UInt16) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      descriptors.append(listener)
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      place.sin_addr.s_addr = inet_addr(host)
      func named(_ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32) -> Int32 {
        withUnsafePointer(to: &place) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
      }
      try #require(named(bind, listener) == 0)
      try #require(listen(listener, 0) == 0)
      // A queue of length 0 holds one connection; the others wait for ever.
      for _ in 0..<4 {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        descriptors.append(client)
        _ = named(connect, client)
      }
    }

    func close() { for descriptor in descriptors { Glibc.close(descriptor) } }
  }

  @EventLoopActor
  private static func reach(
    _ hosts: [String], port: UInt16, milliseconds: UInt64 = 5_000,
    objection: @escaping @EventLoopActor (ByteStream) -> AddressRace.Failure? = { _ in nil }
  ) async throws -> ByteStream {
    let endpoint = WebSocketEndpoint(host: "many.example", port: port, isSecure: false)
    let addresses = try hosts.map { try #require(SocketAddress(literal: $0, port: port)) }
    return try await WebSocketConnection.reach(
      addresses, endpoint, WebSocketDeadlines(connectMilliseconds: milliseconds), objection: objection)
  }

  @Test("The second address is used while the first hangs, and also after one that refuses")
  func raced() async throws {
    try await LoopThread.run {
      let good = try #require(SocketAddress(literal: "127.0.0.3", port: 0))
      var accepted: [ByteStream] = []
      let listener = try StreamListener(address: good) { accepted.append($0) }
      let port = try #require(listener.port)
      let full = try Full("127.0.0.2", port: port)
      let begin = EventLoop.process.now
      let stream = try await Self.reach(["127.0.0.2", "127.0.0.3"], port: port)
      let took = EventLoop.process.now.milliseconds(since: begin)
      #expect(stream.peerAddress?.host == "127.0.0.3" && took >= 250, "\(took) ms")
      stream.close()
      // 127.0.0.4 has no listener.
      let direct = try await Self.reach(["127.0.0.4", "127.0.0.3", "127.0.0.2"], port: port)
      #expect(direct.peerAddress?.host == "127.0.0.3")
      direct.close()
      try await eventually("both connections") { accepted.count == 2 }
      for stream in accepted { stream.close() }
      full.close()
      listener.close()
    }
  }

  @Test("What was tried is named, and a race that is cancelled ends at once")
  func named() async throws {
    try await LoopThread.run {
      let good = try #require(SocketAddress(literal: "127.0.0.3", port: 0))
      let listener = try StreamListener(address: good) { $0.close() }
      let port = try #require(listener.port)
      let full = try Full("127.0.0.2", port: port)
      do {
        _ = try await Self.reach(["127.0.0.4", "127.0.0.2"], port: port, milliseconds: 1_000)
        Issue.record("connected")
      } catch let fault as WebSocketFault {
        #expect(fault.code == .unreachable)
        #expect(fault.detail.contains("127.0.0.4:\(port): connection refused"), "\(fault)")
        #expect(fault.detail.contains("127.0.0.2:\(port): connection timed out"), "\(fault)")
      }
      let begin = EventLoop.process.now
      let dialling = EventLoopActor.task {
        do {
          _ = try await Self.reach(["127.0.0.2"], port: port)
          return "connected"
        } catch { return (error as? WebSocketFault)?.code.rawValue ?? "\(error)" }
      }
      try await remains("it hangs", forMilliseconds: 50) { true }
      dialling.cancel()
      #expect(await dialling.value == "cancelled")
      #expect(EventLoop.process.now.milliseconds(since: begin) < 5_000)
      full.close()
      listener.close()
    }
  }

  @Test("An address to which there is an objection is left for the next one")
  func objections() async throws {
    try await LoopThread.run {
      let any = try #require(SocketAddress(literal: "0.0.0.0", port: 0))
      var accepted: [ByteStream] = []
      let listener = try StreamListener(address: any) { accepted.append($0) }
      let port = try #require(listener.port)
      let stream = try await Self.reach(["127.0.0.2", "127.0.0.3"], port: port) { stream in
        stream.peerAddress?.host == "127.0.0.2" ? .init(code: .unwantedAddress, detail: "that is us") : nil
      }
      #expect(stream.peerAddress?.host == "127.0.0.3")
      stream.close()
      await expectFault(.unwantedAddress) {
        _ = try await Self.reach(["127.0.0.2"], port: port) { _ in .init(code: .unwantedAddress, detail: "us") }
      }
      for stream in accepted { stream.close() }
      listener.close()
    }
  }
}
