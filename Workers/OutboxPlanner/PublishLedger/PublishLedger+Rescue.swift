internal import Contracts
internal import Cryptography
internal import Nostr
internal import PublishQueue
public import Storage

// Repairs what `LedgerFile` recovers from a damaged ledger. The id of an event proves its bytes. A lost event is read
// from the event store when it is sent, if the store has it. A lost publication row is rebuilt from its event, and lost
// relays from the copy in the publication's row. When a relay's state is lost, the event is sent to that relay again at
// worst, and the relay answers `duplicate`. A publication that has lost all its relays is routed again.

extension PublishLedger {
  /// Opens the ledger. If it is damaged, or if `markDamaged()` was called, sets the file aside and makes a new one from
  /// what can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: seconds since 1970, for the name of the damaged file.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (PublishLedger, PublishLedgerContents, LedgerRescue?) {
    try openOrRescue(path: path, now: now, open: Self.init(path:)) { ledger throws(StorageFault) in
      try ledger.contentsNow()
    } mend: { session, rescue in
      rescue.damagedCount = try PublicationRows(session).mend(now: now)
    }
  }

  /// How long relays are tried for a publication whose time of acceptance is lost.
  fileprivate static let restoredSeconds: Int64 = 72 * 3_600
}

extension PublicationRows {
  /// Removes rows that contradict themselves, and rebuilds what follows from the rest.
  ///
  /// - Returns: how many publications are incomplete.
  fileprivate func mend(now: Int64) throws -> Int {
    // A target with an unknown state would make its publication unreadable.
    try session.execute("DELETE FROM target WHERE state NOT IN (0, 1, 2, 3)")
    let restored = try restore(now: now)
    try restoreTargets()
    var damaged = 0
    for number in try numbers("SELECT number FROM publication") {
      switch try judge(number) {
      case .whole: damaged += restored.contains(number) ? 1 : 0
      case .partial: damaged += 1
      case .none: try remove(number)
      }
    }
    for table in ["target", "body"] {
      try session.execute("DELETE FROM \(table) WHERE publication NOT IN (SELECT number FROM publication)")
    }
    try session.execute("UPDATE publication SET change = number WHERE change = 0")
    return damaged
  }

  private enum Verdict {
    case whole, partial, none
  }

  private func judge(_ number: Int64) throws -> Verdict {
    let statement = try session.statement("SELECT \(Self.columns) FROM publication WHERE number = ?", number)
    let row: LedgerRow
    do {
      guard let found = try rows(statement).first else { return .none }
      row = found
    } catch let fault as StorageFault where fault.kind == .corrupt {
      statement.reset()
      return .none
    }
    if let json = try event(of: number) {
      if Self.event(json)?.id == row.publication.id { return row.publication.targets.isEmpty ? .partial : .whole }
      try removeBody(of: number)
    } else if row.publication.state == .confirmed, !row.publication.targets.isEmpty {
      // Every relay has it, so the event is no longer needed.
      return .whole
    }
    // If the store does not have the event, its acceptance was never confirmed to a caller.
    return row.isStored ? .partial : .none
  }

  /// Rebuilds publications that are missing although their events are present. Their time of acceptance is lost.
  ///
  /// - Returns: their numbers.
  private func restore(now: Int64) throws -> Set<Int64> {
    var restored: Set<Int64> = []
    for number in try numbers("SELECT publication FROM body WHERE publication NOT IN (SELECT number FROM publication)")
    {
      guard let json = try event(of: number), let event = Self.event(json) else { continue }
      let publication = QueuedPublication(
        number: number, id: event.id, author: event.pubkey, kind: event.kind, acceptedAt: now,
        expiresAt: min(now + PublishLedger.restoredSeconds, event.expiration ?? .max), targets: [])
      try session.run(
        """
        INSERT OR IGNORE INTO publication (number, id, author, kind, acceptedAt, expiresAt, state, isStored)
        VALUES (?, ?, ?, ?, ?, ?, ?, 1)
        """, publication.number, publication.id.octets, publication.author.octets, publication.kind,
        publication.acceptedAt, publication.expiresAt, Publication.State.optimistic.code)
      restored.insert(number)
    }
    return restored
  }

  /// Rebuilds lost relays from the copy in their publication's row. Publications that have not ended are sent there
  /// again.
  private func restoreTargets() throws {
    let statement = try session.statement("SELECT number, state, relays FROM publication WHERE relays != ''")
    var lost: [(number: Int64, targets: [QueuedTarget])] = []
    while try statement.step() {
      let state: PublicationTarget.State =
        switch Publication.State(code: statement.number(1)) {
        case .confirmed: .confirmed
        case .failed: .failed
        case .cancelled: .cancelled
        case .optimistic, .partial, nil: .pending
        }
      lost.append((statement.number(0), Self.targets(statement.text(2), state: state)))
    }
    for (number, targets) in lost {
      let known = Set(try self.targets(of: number).map(\.relay))
      // The number is right, so all relays are present. If a name differs, the copy may be the damaged part.
      guard known.count < targets.count else { continue }
      for target in targets where !known.contains(target.relay) { try write(target, of: number) }
    }
  }

  private func removeBody(of number: Int64) throws {
    try session.run("DELETE FROM body WHERE publication = ?", number)
  }

  private func numbers(_ sql: String) throws -> [Int64] {
    return try session.rows(sql) { $0.number(0) }
  }

  /// The event, if its id matches its contents.
  private static func event(_ json: [UInt8]) -> Event? {
    // `try?`: bytes that cannot be read are no event.
    guard let event = try? Event(json: json), event.unsigned.id == event.id else { return nil }
    return event
  }
}
