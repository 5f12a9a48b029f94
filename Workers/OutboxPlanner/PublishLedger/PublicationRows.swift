internal import Contracts
internal import Cryptography
internal import Nostr
internal import PublishQueue
internal import Storage
internal import Synchronization

/// Gives each change of a publication the next number. A number of a transaction that fails is not used again.
final class ChangeCounter: Sendable {
  private let last: Mutex<Int64>

  init(after last: Int64) { self.last = Mutex(last) }

  func next() -> Int64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}

/// The ledger's rows, for the time of one transaction.
struct PublicationRows {
  let session: StorageSession
  /// Numbers changes; nil where nothing is changed.
  private let changes: ChangeCounter?

  init(_ session: StorageSession, _ changes: ChangeCounter? = nil) {
    (self.session, self.changes) = (session, changes)
  }

  private var nextChange: Int64 { changes?.next() ?? 0 }

  // MARK: Writing

  func insert(_ accepted: LedgerBatch.Acceptance) throws {
    let publication = accepted.publication
    try session.run(
      """
      INSERT INTO publication (number, id, author, kind, acceptedAt, expiresAt, state, isStored, relays,
        change)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, publication.number, publication.id.octets, publication.author.octets, publication.kind,
      publication.acceptedAt, publication.expiresAt, publication.state.code, accepted.isStored,
      Self.relays(publication.targets), nextChange)
    if !accepted.event.isEmpty { try write(event: accepted.event, of: publication.number) }
    for target in publication.targets { try write(target, of: publication.number) }
  }

  /// Writes the parts of a publication that can change.
  func update(_ change: LedgerBatch.Change) throws {
    let publication = change.publication
    let statement = try session.statement(
      """
      UPDATE publication SET state = ?, expiresAt = ?, relays = ?, change = ? WHERE number = ?
      """)
    try statement.run(
      publication.state.code, publication.expiresAt, Self.relays(publication.targets), nextChange, publication.number)
    guard session.changedRowCount > 0 else { return }
    for target in publication.targets { try write(target, of: publication.number) }
    if publication.targets.allSatisfy({ $0.progress.state == .confirmed }) {
      try session.run("DELETE FROM body WHERE publication = ?", publication.number)
    } else if let event = change.event {
      try write(event: event, of: publication.number)
    }
  }

  private func write(event: [UInt8], of number: Int64) throws {
    try session.run("INSERT OR IGNORE INTO body (publication, event) VALUES (?, ?)", number, event)
  }

  func write(_ target: QueuedTarget, of number: Int64) throws {
    let statement = try session.statement(
      """
      INSERT OR REPLACE INTO target
        (publication, relay, why, state, attempts, refusals, nextAttemptAt, confirmedAt, flags, message, account)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, x''))
      """)
    let progress = target.progress
    try statement.run(
      number, progress.relay, progress.why, progress.state.code, progress.attempts, target.refusals,
      progress.nextAttemptAt, progress.confirmedAt,
      target.manner.flags | Int64(target.paceMilliseconds) << SendingManner.flagBits, progress.message ?? "",
      target.manner.account?.octets.bytes ?? [])
  }

  func markStored(_ number: Int64) throws {
    try session.run("UPDATE publication SET isStored = 1, change = ? WHERE number = ?", nextChange, number)
  }

  func remove(_ number: Int64) throws {
    for sql in [
      "DELETE FROM target WHERE publication = ?", "DELETE FROM body WHERE publication = ?",
      "DELETE FROM publication WHERE number = ?",
    ] {
      try session.run(sql, number)
    }
  }

  // MARK: Reading

  static let columns = "number, id, author, kind, acceptedAt, expiresAt, state, isStored"

  /// The rows of a statement over ``columns``.
  func rows(_ statement: StorageStatement) throws -> [LedgerRow] {
    var rows: [LedgerRow] = []
    while try statement.step() { rows.append(try row(statement)) }
    return rows
  }

  /// The row of a statement over ``columns``, at its present step.
  func row(_ statement: StorageStatement) throws -> LedgerRow {
    let number = statement.number(0)
    guard let id = Octets32(statement.bytes(1)), let author = Octets32(statement.bytes(2)),
      let kind = UInt16(exactly: statement.number(3)), Publication.State(code: statement.number(6)) != nil
    else { throw damaged("publication \(number) cannot be one") }
    return LedgerRow(
      publication: QueuedPublication(
        number: number, id: EventID(id), author: PublicKey(author), kind: kind, acceptedAt: statement.number(4),
        expiresAt: statement.number(5), targets: try targets(of: number)),
      isStored: statement.number(7) != 0)
  }

  func targets(of number: Int64) throws -> [QueuedTarget] {
    let statement = try session.statement(
      """
      SELECT relay, why, state, attempts, refusals, message, nextAttemptAt, confirmedAt, account, flags
      FROM target WHERE publication = ?
      """, number)
    var targets: [QueuedTarget] = []
    while try statement.step() {
      guard let state = PublicationTarget.State(code: statement.number(2)) else {
        throw damaged("a relay of publication \(number) has no state that there is")
      }
      let progress = PublicationTarget(
        relay: statement.text(0), state: state, why: statement.text(1),
        message: statement.isNull(5) ? nil : statement.text(5), attempts: Int(clamping: statement.number(3)),
        nextAttemptAt: statement.isNull(6) ? nil : statement.number(6),
        confirmedAt: statement.isNull(7) ? nil : statement.number(7))
      let manner = SendingManner(
        account: Octets32(statement.bytes(8)).map { PublicKey($0) }, flags: statement.number(9))
      targets.append(
        QueuedTarget(
          progress, refusals: Int(clamping: statement.number(4)), manner: manner,
          paceMilliseconds: UInt32(clamping: statement.number(9) >> SendingManner.flagBits)))
    }
    return targets
  }

  func event(of number: Int64) throws -> [UInt8]? {
    return try session.first("SELECT event FROM body WHERE publication = ?", number) { $0.bytes(0) }
  }

  private func damaged(_ reason: String) -> StorageFault { StorageFault(.corrupt, path: session.path, reason) }
}

extension PublicationRows {
  /// The copy of a publication's relays in its own row.
  static func relays(_ targets: [QueuedTarget]) -> String {
    targets.map { target in
      "\(target.manner.flags) \(target.manner.account.map { "\($0)" } ?? "-") \(target.relay) \(target.progress.why)"
    }.joined(separator: "\n")
  }

  /// Reads what ``relays(_:)`` wrote; all relays get one state. Lines that cannot be read are left out.
  static func targets(_ relays: String, state: PublicationTarget.State) -> [QueuedTarget] {
    relays.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4, let flags = Int64(parts[0]) else { return nil }
      let account = Octets32(String(parts[1])).map { PublicKey($0) }
      guard account != nil || parts[1] == "-" else { return nil }
      return QueuedTarget(
        PublicationTarget(relay: String(parts[2]), state: state, why: String(parts[3])),
        manner: SendingManner(account: account, flags: flags))
    }
  }
}

extension SendingManner {
  /// Bits of the column `flags` that are flags; the bits above are the relay's pace.
  fileprivate static let flagBits: Int64 = 8

  fileprivate var flags: Int64 { (isProtected ? 1 : 0) | (isForeign ? 2 : 0) }

  fileprivate init(account: PublicKey?, flags: Int64) {
    self.init(account: account, isProtected: flags & 1 != 0, isForeign: flags & 2 != 0)
  }
}
