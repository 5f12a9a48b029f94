import Clocks
import TestSupport
import Testing

@testable import HTTP2Client

/// A machine with a clock that the test holds.
private struct Bench {
  var machine: SendingMachine
  var now = Instant(nanoseconds: 1_000_000_000)
  private var lastRequest = 0

  init(_ change: (inout HTTP2SenderSettings) -> Void = { _ in }) {
    var settings = HTTP2SenderSettings()
    change(&settings)
    machine = SendingMachine(settings, seed: 7)
  }

  mutating func submit(_ count: Int = 1, timeout: UInt64 = 30_000) {
    for _ in 0..<count {
      lastRequest += 1
      machine.submitted(lastRequest, timeoutMilliseconds: timeout, at: now)
    }
  }

  mutating func wait(_ milliseconds: UInt64) {
    now = now.advanced(milliseconds: milliseconds)
    machine.timerFired(at: now)
  }

  /// A connection with as many streams as asked for, and the requests it began with.
  mutating func connect(_ number: Int, streams: Int = 100) {
    machine.connected(number, streamMaximum: streams, at: now)
  }

  mutating func actions() -> [SendingMachine.Action] { machine.takeActions() }

  /// The requests that were started, as (request, stream).
  mutating func started() -> [[Int]] {
    actions().compactMap { if case .start(let request, _, let stream) = $0 { [request, stream] } else { nil } }
  }

  mutating func endings() -> [Int: SendingMachine.Ending] {
    actions().reduce(into: [:]) { if case .finish(let request, let ending) = $1 { $0[request] = ending } }
  }
}

@Suite("The machine of a sender")
struct SendingMachineTests {
  @Test("connects when the first request comes, and sends nothing before the origin's SETTINGS")
  func connectsOnDemand() {
    var bench = Bench()
    #expect(bench.actions() == [])
    bench.submit(3)
    #expect(bench.actions() == [.connect(1)])
    bench.connect(1)
    #expect(bench.started() == [[1, 1], [2, 3], [3, 5]])
  }

  @Test("never has more streams open than the origin allows, whatever it allows at the moment (46)")
  func obeysStreamMaximum() {
    var bench = Bench()
    bench.submit(6)
    bench.connect(1, streams: 2)
    #expect(bench.started() == [[1, 1], [2, 3]])
    bench.machine.streamMaximumChanged(1, to: 1, at: bench.now)
    bench.machine.answered(1, stream: 1, at: bench.now)
    #expect(bench.started() == [], "one is still open")
    bench.machine.answered(1, stream: 3, at: bench.now)
    #expect(bench.started() == [[3, 5]])
    bench.machine.streamMaximumChanged(1, to: 0, at: bench.now)
    bench.machine.answered(1, stream: 5, at: bench.now)
    #expect(bench.started() == [])
    bench.machine.streamMaximumChanged(1, to: 1_000, at: bench.now)
    #expect(bench.started() == [[4, 7], [5, 9], [6, 11]])
  }

  @Test("opens one stream until the first answer, where the origin wants caution (46)")
  func startsCautiously() {
    var bench = Bench { $0.startsCautiously = true }
    bench.submit(3)
    bench.connect(1, streams: 1_000)
    #expect(bench.started() == [[1, 1]])
    bench.machine.answered(1, stream: 1, at: bench.now)
    #expect(bench.started() == [[2, 3], [3, 5]])
  }

  @Test("sends again, once and first, what a GOAWAY left behind, over a second connection (45)")
  func resendsWhatGoodbyeLeft() {
    var bench = Bench()
    bench.submit(4)
    bench.connect(1, streams: 3)
    _ = bench.actions()
    bench.wait(2_000)
    bench.machine.goAway(1, lastStream: 1, reason: "x", at: bench.now)
    #expect(bench.actions() == [.connect(2)])
    bench.connect(2)
    #expect(bench.started() == [[2, 1], [3, 3], [4, 5]], "in the order they came")
    bench.machine.answered(1, stream: 1, at: bench.now)
    #expect(bench.actions() == [.finish(request: 1, .answered), .close(1)])
    bench.wait(2_000)
    bench.machine.goAway(2, lastStream: 0, reason: SendingMachine.goodbyeWithoutReason, at: bench.now)
    #expect(bench.endings() == [2: .notSent(.refused), 3: .notSent(.refused)], "4 has one more chance")
  }

