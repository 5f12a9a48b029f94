internal import Clocks
internal import Contracts
internal import DequeModule
internal import HeapModule
internal import Nostr

// The queues of relays, sending, and the consequence of each outcome.

extension PublishQueue {
  func index(of key: SendingKey) -> Int? {
    entries[key.id]?.publication.targets.firstIndex { $0.relay == key.relay }
  }

  // MARK: Relay queues

  /// Puts a publication into the queues of its open relays, or lets it wait.
  mutating func begin(_ id: EventID, at moment: Moment) {
    guard let entry = entries[id] else { return }
    for (index, target) in entry.publication.targets.enumerated() where target.progress.state == .pending {
      if let due = entry.slots[index].due, due > moment.instant {
        wakes.add(.slot(SendingKey(id: id, relay: target.relay)), at: due)
      } else {
        entries[known: id].slots[index].due = nil
        lineUp(id, index, at: moment)
      }
    }
  }

  mutating func lineUp(_ id: EventID, _ index: Int, at moment: Moment) {
    guard let entry = entries[id], !entry.slots[index].isInLine, !entry.slots[index].isInFlight else { return }
    let relay = entry.publication.targets[index].relay
    locked.remove(SendingKey(id: id, relay: relay))
    entries[known: id].slots[index].isInLine = true
    lanes[relay, default: RelayQueue(window: limits.relayInFlightMaximum)].line.insert(
      RelayQueue.Place(number: entry.publication.number, id: id))
    enlist(relay)
  }

  /// Puts a lane into the ring if it may send, and removes an idle lane.
  mutating func enlist(_ relay: String) {
    guard let lane = lanes[relay] else { return }
    if lane.maySend, !lane.isInRing {
      lanes[known: relay].isInRing = true
      ring.append(relay)
    } else if lane.isIdle {
      lanes[relay] = nil
    }
  }

  /// Ends the hold of a lane.
  mutating func release(_ relay: String) {
    lanes[relay]?.hold = nil
    enlist(relay)
  }

  // MARK: Sending

  /// Sends one event of each lane in turn, until `inFlightMaximum` events are in flight.
  mutating func dispatch(at moment: Moment) {
    while !isClosed, inFlightCount < limits.inFlightMaximum, let relay = ring.popFirst() {
      lanes[known: relay].isInRing = false
      if lanes[relay]?.maySend == true, sendFirst(of: relay) { pace(relay, at: moment) }
      enlist(relay)
    }
  }

  /// Sends the first event of a lane; false when it had none.
  private mutating func sendFirst(of relay: String) -> Bool {
    while let place = lanes[relay]?.line.popMin() {
      let key = SendingKey(id: place.id, relay: relay)
      guard let index = index(of: key), let entry = entries[place.id] else { continue }
      entries[known: place.id].slots[index].isInLine = false
      let target = entry.publication.targets[index]
      guard target.progress.state == .pending, entry.slots[index].due == nil, !entry.slots[index].isInFlight else {
        continue
      }
      let isPaced = paces[relay] != nil
      entries[known: place.id].slots[index].isInFlight = true
      entries[known: place.id].publication.change(index) {
        $0.progress.state = .sent
        $0.progress.attempts += 1
        $0.progress.nextAttemptAt = nil
        if !isPaced { $0.paceMilliseconds = 0 }
      }
      lanes[known: relay].inFlightCount += 1
      inFlightCount += 1
      actions.append(.tell(place.id))
      actions.append(.send(key, target.manner))
      return true
    }
    return false
  }

  /// Makes the next event for a relay wait as long as the relay's pace requires.
  private mutating func pace(_ relay: String, at moment: Moment) {
    guard let pace = paces[relay] else { return }
    guard moment.instant.milliseconds(since: pace.usedAt) < RelayPace.memoryMilliseconds else {
      paces[relay] = nil
      return
    }
    paces[relay]?.usedAt = moment.instant
    holdByPace(relay, pace, for: pace.milliseconds, at: moment)
    notePace(pace, ofNextFor: relay)
  }

  private mutating func holdByPace(_ relay: String, _ pace: RelayPace, for milliseconds: UInt64, at moment: Moment) {
    let end = moment.instant.advanced(milliseconds: milliseconds)
    lanes[relay]?.hold = RelayQueue.Hold(reason: .paced, end: end, words: pace.words)
    wakes.add(.lane(relay), at: end)
  }

