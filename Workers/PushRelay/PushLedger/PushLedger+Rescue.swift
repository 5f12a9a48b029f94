internal import Cryptography
internal import PushDelivery
public import Storage

// What a damaged ledger comes back with (`LedgerFile`) is mended here: every token is opened once. One that opens under
// none of the ring's keys is out of use until its device registers again. Where the ledger's own key is lost, tokens
// get new numbers to be found by, and devices without a name keep the one they had.
//
// What cannot be read, or is missing with the last commits, may have been the trace of a message that was answered:
// none signed before the rescue is taken any more then. Wakes that are lost are lost; they would have been worthless in
// a minute.

extension PushLedger {
  /// Opens the ledger; if it is damaged, or was found so by `markDamaged()`, puts it aside and makes another of what
  /// can be read. Of a rescue the devices are counted; those whose token does not open are saved in part.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - keyRing: the keys under which its tokens are.
  ///   - now: Unix seconds, for the name of the damaged file and for messages that are not taken any more.
  ///   - requestsPerMinute: what the limits let through; messages and wakes have room for as many.
  /// - Throws: as ``init(path:keyRing:requestsPerMinute:)``, but for `corrupt`. A ring that is not the file's is no
  ///   damage.
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

  /// Messages signed before a second may have been answered without its being known.
  private func forget(before now: Int64) throws(StorageFault) {
    try file.writeNow { session in
      try session.run(
        "INSERT OR REPLACE INTO counter (name, value) VALUES (?, ?)", PushSession.notBefore, now)
    }
  }

  // MARK: Tokens

  private static var repairCount: Int64 { 500 }

  /// - Returns: devices whose token does not open.
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
  /// Whether the token opens. Then it is under the newest key, and is found by its number.
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