  @Test("ends what a second, lower GOAWAY leaves behind, and keeps what is below (45)")
  func takesSecondGoodbye() {
    var bench = Bench()
    bench.submit(2)
    bench.connect(1)
    bench.machine.answered(1, stream: 0, at: bench.now)
    _ = bench.actions()
    bench.wait(2_000)
    bench.machine.goAway(1, lastStream: Int(Int32.max), reason: "soon", at: bench.now)
    #expect(bench.actions() == [], "nobody waits, so no connection is wanted")
    bench.machine.goAway(1, lastStream: 1, reason: "now", at: bench.now)
    #expect(bench.actions() == [.connect(2)])
    bench.machine.lost(1, reason: "gone", at: bench.now)
    #expect(bench.endings() == [1: .unknown(.connectionLost("gone"))])
  }

  @Test("gives a connection up that answers no request in its time, whatever signs of life it gives")
  func leavesSilent() {
    var bench = Bench()
    bench.submit()
    bench.connect(1)
    bench.machine.answered(1, stream: 1, at: bench.now)
    _ = bench.actions()
    bench.wait(10)
    bench.submit(timeout: 15_000)
    bench.wait(9_000)
    bench.machine.received(1, at: bench.now)
    bench.submit(timeout: 15_000)
    _ = bench.actions()
    bench.wait(6_000)
    // What it owes still is waited for; what comes goes over another.
    #expect(bench.actions() == [.cancel(connection: 1, stream: 3), .finish(request: 2, .unknown(.timedOut))])
    bench.submit()
    #expect(bench.actions() == [.connect(2)])
    bench.machine.answered(1, stream: 5, at: bench.now)
    #expect(bench.actions() == [.finish(request: 3, .answered), .close(1)])
  }

  @Test("gives a connection up that opens no stream for as long as a request waits")
  func leavesClosed() {
    var bench = Bench()
    bench.submit()
    bench.connect(1, streams: 1)
    bench.machine.answered(1, stream: 1, at: bench.now)
    bench.machine.streamMaximumChanged(1, to: 0, at: bench.now)
    bench.wait(10)
    bench.submit(timeout: 15_000)
    _ = bench.actions()
    bench.wait(15_000)
    #expect(bench.actions().contains(.close(1)))
    bench.submit()
    #expect(bench.actions() == [.connect(2)])
  }

  @Test("keeps a connection that answers others while one request is left")
  func keepsBusy() {
    var bench = Bench()
    bench.submit(2, timeout: 15_000)
    bench.connect(1)
    bench.wait(14_000)
    bench.machine.answered(1, stream: 3, at: bench.now)
    bench.wait(1_000)
    _ = bench.actions()
    bench.submit()
    #expect(bench.started() == [[3, 5]])
  }

