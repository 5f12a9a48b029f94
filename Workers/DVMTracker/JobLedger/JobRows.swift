internal import Contracts
internal import Cryptography
internal import Frames
internal import JobTracking
internal import Nostr
internal import Storage

/// The ledger's rows, within one transaction.
struct JobRows {
  let session: StorageSession

  init(_ session: StorageSession) { self.session = session }

  // MARK: Writing

  func write(_ batch: JobBatch) throws {
    for order in batch.accepted { try insert(order) }
    for (job, event) in batch.dropped { try drop(event, of: job) }
    for entry in batch.entries { try insert(entry) }
    for (job, intent) in batch.voided { try remove(intent, of: job) }
    for (job, proof) in batch.proofs { try insert(proof, of: job) }
    for (id, standing) in batch.standings { try update(id, standing) }
    for id in batch.closed { try close(id) }
    for (provider, history) in batch.histories { try write(provider, history) }
    if let cursor = batch.cursor { try write(cursor: cursor) }
  }

  func insert(_ order: JobOrder) throws {
    try session.run(
      """
      INSERT INTO job (id, key, account, submittedAt, submit, state, isOpen) VALUES (?, ?, ?, ?, ?, 'drafted', 1)
      """, order.id.column, order.key, order.account.octets, order.submittedAt, JSONPayload.encode(order.submit))
  }

  /// Writes a fact. An answer or a receipt that is there already stays as it is: after a death it may come again.
  func insert(_ entry: JobBatch.Entry) throws {
    var event: [UInt8]?
    var isOpened = false
    switch entry.fact.what {
    case .answered(let answer):
      event = answer.event.octets.bytes
      isOpened = answer.isOpened
    case .receipted(let receipt): event = receipt.event.octets.bytes
    default: break
    }
    try session.run(
      "INSERT OR IGNORE INTO fact (job, at, event, isOpened, what) VALUES (?, ?, nullif(?, x''), ?, ?)",
      entry.job.column, entry.fact.at, event ?? [], isOpened, entry.fact.what.bytes)
    switch entry.fact.what {
    case .requested(let request): try insert(request.id, of: entry.job)
    case .approved(let intent): try insert(intent, of: entry.job, at: entry.fact.at)
    default: break
    }
  }

  private func insert(_ request: EventID, of job: JobID) throws {
    try session.run("INSERT OR IGNORE INTO request (event, job) VALUES (?, ?)", request.octets, job.column)
  }

  func insert(_ intent: PaymentIntent, of job: JobID, at: Int64) throws {
    var writer = FactWriter()
    writer.intent(intent)
    try session.run(
      """
      INSERT INTO payment (job, provider, hash, at, intent) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (job, provider, hash) DO UPDATE SET at = max(at, excluded.at)
      """, job.column, intent.provider.octets, intent.key.bytes, at, writer.bytes)
  }

  /// Writes which payment a hash has proven; an earlier proof stays.
  func insert(_ proof: PaymentProof, of job: JobID) throws {
    try session.run(
      "INSERT OR IGNORE INTO proof (hash, job, provider, at) VALUES (?, ?, ?, ?)", proof.hash.bytes, job.column,
      proof.provider.octets, proof.at)
  }

  /// Removes an approval that can no longer be paid.
  func remove(_ intent: PaymentIntent, of job: JobID) throws {
    try session.run(
      "DELETE FROM payment WHERE job = ? AND provider = ? AND hash = ?", job.column, intent.provider.octets,
      intent.key.bytes)
  }

  func update(_ id: JobID, _ standing: JobBatch.Standing) throws {
    try session.run(
      "UPDATE job SET state = ?, endedAt = ? WHERE id = ?", standing.state.rawValue, standing.endedAt, id.column)
  }

  private func close(_ id: JobID) throws {
    try session.run("UPDATE job SET isOpen = 0 WHERE id = ?", id.column)
  }

  private func drop(_ event: EventID, of job: JobID) throws {
    try session.run("DELETE FROM fact WHERE job = ? AND event = ?", job.column, event.octets)
  }

