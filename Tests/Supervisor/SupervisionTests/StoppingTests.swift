import Clocks
import Supervision
import Testing

@Suite("A worker is told to go")
struct StoppingTests {
  @Test("A stop drains, then sends SIGTERM, then SIGKILL, each with its deadline")
  func stopSteps() {
    var rig = Rig()
    rig.bringUp()
    let start = rig.now
    #expect(rig.give(.stopRequested(drain: nil)).contains(.sendDrain(generation: 1, milliseconds: 10_000)))
    #expect(rig.state == .draining)
    #expect(rig.fire(.drain).signals == [.term])
    #expect(rig.now.milliseconds(since: start) == 10_000)
    #expect(rig.fire(.term).signals == [.kill])
    #expect(rig.now.milliseconds(since: start) == 15_000)
    let actions = rig.die(.signal(9, coreDumped: false))
    #expect(rig.state == .stopped)
    #expect(actions.contains { if case .closeMailbox = $0 { true } else { false } })
    #expect(rig.report.timers.isEmpty)
  }

  @Test("A drain that is finished needs no deadline")
  func drainFinished() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    rig.pass(.milliseconds(20))
    #expect(rig.give(.drainFinished(generation: 1)).signals == [.term])
    rig.die(.code(0))
    #expect(rig.state == .stopped)
  }

  @Test("A worker that drains and leaves by itself gets no signal at all")
  func leavesByItself() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    rig.give(.busEnded(generation: 1))
    rig.pass(.milliseconds(100))
    rig.die(.code(0))
    #expect(rig.state == .stopped)
    #expect(rig.actions.signals.isEmpty)
  }

  @Test("The leader's exit alone is not stopped")
  func stoppedMeansEmpty() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    rig.give(.exited(generation: 1, .code(0)))
    rig.give(.busEnded(generation: 1))
    #expect(rig.state == .stopping(.leaving))
    rig.give(.groupEmptied(generation: 1))
    #expect(rig.state == .stopped)
  }

  @Test("Each further stop takes the next step at once")
  func repeatedStop() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    #expect(rig.give(.stopRequested(drain: nil)).signals == [.term])
    #expect(rig.give(.stopRequested(drain: nil)).signals == [.kill])
    #expect(rig.give(.stopRequested(drain: nil)).signals.isEmpty)
    #expect(rig.state == .stopping(.killing))
  }

  @Test("A deadline given with the stop replaces the policy's, and no EXTEND moves it")
  func stopDeadline() {
    var rig = Rig()
    rig.bringUp()
    let deadline = rig.now.advanced(milliseconds: 3_000)
    let actions = rig.give(.stopRequested(drain: .seconds(3)))
    #expect(actions.contains(.sendDrain(generation: 1, milliseconds: 3_000)))
    #expect(actions.contains(.setTimer(.drain, at: deadline)))
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: 60_000)).isEmpty)
  }

  @Test("A stop without time to drain does not send the 0 that means no limit")
  func stopWithoutDrain() {
    var rig = Rig()
    rig.bringUp()
    #expect(rig.give(.stopRequested(drain: .zero)).contains(.sendDrain(generation: 1, milliseconds: 1)))
    #expect(rig.report.timers[.drain] == rig.now)
    #expect(rig.fire(.drain).signals == [.term])
  }

  @Test("A stop with a nearer deadline shortens a drain that runs for a restart")
  func stopShortensRestart() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.restartRequested)
    let deadline = rig.now.advanced(milliseconds: 1_000)
    #expect(rig.give(.stopRequested(drain: .seconds(1))).contains(.setTimer(.drain, at: deadline)))
    rig.fire(.drain)
    rig.die(.code(0))
    #expect(rig.state == .stopped)
  }

  @Test("EXTEND moves the drain's and SIGTERM's deadline, not SIGKILL's")
  func extendsStop() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: 20_000)).count == 1)
    rig.fire(.drain)
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: 20_000)).count == 1)
    rig.fire(.term)
    #expect(rig.give(.extendReceived(generation: 1, milliseconds: 20_000)).isEmpty)
  }

  @Test("A stop works at once while nothing lives: waiting, back-off, not executable, held, failed, exited")
  func stopsAtOnce() {
    var rigs: [Rig] = []
    var waiting = Rig { $0.after = ["signer"] }
    waiting.give(.startRequested)
    rigs.append(waiting)
    var locked = Rig()
    locked.give(.startRequested)
    locked.give(.lockBusy(generation: 1, holder: nil))
    rigs.append(locked)
    var backoff = Rig()
    backoff.bringUpAfterStumble()
    backoff.die(.code(1))
    rigs.append(backoff)
    var notExecutable = Rig()
    notExecutable.give(.startRequested)
    notExecutable.give(.spawnFailed(generation: 1, text: "EACCES"))
    rigs.append(notExecutable)
    var held = Rig()
    held.give(.holdRequested)
    rigs.append(held)
    var failed = Rig()
    failed.bringUp()
    failed.die(.code(78))
    rigs.append(failed)
    var exited = Rig { $0.restart = .never }
    exited.bringUp()
    exited.die(.code(0))
    rigs.append(exited)
    #expect(rigs.map(\.kind) == [.waiting, .waiting, .backoff, .execFailed, .held, .failed, .exited])
    for var rig in rigs {
      rig.give(.stopRequested(drain: nil))
      #expect(rig.state == .stopped)
      #expect(rig.report.timers.isEmpty)
    }
  }

  @Test("A stop while it starts sends SIGTERM, since there is no work to drain")
  func stopWhileStarting() {
    var rig = Rig()
    rig.give(.startRequested)
    rig.spawn()
    #expect(rig.give(.stopRequested(drain: nil)).signals == [.term])
    rig.give(.readyReceived(generation: 1))
    #expect(rig.state == .stopping(.terminating), "READY comes too late")
    rig.die(.signal(15, coreDumped: false))
    #expect(rig.state == .stopped)
  }

  @Test("A stop while the kernel makes the process ends it as soon as it is there")
  func stopWhileSpawning() {
    var rig = Rig()
    rig.give(.startRequested)
    #expect(rig.give(.stopRequested(drain: nil)).signals.isEmpty)
    #expect(rig.state == .stopping(.unspawned))
    #expect(rig.give(.spawned(generation: 1, pid: 5)).signals == [.term])
    rig.die(.signal(15, coreDumped: false))
    #expect(rig.state == .stopped)

    var gated = Rig()
    gated.give(.startRequested)
    gated.give(.stopRequested(drain: nil))
    gated.give(.lockBusy(generation: 1, holder: 3))
    #expect(gated.state == .stopped)
  }

  @Test("A start while it stops is kept: it starts when it has gone")
  func startWhileStopping() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    #expect(rig.give(.startRequested).isEmpty)
    rig.fire(.drain)
    #expect(rig.die(.code(0)).spawns == [2])
    rig.becomeReady()
    #expect(rig.report.restarts.count == 0)
  }

  @Test("A restart drains, starts at once, and is not counted; mail is kept throughout")
  func restart() {
    var rig = Rig { $0.breakerRestarts = 0 }
    rig.bringUp()
    for generation in 2...20 as ClosedRange<UInt32> {
      rig.give(.restartRequested)
      #expect(rig.state == .draining)
      rig.give(.drainFinished(generation: generation - 1))
      #expect(rig.die(.signal(15, coreDumped: false)).spawns == [generation])
      rig.becomeReady()
    }
    #expect(rig.report.restarts.count == 0)
    #expect(!rig.actions.contains { if case .closeMailbox = $0 { true } else { false } })
  }

  @Test("A restart in back-off starts now")
  func restartInBackoff() {
    var rig = Rig()
    rig.bringUpAfterStumble()
    rig.die(.code(1))
    #expect(rig.kind == .backoff)
    let actions = rig.give(.restartRequested)
    #expect(actions.spawns == [3])
    #expect(actions.contains(.cancelTimer(.backoff)))
  }

  @Test("Nothing is signalled after the group was reported empty")
  func noSignalToStrangers() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.stopRequested(drain: nil))
    rig.give(.groupEmptied(generation: 1))
    rig.give(.stopRequested(drain: nil))
    rig.give(.stopRequested(drain: nil))
    #expect(rig.actions.signals.isEmpty)
    rig.fire(.lastWords)
    #expect(rig.state == .stopped)
  }

  @Test("While it stops the report says what comes next")
  func explains() {
    var rig = Rig()
    rig.bringUp()
    rig.pass(.seconds(90))
    rig.give(.stopRequested(drain: nil))
    rig.fire(.drain)
    rig.pass(.seconds(1))
    #expect(
      rig.why == [
        "store is stopping: it got SIGTERM (generation 1, pid 100), for 1 s.",
        "What is left of it gets SIGKILL in 4 s.",
        "A stop was asked for.",
      ])
  }
}

