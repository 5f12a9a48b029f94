internal import Clocks
public import EventArchive
public import Nostr

// Behind the checks: events that are ready go into a transaction, and their submissions are answered when it is
// committed. One transaction is under way at a time, so that events which come meanwhile share the next.

extension EventGate {
  /// What the next transaction writes; nil when nothing is ready, or one is under way.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - actions: gets the answers of submissions that need no transaction.
  public mutating func nextBatch(now: Int64, _ actions: inout [GateAction]) -> GateBatch? {
    guard writing == nil else { return nil }
    var batch = GateBatch()
    var writing: [(item: UInt64, isEntry: Bool)] = []
    var maximum = Self.batchMaximum
    for lane in Lane.allCases {
      let isLast = lane == Lane.allCases.last
      let end = min(maximum, isLast ? Self.batchMaximum : Self.batchMaximum - Self.batchReserve * (2 - lane.rawValue))
      while writing.count < end, let number = order[lane.rawValue].first {
        let item = items[known: number]
        guard let resolution = item.resolution else { break }
        order[lane.rawValue].removeFirst()
        switch prepare(item, resolution, now, &batch) {
        case .entry: writing.append((number, true))
        case .commitOnly: writing.append((number, false))
        case .decided(let outcome): finish(number, outcome, &actions)
        }
      }
      if lane == .local, !writing.isEmpty { maximum = min(maximum, writing.count + Self.besideLocalMaximum) }
    }
    guard !writing.isEmpty else { return nil }
    self.writing = writing
    return batch
  }

  /// What a transaction has of an item.
  private enum Share {
    case entry
    /// No entry, but the item's outcome waits for the commit.
    case commitOnly
    /// Nothing: its outcome is known, or nil when its submission was refused.
    case decided(GateOutcome?)
  }

  /// Puts an item into a batch. The batch is synced if no relay has sent the event: then a caller of this machine has
  /// handed it in, and may have no other copy.
  private func prepare(_ item: Item, _ resolution: Resolution, _ now: Int64, _ batch: inout GateBatch) -> Share {
    guard let submission = submissions[item.submission] else { return .decided(nil) }
    let incoming = submission.events[item.index]
    switch resolution {
    case .invalid(let reason): return .decided(.invalid(reason))
    case .metEphemeral: return .decided(.ephemeral(isNew: false))
    case .note(let note):
      batch.entries.append(.note(note))
      return .entry
    case .known(let seq):
      if incoming.relay == nil { batch.isSynced = true }
      // Nothing is written for it, but the event that it is a copy of may not be on the disk yet.
      guard incoming.relay != nil || submission.isLocal else { return .commitOnly }
      batch.entries.append(
        .seen(seq: seq, relay: incoming.relay, receivedAt: incoming.receivedAt, rank: submission.rank))
      return .entry
    case .valid(let event) where KindClass(event.indexed.kind) == .ephemeral:
      return event.expiration ?? .max <= now ? .decided(.archived(.expired)) : .commitOnly
    case .valid(var event):
      if incoming.relay == nil { batch.isSynced = true }
      event.relay = incoming.relay
      event.receivedAt = incoming.receivedAt
      event.rank = submission.rank
      batch.entries.append(.event(event))
      return .entry
    }
  }

  /// The transaction is committed.
  public mutating func committed(_ commit: ArchiveCommit, _ actions: inout [GateAction]) {
    guard let writing else { preconditionFailure("no transaction is under way") }
    self.writing = nil
    removed(commit.gone)
    let gone = Set(commit.gone)
    var outcomes = commit.outcomes.makeIterator()
    for (number, isEntry) in writing {
      let item = items[known: number]
      let outcome = isEntry ? outcomes.next() : nil
      guard let id = item.id else {
        finish(number, .archived(.noted), &actions)
        continue
      }
      guard let outcome else {
        if case .known(let seq)? = item.resolution {
          finish(number, .archived(.duplicate(seq: seq)), &actions)
        } else {
          let isNew = recentEphemeral.value(of: id) == nil
          recentEphemeral.insert(id, ())
          if isNew { announce(item, seq: nil, &actions) }
          finish(number, .ephemeral(isNew: isNew), &actions)
        }
        continue
      }
      switch outcome {
      case .stored(let seq):
        if !gone.contains(id) { recent.insert(id, seq) }
        announce(item, seq: seq, &actions)
      case .duplicate(let seq): if !gone.contains(id) { recent.insert(id, seq) }
      case .mended(let seq): actions.append(.mended(id, seq: seq))
      case .superseded: if let event = came(item) { actions.append(.announceSuperseded(event)) }
      case .deleted, .vanished, .expired, .noted: break
      }
      finish(number, .archived(outcome), &actions)
    }
    if commit.hasVanishing { removedUnknown() }
  }

  private func announce(_ item: Item, seq: Int64?, _ actions: inout [GateAction]) {
    if let event = came(item) { actions.append(.announce(event, seq: seq)) }
  }

  /// The event as it came: with the relay that sent it.
  private func came(_ item: Item) -> VerifiedEvent? {
    guard case .valid(var event)? = item.resolution else { return nil }
    event.relay = submissions[item.submission]?.events[item.index].relay
    return event
  }

  /// Events were removed by themselves: they may come again.
  public mutating func removed(_ ids: [EventID]) {
    guard !ids.isEmpty else { return }
    removalCount += 1
    for id in ids { recent.remove(id) }
  }

  /// Events were removed, and it is not known which: any may come again.
  public mutating func removedUnknown() {
    removalCount += 1
    recent.removeAll()
  }

  /// The transaction was not committed: each submission with an event in it is refused, with all of it that still
  /// waits. So is each submission with a note that waits: the note could speak of earlier events that were not stored.
  public mutating func failed(_ actions: inout [GateAction]) {
    guard let writing else { preconditionFailure("no transaction is under way") }
    self.writing = nil
    for (number, _) in writing {
      refuse(items[known: number].submission, &actions)
      finish(number, nil, &actions)
    }
    for (number, submission) in submissions.sorted(by: { $0.key < $1.key }) where submission.hasNotes {
      refuse(number, &actions)
    }
  }

  private mutating func refuse(_ number: UInt64, _ actions: inout [GateAction]) {
    guard let submission = submissions.removeValue(forKey: number) else { return }
    waiting[submission.lane.rawValue] -= submission.open
    actions.append(.refuse(number))
  }

  /// An item has its outcome; nil when its submission was refused.
  private mutating func finish(_ number: UInt64, _ outcome: GateOutcome?, _ actions: inout [GateAction]) {
    guard let item = items.removeValue(forKey: number) else { preconditionFailure("an item has one outcome") }
    if let id = item.id, !item.isAlone, case .valid? = item.resolution { leave(id) }
    guard let outcome, var submission = submissions.removeValue(forKey: item.submission) else { return }
    submission.result.add(outcome, id: item.id, submission.events[item.index], index: item.index)
    submission.open -= 1
    waiting[submission.lane.rawValue] -= 1
    if submission.open == 0 {
      actions.append(.answer(item.submission, submission.result))
    } else {
      submissions[item.submission] = submission
    }
  }
}
