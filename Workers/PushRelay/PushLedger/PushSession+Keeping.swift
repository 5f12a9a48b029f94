internal import Cryptography
internal import PushDelivery
internal import Storage

// Contacts, what the relay keeps for itself, and periodic work.

extension PushSession {
  // MARK: Contacts

  func contacts(_ command: ContactsCommand) throws -> LedgerAnswer {
    if let answer = try answer(to: command.message) { return answer }
    guard command.contacts.count <= PushLedger.contactMaximum else { return .tooManyContacts }
    let owner = command.message.owner
    guard try makeRoom(.account, .contact, for: owner) else { return .unavailable }
    let signedAt = try session.count("SELECT signedAt FROM account WHERE owner = ?", owner)
    let answer: LedgerAnswer = signedAt > command.message.timestamp ? .superseded() : .contactsKept
    if answer == .contactsKept { try write(command) }
    try keep(answer, to: command.message)
    return answer
  }

  private func write(_ command: ContactsCommand) throws {
    let owner = command.message.owner
    try session.run("DELETE FROM contact WHERE owner = ?", owner)
    add(-session.changedRowCount, to: .contact)
    for (other, kind) in command.contacts {
      try session.run(
        "INSERT INTO contact (owner, other, kind) VALUES (?, ?, ?)",
        owner, other, kind.rawValue)
    }
    add(command.contacts.count, to: .contact)
    try keepAccount(owner, until: try keepingTime(command.message, command.keepUntil))
    try session.run(
      "UPDATE account SET signedAt = ? WHERE owner = ?", command.message.timestamp, owner)
    if let policy = command.policy { try setPolicy(policy, command.message) }
  }

  /// Until when the contacts and rules of an owner are kept. Without a device this is an hour from when they were
  /// signed: an app may write its lists before it registers, but keys cost nothing, and only registrations are rare.
  func keepingTime(_ message: SignedMessage, _ until: Int64) throws -> Int64 {
    let hasDevice = try session.count(
      "SELECT EXISTS (SELECT 1 FROM device WHERE owner = ? AND expiresAt > ?)",
      message.owner, message.timestamp)
    return hasDevice != 0 ? until : min(until, message.timestamp + PushLedger.devicelessSeconds)
  }

  /// Whether these tables have room. To make room, it forgets owners without a device, those first that expire first.
  func makeRoom(_ tables: BoundedTable..., for owner: PushOwner) throws -> Bool {
    if hasRoom(tables) { return true }
    // Owners without a device are kept for an hour, so they come first.
    let others = try session.rows(
      """
      SELECT other FROM (SELECT owner AS other FROM account ORDER BY keepUntil LIMIT ?)
      WHERE other <> ? AND NOT EXISTS (SELECT 1 FROM device WHERE owner = other) LIMIT ?
      """,
      Self.forgottenLookMaximum, owner, Self.forgottenMaximum
    ) { $0.bytes(0) }
    for other in others {
      try forget(other)
      if hasRoom(tables) { return true }
    }
    return false
  }

  /// Most owners that are examined to make room for another one, and most that are forgotten.
  private static let forgottenLookMaximum: Int64 = 1_000
  private static let forgottenMaximum: Int64 = 100

  /// Keeps the contacts and rules of an owner at least that long.
  func keepAccount(_ owner: PushOwner, until: Int64) throws {
    try session.run(
      "INSERT OR IGNORE INTO account (owner, policySignedAt, signedAt, keepUntil) VALUES (?, 0, 0, 0)", owner)
    add(session.changedRowCount, to: .account)
    try session.run(
      "UPDATE account SET keepUntil = max(keepUntil, ?) WHERE owner = ?", until, owner)
  }

  /// Sets the policy, unless a newer message has set another.
  func setPolicy(_ policy: String, _ message: SignedMessage) throws {
    try session.run(
      "UPDATE account SET policy = ?1, policySignedAt = ?2 WHERE owner = ?3 AND policySignedAt <= ?2",
      policy, message.timestamp, message.owner)
  }

  // MARK: The relay's own

  func saveCredential(_ name: String, _ value: [UInt8]?, savedAt: Int64) throws -> LedgerAnswer {
    guard let value else {
      try session.run("DELETE FROM credential WHERE name = ?", name)
      return .done
    }
    let others = try session.count("SELECT count(*) FROM credential WHERE name <> ?", name)
    guard value.count <= PushLedger.credentialByteCountMaximum, others < PushLedger.credentialMaximum else {
      return .unavailable
    }
    let sealed = SealedBox.seal(value, key: keys.ring.newest.credential, place: Array(name.utf8))
    try session.run(
      "INSERT OR REPLACE INTO credential (name, ringKey, sealed, savedAt) VALUES (?, ?, ?, ?)",
      name, keys.newestNumber, sealed, savedAt)
    return .done
  }