  /// Records the pace with the next event for a relay.
  private mutating func notePace(_ pace: RelayPace, ofNextFor relay: String) {
    guard let next = lanes[relay]?.line.min, let index = index(of: SendingKey(id: next.id, relay: relay)) else {
      return
    }
    let milliseconds = UInt32(clamping: pace.milliseconds)
    guard entries[next.id]?.publication.targets[index].paceMilliseconds != milliseconds else { return }
    entries[known: next.id].publication.change(index) { $0.paceMilliseconds = milliseconds }
    changed(next.id)
  }

  /// Restores a pace that an earlier process had learned. The first event waits as well.
  mutating func restorePace(_ milliseconds: UInt32, of relay: String, at moment: Moment) {
    guard milliseconds > 0, paces[relay] == nil, paces.count < limits.paceMaximum else { return }
    let pace = RelayPace(learned: milliseconds, at: moment.instant)
    paces[relay] = pace
    if lanes[relay] == nil { lanes[relay] = RelayQueue(window: 1) }
    lanes[relay]?.window = 1
    guard lanes[relay]?.hold == nil else { return }
    holdByPace(relay, pace, for: min(pace.milliseconds, limits.restoredCeilingMilliseconds), at: moment)
  }

  /// A relay has answered `rate-limited`: its pace becomes slower.
  private mutating func slowDown(_ relay: String, at now: Instant) {
    if paces[relay] != nil {
      paces[relay]?.refused(at: now)
    } else {
      paces[relay] = RelayPace(taken: lanes[relay]?.takenCount(at: now) ?? 0, at: now)
    }
    guard paces.count > limits.paceMaximum else { return }
    paces = paces.filter { now.milliseconds(since: $0.value.usedAt) < RelayPace.memoryMilliseconds }
    while paces.count > limits.paceMaximum, let oldest = paces.min(by: { $0.value.usedAt < $1.value.usedAt }) {
      paces[oldest.key] = nil
    }
  }

  /// A relay has accepted an event: its pace becomes a little quicker.
  private mutating func quicken(_ relay: String, at now: Instant) {
    lanes[relay]?.tookEvent(at: now)
    if paces[relay]?.taken() == false { paces[relay] = nil }
  }

  // MARK: Outcomes

  mutating func settle(_ key: SendingKey, _ index: Int, _ outcome: SendOutcome, at moment: Moment) {
    switch outcome {
    case .taken, .refused, .rejected, .unauthorized, .locked:
      lanes[key.relay]?.answered(windowMaximum: limits.relayInFlightMaximum)
    case .failing:
      lanes[key.relay]?.failures = 0
      lanes[key.relay]?.window = 1
    case .unsettled: lanes[key.relay]?.window = 1
    case .limited: hold(key.relay, .limited, outcome.words, nil, at: moment)
    case .unreachable(_, let milliseconds): hold(key.relay, .unreachable, outcome.words, milliseconds, at: moment)
    case .absent: hold(key.relay, .absent, outcome.words, nil, at: moment)
    }
    if case .taken = outcome {
      quicken(key.relay, at: moment.instant)
      return confirm(key, index, outcome.words, at: moment)
    }
    // A relay that was cancelled or given up meanwhile stays so.
    guard let sent = entries[key.id]?.publication.targets[index].progress, sent.state == .sent else { return }
    tryAgain(key, index, outcome, at: moment)
    // An event that did not leave this machine, for the same reason as before, is not recorded each time.
    if case .absent(let words) = outcome, words == sent.message { return actions.append(.tell(key.id)) }
    changed(key.id)
  }

  private mutating func confirm(_ key: SendingKey, _ index: Int, _ words: String, at moment: Moment) {
    entries[known: key.id].publication.change(index) {
      $0.progress.state = .confirmed
      $0.progress.message = words.isEmpty ? nil : words
      $0.progress.nextAttemptAt = nil
      $0.progress.confirmedAt = moment.time
    }
    changed(key.id)
  }

