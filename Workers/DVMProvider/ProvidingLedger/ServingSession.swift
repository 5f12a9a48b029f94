internal import Contracts
internal import Cryptography
internal import JobProviding
internal import Nostr
internal import Storage

/// The ledger's rows, within one transaction.
struct ServingSession {
  let session: StorageSession

  init(_ session: StorageSession) { self.session = session }

  // MARK: Writing

  func write(_ batch: ServingBatch) throws {
    for request in batch.changed { try write(request) }
    if let seq = batch.seq { try set(ServingSchema.seq, seq) }
    if let mark = batch.rulesMark { try set(ServingSchema.rulesMark, mark) }
  }

  func write(_ request: ServedRequest) throws {
    try session.run(
      """
      INSERT OR REPLACE INTO request
        (number, id, kind, customer, takenAt, endedAt, state, isTold, isOpen, reason, result)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, x''))
      """, request.number, request.id.octets, request.kind, request.customer.octets, request.takenAt, request.endedAt,
      request.state.code, request.isTold, request.isSettled ? 0 : 1, request.reason ?? "",
      request.result?.octets.bytes ?? [])
    try write(request.isSettled ? nil : request.request, "body", of: request.number)
    try write(request.outgoing, "outgoing", of: request.number)
  }

  private func write(_ event: [UInt8]?, _ table: String, of number: Int64) throws {
    guard let event, !event.isEmpty else {
      return try session.run("DELETE FROM \(table) WHERE request = ?", number)
    }
    // The body never changes; a new outgoing event replaces the one before.
    let conflict = table == "body" ? "IGNORE" : "REPLACE"
    try session.run("INSERT OR \(conflict) INTO \(table) (request, event) VALUES (?, ?)", number, event)
  }

  func set(_ name: String, _ value: Int64) throws {
    try session.run("INSERT OR REPLACE INTO mark (name, value) VALUES (?, ?)", name, value)
  }

  func remove(_ number: Int64) throws {
    for sql in [
      "DELETE FROM body WHERE request = ?", "DELETE FROM outgoing WHERE request = ?",
      "DELETE FROM request WHERE number = ?",
    ] {
      try session.run(sql, number)
    }
  }

  // MARK: Reading

  static let columns = "number, id, kind, customer, takenAt, endedAt, state, isTold, reason, result"

  /// The rows that a statement over ``columns`` gives, without their events.
  func rows(_ statement: StorageStatement) throws -> [ServedRequest] {
    var rows: [ServedRequest] = []
    while let request = try next(statement) { rows.append(request) }
    return rows
  }

  /// The next row; nil after the last one.
  func next(_ statement: StorageStatement) throws -> ServedRequest? {
    try statement.step() ? try row(statement) : nil
  }

  private func row(_ statement: StorageStatement) throws -> ServedRequest {
    let number = statement.number(0)
    guard let id = Octets32(statement.bytes(1)), let kind = UInt16(exactly: statement.number(2)),
      let customer = Octets32(statement.bytes(3)), let state = ServedJob.State(code: statement.number(6))
    else { throw StorageFault(.corrupt, path: session.path, "request \(number) cannot be one") }
    var request = ServedRequest(
      number: number, id: EventID(id), kind: kind, customer: PublicKey(customer), takenAt: statement.number(4),
      state: state, request: [])
    request.endedAt = statement.isNull(5) ? nil : statement.number(5)
    request.isTold = statement.number(7) != 0
    request.reason = statement.isNull(8) ? nil : statement.text(8)
    request.result = Octets32(statement.bytes(9)).map { EventID($0) }
    return request
  }

  /// The same row with its events.
  func whole(_ request: ServedRequest) throws -> ServedRequest {
    var request = request
    request.request = try event("body", of: request.number) ?? []
    request.outgoing = try event("outgoing", of: request.number)
    return request
  }

  private func event(_ table: String, of number: Int64) throws -> [UInt8]? {
    return try session.first("SELECT event FROM \(table) WHERE request = ?", number) { $0.bytes(0) }
  }

  func mark(_ name: String) throws -> Int64? {
    return try session.first("SELECT value FROM mark WHERE name = ?", name) { $0.number(0) }
  }
}
