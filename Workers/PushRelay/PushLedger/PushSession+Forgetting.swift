internal import PushDelivery
internal import Storage

// Removes an owner that is forgotten.

extension PushSession {
  /// Removes everything of an owner: its devices, its rules, its contacts, what was answered to it, and the wakes for
  /// it. It is also taken out of the contacts of others.
  func forgetAll(of owner: PushOwner) throws -> LedgerAnswer {
    let wakes = try session.rows("SELECT \(Self.queuedColumns) FROM wake WHERE recipient = ?", owner) {
      Self.queued($0)
    }
    for wake in wakes {
      try close(wake, .dropped)
      try session.run("DELETE FROM status WHERE id = ?", wake.id)
      add(-session.changedRowCount, to: .status)
    }
    let rows = try devices(of: owner)
    for row in rows {
      try session.run("DELETE FROM challenge WHERE device = ?", row.number)
      try session.run("DELETE FROM delivery WHERE device = ?", row.number)
      try remove(row)
    }
    for table in [BoundedTable.tombstone, .contact, .replay, .eventSeen, .account] {
      try session.run("DELETE FROM \(table.rawValue) WHERE owner = ?", owner)
      add(-session.changedRowCount, to: table)
    }
    try session.run("DELETE FROM contact WHERE other = ?", owner)
    add(-session.changedRowCount, to: .contact)
    try session.run("DELETE FROM rules WHERE owner = ?", owner)
    for table in [BoundedTable.nonce, .status] {
      try session.run("DELETE FROM \(table.rawValue) WHERE sender = ?", owner)
      add(-session.changedRowCount, to: table)
    }
    try session.run("UPDATE wake SET sender = NULL WHERE sender = ?", owner)
    return .forgotten(devices: rows.count, wakes: wakes.count, removed: takeRemoved())
  }
}
