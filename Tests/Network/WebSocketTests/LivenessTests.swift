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

  @Test("A check pings after a moment, and only what comes after the ping shows that the other side is there")
  func checked() {
    let bench = LivenessBench()
    bench.start()
    bench.pass(10_000)
    bench.check(10_000)
    #expect(bench.left == 250)
    #expect(!bench.hear(), "it may have arrived before")
    bench.pass(250)
    #expect(bench.fire() == .ping && bench.left == 10_000)
    #expect(bench.hear() && bench.left == 45_000)
    bench.check(10_000)
    bench.pass(250)
    #expect(bench.fire() == .ping)
    bench.pass(10_000)
    #expect(bench.fire() == .nothing && bench.left == 250)
    bench.pass(250)
    #expect(bench.fire() == .end)
  }

  @Test("A check counts its own time, the next ping again the usual one; without pings it is the only one")
  func checkedOnce() {
    let bench = LivenessBench()
    bench.start()
    bench.check(1_000)
    bench.pass(250)
    #expect(bench.fire() == .ping && bench.left == 1_000)
    _ = bench.hear()
    bench.pass(45_000)
    #expect(bench.fire() == .ping && bench.left == 20_000)
    let silent = LivenessBench(intervalMilliseconds: 0)
    silent.start()
    #expect(silent.left == nil)
    silent.check(1_000)
    silent.pass(250)
    #expect(silent.fire() == .ping && silent.left == 1_000)
    #expect(silent.hear() && silent.left == nil)
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
  func check(_ milliseconds: UInt64) { liveness.checked(withinMilliseconds: milliseconds, at: now) }
  func pause() { liveness.paused(at: now) }
  func resume() { liveness.resumed(at: now) }
}
