import Clocks
import Testing

@testable import WebSocket

@Suite("Whether the other side is there") struct LivenessTests {
  @Test("Silence is answered by a ping, and silence after that ends it, after one more look")
  func silence() {
    let bench = LivenessBench()
    bench.start()
    #expect(bench.left == 45_000)
    bench.pass(45_000)
    #expect(bench.fire() == .ping && bench.left == 20_000)
    bench.pass(20_000)
    #expect(bench.fire() == .nothing)
    bench.pass(250)
    #expect(bench.fire() == .end && bench.left == nil)
  }

  @Test("Whatever comes is as good as a pong, also at the last look: a process that stood still reads first")
  func heard() {
    let bench = LivenessBench()
    bench.start()
    bench.pass(45_000)
    #expect(bench.fire() == .ping)
    bench.pass(600_000)
    #expect(bench.fire() == .nothing)
    #expect(bench.hear() && bench.left == 45_000)
    #expect(!bench.hear(), "later reads set no timer")
    bench.pass(45_000)
    #expect(bench.fire() == .nothing, "it has said something")
    bench.pass(45_000)
    #expect(bench.fire() == .ping)
  }

  @Test("While nothing is read time stands still, however often that is, and it goes on where it was")
  func pauses() {
    let bench = LivenessBench()
    bench.start()
    for _ in 0..<45 {
      bench.pass(1_000)
      bench.pause()
      #expect(bench.left == nil)
      bench.pass(3_600_000)
      bench.resume()
    }
    #expect(bench.left == 0 && bench.fire() == .ping)
    bench.pass(19_000)
    bench.pause()
    bench.pass(3_600_000)
    bench.resume()
    #expect(bench.left == 1_000)
  }

  @Test("Nothing is pinged where nobody wants it")
  func never() {
    let bench = LivenessBench(intervalMilliseconds: 0)
    bench.start()
    bench.pause()
    bench.resume()
    #expect(bench.left == nil && !bench.hear())
  }
}

/// A `Liveness` and the clock in its hand.
private final class LivenessBench {
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var liveness: Liveness

  init(intervalMilliseconds: UInt64 = 45_000) {
    liveness = Liveness(intervalMilliseconds: intervalMilliseconds, pongMilliseconds: 20_000)
  }

  /// Milliseconds until the timer is due; nil when there is none.
  var left: UInt64? { liveness.due?.milliseconds(since: now) }

  func pass(_ milliseconds: UInt64) { now = now.advanced(milliseconds: milliseconds) }
  func start() { liveness.started(at: now) }
  func fire() -> Liveness.Step { liveness.timerFired(at: now) }
  func hear() -> Bool { liveness.heard(at: now) }
  func pause() { liveness.paused(at: now) }
  func resume() { liveness.resumed(at: now) }
}
