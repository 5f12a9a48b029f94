internal import Cryptography
internal import PushDelivery
internal import Storage

// Of two messages about one device the one with the newer signed time counts, in whatever order they arrive: a delayed
// registration does not restore a device that was removed since. Two of the same second count in the order of arrival;
// repetitions are detected elsewhere. The answer to the older message says that it had no effect: otherwise its owner
// would believe that a device is gone which is still woken, or that it is woken by a token which is not the stored one.

extension PushSession {
  func register(_ command: RegisterCommand) throws -> LedgerAnswer {
    if let answer = try answer(to: command.message) { return answer }
    let isRoom = try hasRoom(.device) && makeRoom(.account, for: command.message.owner)
    guard isRoom, (command.rules?.count ?? 0) <= PushLedger.rulesByteCountMaximum else { return .unavailable }
    let isNewKey = try command.message.owner.realm == .nostr && !isWatched(command.message.owner, now: command.now)
    if isNewKey, try watchedCount(now: command.now) >= command.nostrKeyMaximum { return .tooManyKeys }
    let fresh = DeviceRow(command, id: command.deviceID ?? keys.deviceID(of: command.token), keys: keys)
    let old = try device(owner: fresh.owner, id: fresh.id)
    var answer: LedgerAnswer
    if try isOutdated(fresh, old) || isTakenAway(fresh) {
      answer = .superseded()
    } else if let proof = try proof(of: fresh, over: old, command) {
      var registration = try write(fresh, over: old, proof, command)
      registration.removed = takeRemoved()
      answer = .registered(registration)
      if isNewKey { try beginWatching(fresh.owner, now: command.now) }
    } else {
      answer = .challengeFailed
    }
    try keep(answer, to: command.message)
    return answer
  }

  /// Whether the owner that registers a token has proved it.
  private enum TokenProof {
    /// No other owner has the token, or this one has proved it before.
    case notNeeded
    /// The registration proves it.
    case given
    /// The owner has not proved it yet.
    case owed
  }

  /// Nil if the registration has a code that proves nothing. This is checked before anything is written: the device in
  /// the registration may work with another token, and so may the owner's other devices.
  private func proof(of fresh: DeviceRow, over old: DeviceRow?, _ command: RegisterCommand) throws -> TokenProof? {
    let isSameToken = old?.tokenIndex == fresh.tokenIndex
    if isSameToken, old?.isVerified == true { return .notNeeded }
    let isAnothers = try devices(token: fresh.tokenIndex).contains {
      $0.owner != fresh.owner && $0.expiresAt > command.now
    }
    guard isAnothers else { return .notNeeded }
    guard let code = command.challenge else { return .owed }
    // A code was sent to one device with one token; for any other pair there is no code to match or to guess.
    guard let old, isSameToken, try isProved(old, code, now: command.now) else { return nil }
    return .given
  }

  /// Whether there is a newer message: about the device, or about another device of the owner with the same token.
  private func isOutdated(_ fresh: DeviceRow, _ old: DeviceRow?) throws -> Bool {
    if let old, old.signedAt > fresh.signedAt { return true }
    return try devices(token: fresh.tokenIndex).contains {
      $0.owner == fresh.owner && $0.id != fresh.id && $0.signedAt > fresh.signedAt
    }
  }

  private func isTakenAway(_ fresh: DeviceRow) throws -> Bool {
    let names = fresh.isNamed ? [fresh.id] : [fresh.id, Self.allNameless]
    return try names.contains { name in
      try session.count(
        "SELECT signedAt FROM tombstone WHERE owner = ? AND id = ?", fresh.owner, name)
        > fresh.signedAt
    }
  }

  private func write(
    _ fresh: DeviceRow, over old: DeviceRow?, _ proof: TokenProof, _ command: RegisterCommand
  ) throws -> PushRegistration {
    var row = fresh
    let others = try devices(token: row.tokenIndex).filter { $0.owner != row.owner || $0.id != row.id }
    // A second device of the owner with the same token would get every push a second time.
    for other in others where other.owner == row.owner { try remove(other) }
    row.isVerified = proof != .owed
    if let old {
      (row.number, row.relayID) = (old.number, old.relayID)
      try update(row)
    } else {
      row.number = try insert(row)
    }
    try evict(beside: row, others, atMost: max(1, command.deviceMaximum))
    if proof == .given { try takeOver(row) }
    try keepAccount(row.owner, until: row.expiresAt)
    if let policy = command.policy { try setPolicy(policy, command.message) }
    if let rules = command.rules { try setRules(rules, command.message) }
    add(to: .registrations)
    var registration = row.registration
    if !row.isVerified { registration.challenge = try challenge(row, command.token, now: command.now) }
    return registration
  }

