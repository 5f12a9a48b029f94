import Clocks
import Supervision
import Testing

@Suite("A worker leaves by itself")
struct EndingTests {
  @Test("The first restart after a stable life is at once")
  func stableLifeRestartsAtOnce() {
    var rig = Rig()
    rig.bringUp()
    rig.pass(.seconds(60))
    let actions = rig.die(.signal(11, coreDumped: true))
    #expect(actions.spawns == [2])
    #expect(rig.state == .waiting(.spawning))
    #expect(rig.machine.lastExit?.sentence == "was killed by SIGSEGV (core dumped)")
  }

  @Test("The first restart after an unstable life is at once, the second waits")
  func firstStumbleIsForgiven() {
    var rig = Rig()
    rig.bringUp()
    #expect(rig.die(.signal(9, coreDumped: false)).spawns == [2])
    #expect(rig.state == .waiting(.spawning))
    rig.becomeReady()
    #expect(rig.die(.signal(9, coreDumped: false)).spawns.isEmpty)
    #expect(rig.kind == .backoff)
    #expect(rig.fire(.backoff).spawns == [3])
  }

  @Test("READY alone does not reset the waits: a life a moment too short backs off")
  func readyIsNotStable() {
    var rig = Rig()
    rig.bringUpAfterStumble()
    rig.pass(.milliseconds(59_999))
    #expect(rig.die(.signal(11, coreDumped: false)).spawns.isEmpty)
    #expect(rig.kind == .backoff)
  }

  @Test("The waits double, are drawn from 0 to the longest, and stop at the ceiling")
  func fullJitter() throws {
    var longest: [Int: UInt64] = [:]
    var shortest: [Int: UInt64] = [:]
    for seed in 0..<400 as Range<UInt64> {
      var rig = Rig {
        $0.breakerRestarts = 1_000
        $0.backoffCeiling = .seconds(4)
      }
      rig.random = SeededGenerator(seed: seed)
      rig.bringUp()
      for life in 1...6 {
        rig.die(.code(1))
        var wait: UInt64 = 0
        if case .backoff(let until) = rig.state {
          wait = until.milliseconds(since: rig.now)
          rig.fire(.backoff)
        }
        longest[life] = max(longest[life] ?? 0, wait)
        shortest[life] = min(shortest[life] ?? .max, wait)
        rig.becomeReady()
      }
    }
    for (life, bound) in [(1, 0), (2, 500), (3, 1_000), (4, 2_000), (5, 4_000), (6, 4_000)] as [(Int, UInt64)] {
      let most = try #require(longest[life])
      let least = try #require(shortest[life])
      #expect(most <= bound && most >= bound * 95 / 100, "life \(life): up to \(most) ms of \(bound)")
      #expect(least <= bound * 5 / 100, "life \(life): from \(least) ms of \(bound)")
    }
  }

  @Test("Stability, once reached, begins the waits anew")
  func stabilityResets() {
    var rig = Rig { $0.breakerRestarts = 100 }
    rig.bringUp()
    for _ in 0..<6 {
      rig.die(.code(1))
      if rig.kind == .backoff { rig.fire(.backoff) }
      rig.becomeReady()
    }
    rig.dieStable(.code(1))
    #expect(rig.state == .waiting(.spawning))
    rig.becomeReady()
    rig.die(.code(1))
    #expect(rig.state == .waiting(.spawning))
    rig.becomeReady()
    rig.die(.code(1))
    guard case .backoff(let until) = rig.state else {
      Issue.record("it is in \(rig.state)")
      return
    }
    #expect(until.milliseconds(since: rig.now) <= 500)
  }

  @Test("One restart more than the window allows is refused, and the arithmetic is printed")
  func breakerTrips() {
    var rig = Rig { $0.stableAfter = .milliseconds(1) }
    rig.bringUp()
    for _ in 0..<5 {
      rig.pass(.seconds(8))
      rig.die(.signal(6, coreDumped: false))
      rig.becomeReady()
    }
    #expect(rig.why.contains("5 of 5 restarts in the last 32 s; limit 5 in 60 s."))
    rig.pass(.seconds(10))
    let actions = rig.die(.signal(6, coreDumped: false))
    #expect(rig.kind == .failed)
    #expect(actions.sentences.last?.contains("5 of 5 restarts in the last 42 s; limit 5 in 60 s") == true)
    #expect(actions.contains { if case .closeMailbox = $0 { true } else { false } })
  }

