import Clocks
import Testing

@testable import Supervision

@Suite("The parts beside the machine")
struct PartsTests {
  @Test("The budget gives a burst, then one spawn per period, and says when")
  func spawnBudget() {
    var now = Instant(nanoseconds: 5_000_000_000)
    var budget = SpawnBudget(perSecond: 5, burst: 3, now: now)
    for _ in 0..<3 { #expect(budget.take(now: now) == .granted) }
    let next = now.advanced(milliseconds: 200)
    #expect(budget.take(now: now) == .wait(until: next))
    now = now.advanced(milliseconds: 150)
    #expect(budget.take(now: now) == .wait(until: next))
    #expect(budget.take(now: next) == .granted)
    #expect(budget.take(now: next) != .granted)
  }

  @Test("However it is asked, the budget never gives more than the burst and the rate allow")
  func spawnBudgetBound() {
    for seed in 0..<200 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let start = Instant(nanoseconds: 1)
      let perSecond = Int.random(in: 1...7, using: &random)
      let burst = Int.random(in: 1...7, using: &random)
      var budget = SpawnBudget(perSecond: perSecond, burst: burst, now: start)
      var now = start
      var granted = 0
      for _ in 0..<300 {
        now = now.advanced(milliseconds: UInt64.random(in: 0...90, using: &random))
        if budget.take(now: now) == .granted { granted += 1 }
        let earned = Double(now.milliseconds(since: start) + 1) / 1_000 * Double(perSecond)
        #expect(Double(granted) <= Double(burst) + earned + 0.001, "seed \(seed)")
      }
    }
  }

  @Test("A clock that goes backwards earns nothing")
  func spawnBudgetBackwards() {
    var budget = SpawnBudget(perSecond: 1, burst: 1, now: Instant(nanoseconds: 9_000_000_000))
    #expect(budget.take(now: Instant(nanoseconds: 1)) == .granted)
    #expect(budget.take(now: Instant(nanoseconds: 2)) == .wait(until: Instant(nanoseconds: 10_000_000_000)))
  }

  @Test(
    "Durations read as people say them",
    arguments: [
      (0, "0 s"), (40, "40 ms"), (100, "0.1 s"), (3_149, "3.1 s"), (3_000, "3 s"), (42_900, "42 s"), (60_000, "60 s"),
      (125_000, "2 min 5 s"), (180_000, "3 min"), (3_840_000, "1 h 4 min"), (266_400_000, "3 d 2 h"),
    ] as [(UInt64, String)])
  func durations(milliseconds: UInt64, text: String) {
    #expect(spoken(milliseconds: milliseconds) == text)
  }

  @Test("An end is described by code, signal and core")
  func exitStatus() {
    #expect(WorkerExit.code(78).sentence == "exited with 78 (wrong configuration)")
    #expect(WorkerExit.code(3).sentence == "exited with 3")
    #expect(WorkerExit.signal(11, coreDumped: true).sentence == "was killed by SIGSEGV (core dumped)")
    #expect(WorkerExit.signal(11, coreDumped: false).signalName == "SIGSEGV")
    #expect(WorkerExit.signal(31, coreDumped: false).signalName == "SIGSYS")
    #expect(WorkerExit.signal(40, coreDumped: false).signalName == "signal 40")
    #expect(WorkerExit.unknown.verdict == .crash)
  }

  @Test("The defaults of a policy are sound; figures that never trip the breaker are refused")
  func policy() {
    var policy = WorkerPolicy()
    #expect(policy.problems().isEmpty)
    policy.breakerRestarts = 20
    #expect(policy.problems().count == 1)
    #expect(policy.problems().first?.hasPrefix("The breaker can hardly ever trip: 20 restarts wait ") == true)
    policy = WorkerPolicy()
    policy.backoffCeiling = .milliseconds(100)
    policy.startDeadline = .zero
    policy.stableAfter = .seconds(8 * 86_400)
    #expect(policy.problems().count == 3)
  }

  @Test("The waits of a policy double without overflow")
  func waits() {
    var policy = WorkerPolicy()
    #expect((0...5).map { policy.longestWaitMilliseconds(unstableLives: $0) } == [0, 0, 500, 1_000, 2_000, 4_000])
    #expect(policy.longestWaitMilliseconds(unstableLives: .max) == 60_000)
    policy.backoffBase = WorkerPolicy.longestDuration
    policy.backoffCeiling = WorkerPolicy.longestDuration
    #expect(policy.longestWaitMilliseconds(unstableLives: 60) == 7 * 86_400_000)
  }
}
