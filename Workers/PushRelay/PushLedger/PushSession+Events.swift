internal import Cryptography
internal import PushDelivery
internal import Storage

// Wakes for events of Nostr. The same transaction records the events of a wake in `eventSeen`, so that no event is in
// another wake, wherever the store is read from again.

extension PushSession {
  /// Up to where the store was read: the seq plus 1, so that 0 means nothing; and when that was.
  static let placeSeq = "event.seq"
  static let placeTime = "event.readAt"
  /// How many events are forgotten at once when there is no room for another.
  private static let forgottenCount: Int64 = 1_000

  func events(_ command: EventsCommand) throws -> LedgerAnswer {
    var queued = 0
    for batch in command.batches where try wake(batch) { queued += 1 }
    if let place = command.place {
      set(Self.placeSeq, place.seq + 1)
      set(Self.placeTime, place.readAt)
    }
    return .noted(queued: queued)
  }

  /// Whether the recipient is woken: some of the events are new, and there is a device.
  private func wake(_ batch: EventBatch) throws -> Bool {
    let wake = batch.wake
    let expiresAt = wake.acceptedAt / 1_000 + PushLedger.eventSeconds
    var newCount = 0
    for event in batch.events {
      if !hasRoom(.eventSeen) { try forgetOldestEvents() }
      try session.run(
        "INSERT OR IGNORE INTO eventSeen (owner, event, expiresAt) VALUES (?, ?, ?)",
        wake.recipient, event.bytes, expiresAt)
      newCount += session.changedRowCount
      add(session.changedRowCount, to: .eventSeen)
    }
    guard newCount > 0, try standing(wake).verifiedCount > 0 else { return false }
    guard hasRoom(.wake), counter(Self.wakeBytes) < PushLedger.wakeByteCountMaximum else {
      add(to: .droppedWakes)
      return false
    }
    try enqueue(wake)
    add(to: .acceptedWakes)
    add(to: .eventWakes)
    return true
  }

  private func forgetOldestEvents() throws {
    try session.run(
      """
      DELETE FROM eventSeen WHERE (owner, event) IN (SELECT owner, event FROM eventSeen ORDER BY expiresAt LIMIT ?)
      """, Self.forgottenCount)
    add(-session.changedRowCount, to: .eventSeen)
  }

  // MARK: Watched owners

  /// The condition under which a row of `device` can be woken; its parameter is the time.
  static let canBeWoken = "expiresAt > ? AND isVerified <> 0 AND isQuarantined = 0"

  /// Whether an owner has a device that can be woken.
  func isWatched(_ owner: PushOwner, now: Int64) throws -> Bool {
    try session.count(
      "SELECT EXISTS (SELECT 1 FROM device WHERE owner = ? AND \(Self.canBeWoken))",
      owner, now) > 0
  }

  /// How many owners of Nostr keys have a device that can be woken.
  func watchedCount(now: Int64) throws -> Int64 {
    try session.count(
      "SELECT count(DISTINCT owner) FROM device WHERE owner >= ? AND owner < ? AND \(Self.canBeWoken)",
      [PushOwner.Realm.nostr.rawValue], [PushOwner.Realm.nostr.rawValue + 1], now)
  }

  /// An owner is watched from now on.
  func beginWatching(_ owner: PushOwner, now: Int64) throws {
    try session.run("UPDATE account SET watchedSince = ? WHERE owner = ?", now, owner)
  }

  // MARK: Rules

  func rules(_ command: RulesCommand) throws -> LedgerAnswer {
    if let answer = try answer(to: command.message) { return answer }
    let owner = command.message.owner
    guard command.rules.count <= PushLedger.rulesByteCountMaximum, try makeRoom(.account, for: owner)
    else { return .unavailable }
    let signedAt = try session.count("SELECT signedAt FROM rules WHERE owner = ?", owner)
    let answer: LedgerAnswer = signedAt > command.message.timestamp ? .superseded() : .rulesKept
    if answer == .rulesKept {
      try keepAccount(owner, until: try keepingTime(command.message, command.keepUntil))
      try setRules(command.rules, command.message)
    }
    try keep(answer, to: command.message)
    return answer
  }

  /// Sets the rules, unless a newer message has set others.
  func setRules(_ rules: [UInt8], _ message: SignedMessage) throws {
    precondition(rules.count <= PushLedger.rulesByteCountMaximum, "a command with more is refused before")
    let (owner, time) = (message.owner, message.timestamp)
    try session.run("INSERT OR IGNORE INTO rules (owner, rules, signedAt) VALUES (?, ?, ?)", owner, rules, time)
    if session.changedRowCount > 0 { return }
    try session.run(
      "UPDATE rules SET rules = ?2, signedAt = ?3 WHERE owner = ?1 AND signedAt <= ?3", owner, rules, time)
  }
}