  @Test("Restarts that have left the window are forgotten")
  func breakerForgets() {
    var rig = Rig { $0.stableAfter = .milliseconds(1) }
    rig.bringUp()
    for _ in 0..<40 {
      rig.pass(.seconds(12))
      rig.die(.code(1))
      rig.becomeReady()
    }
    #expect(rig.state == .ready)
  }

  @Test("A start after the breaker has tripped is a new beginning")
  func startForgives() {
    var rig = Rig {
      $0.breakerRestarts = 1
      $0.stableAfter = .milliseconds(1)
    }
    rig.bringUp()
    for _ in 0..<2 {
      rig.pass(.milliseconds(10))
      rig.die(.code(1))
      if rig.kind == .waiting { rig.becomeReady() }
    }
    #expect(rig.kind == .failed)
    #expect(rig.give(.startRequested).spawns == [3])
    rig.becomeReady()
    #expect(rig.report.restarts.count == 0)
    rig.pass(.milliseconds(10))
    #expect(rig.die(.code(1)).spawns == [4], "the old restarts do not trip it at the first stumble")
  }

  @Test("In back-off the report says how many, and when next")
  func backoffExplains() {
    var rig = Rig { $0.stableAfter = .seconds(1) }
    rig.bringUp()
    for wait in [20, 30] {
      rig.pass(.seconds(wait))
      rig.die(.code(1))
      rig.becomeReady()
    }
    rig.die(.code(2))
    rig.becomeReady()
    rig.die(.code(3))
    guard case .backoff(let until) = rig.state else {
      Issue.record("it is in \(rig.state)")
      return
    }
    let wait = until.milliseconds(since: rig.now)
    #expect(wait <= 500)
    #expect(rig.why.contains { $0.hasPrefix("3 of 5 restarts in the last 30 s; next in ") })
    #expect(rig.why.last == "Generation 4 exited with 3, 0 s after its spawn, 0 s ago.")
    #expect(rig.report.nextAttempt == until)
  }

  @Test("Messages that kill three lives each cost a worker neither a restart of its breaker nor a wait")
  func poisonIsTakenBack() {
    var rig = Rig { $0.breakerRestarts = 1 }
    rig.bringUp()
    for message in 1...20 {
      for death in 1...3 {
        // Only at the second death is it known which message it was.
        if death > 1 { rig.give(.deathChargedToPoison(generation: rig.generation)) }
        rig.pass(.milliseconds(100))
        rig.die(.code(3))
        #expect(rig.state == .waiting(.spawning), "message \(message), death \(death)")
        rig.becomeReady()
      }
    }
    #expect(rig.report.restarts.count == 0)
    rig.die(.code(1))
    #expect(rig.state == .waiting(.spawning))
    rig.becomeReady()
    rig.die(.code(1))
    #expect(rig.kind == .failed, "deaths of its own count as ever")
  }

  @Test("What is taken back for a poisoned message is one restart, and none that was the worker's own")
  func poisonTakesBackOnce() {
    var rig = Rig()
    rig.bringUp()
    for isCharged in [false, false, true, true] {
      rig.pass(.seconds(60) / 10)
      if isCharged { rig.give(.deathChargedToPoison(generation: rig.generation)) }
      rig.die(.code(1))
      if rig.kind == .backoff { rig.fire(.backoff) }
      rig.becomeReady()
    }
    #expect(rig.report.restarts.count == 1)
  }

  @Test("A death charged to a poisoned message does not count, and the next one of its own does")
  func poisonDoesNotCount() {
    var rig = Rig { $0.breakerRestarts = 0 }
    rig.bringUp()
    rig.pass(.seconds(60))
    rig.give(.deathChargedToPoison(generation: 1))
    rig.die(.signal(4, coreDumped: false))
    #expect(rig.state == .waiting(.spawning))
    rig.becomeReady()
    #expect(rig.report.restarts.count == 0)
    rig.die(.signal(4, coreDumped: false))
    #expect(rig.kind == .failed)
  }

