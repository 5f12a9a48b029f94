import Clocks
import Supervision

/// A world around one machine that obeys it, and sends it what a real world might, in any order and at any time: late
/// answers, deaths at every moment, an operator who cannot decide. It keeps its own books and compares.
struct RandomWorld {
  var machine: WorkerMachine
  var random: SeededGenerator
  var now = Instant(nanoseconds: 1_000_000_000_000)
  /// What was found wrong, in order.
  var violations: [String] = []
  /// The last inputs, for the reader of a violation.
  private var inputs: [WorkerInput] = []

  /// The spawn that was asked for and not answered.
  private var asked: UInt32?
  private var process: Process?
  private var timers: [WorkerTimer: Instant] = [:]
  private var mailboxIsOpen = false
  private var state = WorkerState.stopped
  private var visitor: Int32?
  private var lastMade: UInt32 = 0
  private var nextPid: Int32 = 100
  /// Spawns that followed a death nobody had asked for.
  private var restarts: [Instant] = []
  /// Whether the operator, a visitor or a poisoned message had a hand in what happened since the last spawn was asked
  /// for.
  private var isTouched = true
  /// Whether the spawn that was asked for follows a death nobody had a hand in.
  private var askedIsRestart = false
  /// What happened, so that a test can tell that it tests something.
  private(set) var seen: Set<WorkerState.Kind> = []
  private(set) var spawnCount = 0

  private struct Process {
    var generation: UInt32
    var leaderLives = true
    var busIsOpen = true
    var groupLives = true
    var isKilled = false
    /// When its start was written down as a restart.
    var countedAt: Instant?
  }

