public import EventArchive
public import Nostr

// Behind the checks: what is ready goes into a transaction, and whoever waits is answered when it is committed. One
// transaction is under way at a time, so that what comes meanwhile shares the next.

extension EventGate {
  /// What the next transaction writes; nil when nothing is ready, or one is under way.
  public mutating func nextBatch(now: Int64) -> GateBatch? {
    guard writing == nil else { return nil }
    var entries: [ArchiveEntry] = []
    var writing: [(item: UInt64, isEntry: Bool)] = []
    var isSynced = false
    var maximum = Self.batchMaximum
    for lane in Lane.allCases {
      let isLast = lane == Lane.allCases.last
      let end = min(maximum, isLast ? Self.batchMaximum : Self.batchMaximum - Self.batchReserve * (2 - lane.rawValue))
      while writing.count < end, let number = order[lane.rawValue].first, let item = items[number] {
        guard let resolution = item.resolution else { break }
        order[lane.rawValue].removeFirst()
        isSynced = prepare(number, item, resolution, now, &entries, &writing) || isSynced
      }
      if lane == .local, !writing.isEmpty { maximum = min(maximum, writing.count + Self.besideLocalMaximum) }
    }
    guard !writing.isEmpty else { return nil }
    self.writing = writing
    return GateBatch(entries: entries, isSynced: isSynced)
  }

  /// Returns whether the transaction has to be on the disk before its answers: what no relay has sent is handed in by
  /// somebody here, who may have nothing else of it.
  private mutating func prepare(
    _ number: UInt64, _ item: Item, _ resolution: Resolution, _ now: Int64, _ entries: inout [ArchiveEntry],
    _ writing: inout [(item: UInt64, isEntry: Bool)]
  ) -> Bool {
    guard let submission = submissions[item.submission] else {
      finish(number, nil)
      return false
    }
    let incoming = submission.events[item.index]
    switch resolution {
    case .invalid(let reason):
      finish(number, .invalid(reason))
      return false
    case .metEphemeral:
      finish(number, .ephemeral(isNew: false))
      return false
    case .known(let seq):
      guard incoming.relay != nil || submission.isLocal else {
        // Nothing is written for it, but what it is a copy of may be waiting for the disk.
        writing.append((number, false))
        return true
      }
      entries.append(
        .seen(seq: seq, relay: incoming.relay, receivedAt: incoming.receivedAt, rank: submission.rank))
      writing.append((number, true))
    case .valid(var event):
      if KindClass(event.indexed.kind) == .ephemeral {
        if let end = event.expiration, end <= now {
          finish(number, .archived(.expired))
        } else {
          writing.append((number, false))
        }
        return false
      }
      event.relay = incoming.relay
      event.receivedAt = incoming.receivedAt
      event.rank = submission.rank
      entries.append(.event(event))
      writing.append((number, true))
    case .note(let note):
      entries.append(.note(note))
      writing.append((number, true))
      return false
    }
    return incoming.relay == nil
  }

  /// The transaction is committed.
  public mutating func committed(_ commit: ArchiveCommit) {
    guard let writing else { preconditionFailure("only what is being written is committed") }
    self.writing = nil
    removed(commit.gone)
    let gone = Set(commit.gone)
    var outcomes = commit.outcomes.makeIterator()
    for (number, isEntry) in writing {
      guard let item = items[number] else { continue }
      let outcome = isEntry ? outcomes.next() : nil
      guard let id = item.id else {
        finish(number, .archived(.noted))
        continue
      }
      guard let outcome else {
        if case .known(let seq)? = item.resolution {
          finish(number, .archived(.duplicate(seq: seq)))
        } else {
          finishEphemeral(number, item, id)
        }
        continue
      }
      switch outcome {
      case .stored(let seq):
        if !gone.contains(id) { recent.insert(id, seq) }
        announce(item, seq: seq)
      case .duplicate(let seq): if !gone.contains(id) { recent.insert(id, seq) }
      case .mended(let seq): actions.append(.mended(id, seq: seq))
      case .superseded, .deleted, .vanished, .expired, .noted: break
      }
      finish(number, .archived(outcome))
    }
    if commit.hasVanishing { removedUnknown() }
  }

  private mutating func finishEphemeral(_ number: UInt64, _ item: Item, _ id: EventID) {
    let isNew = recentEphemeral.value(of: id) == nil
    recentEphemeral.insert(id, ())
    if isNew { announce(item, seq: nil) }
    finish(number, .ephemeral(isNew: isNew))
  }

  /// The event as it came: with the relay that sent it.
  private mutating func announce(_ item: Item, seq: Int64?) {
    guard case .valid(var event)? = item.resolution else { return }
    event.relay = submissions[item.submission]?.events[item.index].relay
    actions.append(.announce(event, seq: seq))
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

  /// The transaction was not committed: whoever has an event in it is refused, with all that he still has waiting. So
  /// is whoever waits with a note: it could speak of events before it that were not stored.
  public mutating func failed() {
    guard let writing else { preconditionFailure("only what is being written fails") }
    self.writing = nil
    for (number, _) in writing {
      if let item = items[number] { refuse(item.submission) }
      finish(number, nil)
    }
    for (number, submission) in submissions.sorted(by: { $0.key < $1.key }) where submission.hasNotes { refuse(number) }
  }

  private mutating func refuse(_ number: UInt64) {
    guard let submission = submissions.removeValue(forKey: number) else { return }
    waiting[submission.lane.rawValue] -= submission.open
    actions.append(.refuse(number))
  }

  /// An item is done with; nil when nobody waits for it any more.
  private mutating func finish(_ number: UInt64, _ outcome: GateOutcome?) {
    guard let item = items.removeValue(forKey: number) else { return }
    if let id = item.id, !item.isAlone, case .valid? = item.resolution { leave(id) }
    guard let outcome, var submission = submissions.removeValue(forKey: item.submission) else { return }
    submission.result.add(outcome, id: item.id, record: submission.events[item.index].record, index: item.index)
    submission.open -= 1
    waiting[submission.lane.rawValue] -= 1
    if submission.open == 0 {
      actions.append(.answer(item.submission, submission.result))
    } else {
      submissions[item.submission] = submission
    }
  }
}