  @Test(
    "Exit codes have a contract",
    arguments: [
      (0, RestartRule.always, WorkerState.Kind.waiting), (0, .onFailure, .exited), (0, .never, .exited),
      (1, .always, .waiting), (1, .onFailure, .waiting), (1, .never, .exited),
      (64, .always, .failed), (64, .never, .failed), (78, .always, .failed), (78, .onFailure, .failed),
      (69, .always, .backoff), (69, .never, .exited), (75, .always, .backoff), (75, .never, .exited),
      (125, .always, .failed), (126, .always, .execFailed), (127, .onFailure, .execFailed), (127, .never, .failed),
      (143, .always, .waiting),
    ] as [(Int32, RestartRule, WorkerState.Kind)])
  func exitCodes(code: Int32, rule: RestartRule, expected: WorkerState.Kind) {
    var rig = Rig {
      $0.restart = rule
      $0.backoffBase = .seconds(10)
    }
    rig.bringUp()
    // Stable, so that only what the code itself asks for makes it wait.
    rig.dieStable(.code(code))
    #expect(rig.kind == expected, "\(rig.state)")
  }

  @Test("69 backs off for ever without the breaker; 75 is counted")
  func unavailableIsNotCounted() {
    for (code, isCounted) in [(69, false), (75, true)] as [(Int32, Bool)] {
      var rig = Rig()
      rig.bringUp()
      for _ in 0..<30 where rig.kind != .failed {
        rig.die(.code(code))
        if rig.kind == .backoff { rig.fire(.backoff) }
        if rig.kind == .waiting { rig.becomeReady() }
      }
      #expect((rig.report.restarts.count > 0) == isCounted)
    }
  }

  @Test("Exit 0 under restart = always is counted")
  func doneIsCounted() {
    var rig = Rig { $0.breakerRestarts = 1 }
    rig.bringUp()
    rig.dieStable(.code(0))
    rig.becomeReady()
    rig.die(.code(0))
    #expect(rig.kind == .failed)
  }

  @Test("A program that cannot be run is shown as such, backs off, and trips the breaker")
  func execFailure() {
    var rig = Rig { $0.breakerRestarts = 3 }
    rig.give(.startRequested)
    for attempt in 1...4 as ClosedRange<UInt32> {
      #expect(rig.spawnAsked == attempt)
      rig.give(.spawnFailed(generation: attempt, text: "ENOENT: no such file /bin/stor"))
      guard case .execFailed(let text, _) = rig.state else { break }
      #expect(text == "ENOENT: no such file /bin/stor")
      rig.fire(.backoff)
    }
    #expect(rig.kind == .failed)
    #expect(rig.machine.generation == 4)
    #expect(rig.why.contains { $0.contains("could not be run: ENOENT") && $0.contains("limit 3 in 60 s") })
  }

  @Test("A program that cannot be run counts even if a stop and a start came while it was tried")
  func execFailureBesideTheOperator() {
    var rig = Rig { $0.breakerRestarts = 0 }
    rig.give(.startRequested)
    rig.give(.stopRequested(drain: nil))
    rig.give(.startRequested)
    rig.give(.spawnFailed(generation: 1, text: "ENOENT"))
    #expect(rig.kind == .failed)
  }

  @Test("A leader that leaves processes behind is still stopping until its group is empty")
  func strayGroup() {
    var rig = Rig()
    rig.bringUp()
    rig.pass(.seconds(60))
    rig.give(.busEnded(generation: 1))
    #expect(rig.give(.exited(generation: 1, .code(1))).spawns.isEmpty)
    #expect(rig.state == .stopping(.leaving))
    #expect(rig.fire(.leave).signals == [.term])
    #expect(rig.fire(.term).signals == [.kill])
    #expect(rig.fire(.kill).signals == [.kill])
    #expect(rig.give(.groupEmptied(generation: 1)).spawns == [2])
    #expect(rig.machine.lastExit?.status == .code(1))
  }

  @Test("What it wrote before its death is read before the next is spawned, in any order of the signs")
  func anyOrderOfSigns() {
    let signs: [WorkerInput] = [
      .exited(generation: 1, .code(1)), .busEnded(generation: 1), .groupEmptied(generation: 1),
    ]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      var rig = Rig()
      rig.bringUp()
      rig.pass(.seconds(60))
      for place in order.dropLast() { #expect(rig.give(signs[place]).spawns.isEmpty) }
      #expect(rig.give(signs[order[2]]).spawns == [2])
    }
  }

  @Test("An exit status that somebody else took, and a bus end that never comes, hold nothing up for long")
  func lastWords() {
    var rig = Rig()
    rig.bringUp()
    rig.pass(.seconds(60))
    #expect(rig.give(.groupEmptied(generation: 1)).signals.isEmpty)
    let actions = rig.fire(.lastWords)
    #expect(actions.contains(.cutBus(generation: 1)))
    #expect(actions.spawns == [2])
    #expect(rig.machine.lastExit?.status == .unknown)
  }

