public import PushDelivery
public import Storage

extension PushLedger {
  /// The owners of Nostr keys that have a device that can be woken: the `limit` that have had one longest, in order.
  ///
  /// - Parameters:
  ///   - now: Unix seconds.
  ///   - limit: most owners.
  public func watchedOwners(now: Int64, limit: Int) async throws(StorageFault) -> [WatchedOwner] {
    try await file.read { session in
      let rows = try session.rows(
        """
        SELECT device.owner, coalesce(account.watchedSince, min(device.registeredAt)) AS since,
          (SELECT rules FROM rules WHERE rules.owner = device.owner)
        FROM device LEFT JOIN account ON account.owner = device.owner
        WHERE device.owner >= ? AND device.owner < ? AND \(PushSession.canBeWoken)
        GROUP BY device.owner ORDER BY since, device.owner LIMIT ?
        """,
        [PushOwner.Realm.nostr.rawValue], [PushOwner.Realm.nostr.rawValue + 1], now, Int64(max(0, limit))
      ) { row in
        PushOwner(bytes: row.bytes(0)).map { owner in
          WatchedOwner(
            owner: owner, rules: row.isNull(2) ? nil : row.bytes(2), blocked: [], watchedSince: row.number(1))
        }
      }
      return try rows.map { row in
        var row = row
        row.blocked = try session.rows(
          "SELECT other FROM contact WHERE owner = ? AND kind = ?",
          row.owner, ContactKind.blocked.rawValue
        ) { PushOwner(bytes: $0.bytes(0)) }
        return row
      }
    }
  }

  /// The rules of an owner; nil: none were set.
  public func rules(of owner: PushOwner) async throws(StorageFault) -> [UInt8]? {
    try await file.read { session in
      try session.first("SELECT rules FROM rules WHERE owner = ?", owner) { $0.bytes(0) }
    }
  }

  /// How far the event store was read; nil: it never was.
  public func eventPlace() async throws(StorageFault) -> EventPlace? {
    try await file.read { session in
      let seq = try session.count("SELECT value FROM counter WHERE name = ?", PushSession.placeSeq)
      let time = try session.count("SELECT value FROM counter WHERE name = ?", PushSession.placeTime)
      return seq > 0 ? EventPlace(seq: seq - 1, readAt: time) : nil
    }
  }
}
