import Clocks

/// The end of a life, and what follows.
extension WorkerMachine {
  // MARK: The three signs of an end

  mutating func exited(_ status: WorkerExit, _ transition: inout Transition) {
    // Before `spawned` there is no process that could exit, and no process exits twice.
    guard let life = incarnation, life.pid != nil, life.exit == nil else { return }
    incarnation?.exit = status
    incarnation?.exitedAt = transition.now
    letLeave(status.sentence, &transition)
    concludeIfOver(&transition)
  }

  mutating func busEnded(cut reason: String?, _ transition: inout Transition) {
    guard let life = incarnation, life.pid != nil, !life.busHasEnded else { return }
    incarnation?.busHasEnded = true
    if let reason, life.ending == .ownAccord { incarnation?.ending = .fault(reason) }
    letLeave(reason ?? "has left its bus", &transition)
    concludeIfOver(&transition)
  }

  mutating func groupEmptied(_ transition: inout Transition) {
    guard let life = incarnation, life.pid != nil, !life.groupIsEmpty else { return }
    incarnation?.groupIsEmpty = true
    letLeave("is gone", &transition)
    cancelAllTimers(&transition)
    set(.lastWords, in: Limits.lastWords, &transition)
    concludeIfOver(&transition)
  }

  /// The leader is leaving without a signal; the rest of its group gets a moment to follow.
  mutating func letLeave(_ sentence: String, _ transition: inout Transition) {
    guard state.kind != .stopping else { return }
    cancelAllTimers(&transition)
    enter(.stopping(.leaving), sentence, &transition)
    set(.leave, in: Limits.leaveGrace, unlessEmpty: &transition)
  }

  /// The group is gone but its exit status or the end of its bus never came: another part of the process took the
  /// status, or a foreign process holds the other end of the bus. Neither may keep the worker from its next life.
  mutating func lastWordsOverdue(_ transition: inout Transition) {
    guard let life = incarnation else { preconditionFailure("\(name) has a last-words timer and is not there") }
    if life.exit == nil {
      incarnation?.exit = .unknown
      incarnation?.exitedAt = transition.now
    }
    if !life.busHasEnded {
      incarnation?.busHasEnded = true
      transition.actions.append(.cutBus(generation: life.generation))
    }
    concludeIfOver(&transition)
  }

  private mutating func concludeIfOver(_ transition: inout Transition) {
    guard let life = incarnation, life.isOver, let status = life.exit else { return }
    incarnation = nil
    cancelAllTimers(&transition)
    let sentence =
      if case .fault(let fault) = life.ending { "\(status.sentence): it \(fault)" } else { status.sentence }
    let end = life.exitedAt ?? transition.now
    lastExit = LastExit(
      generation: life.generation, status: status, at: end,
      lifetimeMilliseconds: end.milliseconds(since: life.spawnedAt ?? end), sentence: sentence,
      wasSilent: !life.hasSaidHello && life.ending == .ownAccord)
    if !isToRun || life.ending == .asked {
      settle(&transition)
    } else {
      judge(life, status, sentence, &transition)
    }
  }

  // MARK: What comes after

  /// Decides what follows when a wanted worker left without a request.
  private mutating func judge(
    _ life: Incarnation, _ status: WorkerExit, _ sentence: String, _ transition: inout Transition
  ) {
    if life.isChargedToPoison { takeBack(startOf: life) }
    if life.wasStable(after: policy.stableAfter) {
      unstableLives = 0
    } else if !life.isChargedToPoison {
      unstableLives += 1
    }
    let verdict = life.ending == .ownAccord ? status.verdict : .crash
    switch verdict {
    case .usage, .configuration, .gaveUp:
      fail(.refused(status), &transition)
    case .notExecutable:
      // The life was too short to be stable; `executionFailed` counts this step itself.
      unstableLives = max(0, unstableLives - 1)
      executionFailed(text: "it exited with \(status.exitCode ?? 127)", &transition)
    case .done where policy.restart != .always, .unavailable where policy.restart == .never,
      .tryLater where policy.restart == .never, .crash where policy.restart == .never:
      leaveForGood(status, sentence, &transition)
    case .done, .crash:
      restart(counts: !life.isChargedToPoison, because: sentence, &transition)
    case .unavailable, .tryLater:
      // The worker itself says that an immediate restart is too early, however long it was stable.
      unstableLives = max(2, unstableLives)
      restart(counts: verdict == .tryLater && !life.isChargedToPoison, because: sentence, &transition)
    }
  }

