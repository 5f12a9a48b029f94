public import Clocks

/// The life of one managed worker: when it is spawned, when it must leave, what its end means.
///
/// It is a value without process, clock or randomness. The owner of the processes passes in each input with the instant
/// at which it happened, and performs the actions that come out. So the rules can be tested with a clock that the test
/// sets, and with millions of random histories.
///
/// Three requests and one fact decide which state is next. The requests are `isWanted` (start and stop), `isHeld` (hold
/// and release) and `visitor` (a hand-started instance that takes the worker's place); the fact is the `incarnation`,
/// the one process that is alive. While a process is alive, a request only makes it leave. When nothing of the process
/// is left, `settle` decides by the requests what comes next. So there are never two instances, a command that comes at
/// a bad moment is not lost, and no state has to remember what comes after it.
///
/// Rules that are easy to get wrong, and where they are:
/// - A life is over when its leader (the process that was spawned) has exited, its bus was read to the end *and* its
///   process group is empty. So a worker whose leader left children behind is still `stopping`, and answers that it
///   wrote just before a crash are still read (`WorkerMachine+Ending`).
/// - A *stable* life resets the waits between restarts. READY does not: a worker that becomes ready and crashes a
///   second later must not be restarted at full speed (`WorkerMachine+Ending`).
/// - A spawn that was stopped at a gate (spawn rate, lack of resources, lock) counts as never begun: its generation
///   number is used again (`WorkerMachine+Starting`).
/// - Each wait is a state with a reason, and a timer or an event ends it. So a stop takes effect at once in each wait.
///
/// Rejected: one method per input. An input that is a value can be recorded, replayed and drawn at random, and one
/// switch shows that all inputs are handled.
public struct WorkerMachine: Sendable {
  /// The worker's name.
  public let name: String
  /// Its rules.
  public internal(set) var policy: WorkerPolicy
  /// Its state.
  public internal(set) var state = WorkerState.stopped
  /// When it entered a state of this kind: another reason of `waiting`, or another step of `stopping`, does not count.
  public internal(set) var since: Instant
  /// The generation of the last process that was made, or that failed to be made; 0 before the first.
  public internal(set) var generation: UInt32 = 0
  /// How the last life ended.
  public internal(set) var lastExit: LastExit?
  /// The last hand-started instance that had the worker's place, and why it left.
  public internal(set) var lastVisit: LastVisit?

  /// Whether the operator wants it to run.
  var isWanted = false
  /// Whether the operator holds it (`roost hold`).
  var isHeld = false
  /// The hand-started instance that has its place, or waits for it.
  var visitor: Int32?
  /// The one process that is alive or is being made.
  var incarnation: Incarnation?
  /// The workers of its policy's `after` that are not ready.
  var missingDependencies: [String]
  /// The restarts that the breaker remembers.
  var history = RestartHistory()
  /// Lives in a row that ended before they were stable.
  var unstableLives = 0
  /// Whether the breaker counts the next spawn.
  var nextSpawnCounts = false
  /// The running timers, with the length that each was set to.
  var timers: [WorkerTimer: RunningTimer] = [:]
  /// When it must be ready; nil unless it is starting.
  public var startDeadline: Instant? { timers[.start]?.at }

  struct RunningTimer: Hashable, Sendable {
    var at: Instant
    var period: Duration
  }

  /// The machine's own limits; the policy has the others.
  public enum Limits {
    /// The time between two checks of a lock that an old instance holds.
    public static let lockRetry = Duration.milliseconds(500)
    /// The time between two attempts to make a process while the supervisor lacks descriptors, memory or disk for it.
    public static let resourceRetry = Duration.seconds(1)
    /// How long a worker whose bus has ended may stay before it gets a signal; the same for the processes that a dead
    /// leader left behind.
    public static let leaveGrace = Duration.seconds(2)
    /// How long the exit status and the end of the bus may be missing once the group is empty.
    public static let lastWords = Duration.seconds(1)
    /// The time between two SIGKILLs to a group that does not end.
    public static let killRepeat = Duration.seconds(5)
    /// The latest deadline that one EXTEND can set, from now.
    public static let maximumExtension = Duration.seconds(600)
  }

