import Clocks

/// From the wish that it be gone to the last signal: DRAIN, SIGTERM, SIGKILL, each with a deadline.
extension WorkerMachine {
  // MARK: What the operator wants

  mutating func startRequested(_ turn: inout Turn) {
    isWanted = true
    switch state.kind {
    case .stopped, .exited, .failed, .backoff, .execFailed: settle(&turn)
    // On its way already.
    case .waiting, .starting, .ready: break
    // It starts when the life that ends is over.
    case .draining, .stopping: break
    // A hold is ended by a release, a visit by the visitor; it starts then.
    case .held, .attached: break
    }
  }

  mutating func stopRequested(drain: Duration?, _ turn: inout Turn) {
    let isRepeated = !isWanted
    isWanted = false
    isHeld = false
    if let pid = visitor {
      visitor = nil
      turn.actions.append(.dismissAttached(pid: pid, reason: "\(name) is being stopped"))
    }
    guard incarnation != nil else {
      settle(&turn)
      return
    }
    switch state.kind {
    case .draining, .stopping:
      if isRepeated { hurry(&turn) } else { shorten(drain: drain, &turn) }
    default:
      leave(drain: drain, because: "a stop was asked for", &turn)
    }
  }

  mutating func restartRequested(_ turn: inout Turn) {
    switch state.kind {
    case .starting, .ready: leave(drain: nil, because: "a restart was asked for", &turn)
    case .stopped, .exited, .failed, .backoff, .execFailed, .draining, .stopping: startRequested(&turn)
    // A new process is on its way already.
    case .waiting: break
    // Parked means parked, and a hand-started process is not ours to restart.
    case .held, .attached: break
    }
  }

  // MARK: What else ends a life

  mutating func drainFinished(_ turn: inout Turn) {
    // In `ready` an empty desk is not news, and when stopping it has had its signal.
    guard state == .draining else { return }
    terminate("has finished its work and gets SIGTERM", &turn)
  }

  mutating func violated(code: String, _ turn: inout Turn) {
    switch state.kind {
    case .starting, .ready: incarnation?.ending = .fault("broke the protocol (\(code))")
    // Whoever asked it to go gets what they asked for; there is only no reason to wait for it now.
    case .draining: break
    default: return
    }
    terminate("broke the protocol (\(code)) and gets SIGTERM", &turn)
  }

  mutating func becameStuck(why: String, _ turn: inout Turn) {
    // Before READY and after DRAIN a deadline is running that ends in the same way.
    guard state == .ready else { return }
    incarnation?.ending = .fault("was stuck: it \(why)")
    abort("is stuck (it \(why)) and gets SIGABRT", &turn)
  }

  mutating func memoryExceeded(text: String, _ turn: inout Turn) {
    // A worker that is leaving gives its memory back anyway.
    guard state == .starting || state == .ready else { return }
    leave(drain: nil, because: text, &turn)
    incarnation?.ending = .fault("used too much memory (\(text))")
  }

  // MARK: The steps

  /// Makes the life end in the gentlest way its state allows. Not for one that is ending already.
  mutating func leave(drain: Duration?, because reason: String, _ turn: inout Turn) {
    guard let life = incarnation else { preconditionFailure("\(name) was told to leave and is not there") }
    incarnation?.ending = .asked
    guard life.pid != nil else {
      // The kernel has not answered yet; the answer finds it unwanted.
      enter(.stopping(.unspawned), "goes as soon as it is there: \(reason)", &turn)
      return
    }
    guard state == .ready else {
      // It has no work yet that could be drained.
      terminate("gets SIGTERM: \(reason)", &turn)
      return
    }
    let period = drain ?? policy.drainDeadline
    if drain != nil { incarnation?.extensionLimit = turn.now.later(by: period) }
    enter(.draining, "finishes its work: \(reason)", &turn)
    turn.actions.append(.sendDrain(generation: life.generation, milliseconds: max(1, period.wholeMilliseconds)))
    set(.drain, in: period, &turn)
  }

  /// A stop came over an ending of another reason: its deadline holds if it is nearer.
  private mutating func shorten(drain: Duration?, _ turn: inout Turn) {
    guard let drain, let life = incarnation, let running = timers[.drain] else { return }
    let instant = turn.now.later(by: drain)
    incarnation?.extensionLimit = min(life.extensionLimit ?? instant, instant)
    guard instant < running.at else { return }
    turn.actions.append(.sendDrain(generation: life.generation, milliseconds: max(1, drain.wholeMilliseconds)))
    set(.drain, at: instant, period: drain, &turn)
  }

  /// Takes the next step now.
  private mutating func hurry(_ turn: inout Turn) {
    switch state {
    case .draining, .stopping(.leaving): terminate("gets SIGTERM: stop was asked for twice", &turn)
    case .stopping(.terminating), .stopping(.aborting): kill("was asked to stop more than once", &turn)
    // Nothing is there yet that could be hurried, nothing is stronger than SIGKILL, and elsewhere nothing is ending.
    default: break
    }
  }

  /// SIGTERM to the group, with a deadline.
  mutating func terminate(_ sentence: String, _ turn: inout Turn) {
    depart(.terminating, .term, sentence, &turn)
    set(.term, in: policy.termDeadline, unlessEmpty: &turn)
  }

  /// SIGABRT to the group, so that it says where it was; then a grace.
  mutating func abort(_ sentence: String, _ turn: inout Turn) {
    depart(.aborting, .abort, sentence, &turn)
    set(.abort, in: policy.abortGrace, unlessEmpty: &turn)
  }

  /// SIGKILL to the group, repeated until it is gone: a group that forks can outrun one signal.
  mutating func kill(_ sentence: String, _ turn: inout Turn) {
    depart(.killing, .kill, "\(sentence) and gets SIGKILL", &turn)
    set(.kill, in: Limits.killRepeat, unlessEmpty: &turn)
  }

  /// It is leaving by itself; the rest gets a moment to follow.
  mutating func letLeave(_ sentence: String, _ turn: inout Turn) {
    guard state.kind != .stopping else { return }
    cancelAllTimers(&turn)
    enter(.stopping(.leaving), sentence, &turn)
    set(.leave, in: Limits.leaveGrace, unlessEmpty: &turn)
  }

  mutating func leaveGracePassed(_ turn: inout Turn) {
    guard let life = incarnation else { preconditionFailure("\(name) has a leave timer and is not there") }
    if life.exit == nil {
      if case .fault = life.ending {
        // It was cut, and what for was told then.
        terminate("stayed, and gets SIGTERM", &turn)
        return
      }
      if life.ending == .ownAccord { incarnation?.ending = .fault("closed its bus and stayed") }
      terminate("closed its bus, stayed, and gets SIGTERM", &turn)
    } else {
      terminate("left processes behind, which get SIGTERM", &turn)
    }
  }

  private mutating func depart(
    _ step: StoppingStep, _ signal: GroupSignal, _ sentence: String, _ turn: inout Turn
  ) {
    guard let life = incarnation, life.pid != nil else {
      preconditionFailure("\(name) was to get \(signal.rawValue) and has no process")
    }
    // The number of an empty group may be a stranger's by now; what is missing are its last words, which have a timer.
    guard !life.groupIsEmpty else { return }
    cancelAllTimers(&turn)
    enter(.stopping(step), sentence, &turn)
    turn.actions.append(.signalGroup(generation: life.generation, signal))
  }

  private mutating func set(_ timer: WorkerTimer, in period: Duration, unlessEmpty turn: inout Turn) {
    if incarnation?.groupIsEmpty == false { set(timer, in: period, &turn) }
  }
}
