import Clocks
import Supervision
import Testing

/// A machine with its clock and its luck in the test's hand.
struct Rig {
  var machine: WorkerMachine
  var now = Instant(nanoseconds: 1_000_000_000_000)
  var random = SeededGenerator(seed: 7)
  /// All that was asked for since the rig was made.
  var actions: [WorkerAction] = []

  init(_ change: (inout WorkerPolicy) -> Void = { _ in }) {
    var policy = WorkerPolicy()
    change(&policy)
    machine = WorkerMachine(name: "store", policy: policy, now: now)
  }

  var state: WorkerState { machine.state }
  var kind: WorkerState.Kind { machine.state.kind }
  var report: StateReport { machine.report(now: now) }
  var why: [String] { report.sentences(now: now) }
  /// The generation that lives, or would live next.
  var generation: UInt32 { report.generation }

  @discardableResult
  mutating func give(_ input: WorkerInput) -> [WorkerAction] {
    let new = machine.receive(input, now: now, random: &random)
    actions += new
    return new
  }

  mutating func pass(_ duration: Duration) {
    now.nanoseconds += UInt64(duration / .nanoseconds(1))
  }

  /// Moves the clock to the timer's instant and lets it fire.
  @discardableResult
  mutating func fire(_ timer: WorkerTimer, sourceLocation: SourceLocation = #_sourceLocation) -> [WorkerAction] {
    guard let at = report.timers[timer] else {
      Issue.record("the \(timer) timer does not run in \(state)", sourceLocation: sourceLocation)
      return []
    }
    now = max(now, at)
    return give(.timerFired(timer))
  }

  /// The generation whose spawn was asked for last.
  var spawnAsked: UInt32 {
    for case .spawn(let generation) in actions.reversed() { return generation }
    return 0
  }

  /// Answers the spawn that was asked for.
  mutating func spawn(pid: Int32 = 100) {
    give(.spawned(generation: spawnAsked, pid: pid))
  }

  /// From wherever it waits for its process to READY.
  mutating func becomeReady(pid: Int32 = 100) {
    spawn(pid: pid)
    give(.helloReceived(generation: generation))
    give(.readyReceived(generation: generation))
  }

  /// From stopped to READY.
  mutating func bringUp() {
    give(.startRequested)
    becomeReady()
  }

  /// From stopped to READY in a second life, after a first that was not stable: the next such death has to wait.
  mutating func bringUpAfterStumble() {
    bringUp()
    die(.code(1))
    becomeReady()
  }

  /// Exit, end of bus, empty group.
  @discardableResult
  mutating func die(_ status: WorkerExit) -> [WorkerAction] {
    let generation = generation
    return give(.exited(generation: generation, status)) + give(.busEnded(generation: generation))
      + give(.groupEmptied(generation: generation))
  }

  /// Lets it be stable, then die.
  mutating func dieStable(_ status: WorkerExit) {
    pass(machine.policy.stableAfter)
    die(status)
  }
}

extension [WorkerAction] {
  /// The sentences announced.
  var sentences: [String] {
    compactMap { if case .announce(let change) = $0 { change.sentence } else { nil } }
  }

  /// The states gone through.
  var states: [WorkerState.Kind] {
    compactMap { if case .announce(let change) = $0 { change.to.kind } else { nil } }
  }

  /// The signals sent.
  var signals: [GroupSignal] {
    compactMap { if case .signalGroup(_, let signal) = $0 { signal } else { nil } }
  }

  /// The generations whose spawn was asked for.
  var spawns: [UInt32] {
    compactMap { if case .spawn(let generation) = $0 { generation } else { nil } }
  }
}
