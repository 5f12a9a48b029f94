import Clocks

/// From the request to start to READY.
extension WorkerMachine {
  func missingSentence() -> String { "waits \(WaitingReason.dependencies(missingDependencies).sentence)" }

  /// Starts, or waits for its dependencies. No instance may be alive.
  mutating func begin(_ transition: inout Transition) {
    precondition(incarnation == nil, "\(name) was to start while generation \(generation) lives")
    cancelAllTimers(&transition)
    guard missingDependencies.isEmpty else {
      enter(.waiting(.dependencies(missingDependencies)), missingSentence(), &transition)
      return
    }
    let next = Incarnation(generation: generation + 1)
    incarnation = next
    switch state {
    case .waiting(.spawnRate), .waiting(.resources), .waiting(.instanceLock):
      // A retry after a refusal: the reason stays until the answer changes it, or the log would flicker.
      break
    default:
      // If a life ended just now, only this sentence says how.
      let end = state.kind == .stopping ? lastExit.map { "\($0.sentence) and " } ?? "" : ""
      enter(.waiting(.spawning), "\(end)is spawned as generation \(next.generation)", &transition)
    }
    transition.actions.append(.spawn(generation: next.generation))
  }

  mutating func dependenciesChanged(missing: [String], _ transition: inout Transition) {
    missingDependencies = missing
    // `after` is an order of starting: a worker that runs does not stop with those before it. A worker that waits at
    // another gate checks its dependencies when that gate opens.
    guard case .waiting(.dependencies) = state else { return }
    begin(&transition)
  }

  mutating func lockFreed(_ transition: inout Transition) {
    // In other states the worker does not wait for the lock, and a spawn in progress brings its own answer.
    guard case .waiting(.instanceLock) = state, incarnation == nil else { return }
    begin(&transition)
  }

  /// The spawn was refused before anything was made; the generation number is free again.
  mutating func spawnWasGated(_ reason: WaitingReason, retryAt: Instant, _ transition: inout Transition) {
    // Already answered: a process exists.
    guard incarnation?.pid == nil else { return }
    incarnation = nil
    guard case .waiting = state else {
      settle(&transition)
      return
    }
    enter(.waiting(reason), "waits \(reason.sentence)", &transition)
    let wait = Duration.milliseconds(retryAt.milliseconds(since: transition.now))
    set(.gate, at: max(retryAt, transition.now), period: wait, &transition)
  }

  mutating func spawned(pid: Int32, _ transition: inout Transition) {
    // Already answered.
    guard let life = incarnation, life.pid == nil else { return }
    spawnWasMade(generation: life.generation, &transition)
    incarnation?.pid = pid
    incarnation?.spawnedAt = transition.now
    guard case .waiting = state else {
      // A stop was requested while the kernel made the process.
      terminate("is no longer wanted and gets SIGTERM", &transition)
      return
    }
    enter(.starting, "is starting: generation \(life.generation), pid \(pid)", &transition)
    set(.start, in: policy.startDeadline, &transition)
  }

  mutating func spawnFailed(text: String, _ transition: inout Transition) {
    // Already answered.
    guard let life = incarnation, life.pid == nil else { return }
    spawnWasMade(generation: life.generation, &transition)
    incarnation = nil
    lastExit = LastExit(
      generation: life.generation, status: nil, at: transition.now, lifetimeMilliseconds: 0,
      sentence: "could not be run: \(text)")
    guard isToRun else {
      settle(&transition)
      return
    }
    // Even if a stop and a start came meanwhile: no request made the spawn fail.
    executionFailed(text: text, &transition)
  }

  /// The generation number is used up, and the breaker records the restart.
  private mutating func spawnWasMade(generation: UInt32, _ transition: inout Transition) {
    self.generation = generation
    if nextSpawnCounts {
      history.record(now: transition.now, policy: policy)
      incarnation?.countedAt = transition.now
    }
    nextSpawnCounts = false
  }

  mutating func readyReceived(_ transition: inout Transition) {
    // In `ready` it is a second READY, which the hub punishes; later it is too late: the worker must leave.
    guard state == .starting, let life = incarnation else { return }
    incarnation?.readyAt = transition.now
    cancel(.start, &transition)
    enter(.ready, "is ready after \(transition.now.spoken(since: life.spawnedAt ?? since))", &transition)
  }

  mutating func extendReceived(milliseconds: UInt64, _ transition: inout Transition) {
    let timer: WorkerTimer
    switch state {
    case .starting: timer = .start
    case .draining: timer = .drain
    case .stopping(.leaving): timer = .leave
    case .stopping(.terminating): timer = .term
    // A ready worker has no deadline, and after SIGABRT and SIGKILL a worker gets no more time.
    default: return
    }
    let granted = min(milliseconds, Limits.maximumExtension.wholeMilliseconds)
    var instant = transition.now.advanced(milliseconds: granted)
    if let limit = incarnation?.extensionLimit { instant = min(instant, limit) }
    // EXTEND asks for more time, never for less.
    guard let running = timers[timer], instant > running.at else { return }
    set(timer, at: instant, period: running.period, &transition)
  }

  mutating func startDeadlinePassed(_ transition: inout Transition) {
    precondition(state == .starting, "\(name) has a start deadline in \(state.kind)")
    let waited = transition.now.spoken(since: incarnation?.spawnedAt ?? since)
    let missing = incarnation?.hasSaidHello == true ? "ready" : "ready, nor had it said HELLO,"
    incarnation?.ending = .fault("was not \(missing) after \(waited)")
    abort("was not \(missing) after \(waited) and gets SIGABRT", &transition)
  }

  /// Adopts a new policy. Running timers keep their deadlines.
  mutating func policyChanged(_ policy: WorkerPolicy, _ transition: inout Transition) {
    let known = Set(self.policy.after)
    let missing = Set(missingDependencies)
    self.policy = policy
    // A dependency that is new here counts as not ready until the caller reports otherwise.
    let nowMissing = policy.after.filter { missing.contains($0) || !known.contains($0) }
    if nowMissing != missingDependencies { dependenciesChanged(missing: nowMissing, &transition) }
  }
}
