internal import Contracts
internal import Cryptography
internal import JobTracking
internal import Nostr
public import Storage

// Repairs what could be read of a damaged ledger (`LedgerFile`).
// A job whose order is gone is lost, and counted. A job that has lost a fact continues without it: what follows from
// the other facts is computed again, and answers are read again from the event store. At worst a request is published a
// second time under another id. Money is not at risk, because intents are also in a table of their own. An approval
// that is found there counts as one; it counts against the limits of a day even if its job is lost.

extension JobLedger {
  /// Opens the ledger. If it is damaged, or `markDamaged()` was called for it, sets it aside and makes a new one of
  /// what can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: milliseconds since 1970; its second is part of the damaged file's name.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (JobLedger, JobLedgerContents, LedgerRescue?) {
    try openOrRescue(path: path, now: now / 1_000, open: Self.init(path:)) { ledger throws(StorageFault) in
      try ledger.contentsNow(now: now)
    } mend: { session, rescue in
      let isRead = rescue.reason == nil
      (rescue.damagedCount, rescue.lostCountMinimum) = try JobRows(session).mend(isRead: isRead)
    }
  }
}

extension JobRows {
  /// Removes what cannot be read, and writes again what follows from the rest.
  ///
  /// - Parameter isRead: whether all rows of the damaged file could be read.
  /// - Returns: how many jobs have lost a part, and how many are known to be lost.
  fileprivate func mend(isRead: Bool) throws -> (damaged: Int, lost: Int) {
    try removeUnreadable()
    var damaged = 0
    var lost: Set<Int64> = []
    for id in try jobs("SELECT id FROM job") {
      let statement = try session.statement("SELECT \(Self.columns), isOpen FROM job WHERE id = ?", id.column)
      guard try statement.step() else { continue }
      let (order, isOpen) = (Self.order(statement), statement.number(4) != 0)
      statement.reset()
      guard let order else {
        lost.insert(id.column)
        continue
      }
      if try !mend(order, isOpen: isOpen) { damaged += 1 }
    }
    for id in try jobs("SELECT job FROM fact WHERE job NOT IN (SELECT id FROM job) GROUP BY job") {
      lost.insert(id.column)
    }
    for id in lost { try remove(JobID(column: id)) }
    try session.execute("DELETE FROM request WHERE job NOT IN (SELECT id FROM job)")
    // Answers that are lost here are still in the event store: the tracker reads it again from its beginning.
    let isWhole = isRead && damaged + lost.count == 0
    if !isWhole { try session.execute("UPDATE cursor SET seq = 0") }
    return (damaged, lost.count)
  }

  /// Writes again what follows from a job's facts.
  ///
  /// - Returns: whether all of its facts are there.
  private func mend(_ order: JobOrder, isOpen: Bool) throws -> Bool {
    let id = order.id
    var (kept, isWhole) = ([Int64: JobFact.What](), true)
    let statement = try session.statement("SELECT at, what FROM fact WHERE job = ?", id.column)
    while try statement.step() {
      if let what = JobFact.What(bytes: statement.bytes(1)) {
        kept[statement.number(0)] = what
      } else {
        isWhole = false
      }
    }
    // Approvals that are among the payments and no longer among the facts.
    for (at, intent) in try intents(of: id) where kept[at] == nil {
      kept[at] = .approved(intent)
      isWhole = false
    }
    let facts = kept.map { JobFact(at: $0.key, $0.value) }.sorted { $0.at < $1.at }
    for sql in ["DELETE FROM fact WHERE job = ?", "DELETE FROM request WHERE job = ?"] {
      try session.run(sql, id.column)
    }
    for fact in facts { try insert(JobBatch.Entry(job: id, fact: fact)) }
    let picture = JobPicture(order, facts)
    for intent in picture.voidIntents { try remove(intent, of: id) }
    for proof in picture.proofs { try insert(proof, of: id) }
    try update(id, JobBatch.Standing(state: picture.state, endedAt: picture.endedAt))
    try session.run("UPDATE job SET isOpen = ? WHERE id = ?", isOpen || picture.endedAt == nil ? 1 : 0, id.column)
    return isWhole
  }

  private func intents(of id: JobID) throws -> [(at: Int64, intent: PaymentIntent)] {
    let statement = try session.statement("SELECT at, intent FROM payment WHERE job = ?", id.column)
    var found: [(at: Int64, intent: PaymentIntent)] = []
    while try statement.step() {
      var reader = FactReader(statement.bytes(1))
      if let intent = reader.intent() { found.append((statement.number(0), intent)) }
    }
    return found
  }

  /// Removes payments, proofs, requests and providers that cannot be read.
  private func removeUnreadable() throws {
    let payments = try session.statement("SELECT job, provider, hash, intent FROM payment")
    var bad: [(Int64, [UInt8], [UInt8])] = []
    while try payments.step() {
      var reader = FactReader(payments.bytes(3))
      if reader.intent() == nil { bad.append((payments.number(0), payments.bytes(1), payments.bytes(2))) }
    }
    for (job, provider, hash) in bad {
      try session.run("DELETE FROM payment WHERE job = ? AND provider = ? AND hash = ?", job, provider, hash)
    }
    try session.execute(
      """
      DELETE FROM proof WHERE typeof(hash) != 'blob' OR length(hash) != 32 OR length(provider) != 32;
      DELETE FROM request WHERE typeof(event) != 'blob' OR length(event) != 32;
      DELETE FROM provider WHERE typeof(key) != 'blob' OR length(key) != 32;
      """)
  }

  private func jobs(_ sql: String) throws -> [JobID] {
    return try session.rows(sql) { JobID(column: $0.number(0)) }
  }
}
