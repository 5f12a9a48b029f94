internal import Cryptography
public import PushDelivery
public import Storage

extension PushLedger {
  /// An owner's devices that have not expired, proved or not, with their tokens. A row whose token does not open is
  /// left out and quarantined: it is damaged, or its content was moved there from another row.
  ///
  /// - Parameters:
  ///   - owner: the owner.
  ///   - now: Unix seconds.
  public func devices(of owner: PushOwner, now: Int64) async throws(StorageFault) -> [PushDevice] {
    try await devices(of: [owner], now: now)[owner] ?? []
  }

  /// The same for many owners, with one read of the file: the dispatcher asks for hundreds at a time.
  ///
  /// - Parameters:
  ///   - owners: the owners.
  ///   - now: Unix seconds.
  /// - Returns: by owner; an owner without a device is missing.
  public func devices(
    of owners: Set<PushOwner>, now: Int64
  ) async throws(StorageFault) -> [PushOwner: [PushDevice]] {
    let rows = try await file.read { [self] session in
      let rows = try owners.flatMap { owner in
        try session.rows(
          """
          SELECT \(DeviceRow.columns) FROM device WHERE owner = ? AND expiresAt > ? AND isQuarantined = 0
          ORDER BY number
          """, owner, now
        ) { (number: $0.number(0), row: DeviceRow($0)) }
      }
      let keys = keys
      return rows.map { (number: $0.number, device: $0.row?.device(keys)) }
    }
    let broken = rows.filter { $0.device == nil }.map(\.number)
    if !broken.isEmpty {
      // If this cannot be written now, the next reading finds the same.
      do throws(StorageFault) { try await quarantine(broken) } catch  where error.mayPass {}
    }
    return Dictionary(grouping: rows.compactMap(\.device)) { $0.owner }
  }

  private func quarantine(_ numbers: [Int64]) async throws(StorageFault) {
    try await file.write { [self] session in
      let keys = keys
      let ledger = try PushSession(session, keys, bounds)
      for number in numbers {
        // It may have been registered again since it was read.
        let row = try session.first(
          "SELECT \(DeviceRow.columns) FROM device WHERE number = ?", number
        ) { DeviceRow($0) }
        if row?.token(keys) == nil { try ledger.quarantine(number) }
      }
      try ledger.finish()
    }
  }

  /// Wakes in the queue, in its order, expired ones included: for a start.
  ///
  /// - Parameters:
  ///   - number: the wakes after this number.
  ///   - limit: at most ``pageMaximum``; fewer wakes mean that there are no more.
  public func openWakes(after number: Int64, limit: Int) async throws(StorageFault) -> [OpenWake] {
    try await file.read { session in
      let wakes = try session.rows(
        """
        SELECT number, id, recipient, sender, type, payload, nonce, acceptedAt, expiresAt, topic, event, isDropped,
          EXISTS (SELECT 1 FROM contact WHERE owner = recipient AND other = sender AND kind = ?3)
        FROM wake
        WHERE number > ?1 ORDER BY number LIMIT ?2
        """, number, Self.page(limit), ContactKind.allowed.rawValue
      ) { row in Self.wake(row).map { ($0, row.number(11) != 0) } }
      return try wakes.map { wake, isDropped in
        let settled = try session.rows("SELECT device FROM delivery WHERE wake = ?", wake.number) {
          $0.number(0)
        }
        return OpenWake(wake: wake, settledDevices: Set(settled), isDropped: isDropped)
      }
    }
  }

  /// A row that cannot be read is useless; the sweep removes it.
  private static func wake(_ row: StorageStatement) -> Wake? {
    guard let recipient = PushOwner(bytes: row.bytes(2)) else { return nil }
    var wake = Wake(
      id: row.bytes(1), recipient: recipient, sender: PushOwner(bytes: row.bytes(3)), type: row.text(4),
      payload: row.isNull(5) ? nil : row.bytes(5), nonce: row.bytes(6), acceptedAt: row.number(7),
      expiresAt: row.number(8))
    wake.number = row.number(0)
    if row.number(12) != 0 { wake.isOfContact = true }
    wake.topic = row.isNull(9) ? nil : WakeTopic(rawValue: row.text(9))
    wake.event = row.isNull(10) ? nil : Octets32(row.bytes(10))
    return wake
  }

  private static func page(_ limit: Int) -> Int64 { Int64(min(max(0, limit), pageMaximum)) }

  /// What became of a wake; nil if this sender requested no wake of this id, or too long ago.
  ///
  /// - Parameters:
  ///   - id: the id in the answer to the wake, 16 bytes.
  ///   - sender: the sender of the wake.
  ///   - now: Unix seconds.
  public func progress(
    ofWake id: [UInt8], sender: PushOwner, now: Int64
  ) async throws(StorageFault) -> WakeProgress? {
    try await file.read { session in
      try session.first(
        "SELECT state, isTold FROM status WHERE id = ? AND sender = ? AND keepUntil > ?",
        id, sender, now
      ) { row in
        let telling = row.number(1)
        guard telling != WakeRuling.untold, let end = WakeEnd(rawValue: row.number(0)) else { return .queued }
        return .ended(end == .dropped && telling == WakeRuling.disguised ? .delivered : end)
      }
    }
  }