  @Test("sends a refused stream again once, and calls any other reset unknown")
  func resendsRefused() {
    var bench = Bench()
    bench.submit(2)
    bench.connect(1)
    _ = bench.actions()
    bench.machine.streamReset(1, stream: 1, code: 7, at: bench.now)
    bench.machine.streamReset(1, stream: 3, code: 2, at: bench.now)
    #expect(
      bench.actions() == [.start(request: 1, connection: 1, stream: 5), .finish(request: 2, .unknown(.reset(code: 2)))])
    bench.machine.streamReset(1, stream: 5, code: 7, at: bench.now)
    #expect(bench.endings() == [1: .notSent(.refused)])
  }

  @Test("ends a request whose time is over: surely unsent while it waited, unknown in flight (47)")
  func endsInTime() {
    var bench = Bench()
    bench.submit(1, timeout: 500)
    bench.submit(1, timeout: 400)
    bench.connect(1, streams: 1)
    _ = bench.actions()
    #expect(bench.machine.nextInstant == bench.now.advanced(milliseconds: 400))
    bench.wait(400)
    #expect(bench.actions() == [.finish(request: 2, .notSent(.timedOut))])
    bench.wait(100)
    #expect(bench.actions() == [.cancel(connection: 1, stream: 1), .finish(request: 1, .unknown(.timedOut))])
  }

  @Test("bounds the making of a connection, tells all who wait, and pauses for longer each time (47)")
  func pauses() throws {
    var bench = Bench {
      $0.connectTimeoutMilliseconds = 100
      $0.connectSpacingMilliseconds = 0
    }
    var pauses: [UInt64] = []
    for round in 1...12 {
      bench.submit()
      #expect(bench.actions() == [.connect(round)])
      bench.wait(100)
      let endings = bench.endings()
      guard case .notSent(.unreachable(let reason, let pause)) = try #require(endings[pauses.count + 1]) else {
        Issue.record("\(endings)")
        return
      }
      #expect(reason.contains("100 ms"))
      let window = min(60_000, UInt64(500) << UInt64(round - 1))
      #expect((window / 2...window).contains(pause), "round \(round)")
      pauses.append(pause)
      bench.now = bench.now.advanced(milliseconds: pause + 1)
    }
    #expect(Set(pauses.map { $0 % 1_000 }).count > 3, "some of it is by chance")
  }

  @Test("answers at once during a pause, and says when to come again")
  func answersDuringPause() {
    var bench = Bench()
    bench.submit()
    bench.machine.connectFailed(1, reason: "refused", at: bench.now)
    _ = bench.actions()
    bench.submit()
    guard case .notSent(.unreachable("refused", let pause)) = bench.endings()[2] else {
      Issue.record("not answered")
      return
    }
    bench.wait(pause)
    bench.submit()
    #expect(bench.actions() == [.connect(2)])
  }

  @Test("does not dial in a tight loop an origin that says goodbye at once")
  func spacesConnections() {
    var bench = Bench()
    bench.submit()
    bench.connect(1)
    bench.machine.goAway(1, lastStream: 0, reason: SendingMachine.goodbyeWithoutReason, at: bench.now)
    #expect(bench.actions().last == .close(1))
    bench.wait(999)
    #expect(bench.actions() == [])
    bench.wait(1)
    #expect(bench.actions() == [.connect(2)])
  }

  @Test("asks an idle connection for a sign of life each minute, and ends one that gives none")
  func asksForLife() {
    var bench = Bench()
    bench.submit()
    bench.connect(1)
    bench.machine.answered(1, stream: 1, at: bench.now)
    _ = bench.actions()
    for _ in 1...3 {
      bench.wait(59_999)
      #expect(bench.actions() == [])
      bench.wait(1)
      #expect(bench.actions() == [.ping(1)])
      bench.machine.received(1, at: bench.now)
    }
    bench.wait(60_000)
    bench.wait(9_999)
    #expect(bench.actions() == [.ping(1)])
    bench.wait(1)
    #expect(bench.actions() == [.close(1)])
  }

  @Test("finds a dead connection while answers are awaited, and calls them unknown (47)")
  func findsDeadConnection() {
    var bench = Bench()
    bench.submit(1, timeout: 60_000)
    bench.connect(1)
    _ = bench.actions()
    bench.wait(10_000)
    #expect(bench.actions() == [.ping(1)])
    bench.wait(10_000)
    #expect(bench.actions() == [.close(1), .finish(request: 1, .unknown(.connectionLost("no sign of life")))])
  }

  @Test("closes a connection that nobody used for long")
  func closesIdle() {
    var bench = Bench { $0.idleCloseMilliseconds = 30_000 }
    bench.submit()
    bench.connect(1)
    bench.machine.answered(1, stream: 1, at: bench.now)
    _ = bench.actions()
    bench.wait(30_000)
    #expect(bench.actions() == [.close(1)])
    bench.submit()
    #expect(bench.actions() == [.connect(2)], "and makes another without a pause")
  }

  @Test("lets only so many wait, and says so to the next")
  func boundsQueue() {
    var bench = Bench { $0.waitingMaximum = 3 }
    bench.submit(4)
    #expect(bench.endings() == [4: .notSent(.queueFull)])
    bench.connect(1, streams: 2)
    bench.submit(3)
    #expect(bench.endings() == [7: .notSent(.queueFull)])
  }

  @Test("forgets what is over, however long nothing can be sent")
  func forgetsWhatIsOver() {
    var bench = Bench { $0.waitingMaximum = 10 }
    bench.submit()
    bench.connect(1, streams: 0)
    for _ in 1...5_000 {
      bench.submit(1, timeout: 1)
      bench.wait(1)
      bench.machine.received(1, at: bench.now)
    }
    #expect(bench.machine.rememberedCount < 2_100)
  }

  @Test("takes another connection when the numbers of streams run out")
  func replacesUsedConnection() {
    var bench = Bench {
      $0.streamsPerConnectionMaximum = 2
      $0.connectSpacingMilliseconds = 0
    }
    bench.submit(3)
    bench.connect(1)
    #expect(bench.actions().last == .connect(2))
  }

  @Test("cuts off the oldest of too many connections that still owe answers")
  func boundsDraining() {
    var bench = Bench {
      $0.drainingMaximum = 1
      $0.connectSpacingMilliseconds = 0
    }
    for number in 1...2 {
      bench.submit()
      bench.connect(number)
      bench.machine.goAway(number, lastStream: Int(Int32.max), reason: "bye", at: bench.now)
    }
    let reason = "it owed answers for too long after its goodbye"
    #expect(bench.actions().suffix(2) == [.close(1), .finish(request: 1, .unknown(.connectionLost(reason)))])
  }

  @Test("closes when its owner wants: what waits ends, what is in flight may finish")
  func closes() {
    var bench = Bench()
    bench.submit(2)
    bench.connect(1, streams: 1)
    _ = bench.actions()
    bench.machine.closed(at: bench.now)
    #expect(bench.endings() == [2: .notSent(.closed)])
    bench.submit()
    #expect(bench.endings() == [3: .notSent(.closed)])
    bench.machine.answered(1, stream: 1, at: bench.now)
    #expect(bench.actions() == [.finish(request: 1, .answered), .close(1)])
  }

  @Test("keeps its promises whatever happens in whatever order", arguments: seeds(20))
  func keepsPromises(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var bench = Bench { $0.resendMaximum = Int(seed % 3) }
    var allowed: [Int: Int] = [:]
    var inFlight: [Int: [Int: Int]] = [:]
    var ended: [Int: Int] = [:]
    var submitted = 0
    for _ in 0..<3_000 {
      let connection = Int.random(in: 1...(allowed.keys.max() ?? 1), using: &generator)
      let stream = inFlight[connection]?.keys.randomElement(using: &generator) ?? 1
      let maximum = Int.random(in: 0...5, using: &generator)
      switch Int.random(in: 0..<14, using: &generator) {
      case 0..<4:
        bench.submit(1, timeout: UInt64.random(in: 1...20_000, using: &generator))
        submitted += 1
      case 4: bench.wait(UInt64.random(in: 0...30_000, using: &generator))
      case 5..<7:
        allowed[connection] = maximum
        bench.connect(connection, streams: maximum)
      case 7: bench.machine.connectFailed(connection, reason: "r", at: bench.now)
      case 8:
        allowed[connection] = maximum
        bench.machine.streamMaximumChanged(connection, to: maximum, at: bench.now)
      case 9: bench.machine.streamReset(connection, stream: stream, code: 7, at: bench.now)
      case 10: bench.machine.goAway(connection, lastStream: stream, reason: "g", at: bench.now)
      case 11: bench.machine.lost(connection, reason: "l", at: bench.now)
      default: bench.machine.answered(connection, stream: stream, at: bench.now)
      }
      for (number, known) in bench.machine.connections { inFlight[number] = known.streams }
      for action in bench.actions() {
        if case .connect(let number) = action { allowed[number] = 0 }
        if case .finish(let request, _) = action { ended[request, default: 0] += 1 }
        if case .start(_, let number, _) = action {
          let open = bench.machine.connections[number]?.streams.count ?? 0
          #expect(open <= allowed[number] ?? 0, "overrun")
        }
      }
    }
    bench.machine.closed(at: bench.now)
    bench.wait(30_000)
    for ending in bench.actions() {
      if case .finish(let request, _) = ending { ended[request, default: 0] += 1 }
    }
    #expect(ended.count == submitted && ended.values.allSatisfy { $0 == 1 }, "each request ends once")
    #expect(bench.machine.report.waiting == 0 && bench.machine.report.inFlight == 0)
  }
}