  /// The message that caused this death was also in flight at the one before, when the cause could not be known. What
  /// that earlier death cost the worker is given back, so that a message costs it nothing in the end, however many
  /// lives it ended.
  private mutating func takeBack(startOf life: Incarnation) {
    guard let restart = life.countedAt else { return }
    history.takeBack(restart)
    unstableLives = max(0, unstableLives - 1)
  }

  /// Starts the worker again: at once after a stable life and after the first unstable one, else after a wait.
  private mutating func restart(counts: Bool, because sentence: String, _ transition: inout Transition) {
    guard mayRestart(counts: counts, last: sentence, &transition) else { return }
    let wait = drawWait(transition)
    guard wait > 0 else {
      begin(&transition)
      return
    }
    let until = transition.now.advanced(milliseconds: wait)
    enter(.backoff(until: until), "\(sentence); \(nextSentence(waitMilliseconds: wait, transition))", &transition)
    set(.backoff, at: until, period: .milliseconds(wait), &transition)
  }

  /// The program could not be run. This is a state of its own: waiting does not fix a wrong path, but a disk may be
  /// mounted.
  mutating func executionFailed(text: String, _ transition: inout Transition) {
    guard policy.restart != .never else {
      fail(.notExecutable(text), &transition)
      return
    }
    // An immediate retry does not fix a wrong path.
    unstableLives = max(2, unstableLives + 1)
    guard mayRestart(counts: true, last: "could not be run: \(text)", &transition) else { return }
    let wait = drawWait(transition)
    let until = transition.now.advanced(milliseconds: wait)
    let next = nextSentence(waitMilliseconds: wait, transition)
    enter(.execFailed(text: text, until: until), "could not be run: \(text); \(next)", &transition)
    set(.backoff, at: until, period: .milliseconds(wait), &transition)
  }

  /// Asks the breaker, and notes whether the next spawn counts.
  private mutating func mayRestart(counts: Bool, last sentence: String, _ transition: inout Transition) -> Bool {
    let tally = history.tally(policy: policy, now: transition.now)
    guard !counts || !tally.isExhausted else {
      fail(.breaker(tally, last: sentence), &transition)
      return false
    }
    nextSpawnCounts = counts
    return true
  }

  /// Full jitter: any wait from 0 to the longest, so that workers that one cause ended do not restart in step.
  private func drawWait(_ transition: Transition) -> UInt64 {
    let longest = policy.longestWaitMilliseconds(unstableLives: unstableLives)
    return transition.dice.multipliedFullWidth(by: longest + 1).high
  }

  private func nextSentence(waitMilliseconds: UInt64, _ transition: Transition) -> String {
    "\(history.tally(policy: policy, now: transition.now).sentence); next in \(spoken(milliseconds: waitMilliseconds))"
  }

  private mutating func fail(_ reason: FailureReason, _ transition: inout Transition) {
    enter(.failed(reason), "has failed: \(reason.sentence)", &transition)
    escalateIfCritical("has failed: \(reason.sentence)", &transition)
  }

  private mutating func leaveForGood(_ status: WorkerExit, _ sentence: String, _ transition: inout Transition) {
    enter(.exited, "\(sentence) and is not started again (restart = \(policy.restart.rawValue))", &transition)
    if status.verdict != .done { escalateIfCritical("\(sentence) and is not started again", &transition) }
  }

  private func escalateIfCritical(_ sentence: String, _ transition: inout Transition) {
    if policy.isCritical { transition.actions.append(.escalate(reason: "\(name) is critical and \(sentence)")) }
  }
}