  /// Which senders may wake an owner.
  public func contacts(of owner: PushOwner) async throws(StorageFault) -> PushContacts {
    try await file.read { session in
      var found = PushContacts()
      let rows = try session.rows("SELECT other, kind FROM contact WHERE owner = ?", owner) { row in
        PushOwner(bytes: row.bytes(0)).flatMap { other in ContactKind(rawValue: row.number(1)).map { (other, $0) } }
      }
      found.contacts = Dictionary(rows) { first, _ in first }
      found.policy = try session.first("SELECT policy FROM account WHERE owner = ?", owner) {
        $0.isNull(0) ? nil : $0.text(0)
      }
      return found
    }
  }

  // MARK: The relay's own

  /// A credential that a platform gave this relay; nil if it is missing or does not open.
  public func credential(_ name: String) async throws(StorageFault) -> SavedBytes? {
    try await file.read { [self] session in
      try session.first("SELECT ringKey, sealed, savedAt FROM credential WHERE name = ?", name) { row in
        guard let key = keys.numbered[row.number(0)] else { return nil }
        return SealedBox.open(row.bytes(1), key: key.credential, place: Array(name.utf8)).map {
          SavedBytes(bytes: $0, savedAt: row.number(2))
        }
      }
    }
  }

  /// How much of the limits was spent; from now on the file counts as not cleanly closed until the limits are saved as
  /// clean. Blocks this thread: for a start.
  public func takeLimitsNow() throws(StorageFault) -> SavedLimits? {
    try file.writeNow { session in
      let limits = try session.first("SELECT snapshot, savedAt, isClean FROM limits") {
        SavedLimits(snapshot: $0.bytes(0), savedAt: $0.number(1), isClean: $0.number(2) != 0)
      }
      try session.run("UPDATE limits SET isClean = 0 WHERE isClean <> 0")
      return limits
    }
  }

  /// How many devices of Web Push were registered up to a time and still are. Reads all devices once.
  ///
  /// - Parameters:
  ///   - time: Unix seconds.
  ///   - now: Unix seconds.
  public func webPushDevices(registeredUpTo time: Int64, now: Int64) async throws(StorageFault) -> Int {
    try await file.read { session in
      Int(
        try session.count(
          "SELECT count(*) FROM device WHERE platform = ? AND registeredAt <= ? AND expiresAt > ?",
          Int(PushPlatform.webPush.number), time, now))
    }
  }

  // MARK: For the operator

  /// Devices in the order of their rows, without tokens.
  ///
  /// - Parameters:
  ///   - number: the devices after this number.
  ///   - limit: at most ``pageMaximum``.
  public func page(after number: Int64, limit: Int) async throws(StorageFault) -> [DeviceSummary] {
    try await file.read { session in
      try session.rows(
        "SELECT \(DeviceRow.columns) FROM device WHERE number > ? ORDER BY number LIMIT ?",
        number, Self.page(limit)
      ) { statement in
        DeviceRow(statement).map { row in
          DeviceSummary(
            number: row.number, owner: row.owner, id: row.id, relayID: row.relayID, platform: row.platform,
            capabilities: row.capabilities, registeredAt: row.registeredAt, expiresAt: row.expiresAt,
            isVerified: row.isVerified, isQuarantined: row.isQuarantined, isSealed: row.sealingKey != nil)
        }
      }
    }
  }

  /// Figures. Reads all devices once.
  ///
  /// - Parameter now: Unix seconds.
  public func statistics(now: Int64) async throws(StorageFault) -> PushStatistics {
    try await file.read { [self] session in
      var figures = PushStatistics()
      let groups = try session.rows(
        "SELECT platform, ringKey, isQuarantined, expiresAt > ?, count(*) FROM device GROUP BY 1, 2, 3, 4",
        now
      ) { row in (0..<5).map { row.number($0) } }
      let keys = keys
      for group in groups {
        let (isBroken, isCurrent, count) = (group[2] != 0, group[3] != 0, group[4])
        // An expired device needs its key until it is swept.
        if !isBroken, let name = keys.numbered[group[1]]?.name { figures.tokensByKey[name, default: 0] += count }
        guard isCurrent else { continue }
        if isBroken {
          figures.quarantinedDevices += count
        } else if let platform = PushPlatform(number: group[0]) {
          figures.devices[platform, default: 0] += count
        }
      }
      figures.nostrDevices = try session.count(
        "SELECT count(*) FROM device WHERE owner >= ? AND owner < ? AND expiresAt > ? AND isQuarantined = 0",
        [PushOwner.Realm.nostr.rawValue], [PushOwner.Realm.nostr.rawValue + 1], now)
      let counters = Dictionary(
        try session.rows("SELECT name, value FROM counter") { ($0.text(0), $0.number(1)) }
      ) { first, _ in first }
      for total in PushTotal.allCases { figures.totals[total] = counters[total.counter] ?? 0 }
      figures.queuedWakes = counters[BoundedTable.wake.counter] ?? 0
      return figures
    }
  }
}
