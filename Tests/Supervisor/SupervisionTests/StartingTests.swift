import Clocks
import Supervision
import Testing

@Suite("A worker starts")
struct StartingTests {
  @Test("A start goes over the process and HELLO to READY")
  func goesToReady() {
    var rig = Rig()
    #expect(rig.give(.startRequested).contains(.spawn(generation: 1)))
    #expect(rig.state == .waiting(.spawning))
    rig.spawn(pid: 4711)
    #expect(rig.state == .starting)
    #expect(rig.machine.pid == 4711)
    rig.give(.helloReceived(generation: 1))
    rig.pass(.milliseconds(400))
    let actions = rig.give(.readyReceived(generation: 1))
    #expect(rig.state == .ready)
    #expect(actions.sentences == ["is ready after 0.4 s"])
    #expect(actions.contains(.cancelTimer(.start)))
  }

  @Test("Of one that left by itself before it said HELLO that is told")
  func neverSaidHello() {
    var rig = Rig()
    rig.give(.startRequested)
    rig.spawn()
    rig.die(.code(1))
    #expect(rig.why.contains("It never said HELLO."), "\(rig.why)")
    rig.becomeReady()
    rig.die(.code(1))
    #expect(!rig.why.contains("It never said HELLO."), "\(rig.why)")
  }

  @Test("The mailbox opens before the first spawn is asked for")
  func mailboxOpensFirst() throws {
    var rig = Rig()
    let actions = rig.give(.startRequested)
    let opened = try #require(actions.firstIndex(of: .openMailbox))
    let spawned = try #require(actions.firstIndex(of: .spawn(generation: 1)))
    #expect(opened < spawned)
  }

  @Test("It waits for the workers it comes after, and says for which")
  func waitsForDependencies() {
    var rig = Rig { $0.after = ["signer", "planner"] }
    #expect(rig.give(.startRequested).spawns.isEmpty)
    #expect(rig.state == .waiting(.dependencies(["signer", "planner"])))
    let actions = rig.give(.dependenciesChanged(missing: ["planner"]))
    #expect(actions.sentences == ["waits for planner"])
    #expect(rig.give(.dependenciesChanged(missing: [])).spawns == [1])
  }

  @Test("A worker that runs does not fall with those it comes after")
  func dependencyLossDoesNotStop() {
    var rig = Rig { $0.after = ["signer"] }
    rig.give(.dependenciesChanged(missing: []))
    rig.bringUp()
    #expect(rig.give(.dependenciesChanged(missing: ["signer"])).isEmpty)
    #expect(rig.state == .ready)
    rig.dieStable(.signal(11, coreDumped: false))
    #expect(rig.state == .waiting(.dependencies(["signer"])))
  }

  @Test("A spawn refused by the rate is asked for again at the given instant, with the same generation")
  func spawnRate() {
    var rig = Rig()
    rig.give(.startRequested)
    let retry = rig.now.advanced(milliseconds: 200)
    #expect(rig.give(.spawnRateReached(generation: 1, retryAt: retry)).contains(.setTimer(.gate, at: retry)))
    #expect(rig.state == .waiting(.spawnRate))
    let again = rig.fire(.gate)
    #expect(again.spawns == [1])
    #expect(again.states.isEmpty, "the reason stands until the answer changes it")
    rig.becomeReady()
    #expect(rig.machine.generation == 1)
  }

  @Test("A supervisor without descriptors is not the worker's fault: it is tried again, and nothing is counted")
  func resources() {
    var rig = Rig()
    rig.bringUp()
    rig.dieStable(.signal(9, coreDumped: false))
    for _ in 0..<100 {
      rig.give(.spawnLacked(generation: 2, text: "pipe2: Too many open files (EMFILE)"))
      #expect(rig.state == .waiting(.resources("pipe2: Too many open files (EMFILE)")))
      let again = rig.fire(.gate)
      #expect(again.spawns == [2])
      #expect(again.states.isEmpty, "the reason stands until the answer changes it")
    }
    rig.becomeReady()
    #expect(rig.state == .ready)
  }