  func saveLimits(_ snapshot: [UInt8], savedAt: Int64, isClean: Bool) throws -> LedgerAnswer {
    guard snapshot.count <= PushLedger.limitsByteCountMaximum else { return .unavailable }
    try session.run(
      "INSERT OR REPLACE INTO limits (number, snapshot, savedAt, isClean) VALUES (1, ?, ?, ?)",
      snapshot, savedAt, isClean)
    return .done
  }

  // MARK: Sweep

  func sweep(now milliseconds: Int64, limit: Int) throws -> LedgerAnswer {
    let (now, limit) = (milliseconds / 1_000, max(1, min(limit, PushLedger.sweepMaximum)))
    var sweep = PushSweep()
    // A second in the future came from a wrong clock: until then no message would be accepted.
    if counter(Self.notBefore) > now { set(Self.notBefore, now) }
    let wakes = try session.rows(
      "SELECT \(Self.queuedColumns) FROM wake WHERE expiresAt <= ? LIMIT ?",
      milliseconds, limit
    ) { Self.queued($0) }
    for wake in wakes { try close(wake, .expired) }
    sweep.expiredWakes = wakes.count
    // By number, without reading the row: a row that cannot be read must go too.
    sweep.expiredDevices = try removeOld(.device, key: "number", now: now, limit: limit)
    add(sweep.expiredDevices, to: .expiredDevices)
    var counts = [wakes.count, sweep.expiredDevices]
    counts.append(try removeOld(.replay, key: "owner, message", now: now, limit: limit))
    counts.append(try removeOld(.nonce, key: "number", now: now, limit: limit))
    counts.append(try removeOld(.eventSeen, key: "owner, event", now: now, limit: limit))
    counts.append(try removeOld(.tombstone, key: "owner, id", now: now, limit: limit))
    counts.append(try removeOld(.status, key: "id", expiry: "keepUntil", now: now, limit: limit))
    try session.run(
      "DELETE FROM challenge WHERE number IN (SELECT number FROM challenge WHERE expiresAt <= ? LIMIT ?)",
      now, limit)
    counts.append(session.changedRowCount)
    // Each owner may have 2,000 contacts.
    let ownerLimit = max(1, limit / 100)
    let owners = try forgetOwners(now: now, limit: ownerLimit)
    sweep.isMore = owners >= ownerLimit || counts.contains { $0 >= limit }
    return .swept(sweep)
  }

  private func forgetOwners(now: Int64, limit: Int) throws -> Int {
    let owners = try session.rows(
      "SELECT owner FROM account WHERE keepUntil <= ? LIMIT ?", now, limit
    ) { $0.bytes(0) }
    for owner in owners { try forget(owner) }
    return owners.count
  }

  private func forget(_ owner: [UInt8]) throws {
    try session.run("DELETE FROM contact WHERE owner = ?", owner)
    add(-session.changedRowCount, to: .contact)
    try session.run("DELETE FROM rules WHERE owner = ?", owner)
    try session.run("DELETE FROM account WHERE owner = ?", owner)
    add(-session.changedRowCount, to: .account)
  }

  // MARK: Turning the ring

  func rekey(limit: Int) throws -> LedgerAnswer {
    let newest = keys.newestNumber
    try session.run(
      "UPDATE secret SET ringKey = ?, sealed = ? WHERE ringKey <> ?1", newest, keys.sealedRoot())
    for (name, ringKey, sealed, savedAt) in try session.rows(
      "SELECT name, ringKey, sealed, savedAt FROM credential WHERE ringKey <> ?", newest,
      row: { ($0.text(0), $0.number(1), $0.bytes(2), $0.number(3)) })
    {
      let key = keys.numbered[ringKey]?.credential
      let value = key.flatMap { SealedBox.open(sealed, key: $0, place: Array(name.utf8)) }
      _ = try saveCredential(name, value, savedAt: savedAt)
    }
    let rows = try session.rows(
      "SELECT \(DeviceRow.columns) FROM device WHERE ringKey <> ? AND isQuarantined = 0 LIMIT ?",
      newest, Int64(max(1, min(limit, PushLedger.sweepMaximum)))
    ) { (number: $0.number(0), row: DeviceRow($0)) }
    var broken = 0
    for (number, row) in rows {
      guard var row, let token = row.token(keys) else {
        try quarantine(number)
        broken += 1
        continue
      }
      row.seal(token, keys)
      try update(row)
    }
    let remaining = try session.count(
      "SELECT count(*) FROM device WHERE ringKey <> ? AND isQuarantined = 0", newest)
    if remaining == 0 { try session.run("DELETE FROM ringKey WHERE number <> ?", newest) }
    return .rekeyed(changed: rows.count - broken, broken: broken, remaining: remaining)
  }

  /// Quarantines a device whose token does not open. A new registration ends that.
  func quarantine(_ number: Int64) throws {
    try session.run("UPDATE device SET isQuarantined = 1 WHERE number = ? AND isQuarantined = 0", number)
    add(session.changedRowCount, to: .quarantinedDevices)
  }
}
