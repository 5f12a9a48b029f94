internal import Contracts
internal import Cryptography
internal import JobTracking
internal import Nostr
public import Storage

// A damaged ledger is put aside, and a new one is filled with what can still be read (`RescuableFile`).
// A job whose order is gone is lost, and counted. One of which a fact is gone goes on without it: what follows from the
// others is seen again, and answers are read once more from the event store. At worst a request goes out a second time
// under another id; money is not at stake, because intents stand in a table of their own as well. An approval that is
// read from there counts as one, and against the bounds of a day also when its job is lost.

extension JobLedger {
  /// Opens the ledger; if it is damaged, or was found so by ``markDamaged()``, puts it aside and makes another of what
  /// can be read.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - now: milliseconds since 1970; the damaged file is called by its second.
  public static func openOrRescue(
    path: String, now: Int64
  ) throws(StorageFault) -> (JobLedger, LedgerContents, LedgerRescue?) {
    var rescue: LedgerRescue?
    let file = RescuableFile(path: path)
    let ((ledger, contents), quarantine) = try file.open(now: now / 1_000) { path throws(StorageFault) in
      let ledger = try JobLedger(path: path)
      return (ledger, try ledger.contentsNow(now: now))
    } refill: { unfinished, damaged throws(StorageFault) in
      var report = LedgerRescue(quarantinePath: damaged.path)
      let ledger = try JobLedger(path: unfinished)
      if damaged.isEmpty {
        report.reason = Quarantine.emptyReason
      } else {
        try ledger.refill(from: damaged.path, &report)
      }
      try ledger.close()
      rescue = report
    }
    return (ledger, contents, rescue ?? quarantine.map { LedgerRescue(quarantinePath: $0.path) })
  }

  /// Says that the file was found to be damaged while it was in use: the next start rescues what it can.
  public func markDamaged() { RescuableFile(path: path).markDamaged() }

  private func refill(from path: String, _ rescue: inout LedgerRescue) throws(StorageFault) {
    let old: StorageFile
    do throws(StorageFault) {
      var settings = StorageSettings(durability: .normal)
      settings.isDamaged = true
      old = try StorageFile(path: path, settings, migrations: LedgerSchema.migrationsOfDamaged)
    } catch {
      rescue.reason = error.reason
      return
    }
    for id in Self.jobs(old, &rescue) {
      guard let saved = Self.saved(old, id, &rescue) else {
        rescue.lostCount += 1
        let intents = Self.intents(old, of: id, &rescue)
        try file.writeNow { session in
          for (at, intent) in intents { try LedgerSession(session).insert(intent, of: id, at: at) }
        }
        continue
      }
      try file.writeNow { session in try LedgerSession(session).write(saved) }
      rescue.savedCount += 1
    }
    try keepRest(of: old, &rescue)
    do throws(StorageFault) { try old.close() } catch { rescue.reason = error.reason }
  }

  /// The jobs that a damaged file still names, from any of the places where they stand.
  private static func jobs(_ old: StorageFile, _ rescue: inout LedgerRescue) -> [JobID] {
    var found: [JobID] = []
    var seen: Set<JobID> = []
    for sql in [
      "SELECT id FROM job NOT INDEXED ORDER BY number", "SELECT id FROM job NOT INDEXED ORDER BY number DESC",
      "SELECT job FROM fact ORDER BY job, at", "SELECT job FROM fact ORDER BY job DESC, at DESC",
    ] {
      do throws(StorageFault) {
        try old.readNow { session in
          let statement = try session.statement(sql)
          while try statement.step() {
            let id = JobID(column: statement.number(0))
            if seen.insert(id).inserted { found.append(id) }
          }
        }
      } catch { rescue.reason = error.reason }
    }
    return found
  }

  /// A job with what can be read of it; nil when its order cannot.
  private static func saved(_ old: StorageFile, _ id: JobID, _ rescue: inout LedgerRescue) -> SavedJob? {
    let row = read(old, &rescue) { session -> (JobOrder, Bool)? in
      let statement = try session.statement("SELECT \(LedgerSession.columns), isOpen FROM job NOT INDEXED WHERE id = ?")
      statement.bind(id.column, at: 1)
      guard try statement.step() else { return nil }
      defer { statement.reset() }
      return LedgerSession.order(statement).map { ($0, statement.number(4) != 0) }
    }
    guard case let (order, isOpen)?? = row else { return nil }
    var saved = SavedJob(order: order, isOpen: isOpen)
    var isWhole = true
    for direction in ["ASC", "DESC"] {
      let isRead: Bool? = read(old, &rescue) { session in
        let statement = try session.statement("SELECT at, what FROM fact WHERE job = ? ORDER BY at \(direction)")
        statement.bind(id.column, at: 1)
        while try statement.step() {
          guard let what = JobFact.What(bytes: statement.bytes(1)) else {
            isWhole = false
            continue
          }
          saved.facts[statement.number(0)] = what
        }
        return true
      }
      if isRead == true { break }
      isWhole = false
    }
    addIntents(of: old, to: &saved, &rescue)
    if !isWhole { rescue.damagedCount += 1 }
    return saved
  }