  func write(_ provider: PublicKey, _ history: ProviderHistory) throws {
    var latencies = FactWriter()
    for latency in history.latencies { latencies.number(latency) }
    let statement = try session.statement(
      """
      INSERT OR REPLACE INTO provider (key, asked, answered, unpaid, undelivered, contradictions, latencies, lastAt)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, provider.octets)
    for (index, count) in [
      history.asked, history.answered, history.unpaid, history.undelivered, history.contradictions,
    ].enumerated() {
      statement.bind(Int64(count), at: Int32(index + 2))
    }
    statement.bind(latencies.bytes, at: 7)
    statement.bind(history.lastAt, at: 8)
    try statement.run()
  }

  func write(cursor seq: Int64) throws {
    try session.run(
      "INSERT INTO cursor (one, seq) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET seq = excluded.seq", seq)
  }

  /// Removes a job with everything that is known of it except its approvals and proofs. The approvals still count for
  /// their day, and still prevent an approval of the same payment for another job. ``removeOldPayments(before:)``
  /// removes them.
  func remove(_ id: JobID) throws {
    for sql in ["DELETE FROM fact WHERE job = ?", "DELETE FROM request WHERE job = ?", "DELETE FROM job WHERE id = ?"] {
      try session.run(sql, id.column)
    }
  }

  /// Removes approvals from before `time`, milliseconds since 1970, whose jobs are no longer kept.
  func removeOldPayments(before time: Int64) throws {
    try session.run("DELETE FROM payment WHERE at < ? AND job NOT IN (SELECT id FROM job)", time)
  }

  /// Removes the oldest proofs if there are too many.
  func removeSurplusProofs() throws {
    let statement = try session.statement(
      """
      DELETE FROM proof WHERE hash IN (SELECT hash FROM proof ORDER BY at DESC LIMIT -1 OFFSET \(ProvenHashes.maximum))
      """)
    try statement.run()
  }

  /// Removes the providers that were seen longest ago if there are too many.
  func removeSurplusProviders() throws {
    let statement = try session.statement(
      """
      DELETE FROM provider WHERE key IN (
        SELECT key FROM provider ORDER BY lastAt DESC LIMIT -1 OFFSET \(ProviderHistory.providerMaximum))
      """)
    try statement.run()
  }

  // MARK: Reading

  static let columns = "id, account, submittedAt, submit"

  /// The orders of a statement over ``columns``.
  func orders(_ statement: StorageStatement) throws -> [JobOrder] {
    var orders: [JobOrder] = []
    while try statement.step() {
      guard let order = Self.order(statement) else { throw damaged("a job cannot be read") }
      orders.append(order)
    }
    return orders
  }

  static func order(_ statement: StorageStatement) -> JobOrder? {
    // `try?`: what cannot be read is not an order, and the caller reports that.
    guard let account = Octets32(statement.bytes(1)),
      let submit = try? JSONPayload.decode(JobSubmit.self, from: statement.bytes(3))
    else { return nil }
    return JobOrder(
      id: JobID(column: statement.number(0)), account: PublicKey(account), submittedAt: statement.number(2),
      submit: submit)
  }

  func facts(of id: JobID) throws -> [JobFact] {
    let statement = try session.statement("SELECT at, what FROM fact WHERE job = ? ORDER BY at", id.column)
    var facts: [JobFact] = []
    while try statement.step() {
      guard let what = JobFact.What(bytes: statement.bytes(1)) else {
        throw damaged("a fact of job \(id) cannot be read")
      }
      facts.append(JobFact(at: statement.number(0), what))
    }
    return facts
  }

  func damaged(_ reason: String) -> StorageFault { StorageFault(.corrupt, path: session.path, reason) }
}

extension JobID {
  /// SQLite's integers are signed.
  var column: Int64 { Int64(bitPattern: number) }

  init(column: Int64) { self.init(UInt64(bitPattern: column)) }
}
