internal import Contracts
internal import Cryptography
internal import Nostr
internal import PublishQueue
public import Storage

// What a damaged ledger comes back with (`LedgerFile`) is mended here. An event proves itself by its id. One that is
// lost is asked of the event store when it is to be sent, as long as the store has it; a publication whose own row is
// lost is made again from its event, and relays that are lost from the copy in their publication's row. What is lost
// with a relay's state is at worst one more sending, which that relay calls a duplicate; a publication of whose relays
// nothing is left is routed again.

extension PublishLedger {
  /// Opens the ledger; if it is damaged, or was found so by `markDamaged()`, puts it aside and makes another of what
  /// can be read.
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

  /// How long a publication is tried of which nobody knows when it was accepted.
  fileprivate static let restoredSeconds: Int64 = 72 * 3_600
}

extension PublicationRows {
  /// Takes out what is not what it says, and makes again what follows from the rest.
  ///
  /// - Returns: publications that are there in part.
  fileprivate func mend(now: Int64) throws -> Int {
    // What has no state that there is would make the publication unreadable.
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
      // Every relay has it, and the event is needed no longer.
      return .whole
    }
    // Nobody was told of what the store does not have.
    return row.isStored ? .partial : .none
  }

  /// Makes publications again whose events are there, and they are not. When they were accepted is lost.
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

  /// Relays that are lost, and that their publication's own row repeats. What is under way is sent there again.
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
      // As many as there should be: where one is called otherwise, the copy may be what is damaged.
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

  /// An event that is the one it says it is.
  private static func event(_ json: [UInt8]) -> Event? {
    // `try?`: what cannot be read is not the event.
    guard let event = try? Event(json: json), event.unsigned.id == event.id else { return nil }
    return event
  }
}