  @Test("A worker that closes its bus and stays is told to go, and it counts as a crash")
  func busClosedAndStayed() {
    var rig = Rig { $0.restart = .onFailure }
    rig.bringUpAfterStumble()
    rig.give(.busEnded(generation: 2))
    #expect(rig.fire(.leave).signals == [.term])
    rig.die(.code(0))
    #expect(rig.kind == .backoff)
  }

  @Test("A worker that was cut from its bus has crashed, whatever its exit says, and the reason is told")
  func busCut() {
    var rig = Rig { $0.restart = .onFailure }
    rig.bringUpAfterStumble()
    let actions = rig.give(.busEnded(generation: 2, cut: "left 70 MiB unread"))
    #expect(actions.sentences == ["left 70 MiB unread"])
    #expect(rig.fire(.leave).signals == [.term])
    rig.give(.exited(generation: 2, .code(0)))
    rig.give(.groupEmptied(generation: 2))
    #expect(rig.kind == .backoff)
    #expect(rig.machine.lastExit?.sentence == "exited with 0 (done): it left 70 MiB unread")
  }

  @Test("A worker that was asked to go goes as asked, though it was cut from its bus meanwhile")
  func busCutWhileStopping() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    rig.give(.busEnded(generation: 1, cut: "left 70 MiB unread"))
    rig.give(.exited(generation: 1, .code(0)))
    rig.give(.groupEmptied(generation: 1))
    #expect(rig.kind == .stopped)
    #expect(rig.machine.lastExit?.sentence == "exited with 0 (done)")
  }

  @Test("A worker that closes its bus and exits with 0 is done")
  func busClosedAndDone() {
    var rig = Rig { $0.restart = .onFailure }
    rig.bringUp()
    rig.give(.busEnded(generation: 1))
    rig.die(.code(0))
    #expect(rig.state == .exited)
  }

  @Test("A stuck worker gets SIGABRT, and SIGKILL two seconds later")
  func stuck() {
    var rig = Rig()
    rig.bringUpAfterStumble()
    #expect(
      rig.give(.becameStuck(generation: 2, why: "has not moved for 30 s with 12 requests waiting")).signals == [.abort])
    let abortedAt = rig.now
    #expect(rig.fire(.abort).signals == [.kill])
    #expect(rig.now.milliseconds(since: abortedAt) == 2_000)
    rig.die(.signal(9, coreDumped: false))
    #expect(rig.kind == .backoff)
    #expect(
      rig.machine.lastExit?.sentence.hasSuffix("it was stuck: it has not moved for 30 s with 12 requests waiting")
        == true)
  }

  @Test("A violation ends the life at once and counts as a crash")
  func violation() {
    var rig = Rig { $0.restart = .onFailure }
    rig.bringUpAfterStumble()
    #expect(rig.give(.violated(generation: 2, code: "bad-length")).signals == [.term])
    rig.die(.code(0))
    #expect(rig.kind == .backoff)
    #expect(rig.machine.lastExit?.sentence == "exited with 0 (done): it broke the protocol (bad-length)")
  }

  @Test("A worker that uses too much memory finishes its work first")
  func memory() {
    var rig = Rig()
    rig.bringUp()
    let actions = rig.give(.memoryExceeded(generation: 1, text: "520 MiB of 512 MiB"))
    #expect(rig.state == .draining)
    #expect(actions.contains(.sendDrain(generation: 1, milliseconds: 10_000)))
    #expect(rig.give(.drainFinished(generation: 1)).signals == [.term])
    rig.pass(.seconds(60))
    rig.die(.code(0))
    #expect(rig.state == .waiting(.spawning))
    rig.becomeReady()
    #expect(rig.report.restarts.count == 1)
  }

  @Test("A critical worker that fails takes the supervisor with it")
  func escalates() {
    for (code, rule, escalates) in [
      (78, .always, true), (1, .never, true), (0, .never, false), (0, .onFailure, false),
    ] as [(Int32, RestartRule, Bool)] {
      var rig = Rig {
        $0.isCritical = true
        $0.restart = rule
      }
      rig.bringUp()
      let actions = rig.die(.code(code))
      #expect(actions.contains { if case .escalate = $0 { true } else { false } } == escalates, "\(code) \(rule)")
    }
  }
}