  private func insert(_ row: DeviceRow) throws -> Int64 {
    let places = Array(repeating: "?", count: row.values.count).joined(separator: ", ")
    try session.run("INSERT INTO device (\(DeviceRow.columns)) VALUES (NULL, \(places))", list: row.values)
    add(1, to: .device)
    return try session.count("SELECT last_insert_rowid()")
  }

  /// Writes all of an existing row.
  func update(_ row: DeviceRow) throws {
    let names = DeviceRow.columns.split(separator: ",").dropFirst().map { "\($0) = ?" }.joined(separator: ",")
    try session.run("UPDATE device SET \(names) WHERE number = ?", list: row.values + [row.number])
  }

  /// Keeps an owner's devices, and those with one token, within their bounds.
  private func evict(beside row: DeviceRow, _ sameToken: [DeviceRow], atMost deviceMaximum: Int) throws {
    let unproved = sameToken.filter { $0.owner != row.owner && !$0.isVerified }
      .sorted { ($0.signedAt, $0.number) < ($1.signedAt, $1.number) }
    let holders = sameToken.count { $0.owner != row.owner } + 1
    for other in unproved.prefix(max(0, holders - PushLedger.ownersOfTokenMaximum)) { try evict(other) }
    let all = try devices(of: row.owner).filter { $0.number != row.number }
      .sorted { ($0.signedAt, $0.number) < ($1.signedAt, $1.number) }
    for other in all.prefix(max(0, all.count + 1 - deviceMaximum)) { try evict(other) }
  }

  private func evict(_ row: DeviceRow) throws {
    try remove(row)
    add(to: .evictedDevices)
  }

  // MARK: Removal

  /// The tombstone of this name says when all devices without a name were removed.
  static let allNameless = ""

  func unregister(_ command: UnregisterCommand) throws -> LedgerAnswer {
    if let answer = try answer(to: command.message) { return answer }
    guard hasRoom(.tombstone) else { return .unavailable }
    let owner = command.message.owner
    var names: Set<String> = []
    switch command.choice {
    case .device(let id): names = [id]
    case .unnamed: names = [Self.allNameless]
    case .relay(let relayID):
      let row = try devices(of: owner).first { $0.relayID == relayID }
      if let row { names = [row.id] }
    }
    var isOutdated = false
    for name in names {
      for row in try devices(of: owner) where row.id == name || name == Self.allNameless && !row.isNamed {
        if row.signedAt > command.message.timestamp {
          isOutdated = true
          continue
        }
        try remove(row)
        add(to: .removals)
      }
      // Also if there is a newer registration: when that one is gone, an older one must not come back.
      try bury(name, command.message)
    }
    let rows = takeRemoved()
    let answer: LedgerAnswer = isOutdated ? .superseded(removed: rows) : .unregistered(removed: rows)
    try keep(answer, to: command.message)
    return answer
  }

  private func bury(_ name: String, _ message: SignedMessage) throws {
    let (owner, signedAt, expiresAt) = (message.owner, message.timestamp, message.expiresAt)
    try session.run(
      "INSERT OR IGNORE INTO tombstone (owner, id, signedAt, expiresAt) VALUES (?, ?, ?, ?)", owner, name, signedAt,
      expiresAt)
    if session.changedRowCount > 0 { return add(1, to: .tombstone) }
    try session.run(
      "UPDATE tombstone SET signedAt = ?3, expiresAt = ?4 WHERE owner = ?1 AND id = ?2 AND signedAt < ?3",
      owner, name, signedAt, expiresAt)
  }

  func remove(_ row: DeviceRow) throws {
    try session.run("DELETE FROM device WHERE number = ?", row.number)
    add(-1, to: .device)
    removed.append(row.number)
  }

  func prune(_ command: PruneCommand) throws -> LedgerAnswer {
    let row = try session.first(
      "SELECT \(DeviceRow.columns) FROM device WHERE number = ?", command.device
    ) { DeviceRow($0) }
    guard let row, row.tokenIndex == keys.index(of: command.token) else { return .pruned(false) }
    if let goneSince = command.goneSince, row.registeredAt > goneSince { return .pruned(false) }
    try remove(row)
    _ = takeRemoved()
    add(to: .prunedDevices)
    return .pruned(true)
  }

  // MARK: Reading

  func device(owner: PushOwner, id: String) throws -> DeviceRow? {
    try session.first(
      "SELECT \(DeviceRow.columns) FROM device WHERE owner = ? AND id = ?", owner, id
    ) { DeviceRow($0) }
  }

  func devices(of owner: PushOwner) throws -> [DeviceRow] {
    try session.rows("SELECT \(DeviceRow.columns) FROM device WHERE owner = ?", owner) { DeviceRow($0) }
  }

  func devices(token index: [UInt8]) throws -> [DeviceRow] {
    try session.rows("SELECT \(DeviceRow.columns) FROM device WHERE tokenIndex = ?", index) { DeviceRow($0) }
  }
}