  /// A stopped worker; its dependencies count as not ready until the caller reports otherwise.
  public init(name: String, policy: WorkerPolicy, now: Instant) {
    self.name = name
    self.policy = policy
    since = now
    missingDependencies = policy.after
  }

  /// Whether the supervisor is to run an instance of its own.
  var isToRun: Bool { isWanted && !isHeld && visitor == nil }

  /// The process id of the leader, or of the hand-started instance.
  public var pid: Int32? {
    if case .attached(let pid) = state { pid } else { incarnation?.pid }
  }

  /// Takes an input and returns what is to be done. Every state accepts every input; an input that has no meaning in a
  /// state changes nothing. Each call draws one number from `random`, so that a recorded sequence with its seed gives
  /// the same actions.
  public mutating func receive(
    _ input: WorkerInput, now: Instant, random: inout some RandomNumberGenerator
  ) -> [WorkerAction] {
    var transition = Transition(now: now, dice: random.next())
    // An input for another generation is a late callback about a process that is gone.
    if let generation = input.generation, generation != incarnation?.generation { return [] }
    switch input {
    case .startRequested: startRequested(&transition)
    case .stopRequested(let drain): stopRequested(drain: drain, &transition)
    case .restartRequested: restartRequested(&transition)
    case .holdRequested: holdRequested(&transition)
    case .releaseRequested: releaseRequested(&transition)
    case .policyChanged(let policy): policyChanged(policy, &transition)
    case .attachArrived(let pid): attachArrived(pid, &transition)
    case .attachedLeft(let pid, let why): attachedLeft(pid, why, &transition)
    case .dependenciesChanged(let missing): dependenciesChanged(missing: missing, &transition)
    case .spawnRateReached(_, let retryAt): spawnWasGated(.spawnRate, retryAt: retryAt, &transition)
    case .spawnLacked(_, let text):
      spawnWasGated(.resources(text), retryAt: now.later(by: Limits.resourceRetry), &transition)
    case .lockBusy(_, let holder):
      spawnWasGated(.instanceLock(holder: holder), retryAt: now.later(by: Limits.lockRetry), &transition)
    case .lockFreed: lockFreed(&transition)
    case .spawned(_, let pid): spawned(pid: pid, &transition)
    case .spawnFailed(_, let text): spawnFailed(text: text, &transition)
    case .helloReceived: incarnation?.hasSaidHello = true
    case .readyReceived: readyReceived(&transition)
    case .extendReceived(_, let milliseconds): extendReceived(milliseconds: milliseconds, &transition)
    case .drainFinished: drainFinished(&transition)
    case .busEnded(_, let reason): busEnded(cut: reason, &transition)
    case .violated(_, let code): violated(code: code, &transition)
    case .becameStuck(_, let why): becameStuck(why: why, &transition)
    case .memoryExceeded(_, let text): memoryExceeded(text: text, &transition)
    case .deathChargedToPoison: incarnation?.isChargedToPoison = true
    case .exited(_, let status): exited(status, &transition)
    case .groupEmptied: groupEmptied(&transition)
    case .timerFired(let timer): timerFired(timer, &transition)
    case .resumedAfterSuspend: resumedAfterSuspend(&transition)
    }
    return transition.actions
  }
}

/// One input on its way through the machine: its instant, its random number, and the actions that result.
struct Transition {
  let now: Instant
  let dice: UInt64
  var actions: [WorkerAction] = []
  /// Text that the sentence of the next announcement begins with.
  var preface = ""
}

// MARK: - States and timers