  /// Approvals that stand among the payments, and not among the facts any more.
  private static func addIntents(of old: StorageFile, to saved: inout SavedJob, _ rescue: inout LedgerRescue) {
    for (at, intent) in intents(old, of: saved.order.id, &rescue) where saved.facts[at] == nil {
      saved.facts[at] = .approved(intent)
    }
  }

  /// What was approved for a job, as it stands among the payments.
  private static func intents(
    _ old: StorageFile, of id: JobID, _ rescue: inout LedgerRescue
  ) -> [(at: Int64, intent: PaymentIntent)] {
    read(old, &rescue) { session in
      let statement = try session.statement("SELECT at, intent FROM payment WHERE job = ?")
      statement.bind(id.column, at: 1)
      var found: [(at: Int64, intent: PaymentIntent)] = []
      while try statement.step() {
        var reader = FactReader(statement.bytes(1))
        if let intent = reader.intent() { found.append((statement.number(0), intent)) }
      }
      return found
    } ?? []
  }

  /// All approvals, also those of jobs that are forgotten, or lost: they count for their day.
  private static func payments(_ old: StorageFile, _ rescue: inout LedgerRescue) -> [(JobID, Int64, PaymentIntent)] {
    var found: [(JobID, Int64, PaymentIntent)] = []
    do throws(StorageFault) {
      try old.readNow { session in
        let statement = try session.statement("SELECT job, at, intent FROM payment")
        while try statement.step() {
          var reader = FactReader(statement.bytes(2))
          guard let intent = reader.intent() else { continue }
          found.append((JobID(column: statement.number(0)), statement.number(1), intent))
        }
      }
    } catch { rescue.reason = error.reason }
    return found
  }

  private func keepRest(of old: StorageFile, _ rescue: inout LedgerRescue) throws(StorageFault) {
    let payments = Self.payments(old, &rescue)
    let proofs = Self.read(old, &rescue) { try LedgerSession($0).proofs() } ?? []
    let histories = Self.read(old, &rescue) { try LedgerSession($0).histories() } ?? [:]
    let cursor = Self.read(old, &rescue) { session -> Int64? in
      let statement = try session.statement("SELECT seq FROM cursor")
      guard try statement.step() else { return nil }
      defer { statement.reset() }
      return statement.number(0)
    }
    let isWhole = rescue.reason == nil && rescue.damagedCount + rescue.lostCount == 0
    try file.writeNow { session in
      let ledger = LedgerSession(session)
      for (job, at, intent) in payments { try ledger.insert(intent, of: job, at: at) }
      for (job, proof) in proofs { try ledger.insert(proof, of: job) }
      for (provider, history) in histories { try ledger.write(provider, history) }
      // Answers that are lost here still stand in the event store: it is looked through once more, from its beginning.
      if case let seq?? = cursor { try ledger.write(cursor: isWhole ? seq : 0) }
    }
  }

  private static func read<Value>(
    _ old: StorageFile, _ rescue: inout LedgerRescue, _ body: (StorageSession) throws -> Value
  ) -> Value? {
    do throws(StorageFault) { return try old.readNow(body) } catch {
      rescue.reason = error.reason
      return nil
    }
  }
}

/// A job that was saved.
struct SavedJob {
  let order: JobOrder
  let isOpen: Bool
  /// By their times.
  var facts: [Int64: JobFact.What] = [:]
}

extension LedgerSession {
  func write(_ saved: SavedJob) throws {
    try insert(saved.order)
    let facts = saved.facts.map { JobFact(at: $0.key, $0.value) }.sorted { $0.at < $1.at }
    for fact in facts { try insert(JobBatch.Entry(job: saved.order.id, fact: fact)) }
    let picture = JobPicture(saved.order, facts)
    for intent in picture.voidIntents { try remove(intent, of: saved.order.id) }
    for proof in picture.proofs { try insert(proof, of: saved.order.id) }
    try update(saved.order.id, JobBatch.Standing(state: picture.state, endedAt: picture.endedAt))
    guard !saved.isOpen, picture.endedAt != nil else { return }
    var batch = JobBatch(number: 0)
    batch.closed = [saved.order.id]
    try write(batch)
  }
}
