internal import Contracts
internal import Cryptography
internal import Frames
internal import JobTracking
internal import Nostr
internal import Storage

/// The ledger's rows, for the time of one transaction.
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
    let statement = try session.statement(
      """
      INSERT INTO job (id, key, account, submittedAt, submit, state, isOpen) VALUES (?, ?, ?, ?, ?, 'drafted', 1)
      """)
    statement.bind(order.id.column, at: 1)
    statement.bind(order.key, at: 2)
    statement.bind(order.account.octets.bytes, at: 3)
    statement.bind(order.submittedAt, at: 4)
    statement.bind(JSONPayload.encode(order.submit), at: 5)
    try statement.run()
  }

  /// Writes a fact. An answer or a receipt that is there stays as it is: it may come again after a death.
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
    let statement = try session.statement(
      "INSERT OR IGNORE INTO fact (job, at, event, isOpened, what) VALUES (?, ?, nullif(?, x''), ?, ?)")
    statement.bind(entry.job.column, at: 1)
    statement.bind(entry.fact.at, at: 2)
    statement.bind(event ?? [], at: 3)
    statement.bind(isOpened ? 1 : 0, at: 4)
    statement.bind(entry.fact.what.bytes, at: 5)
    try statement.run()
    switch entry.fact.what {
    case .requested(let request): try insert(request.id, of: entry.job)
    case .approved(let intent): try insert(intent, of: entry.job, at: entry.fact.at)
    default: break
    }
  }

  private func insert(_ request: EventID, of job: JobID) throws {
    let statement = try session.statement("INSERT OR IGNORE INTO request (event, job) VALUES (?, ?)")
    statement.bind(request.octets.bytes, at: 1)
    statement.bind(job.column, at: 2)
    try statement.run()
  }

  func insert(_ intent: PaymentIntent, of job: JobID, at: Int64) throws {
    var writer = FactWriter()
    writer.intent(intent)
    let statement = try session.statement(
      """
      INSERT INTO payment (job, provider, hash, at, intent) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (job, provider, hash) DO UPDATE SET at = max(at, excluded.at)
      """)
    statement.bind(job.column, at: 1)
    statement.bind(intent.provider.octets.bytes, at: 2)
    statement.bind(intent.key.bytes, at: 3)
    statement.bind(at, at: 4)
    statement.bind(writer.bytes, at: 5)
    try statement.run()
  }

  /// Writes down what a payment hash has proven; what it has proven before stays.
  func insert(_ proof: PaymentProof, of job: JobID) throws {
    let statement = try session.statement("INSERT OR IGNORE INTO proof (hash, job, provider, at) VALUES (?, ?, ?, ?)")
    statement.bind(proof.hash.bytes, at: 1)
    statement.bind(job.column, at: 2)
    statement.bind(proof.provider.octets.bytes, at: 3)
    statement.bind(proof.at, at: 4)
    try statement.run()
  }

  /// Takes an approval out by which nobody can pay.
  func remove(_ intent: PaymentIntent, of job: JobID) throws {
    let statement = try session.statement("DELETE FROM payment WHERE job = ? AND provider = ? AND hash = ?")
    statement.bind(job.column, at: 1)
    statement.bind(intent.provider.octets.bytes, at: 2)
    statement.bind(intent.key.bytes, at: 3)
    try statement.run()
  }

  func update(_ id: JobID, _ standing: JobBatch.Standing) throws {
    let statement = try session.statement("UPDATE job SET state = ?, endedAt = ? WHERE id = ?")
    statement.bind(standing.state.rawValue, at: 1)
    statement.bind(standing.endedAt, at: 2)
    statement.bind(id.column, at: 3)
    try statement.run()
  }

  private func close(_ id: JobID) throws {
    let statement = try session.statement("UPDATE job SET isOpen = 0 WHERE id = ?")
    statement.bind(id.column, at: 1)
    try statement.run()
  }

  private func drop(_ event: EventID, of job: JobID) throws {
    let statement = try session.statement("DELETE FROM fact WHERE job = ? AND event = ?")
    statement.bind(job.column, at: 1)
    statement.bind(event.octets.bytes, at: 2)
    try statement.run()
  }

  func write(_ provider: PublicKey, _ history: ProviderHistory) throws {
    var latencies = FactWriter()
    for latency in history.latencies { latencies.number(latency) }
    let statement = try session.statement(
      """
      INSERT OR REPLACE INTO provider (key, asked, answered, unpaid, undelivered, contradictions, latencies, lastAt)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    statement.bind(provider.octets.bytes, at: 1)
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
    let statement = try session.statement(
      "INSERT INTO cursor (one, seq) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET seq = excluded.seq")
    statement.bind(seq, at: 1)
    try statement.run()
  }

  /// Takes a job out, with all that is known of it but what was approved: that counts for its day, and is approved for
  /// no other job, whether anybody remembers this one or not. ``removeOldPayments(before:)`` takes it out.
  func remove(_ id: JobID) throws {
    for sql in ["DELETE FROM fact WHERE job = ?", "DELETE FROM request WHERE job = ?", "DELETE FROM job WHERE id = ?"] {
      let statement = try session.statement(sql)
      statement.bind(id.column, at: 1)
      try statement.run()
    }
  }

  /// Takes out what was approved before `time`, milliseconds since 1970, for jobs that are not kept any longer.
  func removeOldPayments(before time: Int64) throws {
    let statement = try session.statement("DELETE FROM payment WHERE at < ? AND job NOT IN (SELECT id FROM job)")
    statement.bind(time, at: 1)
    try statement.run()
  }

  /// Takes out the proofs that came longest ago, when there are too many.
  func removeSurplusProofs() throws {
    let statement = try session.statement(
      """
      DELETE FROM proof WHERE hash IN (SELECT hash FROM proof ORDER BY at DESC LIMIT -1 OFFSET \(ProvenHashes.maximum))
      """)
    try statement.run()
  }

  /// Takes out the providers that were seen longest ago, when there are too many.
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

  /// The orders that a statement over ``columns`` gives.
  func orders(_ statement: StorageStatement) throws -> [JobOrder] {
    var orders: [JobOrder] = []
    while try statement.step() {
      guard let order = Self.order(statement) else { throw damaged("a job cannot be read") }
      orders.append(order)
    }
    return orders
  }

  static func order(_ statement: StorageStatement) -> JobOrder? {
    // `try?`: what cannot be read is no order, and the caller says so.
    guard let account = Octets32(statement.bytes(1)),
      let submit = try? JSONPayload.decode(JobSubmit.self, from: statement.bytes(3))
    else { return nil }
    return JobOrder(
      id: JobID(column: statement.number(0)), account: PublicKey(account), submittedAt: statement.number(2),
      submit: submit)
  }

  func facts(of id: JobID) throws -> [JobFact] {
    let statement = try session.statement("SELECT at, what FROM fact WHERE job = ? ORDER BY at")
    statement.bind(id.column, at: 1)
    var facts: [JobFact] = []
    while try statement.step() {
      guard let what = JobFact.What(bytes: statement.bytes(1)) else { throw damaged("a fact of job \(id) is none") }
      facts.append(JobFact(at: statement.number(0), what))
    }
    return facts
  }

  func damaged(_ reason: String) -> StorageFault { StorageFault(.corrupt, path: session.path, reason) }
}

extension JobID {
  /// SQLite's numbers have a sign.
  var column: Int64 { Int64(bitPattern: number) }

  init(column: Int64) { self.init(UInt64(bitPattern: column)) }
}
