internal import Cryptography
internal import PushDelivery
public import Storage

// What was saved from a damaged ledger (`LedgerFile`) is repaired here: every token is opened once. A token that opens
// under none of the ring's keys is quarantined until its device registers again. If the ledger's own key is lost,
// tokens get new indices, and devices without a name keep the one that was derived for them.
//
// Rows that cannot be read, or that are missing with the last commits, may be records of answered messages: then
// messages signed before the rescue are no longer accepted. Lost wakes stay lost; they would have expired within a
// minute.

extension PushLedger {
  /// Opens the ledger; if it is damaged, or was marked so by `markDamaged()`, sets it aside and makes another of what
  /// can be read. The rescue counts devices; those whose token does not open count as damaged.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - keyRing: the keys of its tokens.
  ///   - now: Unix seconds, for the name of the damaged file and for messages that are no longer accepted.
  ///   - requestsPerMinute: what the limits admit; messages and wakes have room for as many.
  /// - Throws: the faults of ``init(path:keyRing:requestsPerMinute:)`` except `corrupt`. A ring that does not belong to
  ///   the file is no damage.
  public static func openOrRescue(
    path: String, keyRing: TokenKeyRing, now: Int64, requestsPerMinute: Int = PushLedger.requestsPerMinute
  ) throws(StorageFault) -> (PushLedger, LedgerRescue?) {
    try ledgerFile(path).open(now: now) { path throws(StorageFault) in
      let ledger = try PushLedger(path: path, keyRing: keyRing, requestsPerMinute: requestsPerMinute)
      if ledger.file.missingCommitCount > 0 { try ledger.forget(before: now) }
      return (ledger, ledger.file)
    } mend: { path, rescue throws(StorageFault) in
      let ledger = try PushLedger(
        path: path, keyRing: keyRing, requestsPerMinute: requestsPerMinute, isRescue: true)
      if rescue.reason != nil { try ledger.forget(before: now) }
      rescue.damagedCount = try ledger.repair()
      try ledger.close()
    }
  }

  /// Messages signed before this second may have been answered without a record of it.
  private func forget(before now: Int64) throws(StorageFault) {
    try file.writeNow { session in
      try session.run(
        "INSERT OR REPLACE INTO counter (name, value) VALUES (?, ?)", PushSession.notBefore, now)
    }
  }

  // MARK: Tokens

  private static var repairCount: Int64 { 500 }

  /// - Returns: the number of devices whose token does not open.
  private func repair() throws(StorageFault) -> Int {
    var (last, total) = (Int64(0), 0)
    while true {
      let (numbers, broken) = try file.writeNow { session in
        let ledger = try PushSession(session, keys, bounds)
        let rows = try session.rows(
          "SELECT \(DeviceRow.columns) FROM device WHERE number > ? ORDER BY number LIMIT ?",
          last, Self.repairCount
        ) { (number: $0.number(0), row: DeviceRow($0)) }
        var broken = 0
        for (number, row) in rows where try !ledger.repair(row) {
          try ledger.quarantine(number)
          broken += 1
        }
        try ledger.finish()
        return (rows.map(\.number), broken)
      }
      total += broken
      guard let end = numbers.last else { return total }
      last = end
    }
  }
}

extension PushSession {
  /// Whether the token opens. If so, the row now has it under the newest key, with the right index.
  fileprivate func repair(_ row: DeviceRow?) throws -> Bool {
    guard var row else { return false }
    let named = keys.numbered[row.ringKey].map { [$0] } ?? []
    for key in named + keys.ring.keys {
      guard let token = row.token(under: key) else { continue }
      row.seal(token, keys)
      row.tokenIndex = keys.index(of: token)
      row.isQuarantined = false
      try update(row)
      return true
    }
    return false
  }
}
