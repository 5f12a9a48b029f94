internal import JobProviding
internal import Nostr
public import Storage

// What a damaged ledger comes back with (`LedgerFile`) is mended here. What a row says is believed only as far as it
// leads to no second answer: one that is open and cannot be read whole is left out. Since others may be missing
// altogether, also where commits are, requests dated before the rescue are not taken up any more: their customers hear
// nothing, and none of them is answered twice.

extension ProvidingLedger {
  /// Opens the ledger; if it is damaged, or was found so by `markDamaged()`, puts it aside and makes another of what
  /// can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970, for the name of the damaged file and for what is not taken up any more.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (ProvidingLedger, ServingContents, LedgerRescue?) {
    try openOrRescue(path: path, now: now, open: Self.init(path:)) { ledger throws(StorageFault) in
      // One that was there, and lacks what was written last. Of one that is gone the store's answers tell.
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
    // The store is looked through once more, by the rules as they are.
    try session.execute("DELETE FROM mark")
    try set(ServingSchema.notBefore, now)
  }

  private func isSound(_ number: Int64) throws -> Bool {
    let statement = try session.statement("SELECT \(Self.columns) FROM request WHERE number = ?", number)
    do {
      guard let row = try next(statement) else { return false }
      statement.reset()
      // An open one without its event can be neither worked on nor answered.
      return try row.isSettled || !whole(row).request.isEmpty
    } catch let fault as StorageFault where fault.kind == .corrupt {
      statement.reset()
      return false
    }
  }
}
