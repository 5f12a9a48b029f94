internal import Clocks
internal import Contracts
internal import DequeModule
internal import HeapModule
internal import Nostr

// Lines, sending, and what each outcome leads to.

extension PublishQueue {
  func index(of key: SendingKey) -> Int? {
    entries[key.id]?.publication.targets.firstIndex { $0.relay == key.relay }
  }

  // MARK: Lines

  /// Puts the open relays of a publication into their lines, or lets them wait.
  mutating func begin(_ id: EventID, at moment: Moment) {
    guard let entry = entries[id] else { return }
    for (index, target) in entry.publication.targets.enumerated() where target.progress.state == .pending {
      if let due = entry.slots[index].due, due > moment.instant {
        wakes.insert(Wake(at: due, cause: .slot(SendingKey(id: id, relay: target.relay))))
      } else {
        entries[id]?.slots[index].due = nil
        lineUp(id, index, at: moment)
      }
    }
  }

  mutating func lineUp(_ id: EventID, _ index: Int, at moment: Moment) {
    guard let entry = entries[id], !entry.slots[index].isInLine, !entry.slots[index].isInFlight else { return }
    let relay = entry.publication.targets[index].relay
    locked.remove(SendingKey(id: id, relay: relay))
    entries[id]?.slots[index].isInLine = true
    lanes[relay, default: RelayLane(window: limits.relayInFlightMaximum)].line.insert(
      RelayLane.Place(number: entry.publication.number, id: id))
    enlist(relay)
  }

  /// Gives a lane its turn if it may send; one that nobody needs goes.
  mutating func enlist(_ relay: String) {
    guard let lane = lanes[relay] else { return }
    if lane.maySend, !lane.isInRing {
      lanes[relay]?.isInRing = true
      ring.append(relay)
    } else if lane.isIdle {
      lanes[relay] = nil
    }
  }

  /// Ends what holds a lane.
  mutating func release(_ relay: String) {
    lanes[relay]?.hold = nil
    enlist(relay)
  }

  // MARK: Sending

  /// Sends one event of each lane in turn, while there is room.
  mutating func dispatch() {
    while !isClosed, inFlightCount < limits.inFlightMaximum, let relay = ring.popFirst() {
      lanes[relay]?.isInRing = false
      if lanes[relay]?.maySend == true { sendFirst(of: relay) }
      enlist(relay)
    }
  }

  private mutating func sendFirst(of relay: String) {
    while let place = lanes[relay]?.line.popMin() {
      let key = SendingKey(id: place.id, relay: relay)
      guard let index = index(of: key), let entry = entries[place.id] else { continue }
      entries[place.id]?.slots[index].isInLine = false
      let target = entry.publication.targets[index]
      guard target.progress.state == .pending, entry.slots[index].due == nil, !entry.slots[index].isInFlight else {
        continue
      }
      entries[place.id]?.slots[index].isInFlight = true
      entries[place.id]?.publication.change(index) {
        $0.progress.state = .sent
        $0.progress.attempts += 1
        $0.progress.nextAttemptAt = nil
      }
      lanes[relay]?.inFlightCount += 1
      inFlightCount += 1
      actions.append(.tell(place.id))
      actions.append(.send(key, target.manner))
      return
    }
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
    if case .taken = outcome { return confirm(key, index, outcome.words, at: moment) }
    // What was called off or given up meanwhile stays so.
    guard entries[key.id]?.publication.targets[index].progress.state == .sent else { return }
    tryAgain(key, index, outcome, at: moment)
    changed(key.id)
  }

  private mutating func confirm(_ key: SendingKey, _ index: Int, _ words: String, at moment: Moment) {
    entries[key.id]?.publication.change(index) {
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
      // Its attempts were no refusals of the relay's, but they tell how long this has been going on.
      wait(key, index, words, window: grown(base, target.progress.attempts - 1), at: moment)
      locked.insert(key)
    case .unsettled(let words):
      let count = entries[key.id]?.slots[index].unsettledCount ?? 0
      entries[key.id]?.slots[index].unsettledCount = count + 1
      wait(key, index, words, window: grown(limits.unsettledBaseMilliseconds, count), at: moment)
    case .limited(let words), .unreachable(let words, _), .absent(let words):
      var isCounted = true
      if case .absent = outcome { isCounted = false }
      entries[key.id]?.publication.change(index) {
        $0.progress.state = .pending
        $0.progress.message = words
        if !isCounted { $0.progress.attempts -= 1 }
      }
      lineUp(key.id, index, at: moment)
    case .taken: preconditionFailure("what was taken is not tried again")
    }
  }

  /// Counts a refusal: one too many, and it is given up.
  private mutating func refuse(
    _ key: SendingKey, _ index: Int, _ words: String, _ maximum: Int, _ base: UInt64, at moment: Moment
  ) {
    guard let count = entries[key.id]?.publication.targets[index].refusals else { return }
    entries[key.id]?.publication.change(index) { $0.refusals = count + 1 }
    if count + 1 >= maximum {
      end(key.id, index, .failed, words)
    } else {
      wait(key, index, words, window: grown(base, count), at: moment)
    }
  }

  /// This event waits at this relay; others for it do not.
  private mutating func wait(
    _ key: SendingKey, _ index: Int, _ words: String, window: UInt64, at moment: Moment
  ) {
    let milliseconds = wait(below: window)
    let due = moment.instant.advanced(milliseconds: milliseconds)
    entries[key.id]?.slots[index].due = due
    entries[key.id]?.publication.change(index) {
      $0.progress.state = .pending
      $0.progress.message = words
      $0.progress.nextAttemptAt = moment.time + Int64((milliseconds + 999) / 1_000)
    }
    wakes.insert(Wake(at: due, cause: .slot(key)))
  }

  /// Everything for this relay waits. Several attempts that end alike are one reason to wait longer.
  private mutating func hold(
    _ relay: String, _ reason: RelayLane.HoldReason, _ words: String, _ milliseconds: UInt64?, at moment: Moment
  ) {
    guard let lane = lanes[relay] else { return }
    lanes[relay]?.window = 1
    guard lane.hold == nil else { return }
    let (base, ceiling) =
      switch reason {
      case .unreachable: (limits.unreachableBaseMilliseconds, limits.ceilingMilliseconds)
      case .limited: (limits.limitedBaseMilliseconds, limits.ceilingMilliseconds)
      case .absent: (limits.absentBaseMilliseconds, limits.absentCeilingMilliseconds)
      }
    let chosen = wait(below: min(grown(base, lane.failures), ceiling))
    let end = moment.instant.advanced(milliseconds: max(chosen, min(milliseconds ?? 0, ceiling)))
    lanes[relay]?.failures += 1
    lanes[relay]?.hold = RelayLane.Hold(reason: reason, end: end, words: words)
    wakes.insert(Wake(at: end, cause: .lane(relay)))
  }

  private func grown(_ base: UInt64, _ failures: Int) -> UInt64 {
    // 2^20 times any base is beyond the ceiling, and far from overflow.
    min(limits.ceilingMilliseconds, base << UInt64(max(0, min(failures, 20))))
  }

  private mutating func wait(below window: UInt64) -> UInt64 {
    max(UInt64.random(in: 0...window, using: &generator), limits.spacingMilliseconds)
  }
}