@Suite("A worker is held, or gives its place to one started by hand")
struct AttachingTests {
  @Test("A hold drains it and keeps its mail; a release starts it")
  func holdAndRelease() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.holdRequested)
    #expect(rig.state == .draining)
    rig.fire(.drain)
    #expect(rig.die(.code(0)).spawns.isEmpty)
    #expect(rig.state == .held)
    #expect(!rig.actions.contains { if case .closeMailbox = $0 { true } else { false } })
    #expect(rig.give(.startRequested).isEmpty, "parked means parked")
    #expect(rig.give(.releaseRequested).spawns == [2])
  }

  @Test("A hold on a stopped worker ends where it began")
  func holdStopped() {
    var rig = Rig()
    rig.give(.holdRequested)
    #expect(rig.state == .held)
    rig.give(.releaseRequested)
    #expect(rig.state == .stopped)
  }

  @Test("A hold ends a back-off, and the breaker does not count the release")
  func holdInBackoff() {
    var rig = Rig()
    rig.bringUpAfterStumble()
    rig.die(.code(1))
    #expect(rig.give(.holdRequested).contains(.cancelTimer(.backoff)))
    #expect(rig.state == .held)
    rig.give(.releaseRequested)
    rig.becomeReady()
    #expect(rig.report.restarts.count == 1, "the stumble alone")
  }

  @Test("A hand-started instance takes the place of a held one, and leaves it held")
  func attachToHeld() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.holdRequested)
    rig.die(.code(0))
    #expect(rig.give(.attachArrived(pid: 4711)).contains(.admitAttached(pid: 4711)))
    #expect(rig.state == .attached(pid: 4711))
    #expect(rig.report.pid == 4711)
    let actions = rig.give(.attachedLeft(pid: 4711, why: "the connection was closed"))
    #expect(rig.state == .held)
    let left = "was left by pid 4711, started by hand (the connection was closed), and is held; its mail is kept"
    #expect(actions.sentences == [left])
    rig.pass(.milliseconds(500))
    #expect(rig.why.last == "The one you attached (pid 4711) left 0.5 s ago: the connection was closed.", "\(rig.why)")
  }

  @Test("A hand-started instance that nobody held a place for gets it when the managed one has gone, and gives it back")
  func attachToReady() {
    var rig = Rig()
    rig.bringUp()
    #expect(!rig.give(.attachArrived(pid: 4711)).contains(.admitAttached(pid: 4711)))
    #expect(rig.state == .draining)
    #expect(rig.report.waitingVisitor == 4711)
    rig.give(.drainFinished(generation: 1))
    #expect(rig.die(.code(0)).contains(.admitAttached(pid: 4711)))
    #expect(rig.give(.attachedLeft(pid: 4711)).spawns == [2])
    #expect(rig.report.lastVisit?.pid == 4711)
    rig.becomeReady()
    rig.pass(.seconds(1))
    rig.die(.code(0))
    #expect(rig.report.lastVisit == nil, "a later end is newer")
  }

  @Test("A second one is refused, and its leaving changes nothing")
  func secondAttach() {
    var rig = Rig()
    rig.give(.attachArrived(pid: 1_000))
    let actions = rig.give(.attachArrived(pid: 2_000))
    #expect(actions.count == 1)
    #expect(actions.contains { if case .refuseAttached(pid: 2_000, _) = $0 { true } else { false } })
    rig.give(.attachedLeft(pid: 2_000))
    #expect(rig.state == .attached(pid: 1_000))
  }

  @Test("One that leaves before it had the place leaves the managed one to restart")
  func visitorGivesUp() {
    var rig = Rig()
    rig.bringUp()
    rig.give(.attachArrived(pid: 9))
    rig.give(.attachedLeft(pid: 9))
    rig.fire(.drain)
    #expect(rig.die(.code(0)).spawns == [2])
  }

  @Test("Hold and release during a visit decide what comes after it")
  func holdDuringVisit() {
    var rig = Rig()
    rig.give(.startRequested)
    rig.give(.lockBusy(generation: 1, holder: nil))
    rig.give(.attachArrived(pid: 9))
    rig.give(.holdRequested)
    #expect(rig.state == .attached(pid: 9))
    rig.give(.attachedLeft(pid: 9))
    #expect(rig.state == .held)
    rig.give(.attachArrived(pid: 10))
    rig.give(.releaseRequested)
    #expect(rig.state == .attached(pid: 10))
    #expect(rig.give(.attachedLeft(pid: 10)).spawns == [1])
  }

  @Test("A stop sends the visitor away")
  func stopDuringVisit() {
    var rig = Rig()
    rig.give(.attachArrived(pid: 9))
    let actions = rig.give(.stopRequested(drain: nil))
    #expect(actions.contains { if case .dismissAttached(pid: 9, _) = $0 { true } else { false } })
    #expect(rig.state == .stopped)
    #expect(rig.give(.attachedLeft(pid: 9)).isEmpty)
  }
}