  @Test("An old instance that holds the lock is waited for, by polling and by the news that it is free")
  func instanceLock() {
    var rig = Rig()
    rig.give(.startRequested)
    rig.give(.lockBusy(generation: 1, holder: 77))
    #expect(rig.state == .waiting(.instanceLock(holder: 77)))
    #expect(rig.why[0].contains("an old instance (pid 77) that still holds its lock"))
    #expect(rig.fire(.gate).spawns == [1])
    #expect(rig.give(.lockBusy(generation: 1, holder: 77)).states.isEmpty)
    #expect(rig.give(.lockFreed).spawns == [1])
    #expect(rig.give(.lockFreed).isEmpty, "one attempt at a time")
    rig.becomeReady()
    #expect(rig.state == .ready)
  }

  @Test("Inputs of another generation change nothing")
  func staleGeneration() {
    var rig = Rig()
    rig.bringUp()
    rig.dieStable(.signal(9, coreDumped: false))
    rig.becomeReady()
    #expect(rig.machine.generation == 2)
    for input: WorkerInput in [
      .exited(generation: 1, .code(1)), .groupEmptied(generation: 1), .busEnded(generation: 1),
      .readyReceived(generation: 3), .violated(generation: 1, code: "bad-length"), .spawned(generation: 0, pid: 1),
    ] {
      #expect(rig.give(input).isEmpty)
    }
    #expect(rig.state == .ready)
  }

  @Test("A worker that is not ready in time gets SIGABRT, then SIGKILL, and it counts as a crash")
  func startDeadline() {
    var rig = Rig()
    rig.bringUp()
    rig.die(.code(1))
    rig.spawn()
    rig.give(.helloReceived(generation: 2))
    #expect(rig.fire(.start).signals == [.abort])
    #expect(rig.state == .stopping(.aborting))
    let abortedAt = rig.now
    #expect(rig.fire(.abort).signals == [.kill])
    #expect(rig.now.milliseconds(since: abortedAt) == 2_000)
    rig.die(.signal(9, coreDumped: false))
    #expect(rig.kind == .backoff)
    #expect(rig.machine.lastExit?.sentence == "was killed by SIGKILL: it was not ready after 10 s")
  }

  @Test("EXTEND moves the start deadline, never forward in haste and never beyond the limit")
  func extendsStart() throws {
    var rig = Rig()
    rig.give(.startRequested)
    rig.spawn()
    let deadline = try #require(rig.report.timers[.start])
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: 1_000)).isEmpty)
    rig.pass(.seconds(5))
    let later = rig.now.advanced(milliseconds: 30_000)
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: 30_000)) == [.setTimer(.start, at: later)])
    #expect(later > deadline)
    let most = rig.now.advanced(milliseconds: 600_000)
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: .max)) == [.setTimer(.start, at: most)])
  }

  @Test("A timer that fires early is set again; one that was cancelled is ignored")
  func timersAreExact() throws {
    var rig = Rig()
    rig.give(.startRequested)
    rig.spawn()
    let at = try #require(rig.report.timers[.start])
    rig.pass(.seconds(9))
    #expect(rig.give(.timerFired(.start)) == [.setTimer(.start, at: at)])
    rig.give(.readyReceived(generation: 1))
    rig.pass(.seconds(9))
    #expect(rig.give(.timerFired(.start)).isEmpty)
  }

  @Test("After a suspend a deadline has one period more")
  func suspendGrantsAPeriod() {
    var rig = Rig()
    rig.give(.startRequested)
    rig.spawn()
    rig.pass(.seconds(11))
    let later = rig.now.advanced(milliseconds: 10_000)
    #expect(rig.give(.resumedAfterSuspend(gap: .seconds(3_600))) == [.setTimer(.start, at: later)])
    rig.give(.timerFired(.start))
    #expect(rig.state == .starting)
    #expect(rig.fire(.start).signals == [.abort])
  }

  @Test("A suspend does not lengthen a back-off, and touches nothing in a state without deadlines")
  func suspendLeavesTheRest() {
    var rig = Rig()
    rig.bringUpAfterStumble()
    #expect(rig.give(.resumedAfterSuspend(gap: .seconds(60))).isEmpty)
    rig.die(.code(1))
    #expect(rig.kind == .backoff)
    #expect(rig.give(.resumedAfterSuspend(gap: .seconds(60))).isEmpty)
  }
}