extension WorkerMachine {
  /// Decides the next state of a worker that has no process. Of its requests, a visitor comes first, then a hold, then
  /// a start.
  mutating func settle(_ transition: inout Transition) {
    precondition(incarnation == nil, "\(name) cannot settle while generation \(generation) lives")
    cancelAllTimers(&transition)
    nextSpawnCounts = false
    if let visitor {
      enter(.attached(pid: visitor), "gave its place to pid \(visitor), started by hand", &transition)
      transition.actions.append(.admitAttached(pid: visitor))
    } else if isHeld {
      enter(.held, "is held; its mail is kept", &transition)
    } else if isWanted {
      begin(&transition)
    } else {
      enter(.stopped, "is stopped", &transition)
    }
  }

  /// Enters a state, opens or closes the mailbox as that state requires, and announces the change. Entering the present
  /// state changes nothing.
  mutating func enter(_ next: WorkerState, _ sentence: String, _ transition: inout Transition) {
    guard next != state else { return }
    let previous = state
    precondition(
      previous.kind.successors.contains(next.kind), "\(name) went from \(previous.kind) to \(next.kind): \(sentence)")
    state = next
    if next.kind != previous.kind { since = transition.now }
    if previous.kind == .failed {
      // The operator has acted after a failure: the old restarts must not trip the breaker at the next death.
      history.forget()
      unstableLives = 0
    }
    if next.kind.keepsMailbox && !previous.kind.keepsMailbox { transition.actions.append(.openMailbox) }
    transition.actions.append(
      .announce(
        StateChange(name: name, from: previous, to: next, sentence: transition.preface + sentence, at: transition.now)))
    transition.preface = ""
    if !next.kind.keepsMailbox && previous.kind.keepsMailbox {
      transition.actions.append(.closeMailbox(reason: sentence))
    }
  }

  mutating func set(_ timer: WorkerTimer, in period: Duration, _ transition: inout Transition) {
    set(timer, at: transition.now.later(by: period), period: period, &transition)
  }

  mutating func set(_ timer: WorkerTimer, at instant: Instant, period: Duration, _ transition: inout Transition) {
    timers[timer] = RunningTimer(at: instant, period: period)
    transition.actions.append(.setTimer(timer, at: instant))
  }

  mutating func cancel(_ timer: WorkerTimer, _ transition: inout Transition) {
    if timers.removeValue(forKey: timer) != nil { transition.actions.append(.cancelTimer(timer)) }
  }

  mutating func cancelAllTimers(_ transition: inout Transition) {
    for timer in WorkerTimer.allCases { cancel(timer, &transition) }
  }

  mutating func timerFired(_ timer: WorkerTimer, _ transition: inout Transition) {
    // The timer was cancelled while its callback was on the way.
    guard let running = timers[timer] else { return }
    guard transition.now >= running.at else {
      // A loop that reads its clock once per round may fire early; the worker gets the whole deadline.
      transition.actions.append(.setTimer(timer, at: running.at))
      return
    }
    timers[timer] = nil
    switch timer {
    case .start: startDeadlinePassed(&transition)
    case .drain: terminate("did not finish its work in time and gets SIGTERM", &transition)
    case .leave: leaveGracePassed(&transition)
    case .term: kill("did not heed SIGTERM within \(running.period.spoken)", &transition)
    case .abort: kill("was not gone \(running.period.spoken) after SIGABRT", &transition)
    case .kill: kill("is still there \(running.period.spoken) after SIGKILL", &transition)
    case .lastWords: lastWordsOverdue(&transition)
    case .backoff, .gate: begin(&transition)
    }
  }

  /// Gives each running deadline its whole period again, in addition to what is left of it. CLOCK_MONOTONIC does not
  /// advance during a suspend, but what a worker waits for, above all its connections to relays, is gone after it. With
  /// the old deadlines, workers would be killed soon after the lid of a laptop opens.
  mutating func resumedAfterSuspend(_ transition: inout Transition) {
    for timer in WorkerTimer.allCases where timer.isDeadline {
      guard let running = timers[timer] else { continue }
      set(timer, at: max(running.at, transition.now).later(by: running.period), period: running.period, &transition)
    }
    if let limit = incarnation?.extensionLimit, let drain = timers[.drain] {
      incarnation?.extensionLimit = max(limit, drain.at)
    }
  }
}
