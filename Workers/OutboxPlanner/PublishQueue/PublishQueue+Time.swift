internal import Clocks
internal import Contracts
internal import Nostr

// Timers, expiry, and the end of publications.

extension PublishQueue {
  /// The instant of an attempt that the ledger has by its wall time: at most `restoredCeilingMilliseconds` from now.
  func restoredDue(_ time: Int64?, at moment: Moment) -> Instant? {
    guard let time, time > moment.time else { return nil }
    let seconds = min(UInt64(time - moment.time), limits.restoredCeilingMilliseconds / 1_000)
    return moment.instant.advanced(milliseconds: seconds * 1_000)
  }

  mutating func woke(_ cause: Wake, at moment: Moment) {
    switch cause {
    case .lane(let relay):
      if let hold = lanes[relay]?.hold, hold.end <= moment.instant { release(relay) }
    case .slot(let key):
      guard let index = index(of: key), let due = entries[key.id]?.slots[index].due, due <= moment.instant else {
        return
      }
      entries[known: key.id].slots[index].due = nil
      lineUp(key.id, index, at: moment)
    case .expiry(let id):
      if let entry = entries[id], entry.expiry <= moment.instant { expire(id, entry) }
    }
  }

  /// The publication has expired: relays that have not accepted it are given up.
  private mutating func expire(_ id: EventID, _ entry: Entry) {
    var isChanged = false
    for (index, target) in entry.publication.targets.enumerated() where target.isOpen {
      isChanged = true
      let last = target.progress.message.map { ": \($0)" } ?? ""
      end(id, index, .failed, "not taken before its time was over\(last)")
    }
    if isChanged { changed(id) }
  }

  /// A relay of a publication is no longer tried.
  mutating func end(_ id: EventID, _ index: Int, _ state: PublicationTarget.State, _ words: String) {
    entries[known: id].slots[index].due = nil
    if let relay = entries[id]?.publication.targets[index].relay { locked.remove(SendingKey(id: id, relay: relay)) }
    entries[known: id].publication.change(index) {
      $0.progress.state = state
      $0.progress.message = words
      $0.progress.nextAttemptAt = nil
    }
  }

  /// Extends the time of a publication to at least this.
  mutating func prolong(_ id: EventID, until time: Int64, at moment: Moment) {
    guard let entry = entries[id] else { return }
    let expiry = moment.instant.advanced(milliseconds: UInt64(max(0, time - moment.time)) * 1_000)
    guard expiry > entry.expiry else { return }
    entries[known: id].expiry = expiry
    entries[known: id].publication.expiresAt = time
    wakes.add(.expiry(id), at: expiry)
  }

  /// Drops a publication that has ended, whose changes are all in the ledger, and that has no event in flight.
  mutating func forgetIfDone(_ id: EventID) {
    guard let entry = entries[id], entry.version == entry.recordedVersion, entry.publication.state.isFinal,
      !entry.slots.contains(where: \.isInFlight)
    else { return }
    entries[id] = nil
  }

  /// Removes void timers. A publication that has ended leaves its expiry timer behind, and these must not accumulate
  /// for days.
  mutating func dropVoidWakes() {
    wakes.removeVoid { [self] at, cause in
      switch cause {
      case .expiry(let id): entries[id]?.expiry == at
      case .slot(let key): index(of: key).map { entries[key.id]?.slots[$0].due == at } ?? false
      case .lane(let relay): lanes[relay]?.hold?.end == at
      }
    }
  }
}
