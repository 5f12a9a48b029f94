public import Clocks

/// A worker's state at one instant, as seen from outside: the source of `roost status` and `roost why`.
public struct StateReport: Hashable, Sendable {
  /// The worker's name.
  public var name: String
  /// Its state. ``WorkerState/Kind`` has the word to print.
  public var state: WorkerState
  /// When it entered this state.
  public var since: Instant
  /// The leader of its process group, or the hand-started instance; nil if neither exists.
  public var pid: Int32?
  /// The number of the last process; 0 before the first.
  public var generation: UInt32
  /// Whether the operator wants it to run.
  public var isWanted: Bool
  /// Whether the operator holds it.
  public var isHeld: Bool
  /// A hand-started instance that waits for the worker's place.
  public var waitingVisitor: Int32?
  /// The breaker's figures.
  public var restarts: RestartTally
  /// When the next spawn is tried, if that instant is known.
  public var nextAttempt: Instant?
  /// How its last life ended.
  public var lastExit: LastExit?
  /// How the last hand-started instance left, if no life of the supervisor's own has ended since.
  public var lastVisit: LastVisit?
  /// What it waits for; nil in other states.
  public var waitingReason: String?
  /// The running timers.
  public var timers: [WorkerTimer: Instant]

  private static let newMilliseconds: UInt64 = 1_000

  /// Why the worker is in this state, in sentences: the state, what comes next, the breaker's figures, the last end.
  public func sentences(now: Instant) -> [String] {
    // For a state that has just begun, its age is of no interest.
    let isNew = now.milliseconds(since: since) < Self.newMilliseconds
    let sentence = stateSentence
    // After an advice, the age would read as the age of the advice.
    let age = sentence.contains(". ") ? ". So it has been for " : ", for "
    var sentences = ["\(name) \(sentence)\(isNew ? "" : age + now.spoken(since: since))."]
    for (timer, instant) in timers.sorted(by: { $0.value < $1.value }) where instant != nextAttempt {
      sentences.append("\(timer.sentence(in: instant.spoken(since: now))).")
    }
    if let waitingVisitor { sentences.append("Pid \(waitingVisitor), started by hand, waits for its place.") }
    if isHeld && state.kind != .held { sentences.append("It is held: when it has gone, it is not started again.") }
    if !isWanted && pid != nil && state.kind != .attached { sentences.append("A stop was asked for.") }
    if let next = nextAttempt {
      sentences.append("\(restarts.sentence); next in \(next.spoken(since: now)).")
    } else if restarts.count > 0, state.kind != .failed {
      sentences.append("\(restarts.sentenceWithLimit).")
    }
    if let lastExit {
      let lifetime =
        lastExit.status == nil ? "" : ", \(spoken(milliseconds: lastExit.lifetimeMilliseconds)) after its spawn"
      let ago = now.spoken(since: lastExit.at)
      sentences.append("Generation \(lastExit.generation) \(lastExit.sentence)\(lifetime), \(ago) ago.")
      if lastExit.wasSilent { sentences.append("It never said HELLO.") }
    }
    if let lastVisit {
      let ago = now.spoken(since: lastVisit.at)
      sentences.append("The one you attached (pid \(lastVisit.pid)) left \(ago) ago: \(lastVisit.why).")
    }
    return sentences
  }

  /// The state, after the worker's name.
  private var stateSentence: String {
    let process = pid.map { " (generation \(generation), pid \($0))" } ?? ""
    return switch state {
    case .stopped: "is stopped"
    case .waiting(let reason): "waits \(reason.sentence)"
    case .starting: "is starting\(process)"
    case .ready: "is ready\(process)"
    case .draining: "finishes its work before it goes\(process)"
    case .stopping(let step): "is stopping: \(step.sentence)\(process)"
    case .backoff: "waits before its next start"
    case .execFailed(let text, _): "could not be run: \(text)"
    case .failed(let reason): "has failed: \(reason.sentence)"
    case .held: "is held, its mail kept"
    case .attached(let pid): "is attached: pid \(pid), started by hand, neither watched nor restarted"
    case .exited: "has left and is not started again"
    }
  }
}

extension StoppingStep {
  /// After "is stopping: ".
  fileprivate var sentence: String {
    switch self {
    case .unspawned: "its process is still being made, and goes as soon as it is there"
    case .leaving: "it goes by itself"
    case .terminating: "it got SIGTERM"
    case .aborting: "it got SIGABRT"
    case .killing: "it got SIGKILL"
    }
  }
}

extension WorkerTimer {
  /// What happens when it fires.
  fileprivate func sentence(in time: String) -> String {
    switch self {
    case .start: "It must be ready in \(time), or it gets SIGABRT"
    case .drain: "Unless its work is done before, it gets SIGTERM in \(time)"
    case .leave: "What is left of it gets SIGTERM in \(time)"
    case .term, .abort: "What is left of it gets SIGKILL in \(time)"
    case .kill: "What is left of it gets another SIGKILL in \(time)"
    case .lastWords: "Nothing of it runs; its exit status or the end of its bus is waited for \(time) more"
    case .backoff: "It starts in \(time)"
    case .gate: "It asks again in \(time)"
    }
  }
}

extension WorkerMachine {
  /// The worker's state at this instant.
  public func report(now: Instant) -> StateReport {
    var waitingReason: String?
    if case .waiting(let reason) = state { waitingReason = reason.sentence }
    let isVisitNewest = (lastVisit?.at ?? since) >= (lastExit?.at ?? since)
    return StateReport(
      name: name, state: state, since: since, pid: pid, generation: incarnation?.generation ?? generation,
      isWanted: isWanted, isHeld: isHeld, waitingVisitor: state.kind == .attached ? nil : visitor,
      restarts: history.tally(policy: policy, now: now), nextAttempt: (timers[.backoff] ?? timers[.gate])?.at,
      lastExit: lastExit, lastVisit: isVisitNewest ? lastVisit : nil, waitingReason: waitingReason,
      timers: timers.mapValues(\.at))
  }
}
