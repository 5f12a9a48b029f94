internal import JobServing
internal import Nostr
public import Storage

// A damaged ledger is put aside, and a new one is filled with the rows that can still be read (`RescuableFile`). What a
// row says is believed only as far as it leads to no second answer: one that is open and cannot be read whole is left
// out. Since others may be missing altogether, requests dated before the rescue are not taken up any more: their
// customers hear nothing, and none of them is answered twice.

/// What was saved of a damaged ledger.
public struct ServingRescue: Sendable, Hashable {
  /// Where the damaged file is now.
  public let quarantinePath: String
  /// Requests in the new one.
  public internal(set) var savedCount = 0
  /// Why reading ended before the end, if it did.
  public internal(set) var reason: String?
}

extension ServingLedger {
  /// Opens the ledger; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what
  /// can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970, for the name of the damaged file and for what is not taken up any more.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (ServingLedger, ServingContents, ServingRescue?) {
    var rescue: ServingRescue?
    let ((ledger, contents), quarantine) = try RescuableFile(path: path).open(now: now) { path throws(StorageFault) in
      let ledger = try ServingLedger(path: path)
      return (ledger, try ledger.contentsNow())
    } refill: { unfinished, damaged throws(StorageFault) in
      var report = ServingRescue(quarantinePath: damaged.path)
      let ledger = try ServingLedger(path: unfinished)
      try ledger.refill(from: damaged, now: now, &report)
      try ledger.close()
      rescue = report
    }
    return (ledger, contents, rescue ?? quarantine.map { ServingRescue(quarantinePath: $0.path) })
  }

  /// Says that the file was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { RescuableFile(path: path).markDamaged() }

  private func refill(from damaged: Quarantine, now: Int64, _ rescue: inout ServingRescue) throws(StorageFault) {
    var saved: [ServedRequest] = []
    if damaged.isEmpty { rescue.reason = Quarantine.emptyReason } else { saved = Self.readable(damaged.path, &rescue) }
    try file.writeNow { session in
      let ledger = ServingSession(session)
      for request in saved { try ledger.write(request) }
      try ledger.set(ServingSchema.notBefore, now)
    }
    rescue.savedCount = saved.count
  }

  /// The rows that can be read whole, by number.
  private static func readable(_ path: String, _ rescue: inout ServingRescue) -> [ServedRequest] {
    let old: StorageFile
    do throws(StorageFault) {
      old = try StorageFile(path: path, StorageSettings(durability: .normal), migrations: ServingSchema.migrations)
    } catch {
      rescue.reason = error.reason
      return []
    }
    var saved: [Int64: ServedRequest] = [:]
    // From both ends, since a broken page ends a walk.
    for order in ["ASC", "DESC"] {
      do throws(StorageFault) {
        try old.readNow { session in
          let ledger = ServingSession(session)
          let statement = try session.statement(
            "SELECT \(ServingSession.columns) FROM request NOT INDEXED ORDER BY number \(order)")
          while let request = try ledger.next(statement) {
            guard saved[request.number] == nil, let whole = try? ledger.whole(request) else { continue }
            // An open one without its event can be neither worked on nor answered.
            if whole.isSettled || !whole.request.isEmpty { saved[whole.number] = whole }
          }
        }
      } catch { rescue.reason = error.reason }
    }
    do throws(StorageFault) { try old.close() } catch { rescue.reason = error.reason }
    return saved.values.sorted { $0.number < $1.number }
  }
}
