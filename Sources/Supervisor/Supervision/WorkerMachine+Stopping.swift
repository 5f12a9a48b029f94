import Clocks

/// From the request to leave to the last signal: DRAIN, SIGTERM, SIGKILL, each with a deadline.
extension WorkerMachine {
  // MARK: What the operator wants

  mutating func startRequested(_ transition: inout Transition) {
    isWanted = true
    switch state.kind {
    case .stopped, .exited, .failed, .backoff, .execFailed: settle(&transition)
    // Already on its way.
    case .waiting, .starting, .ready: break
    // It starts when the ending life is over.
    case .draining, .stopping: break
    // A release ends a hold and the visitor ends a visit; the worker starts then.
    case .held, .attached: break
    }
  }

  mutating func stopRequested(drain: Duration?, _ transition: inout Transition) {
    let isRepeated = !isWanted
    isWanted = false
    isHeld = false
    if let pid = visitor {
      visitor = nil
      transition.actions.append(.dismissAttached(pid: pid, reason: "\(name) is being stopped"))
    }
    guard incarnation != nil else {
      settle(&transition)
      return
    }
    switch state.kind {
    case .draining, .stopping:
      if isRepeated { hurry(&transition) } else { shorten(drain: drain, &transition) }
    default:
      leave(drain: drain, because: "a stop was asked for", &transition)
    }
  }

  mutating func restartRequested(_ transition: inout Transition) {
    switch state.kind {
    case .starting, .ready: leave(drain: nil, because: "a restart was asked for", &transition)
    case .stopped, .exited, .failed, .backoff, .execFailed, .draining, .stopping: startRequested(&transition)
    // A new process is already on its way.
    case .waiting: break
    // A held worker stays held, and the supervisor does not restart a hand-started process.
    case .held, .attached: break
    }
  }

  // MARK: What else ends a life

  mutating func drainFinished(_ transition: inout Transition) {
    // In `ready`, having no work in flight is normal; in `stopping`, a signal was sent already.
    guard state == .draining else { return }
    terminate("has finished its work and gets SIGTERM", &transition)
  }

  mutating func violated(code: String, _ transition: inout Transition) {
    switch state.kind {
    case .starting, .ready: incarnation?.ending = .fault("broke the protocol (\(code))")
    // The requested end happens anyway; there is only no reason to wait for the drain now.
    case .draining: break
    default: return
    }
    terminate("broke the protocol (\(code)) and gets SIGTERM", &transition)
  }

  mutating func becameStuck(why: String, _ transition: inout Transition) {
    // Before READY and after DRAIN a deadline runs that ends the worker too.
    guard state == .ready else { return }
    incarnation?.ending = .fault("was stuck: it \(why)")
    abort("is stuck (it \(why)) and gets SIGABRT", &transition)
  }

  mutating func memoryExceeded(text: String, _ transition: inout Transition) {
    // A worker that is leaving frees its memory anyway.
    guard state == .starting || state == .ready else { return }
    leave(drain: nil, because: text, &transition)
    incarnation?.ending = .fault("used too much memory (\(text))")
  }

  // MARK: The steps

  /// Ends the life in the gentlest way that its state allows. Not for a life that is already ending.
  mutating func leave(drain: Duration?, because reason: String, _ transition: inout Transition) {
    guard let life = incarnation else { preconditionFailure("\(name) was asked to leave and is not there") }
    incarnation?.ending = .asked
    guard life.pid != nil else {
      // The kernel has not answered yet; `spawned` then ends the process.
      enter(.stopping(.unspawned), "goes as soon as it is there: \(reason)", &transition)
      return
    }
    guard state == .ready else {
      // It has no work yet that could be drained.
      terminate("gets SIGTERM: \(reason)", &transition)
      return
    }
    let period = drain ?? policy.drainDeadline
    if drain != nil { incarnation?.extensionLimit = transition.now.later(by: period) }
    enter(.draining, "finishes its work: \(reason)", &transition)
    transition.actions.append(.sendDrain(generation: life.generation, milliseconds: max(1, period.wholeMilliseconds)))
    set(.drain, in: period, &transition)
  }

  /// A stop arrived while the life was ending for another reason: the stop's deadline applies if it is earlier.
  private mutating func shorten(drain: Duration?, _ transition: inout Transition) {
    guard let drain, let life = incarnation, let running = timers[.drain] else { return }
    let instant = transition.now.later(by: drain)
    incarnation?.extensionLimit = min(life.extensionLimit ?? instant, instant)
    guard instant < running.at else { return }
    transition.actions.append(.sendDrain(generation: life.generation, milliseconds: max(1, drain.wholeMilliseconds)))
    set(.drain, at: instant, period: drain, &transition)
  }

  /// Takes the next step at once.
  private mutating func hurry(_ transition: inout Transition) {
    switch state {
    case .draining, .stopping(.leaving): terminate("gets SIGTERM: stop was asked for twice", &transition)
    case .stopping(.terminating), .stopping(.aborting): kill("was asked to stop more than once", &transition)
    // No process exists yet, or it got SIGKILL, the strongest signal, or nothing is ending.
    default: break
    }
  }

  /// SIGTERM to the group, with a deadline.
  mutating func terminate(_ sentence: String, _ transition: inout Transition) {
    depart(.terminating, .term, sentence, &transition)
    set(.term, in: policy.termDeadline, unlessEmpty: &transition)
  }

  /// SIGABRT to the group, so that it writes a backtrace; then a grace.
  mutating func abort(_ sentence: String, _ transition: inout Transition) {
    depart(.aborting, .abort, sentence, &transition)
    set(.abort, in: policy.abortGrace, unlessEmpty: &transition)
  }

  /// SIGKILL to the group, repeated until it is gone: a group that forks can outrun one signal.
  mutating func kill(_ sentence: String, _ transition: inout Transition) {
    depart(.killing, .kill, "\(sentence) and gets SIGKILL", &transition)
    set(.kill, in: Limits.killRepeat, unlessEmpty: &transition)
  }

  mutating func leaveGracePassed(_ transition: inout Transition) {
    guard let life = incarnation else { preconditionFailure("\(name) has a leave timer and is not there") }
    if life.exit == nil {
      if case .fault = life.ending {
        // The supervisor cut its bus, and reported the reason then.
        terminate("stayed, and gets SIGTERM", &transition)
        return
      }
      if life.ending == .ownAccord { incarnation?.ending = .fault("closed its bus and stayed") }
      terminate("closed its bus, stayed, and gets SIGTERM", &transition)
    } else {
      terminate("left processes behind, which get SIGTERM", &transition)
    }
  }

  private mutating func depart(
    _ step: StoppingStep, _ signal: GroupSignal, _ sentence: String, _ transition: inout Transition
  ) {
    guard let life = incarnation, life.pid != nil else {
      preconditionFailure("\(name) was to get \(signal.rawValue) and has no process")
    }
    // The number of an empty group may belong to another one by now. Only its last words are missing, and they have a
    // timer.
    guard !life.groupIsEmpty else { return }
    cancelAllTimers(&transition)
    enter(.stopping(step), sentence, &transition)
    transition.actions.append(.signalGroup(generation: life.generation, signal))
  }

  mutating func set(_ timer: WorkerTimer, in period: Duration, unlessEmpty transition: inout Transition) {
    if incarnation?.groupIsEmpty == false { set(timer, in: period, &transition) }
  }
}
