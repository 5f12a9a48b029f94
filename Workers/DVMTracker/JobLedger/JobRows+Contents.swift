internal import Contracts
internal import Cryptography
internal import JobTracking
internal import Nostr
internal import Storage

// What a start reads, and which jobs are no longer kept.

extension JobRows {
  func contents(now: Int64) throws -> JobLedgerContents {
    var contents = JobLedgerContents()
    contents.open = try openJobs()
    contents.kept = try kept("SELECT id, key FROM job WHERE isOpen = 0")
    contents.payments = try payments(since: now - JobLedger.paymentMilliseconds)
    contents.proofs = try proofs()
    contents.histories = try histories()
    let cursor = try session.statement("SELECT seq FROM cursor")
    while try cursor.step() { contents.cursor = cursor.number(0) }
    let counts = try session.statement("SELECT state, count(*) FROM job WHERE isOpen = 0 GROUP BY state")
    while try counts.step() {
      guard let state = Job.State(rawValue: counts.text(0)) else { continue }
      contents.counts[state] = Int(clamping: counts.number(1))
    }
    return contents
  }

  private func openJobs() throws -> [LedgerJob] {
    let orders = try orders(try session.statement("SELECT \(Self.columns) FROM job WHERE isOpen = 1 ORDER BY number"))
    return try orders.map { LedgerJob(order: $0, facts: try facts(of: $0.id)) }
  }

  /// The jobs of a statement over `id` and `key`.
  private func kept(_ sql: String) throws -> [KeptJob] {
    let statement = try session.statement(sql)
    var jobs: [KeptJob] = []
    while try statement.step() {
      jobs.append(KeptJob(id: JobID(column: statement.number(0)), key: statement.text(1), requests: []))
    }
    return try jobs.map { try withRequests($0) }
  }

  private func withRequests(_ job: KeptJob) throws -> KeptJob {
    let statement = try session.statement("SELECT event FROM request WHERE job = ?", job.id.column)
    var job = job
    while try statement.step() {
      guard let id = Octets32(statement.bytes(0)) else { throw damaged("a request of job \(job.id) has no id") }
      job.requests.append(EventID(id))
    }
    return job
  }

  private func payments(since time: Int64) throws -> [(job: JobID, at: Int64, intent: PaymentIntent)] {
    let statement = try session.statement(
      """
      SELECT job, at, intent FROM payment WHERE at >= ?
      UNION SELECT job, at, intent FROM payment WHERE job IN (SELECT id FROM job WHERE isOpen = 1)
      """, time)
    var payments: [(job: JobID, at: Int64, intent: PaymentIntent)] = []
    while try statement.step() {
      var reader = FactReader(statement.bytes(2))
      guard let intent = reader.intent() else { throw damaged("a payment cannot be read") }
      payments.append((JobID(column: statement.number(0)), statement.number(1), intent))
    }
    return payments
  }

  /// The latest proofs, the oldest of them first; empty if the file is from before proofs were kept.
  func proofs() throws -> [(job: JobID, proof: PaymentProof)] {
    let tables = try session.statement("SELECT 1 FROM sqlite_master WHERE name = 'proof'")
    guard try tables.step() else { return [] }
    tables.reset()
    let statement = try session.statement(
      "SELECT job, hash, provider, at FROM proof ORDER BY at DESC LIMIT \(ProvenHashes.maximum)")
    var proofs: [(job: JobID, proof: PaymentProof)] = []
    while try statement.step() {
      guard let hash = Octets32(statement.bytes(1)), let provider = Octets32(statement.bytes(2)) else {
        throw damaged("a proof cannot be read")
      }
      let proof = PaymentProof(hash: hash, provider: PublicKey(provider), at: statement.number(3))
      proofs.append((JobID(column: statement.number(0)), proof))
    }
    return proofs.reversed()
  }

  func histories() throws -> [PublicKey: ProviderHistory] {
    let statement = try session.statement(
      """
      SELECT key, asked, answered, unpaid, undelivered, contradictions, latencies, lastAt FROM provider
      ORDER BY lastAt DESC LIMIT \(ProviderHistory.providerMaximum)
      """)
    var histories: [PublicKey: ProviderHistory] = [:]
    while try statement.step() {
      guard let key = Octets32(statement.bytes(0)) else { throw damaged("a provider has no key") }
      var history = ProviderHistory()
      history.asked = Int(clamping: statement.number(1))
      history.answered = Int(clamping: statement.number(2))
      history.unpaid = Int(clamping: statement.number(3))
      history.undelivered = Int(clamping: statement.number(4))
      history.contradictions = Int(clamping: statement.number(5))
      var reader = FactReader(statement.bytes(6))
      while history.latencies.count < ProviderHistory.latencyMaximum, let latency = reader.number() {
        history.latencies.append(latency)
      }
      history.lastAt = statement.number(7)
      histories[PublicKey(key)] = history
    }
    return histories
  }

  /// The jobs that are no longer to be kept, those that ended first.
  func overdue(before time: Int64) throws -> [KeptJob] {
    let count = try session.statement("SELECT count(*) FROM job WHERE isOpen = 0")
    var surplus: Int64 = 0
    while try count.step() { surplus = max(0, count.number(0) - Int64(JobLedger.endedMaximum)) }
    let wanted = min(surplus, Int64(JobLedger.sweepCount))
    return try kept(
      """
      SELECT id, key FROM (
        SELECT id, key, endedAt, row_number() OVER (ORDER BY endedAt) AS place FROM job
        WHERE isOpen = 0 ORDER BY endedAt LIMIT \(JobLedger.sweepCount))
      WHERE place <= \(wanted) OR endedAt < \(time)
      """)
  }
}