  static let names = ["store", "signer", "planner"]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let policy = Self.policy(&random)
    machine = WorkerMachine(name: "connector", policy: policy, now: now)
  }

  private static func policy(_ random: inout SeededGenerator) -> WorkerPolicy {
    var policy = WorkerPolicy()
    policy.restart = [.always, .always, .onFailure, .never].randomElement(using: &random) ?? .always
    policy.after = names.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
    policy.isCritical = Bool.random(using: &random)
    policy.breakerRestarts = Int.random(in: 0...4, using: &random)
    policy.stableAfter = .milliseconds(Int.random(in: 1...4_000, using: &random))
    policy.backoffBase = .milliseconds(Int.random(in: 1...500, using: &random))
    return policy
  }

  // MARK: Steps

  /// One thing happens, and the books are compared.
  mutating func step() {
    now.nanoseconds += UInt64.random(in: 0...3, using: &random) * UInt64.random(in: 0...700_000_000, using: &random)
    give(nextInput())
  }

  /// A stop, then a world that plays on only as far as it must: the worker must come to rest.
  mutating func bringToRest() {
    give(.stopRequested(drain: nil))
    for _ in 0..<20 where machine.state != .stopped {
      if let generation = asked {
        give(.spawned(generation: generation, pid: 9))
      } else if let process, process.isKilled || !process.groupLives {
        finish(process)
      } else if let (timer, at) = timers.min(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }) {
        now = max(now, at)
        give(.timerFired(timer))
      } else {
        break
      }
    }
    if machine.state != .stopped { report("a stop left it in \(machine.state)") }
    if !timers.isEmpty { report("stopped with timers \(timers.keys)") }
    if process?.groupLives == true || asked != nil { report("stopped while a process lives") }
  }

  private mutating func finish(_ process: Process) {
    let generation = process.generation
    if process.leaderLives { give(.exited(generation: generation, .signal(9, coreDumped: false))) }
    if process.busIsOpen { give(.busEnded(generation: generation)) }
    if process.groupLives { give(.groupEmptied(generation: generation)) }
    // All three signs are given: nothing may be left to wait for.
    if machine.state.kind == .stopping { report("still stopping after all signs of an end") }
  }

  // MARK: What happens next

  private mutating func nextInput() -> WorkerInput {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<14: answerToSpawn() ?? fromProcess() ?? fromTimerOrOperator()
    case 14..<16: fromTimer()
    case 16..<17: stale()
    default: fromOperator()
    }
  }

  /// Nothing lives: time passes if that helps, else somebody must act.
  private mutating func fromTimerOrOperator() -> WorkerInput {
    if !timers.isEmpty { return fromTimer() }
    return switch state {
    case .held: .releaseRequested
    case .attached(let pid): .attachedLeft(pid: pid)
    case .waiting: .dependenciesChanged(missing: missing())
    default: .startRequested
    }
  }

  private mutating func answerToSpawn() -> WorkerInput? {
    guard let generation = asked else { return nil }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return .spawnFailed(generation: generation, text: "ENOENT")
    case 1: return .lockBusy(generation: generation, holder: Bool.random(using: &random) ? 7 : nil)
    case 2: return .spawnRateReached(generation: generation, retryAt: now.advanced(milliseconds: 100))
    case 3: return .spawnLacked(generation: generation, text: "EMFILE")
    default:
      nextPid += 1
      return .spawned(generation: generation, pid: nextPid)
    }
  }

  private mutating func fromProcess() -> WorkerInput? {
    guard let process else { return nil }
    let generation = process.generation
    switch Int.random(in: 0..<16, using: &random) {
    case 0 where process.busIsOpen: return .helloReceived(generation: generation)
    case 1...4 where process.busIsOpen: return .readyReceived(generation: generation)
    case 5 where process.busIsOpen:
      return .extendReceived(generation: generation, milliseconds: .random(in: 0...20_000, using: &random))
    case 6: return .drainFinished(generation: generation)
    case 7: return .violated(generation: generation, code: "bad-length")
    case 8: return .becameStuck(generation: generation, why: "has not moved for 30 s")
    case 9: return .memoryExceeded(generation: generation, text: "2 GiB of 1 GiB")
    case 10: return .deathChargedToPoison(generation: generation)
    case 11...12 where process.leaderLives: return .exited(generation: generation, status())
    case 13 where process.busIsOpen: return .busEnded(generation: generation)
    // Also before the leader's status and the bus's end are told: signs come in any order.
    default: return process.groupLives ? .groupEmptied(generation: generation) : nil
    }
  }

  private mutating func status() -> WorkerExit {
    let codes: [Int32] = [0, 1, 2, 64, 69, 75, 78, 125, 126, 127]
    return switch Int.random(in: 0..<3, using: &random) {
    case 0: .signal(Int32.random(in: 1...31, using: &random), coreDumped: Bool.random(using: &random))
    case 1: .code(1)
    default: .code(codes.randomElement(using: &random) ?? 1)
    }
  }

  private mutating func fromTimer() -> WorkerInput {
    // Mostly the next that is due, at its instant; sometimes any, at any time: early, or never set.
    guard Int.random(in: 0..<8, using: &random) > 0,
      let (timer, at) = timers.min(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) })
    else { return .timerFired(WorkerTimer.allCases.randomElement(using: &random) ?? .start) }
    now = max(now, at)
    return .timerFired(timer)
  }

  private mutating func stale() -> WorkerInput {
    let generation = lastMade &+ UInt32.random(in: 2...5, using: &random) &- 4
    return switch Int.random(in: 0..<6, using: &random) {
    case 0: .exited(generation: generation == process?.generation ? 0 : generation, .code(0))
    case 1: .groupEmptied(generation: generation == process?.generation ? 0 : generation)
    case 2: .busEnded(generation: generation == process?.generation ? 0 : generation)
    case 3: .spawned(generation: generation == asked ? 0 : generation, pid: 3)
    case 4: .lockBusy(generation: generation == asked ? 0 : generation, holder: nil)
    default: .lockFreed
    }
  }

  private mutating func fromOperator() -> WorkerInput {
    switch Int.random(in: 0..<24, using: &random) {
    case 0...5: .startRequested
    case 6: .stopRequested(drain: [nil, .zero, .seconds(2)].randomElement(using: &random) ?? nil)
    case 7...8: .restartRequested
    case 9: .holdRequested
    case 10...11: .releaseRequested
    case 12: .attachArrived(pid: .random(in: 1_000...1_003, using: &random))
    case 13...14: .attachedLeft(pid: visitor ?? 1_001)
    case 15: .resumedAfterSuspend(gap: .seconds(60))
    case 16: .policyChanged(samePolicyWithOtherDeadlines())
    default: .dependenciesChanged(missing: missing())
    }
  }

  private mutating func missing() -> [String] {
    let isAllThere = Int.random(in: 0..<3, using: &random) > 0
    var missing: [String] = []
    for name in machine.policy.after where !isAllThere && Bool.random(using: &random) { missing.append(name) }
    return missing
  }

  /// The breaker keeps its figures, or the world's own count would not know which hold.
  private mutating func samePolicyWithOtherDeadlines() -> WorkerPolicy {
    var policy = machine.policy
    policy.drainDeadline = .milliseconds(Int.random(in: 1...20_000, using: &random))
    policy.restart = RestartRule.allCases.randomElement(using: &random) ?? .always
    policy.after = Self.names.filter { _ in Bool.random(using: &random) }
    return policy
  }
}

// MARK: - The books

extension RandomWorld {
  private mutating func give(_ input: WorkerInput) {
    inputs.append(input)
    noteBefore(input)
    let actions = machine.receive(input, now: now, random: &random)
    for action in actions { perform(action) }
    compare()
  }

  private mutating func noteBefore(_ input: WorkerInput) {
    switch input {
    case .spawned(let generation, _) where generation == asked:
      asked = nil
      process = Process(generation: generation)
      made(generation)
    case .spawnFailed(let generation, _) where generation == asked:
      asked = nil
      made(generation)
    case .lockBusy(let generation, _) where generation == asked: wasGated()
    case .spawnRateReached(let generation, _) where generation == asked: wasGated()
    case .spawnLacked(let generation, _) where generation == asked: wasGated()
    case .exited(let generation, let status) where generation == process?.generation:
      process?.leaderLives = false
      if status.verdict == .unavailable { isTouched = true }
    case .busEnded(let generation, _) where generation == process?.generation: process?.busIsOpen = false
    case .groupEmptied(let generation) where generation == process?.generation: process?.groupLives = false
    case .startRequested, .stopRequested, .restartRequested, .holdRequested, .releaseRequested, .attachArrived,
      .attachedLeft:
      isTouched = true
      if case .failed = state { restarts = [] }
      if case .attachedLeft(let pid, _) = input, pid == visitor { visitor = nil }
    case .deathChargedToPoison(let generation) where generation == process?.generation:
      isTouched = true
      // The restart that began this life followed a death of the same message.
      if let counted = process?.countedAt, let index = restarts.lastIndex(of: counted) { restarts.remove(at: index) }
      process?.countedAt = nil
    case .timerFired(let timer):
      if let at = timers[timer], at <= now { timers[timer] = nil }
    default: break
    }
  }