  private mutating func tryAgain(_ key: SendingKey, _ index: Int, _ outcome: SendOutcome, at moment: Moment) {
    guard let target = entries[key.id]?.publication.targets[index] else { return }
    let base = limits.authorizationBaseMilliseconds
    switch outcome {
    case .refused(let words): end(key.id, index, .failed, words)
    case .failing(let words):
      refuse(key, index, words, limits.failureMaximum, limits.rejectionBaseMilliseconds, at: moment)
    case .rejected(let words):
      refuse(key, index, words, limits.rejectionMaximum, limits.rejectionBaseMilliseconds, at: moment)
    case .unauthorized(let words): refuse(key, index, words, limits.authorizationMaximum, base, at: moment)
    case .locked(let words):
      // The relay has not refused it, but the number of attempts shows how long the account has been locked.
      wait(key, index, words, window: grown(base, target.progress.attempts - 1), at: moment)
      locked.insert(key)
    case .unsettled(let words):
      let count = entries[key.id]?.slots[index].unsettledCount ?? 0
      entries[known: key.id].slots[index].unsettledCount = count + 1
      guard count + 1 < limits.unansweredMaximum else {
        return end(
          key.id, index, .failed, "the relay was sent it \(count + 1) times and has never answered; at last: \(words)")
      }
      wait(key, index, words, window: grown(limits.unsettledBaseMilliseconds, count), at: moment)
    case .unreachable(let words, _) where target.manner.isForeign && target.progress.attempts >= limits.foreignMaximum:
      end(
        key.id, index, .failed,
        "others named this relay, and it could not be reached in \(target.progress.attempts) attempts; at last: \(words)"
      )
    case .limited(let words), .unreachable(let words, _), .absent(let words):
      var isCounted = true
      if case .absent = outcome { isCounted = false }
      let pace = paces[key.relay].map { UInt32(clamping: $0.milliseconds) }
      entries[known: key.id].publication.change(index) {
        $0.progress.state = .pending
        $0.progress.message = words
        if !isCounted { $0.progress.attempts -= 1 }
        if let pace { $0.paceMilliseconds = pace }
      }
      lineUp(key.id, index, at: moment)
    case .taken: preconditionFailure("what was taken is not tried again")
    }
  }

  /// Counts a refusal. At the maximum the relay is given up.
  private mutating func refuse(
    _ key: SendingKey, _ index: Int, _ words: String, _ maximum: Int, _ base: UInt64, at moment: Moment
  ) {
    guard let count = entries[key.id]?.publication.targets[index].refusals else { return }
    entries[known: key.id].publication.change(index) { $0.refusals = count + 1 }
    if count + 1 >= maximum {
      end(key.id, index, .failed, words)
    } else {
      wait(key, index, words, window: grown(base, count), at: moment)
    }
  }

  /// Makes this event wait for this relay; other events for the relay do not wait.
  private mutating func wait(
    _ key: SendingKey, _ index: Int, _ words: String, window: UInt64, at moment: Moment
  ) {
    let milliseconds = wait(below: window)
    let due = moment.instant.advanced(milliseconds: milliseconds)
    entries[known: key.id].slots[index].due = due
    entries[known: key.id].publication.change(index) {
      $0.progress.state = .pending
      $0.progress.message = words
      $0.progress.nextAttemptAt = moment.time + Int64((milliseconds + 999) / 1_000)
    }
    wakes.add(.slot(key), at: due)
  }

  /// Makes all events for this relay wait. Several attempts in flight that fail together lengthen the wait only once.
  private mutating func hold(
    _ relay: String, _ reason: RelayQueue.HoldReason, _ words: String, _ milliseconds: UInt64?, at moment: Moment
  ) {
    guard let lane = lanes[relay] else { return }
    lanes[relay]?.window = 1
    guard lane.hold == nil || lane.hold?.reason == .paced else { return }
    if reason == .limited { slowDown(relay, at: moment.instant) }
    let (base, ceiling) =
      switch reason {
      case .unreachable: (limits.unreachableBaseMilliseconds, limits.ceilingMilliseconds)
      case .limited: (limits.limitedBaseMilliseconds, limits.ceilingMilliseconds)
      case .absent: (limits.absentBaseMilliseconds, limits.absentCeilingMilliseconds)
      case .paced: preconditionFailure("a pace is no trouble")
      }
    let chosen = wait(below: min(grown(base, lane.failures), ceiling))
    let least = reason == .limited ? paces[relay]?.milliseconds : milliseconds
    let end = moment.instant.advanced(milliseconds: max(chosen, min(least ?? 0, ceiling)))
    lanes[relay]?.failures += 1
    lanes[relay]?.hold = RelayQueue.Hold(reason: reason, end: end, words: words)
    wakes.add(.lane(relay), at: end)
  }

  private func grown(_ base: UInt64, _ failures: Int) -> UInt64 {
    BackOff.window(base: base, ceiling: limits.ceilingMilliseconds, failureCount: failures)
  }

  private mutating func wait(below window: UInt64) -> UInt64 {
    max(UInt64.random(in: 0...window, using: &generator), limits.spacingMilliseconds)
  }
}
