internal import Contracts
internal import Cryptography
internal import Nostr
internal import PublishQueue
internal import Storage

/// The ledger's rows, for the time of one transaction.
struct PublicationRows {
  let session: StorageSession

  init(_ session: StorageSession) { self.session = session }

  // MARK: Writing

  func insert(_ accepted: LedgerBatch.Acceptance) throws {
    let publication = accepted.publication
    let statement = try session.statement(
      """
      INSERT INTO publication (number, id, author, kind, acceptedAt, expiresAt, state, isStored, relays)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    statement.bind(publication.number, at: 1)
    statement.bind(publication.id.octets.bytes, at: 2)
    statement.bind(publication.author.octets.bytes, at: 3)
    statement.bind(Int64(publication.kind), at: 4)
    statement.bind(publication.acceptedAt, at: 5)
    statement.bind(publication.expiresAt, at: 6)
    statement.bind(publication.state.code, at: 7)
    statement.bind(accepted.isStored ? 1 : 0, at: 8)
    statement.bind(Self.relays(publication.targets), at: 9)
    try statement.run()
    if !accepted.event.isEmpty { try write(event: accepted.event, of: publication.number) }
    for target in publication.targets { try write(target, of: publication.number) }
  }

  /// Writes what may have changed of a publication.
  func update(_ change: LedgerBatch.Change) throws {
    let publication = change.publication
    let statement = try session.statement(
      "UPDATE publication SET state = ?, expiresAt = ?, relays = ? WHERE number = ?")
    statement.bind(publication.state.code, at: 1)
    statement.bind(publication.expiresAt, at: 2)
    statement.bind(Self.relays(publication.targets), at: 3)
    statement.bind(publication.number, at: 4)
    try statement.run()
    guard session.changedRowCount > 0 else { return }
    for target in publication.targets { try write(target, of: publication.number) }
    if publication.targets.allSatisfy({ $0.progress.state == .confirmed }) {
      let body = try session.statement("DELETE FROM body WHERE publication = ?")
      body.bind(publication.number, at: 1)
      try body.run()
    } else if let event = change.event {
      try write(event: event, of: publication.number)
    }
  }

  private func write(event: [UInt8], of number: Int64) throws {
    let body = try session.statement("INSERT OR IGNORE INTO body (publication, event) VALUES (?, ?)")
    body.bind(number, at: 1)
    body.bind(event, at: 2)
    try body.run()
  }

  func write(_ target: QueuedTarget, of number: Int64) throws {
    let statement = try session.statement(
      """
      INSERT OR REPLACE INTO target
        (publication, relay, why, state, attempts, refusals, nextAttemptAt, confirmedAt, flags, message, account)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, x''))
      """)
    let progress = target.progress
    statement.bind(number, at: 1)
    statement.bind(progress.relay, at: 2)
    statement.bind(progress.why, at: 3)
    statement.bind(progress.state.code, at: 4)
    statement.bind(Int64(progress.attempts), at: 5)
    statement.bind(Int64(target.refusals), at: 6)
    statement.bind(progress.nextAttemptAt, at: 7)
    statement.bind(progress.confirmedAt, at: 8)
    statement.bind(target.manner.flags | Int64(target.paceMilliseconds) << SendingManner.flagBits, at: 9)
    statement.bind(progress.message ?? "", at: 10)
    statement.bind(target.manner.account?.octets.bytes ?? [], at: 11)
    try statement.run()
  }

  func markStored(_ number: Int64) throws {
    let statement = try session.statement("UPDATE publication SET isStored = 1 WHERE number = ?")
    statement.bind(number, at: 1)
    try statement.run()
  }

  func remove(_ number: Int64) throws {
    for sql in [
      "DELETE FROM target WHERE publication = ?", "DELETE FROM body WHERE publication = ?",
      "DELETE FROM publication WHERE number = ?",
    ] {
      let statement = try session.statement(sql)
      statement.bind(number, at: 1)
      try statement.run()
    }
  }

  // MARK: Reading

  static let columns = "number, id, author, kind, acceptedAt, expiresAt, state, isStored"

  /// The rows that a statement over ``columns`` gives.
  func rows(_ statement: StorageStatement) throws -> [LedgerRow] {
    var rows: [LedgerRow] = []
    while try statement.step() { rows.append(try row(statement)) }
    return rows
  }

  private func row(_ statement: StorageStatement) throws -> LedgerRow {
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
      """)
    statement.bind(number, at: 1)
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
    let statement = try session.statement("SELECT event FROM body WHERE publication = ?")
    statement.bind(number, at: 1)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return statement.bytes(0)
  }

  private func damaged(_ reason: String) -> StorageFault { StorageFault(.corrupt, path: session.path, reason) }
}

extension PublicationRows {
  /// A publication's relays as its own row repeats them.
  static func relays(_ targets: [QueuedTarget]) -> String {
    targets.map { target in
      "\(target.manner.flags) \(target.manner.account.map { "\($0)" } ?? "-") \(target.relay) \(target.progress.why)"
    }.joined(separator: "\n")
  }

  /// What ``relays(_:)`` has written, as relays that are in one state; lines that cannot be read are left out.
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
  /// Bits of the column `flags` that are flags; above them stands the relay's pace.
  fileprivate static let flagBits: Int64 = 8

  fileprivate var flags: Int64 { (isProtected ? 1 : 0) | (isForeign ? 2 : 0) }

  fileprivate init(account: PublicKey?, flags: Int64) {
    self.init(account: account, isProtected: flags & 1 != 0, isForeign: flags & 2 != 0)
  }
}