  /// A process was made, or could not be.
  private mutating func made(_ generation: UInt32) {
    if generation <= lastMade { report("generation \(generation) after \(lastMade)") }
    lastMade = generation
    spawnCount += 1
    if askedIsRestart {
      restarts.append(now)
      process?.countedAt = now
      let window = machine.policy.breakerWindow / .milliseconds(1)
      let recent = restarts.filter { Double(now.milliseconds(since: $0)) < window }
      if recent.count > machine.policy.breakerRestarts {
        report("\(recent.count) restarts in the window, \(machine.policy.breakerRestarts) allowed")
      }
    }
  }

  /// The spawn met a gate: the next one that is asked for follows the same death.
  private mutating func wasGated() {
    asked = nil
    if !askedIsRestart { isTouched = true }
  }

  private mutating func perform(_ action: WorkerAction) {
    switch action {
    case .spawn(let generation):
      if let process, process.groupLives { report("spawn of \(generation) while \(process.generation) lives") }
      if let asked { report("spawn of \(generation) while \(asked) is not answered") }
      if visitor != nil { report("spawn of \(generation) beside the visitor") }
      if !mailboxIsOpen { report("spawn with a closed mailbox") }
      asked = generation
      process = nil
      askedIsRestart = !isTouched
      isTouched = false
    case .signalGroup(let generation, let signal):
      guard let process, process.generation == generation, process.groupLives else {
        report("\(signal) to the group of \(generation), which is gone")
        return
      }
      if signal == .kill { self.process?.isKilled = true }
    case .sendDrain(let generation, _):
      if process?.generation != generation || process?.leaderLives != true { report("DRAIN to nobody") }
    case .cutBus(let generation):
      if process?.generation != generation || process?.busIsOpen != true { report("a bus cut that was not open") }
      process?.busIsOpen = false
    case .setTimer(let timer, let at):
      if at < now { report("\(timer) set into the past") }
      timers[timer] = at
    case .cancelTimer(let timer):
      if timers.removeValue(forKey: timer) == nil { report("\(timer) cancelled and not set") }
    case .openMailbox:
      if mailboxIsOpen { report("mailbox opened twice") }
      mailboxIsOpen = true
    case .closeMailbox:
      if !mailboxIsOpen { report("mailbox closed twice") }
      mailboxIsOpen = false
    case .admitAttached(let pid):
      if process?.groupLives == true || asked != nil { report("visitor let in beside a process") }
      visitor = pid
    case .refuseAttached, .escalate: break
    case .dismissAttached:
      visitor = nil
    case .announce(let change):
      note(change)
    }
  }

  private mutating func note(_ change: StateChange) {
    if change.from != state { report("announced from \(change.from) in \(state)") }
    if !change.from.kind.successors.contains(change.to.kind) { report("\(change.from) became \(change.to)") }
    if change.sentence.isEmpty || change.at != now { report("an announcement without words or time") }
    state = change.to
    seen.insert(state.kind)
  }

  private mutating func compare() {
    if machine.state != state { report("in \(machine.state), announced \(state)") }
    if machine.state.kind.keepsMailbox != mailboxIsOpen { report("mailbox open: \(mailboxIsOpen), in \(state)") }
    let report = machine.report(now: now)
    if report.timers != timers { self.report("runs \(report.timers), asked for \(timers)") }
    let livesByState = [.starting, .ready, .draining].contains(state.kind)
    if livesByState && process?.groupLives != true { self.report("in \(state) without a process") }
    let restsByState = ![.starting, .ready, .draining, .stopping].contains(state.kind)
    if restsByState && process?.groupLives == true { self.report("in \(state) with a living process") }
    if !restsByState && state.kind != .stopping && asked != nil { self.report("in \(state) with a spawn under way") }
    if [.backoff, .execFailed].contains(state.kind) && timers[.backoff] == nil {
      self.report("no way out of \(state)")
    }
    if state.kind == .starting && timers[.start] == nil { self.report("no deadline in starting") }
    if state.kind == .draining && timers[.drain] == nil { self.report("no deadline in draining") }
    if state.kind == .stopping && asked == nil && timers.isEmpty { self.report("no deadline in stopping") }
    if report.sentences(now: now).isEmpty { self.report("nothing to say") }
  }

  private mutating func report(_ text: String) {
    guard violations.count < 10 else { return }
    let last = inputs.suffix(12).map { "    \($0)" }.joined(separator: "\n")
    violations.append("\(text); the last inputs:\n\(last)")
  }
}
