internal import JobProviding
internal import Nostr
public import Storage

// Repairs what could be read of a damaged ledger (`LedgerFile`). A row is believed only if that cannot lead to a second
// answer: an open request that cannot be read completely is left out. Other requests may be missing without a trace,
// also if only the last commits are missing. So requests dated before the rescue are not taken up: their customers get
// no answer, and none of them gets two.

extension ProvidingLedger {
  /// Opens the ledger. If it is damaged, or `markDamaged()` was called for it, sets it aside and makes a new one of
  /// what can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970: part of the damaged file's name, and the date before which requests are not taken up.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (ProvidingLedger, ServingContents, LedgerRescue?) {
    try openOrRescue(path: path, now: now, open: Self.init(path:)) { ledger throws(StorageFault) in
      // The ledger exists and lacks its last commits. If it is gone completely, the answers in the store tell what was
      // answered.
      if ledger.file.missingCommitCount > 0, try !ledger.contentsNow().known.isEmpty {
        try ledger.file.writeNow { try ServingSession($0).set(ServingSchema.notBefore, now) }
      }
      return try ledger.contentsNow()
    } mend: { session, _ in
      try ServingSession(session).mend(now: now)
    }
  }
}

extension ServingSession {
  fileprivate func mend(now: Int64) throws {
    let statement = try session.statement("SELECT number FROM request")
    var numbers: [Int64] = []
    while try statement.step() { numbers.append(statement.number(0)) }
    for number in numbers where try !isSound(number) { try remove(number) }
    for table in ["body", "outgoing"] {
      try session.execute("DELETE FROM \(table) WHERE request NOT IN (SELECT number FROM request)")
    }
    // Without marks the provider reads the store once more, by the current rules.
    try session.execute("DELETE FROM mark")
    try set(ServingSchema.notBefore, now)
  }

  private func isSound(_ number: Int64) throws -> Bool {
    let statement = try session.statement("SELECT \(Self.columns) FROM request WHERE number = ?", number)
    do {
      guard let row = try next(statement) else { return false }
      statement.reset()
      // An open request without its event can be neither worked on nor answered.
      return try row.isSettled || !whole(row).request.isEmpty
    } catch let fault as StorageFault where fault.kind == .corrupt {
      statement.reset()
      return false
    }
  }
}
