import Contracts
import Cryptography
import Glibc
import JobLedger
import JobTracking
import Nostr
import Storage
import TestSupport
import Testing

@Suite("The ledger of jobs") struct LedgerTests {
  static func order(_ number: UInt64, key: String? = nil, at: Int64 = 1_000) throws -> JobOrder {
    var submit = JobSubmit(kind: 5_050)
    submit.key = key ?? "key \(number)"
    submit.inputs = [JobInputArgument(data: "what is the time in Zürich?", type: "text")]
    submit.turns = .all
    submit.reach = .relays
    submit.payment = JobSubmit.Payment(mode: .ask)
    submit.deadlines = PhaseSeconds().said
    submit.providers = [PublicKey(SHA256.hash([1])).description]
    return try #require(
      JobOrder(id: JobID(number), account: PublicKey(SHA256.hash([2])), submittedAt: at, submit: submit))
  }

  /// The facts of a job whose request is out, and to which something was said.
  static func facts(_ number: UInt64) -> [JobFact] {
    let provider = PublicKey(SHA256.hash([1]))
    let request = EventID(SHA256.hash(Array("\(number)".utf8)))
    var answer = JobAnswerFact(
      event: EventID(SHA256.hash(Array("a\(number)".utf8))), request: request, provider: provider, kind: 7_000,
      createdAt: 5)
    answer.status = .processing
    let json = [UInt8](repeating: 0x20, count: 700)
    return [
      JobFact(at: 1_001, .attempted(0, [provider])),
      JobFact(at: 1_002, .requested(JobRequestFact(attempt: 0, id: request, createdAt: 1, json: json))),
      JobFact(at: 1_003, .stored(request)), JobFact(at: 1_004, .relayed(request, confirmed: 1, of: 2)),
      JobFact(at: 1_005, .answered(answer)),
    ]
  }

  static func batch(_ orders: [JobOrder], _ facts: (JobOrder) -> [JobFact] = { _ in [] }) -> JobBatch {
    var batch = JobBatch(number: 1)
    batch.accepted = orders
    for order in orders {
      let known = facts(order)
      batch.entries += known.map { JobBatch.Entry(job: order.id, fact: $0) }
      let picture = JobPicture(order, known)
      batch.standings[order.id] = JobBatch.Standing(state: picture.state, endedAt: picture.endedAt)
    }
    return batch
  }

  static func ended(_ order: JobOrder, at: Int64) -> JobBatch {
    var batch = JobBatch(number: 1)
    batch.accepted = [order]
    batch.entries = [JobBatch.Entry(job: order.id, fact: JobFact(at: at, .ended(.failed, "so")))]
    batch.standings[order.id] = JobBatch.Standing(state: .failed, endedAt: at)
    batch.closed = [order.id]
    return batch
  }

  @Test("gives after a new start what was written, in the order of acceptance")
  func written() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    let orders = try [3, 1, 2].map { try Self.order($0) }
    do {
      let ledger = try JobLedger(path: path)
      var batch = Self.batch(orders) { Self.facts($0.id.number) }
      batch.cursor = 77
      var history = ProviderHistory()
      (history.asked, history.latencies, history.lastAt) = (5, [100, 300_000, 7], 9)
      batch.histories[PublicKey(SHA256.hash([1]))] = history
      try await ledger.write(batch)
      try await ledger.write(Self.ended(Self.order(9), at: 2_000))
      try ledger.close()
    }
    let contents = try JobLedger(path: path).contentsNow(now: 3_000)
    #expect(contents.open.map(\.order) == orders && contents.cursor == 77)
    for job in contents.open { #expect(job.facts == Self.facts(job.order.id.number)) }
    #expect(contents.kept.map(\.key) == ["key 9"] && contents.counts == [.failed: 1])
    #expect(contents.histories.values.map(\.latencies) == [[100, 300_000, 7]])
  }

  @Test("writes a batch whole or not at all")
  func whole() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try JobLedger(path: directory.path + "/jobs.db")
    var batch = try Self.batch([Self.order(1), Self.order(2, key: "key 1")]) { Self.facts($0.id.number) }
    batch.cursor = 5
    await #expect(throws: StorageFault.self) { try await ledger.write(batch) }
    let contents = try ledger.contentsNow(now: 0)
    #expect(contents.open.isEmpty && contents.cursor == nil)
  }

  @Test("keeps one intent for a job, a provider and a payment hash, one answer of an id, and the last cursor")
  func once() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try JobLedger(path: directory.path + "/jobs.db")
    let order = try Self.order(1)
    let intent = PaymentIntent(
      provider: PublicKey(SHA256.hash([1])), way: .invoice("lnbc", paymentHash: SHA256.hash([3])), amount: 5,
      isAutomatic: false)
    var batch = Self.batch([order]) { Self.facts($0.id.number) }
    batch.entries.append(JobBatch.Entry(job: order.id, fact: JobFact(at: 1_006, .approved(intent))))
    batch.cursor = 9
    try await ledger.write(batch)
    var again = JobBatch(number: 2)
    again.entries = [JobBatch.Entry(job: order.id, fact: JobFact(at: 1_007, .approved(intent)))]
    again.entries.append(JobBatch.Entry(job: order.id, fact: JobFact(at: 1_008, Self.facts(1)[4].what)))
    again.cursor = 0
    try await ledger.write(again)
    let contents = try ledger.contentsNow(now: 2_000)
    #expect(contents.payments.map(\.intent) == [intent] && contents.cursor == 0)
    #expect(contents.payments.map(\.at) == [1_007])
    let answers = contents.open[0].facts.filter { if case .answered = $0.what { true } else { false } }
    #expect(answers.map(\.at) == [1_005])
  }

  @Test("forgets what has ended when it is old, or too much, and nothing that is open")
  func sweep() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try JobLedger(path: directory.path + "/jobs.db")
    try await ledger.write(Self.batch([Self.order(1)]) { Self.facts($0.id.number) })
    for number in 2...260 { try ledger.writeNow(Self.ended(try Self.order(UInt64(number)), at: Int64(number))) }
    let now = 250 + JobLedger.endedMilliseconds
    #expect(try await ledger.sweep(now: now).count == JobLedger.sweepCount)
    #expect(try await ledger.sweep(now: now).count == 48)
    #expect(try await ledger.sweep(now: now).isEmpty)
    let contents = try ledger.contentsNow(now: now)
    #expect(contents.open.count == 1 && contents.kept.count == 11)
    #expect(try await ledger.jobs(in: [.failed], limit: 3).map(\.number) == [260, 259, 258])
    #expect(try await ledger.job(JobID(2)) == nil)
  }

  @Test("keeps what was approved when its job is one too many, for as long as it may count, and takes out what is void")
  func payments() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    let ledger = try JobLedger(path: path)
    let intents = [UInt8(1), 2].map { number in
      PaymentIntent(
        provider: PublicKey(SHA256.hash([1])), way: .zap(EventID(SHA256.hash([number]))), amount: 5, isAutomatic: false)
    }
    let orders = try (0...JobLedger.endedMaximum).map { try Self.order(UInt64($0)) }
    var batch = Self.batch(orders)
    for order in orders {
      let standing = JobBatch.Standing(state: .failed, endedAt: 2_000 + Int64(order.id.number))
      batch.standings[order.id] = standing
      batch.closed.append(order.id)
    }
    for intent in intents {
      let fact = JobFact(at: 1_500 + Int64(batch.entries.count), .approved(intent))
      batch.entries.append(JobBatch.Entry(job: JobID(0), fact: fact))
    }
    batch.voided = [(JobID(0), intents[1])]
    try await ledger.write(batch)
    #expect(try await ledger.sweep(now: 20_000).map(\.id) == [JobID(0)])
    #expect(try ledger.contentsNow(now: 20_000).payments.map(\.intent) == [intents[0]])
    _ = try await ledger.sweep(now: 1_502 + JobLedger.paymentMilliseconds)
    #expect(try ledger.contentsNow(now: 20_000).payments.isEmpty, "its time is over")
  }

  @Test("keeps what a payment hash has proven first, also when its job is forgotten")
  func proofs() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try JobLedger(path: directory.path + "/jobs.db")
    let (first, second) = (PublicKey(SHA256.hash([1])), PublicKey(SHA256.hash([2])))
    var batch = try Self.ended(Self.order(1), at: 5)
    let kept = PaymentProof(hash: SHA256.hash([8]), provider: first, at: 5)
    let other = PaymentProof(hash: SHA256.hash([9]), provider: second, at: 4)
    batch.proofs = [(JobID(1), kept), (JobID(1), other)]
    try await ledger.write(batch)
    var again = JobBatch(number: 2)
    again.proofs = [(JobID(2), PaymentProof(hash: kept.hash, provider: second, at: 6))]
    try await ledger.write(again)
    #expect(try await ledger.sweep(now: 10 + JobLedger.endedMilliseconds).count == 1)
    let contents = try ledger.contentsNow(now: 10)
    #expect(contents.proofs.map(\.proof) == [other, kept] && contents.proofs.map(\.job) == [JobID(1), JobID(1)])
  }

  @Test("forgets the providers seen longest ago when there are too many")
  func providers() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try JobLedger(path: directory.path + "/jobs.db")
    var batch = JobBatch(number: 1)
    for number in 0..<ProviderHistory.providerMaximum + 2 {
      var history = ProviderHistory()
      history.lastAt = Int64(number)
      batch.histories[PublicKey(SHA256.hash(Array("\(number)".utf8)))] = history
    }
    try await ledger.write(batch)
    _ = try await ledger.sweep(now: 0)
    try await ledger.write(JobBatch(number: 2))
    let file = try StorageFile(
      path: ledger.path, StorageSettings(durability: .full), migrations: [StorageMigration(version: 3, "")])
    let oldest = try file.readNow { session in
      let statement = try session.statement("SELECT min(lastAt) FROM provider")
      return try statement.step() ? statement.number(0) : nil
    }
    #expect(oldest == 2)
  }

  @Test("puts a damaged file aside, says so, and goes on with what can be read")
  func damaged() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    var (ledger, contents, rescue) = try JobLedger.openOrRescue(path: path, now: 1_000)
    #expect(contents.open.isEmpty && rescue == nil)
    let orders = try (1...1_000).map { try Self.order(UInt64($0)) }
    var batch = Self.batch(orders) { Self.facts($0.id.number) }
    batch.cursor = 42
    try ledger.writeNow(batch)
    try ledger.close()
    try overwrite(path)
    (ledger, contents, rescue) = try JobLedger.openOrRescue(path: path, now: 2_000)
    if rescue == nil {
      ledger.markDamaged()
      try ledger.close()
      (ledger, contents, rescue) = try JobLedger.openOrRescue(path: path, now: 2_000)
    }
    let saved = try #require(rescue)
    #expect(saved.savedCount > 300 && saved.savedCount == contents.open.count, "\(saved)")
    // Where neither the table nor an index can be counted, the number of lost jobs is unknown.
    if let lost = saved.lostCount { #expect(saved.savedCount + lost == 1_000, "\(saved)") }
    #expect(saved.reason != nil)
    #expect(saved.quarantinePath == path + ".damaged-2" && access(path + ".damaged-2", F_OK) == 0)
    let known = Set(orders)
    #expect(contents.open.allSatisfy { known.contains($0.order) })
  }

  @Test("does not say that nothing is lost when nothing could be read")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    var ledger = try JobLedger.openOrRescue(path: path, now: 1_000).0
    try ledger.writeNow(Self.batch([try Self.order(1)]) { Self.facts($0.id.number) })
    try ledger.close()
    let file = open(path, O_WRONLY | O_TRUNC)
    let nonsense = [UInt8](repeating: 0xA5, count: 64 << 10)
    #expect(write(file, nonsense, nonsense.count) == nonsense.count)
    close(file)
    let rescue: LedgerRescue?
    (ledger, _, rescue) = try JobLedger.openOrRescue(path: path, now: 2_000)
    try ledger.close()
    let told = try #require(rescue)
    #expect(told.savedCount == 0 && told.lostText == "unknown")
  }

  @Test("of no bytes is not taken for a new one")
  func empty() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    var ledger = try JobLedger.openOrRescue(path: path, now: 1_000).0
    try ledger.writeNow(Self.batch([try Self.order(1)]) { Self.facts($0.id.number) })
    try ledger.close()
    #expect(truncate(path, 0) == 0)
    let rescue: LedgerRescue?
    let contents: JobLedgerContents
    (ledger, contents, rescue) = try JobLedger.openOrRescue(path: path, now: 2_000)
    try ledger.close()
    #expect(contents.open.isEmpty && rescue?.reason == Quarantine.emptyReason && rescue?.lostText == "unknown")
    #expect(rescue?.quarantinePath == path + ".damaged-2")
    #expect(try JobLedger.openOrRescue(path: path, now: 3_000).2 == nil)
  }

  @Test("keeps what was approved for a job that is lost, and has the event store looked through once more")
  func lostJob() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    var ledger = try JobLedger.openOrRescue(path: path, now: 1_000).0
    let intent = PaymentIntent(
      provider: PublicKey(SHA256.hash([1])), way: .invoice("lnbc1", paymentHash: SHA256.hash([3])), amount: 900,
      isAutomatic: false)
    var batch = Self.batch([try Self.order(1), try Self.order(2)]) { Self.facts($0.id.number) }
    batch.entries.append(JobBatch.Entry(job: JobID(1), fact: JobFact(at: 2_000, .approved(intent))))
    let proof = PaymentProof(hash: SHA256.hash([3]), provider: intent.provider, at: 2_001)
    batch.proofs = [(JobID(1), proof)]
    batch.cursor = 42
    try ledger.writeNow(batch)
    try ledger.close()
    let file = try StorageFile(
      path: path, StorageSettings(durability: .full), migrations: [StorageMigration(version: 3, "")])
    try await file.write { session in try session.statement("UPDATE job SET submit = x'00' WHERE id = 1").run() }
    try file.close()
    let (next, contents, rescue) = try JobLedger.openOrRescue(path: path, now: 3_000)
    ledger = next
    #expect(contents.proofs.map(\.proof) == [proof] && contents.proofs.map(\.job) == [JobID(1)])
    defer { try? ledger.close() }  // The test is over.
    #expect(rescue?.lostCount == 1 && contents.open.map(\.order.id) == [JobID(2)])
    #expect(contents.payments.map(\.intent) == [intent] && contents.cursor == 0)
  }

  private func overwrite(_ path: String) throws {
    let file = open(path, O_RDWR)
    #expect(file >= 0)
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    let nonsense = [UInt8](repeating: 0xA5, count: 64 << 10)
    #expect(pwrite(file, nonsense, nonsense.count, size / 2 / 4_096 * 4_096) == nonsense.count)
  }

  @Test("refuses a file of a later version, and leaves it as it is")
  func newer() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    let file = try StorageFile(
      path: path, StorageSettings(durability: .full), migrations: [StorageMigration(version: 1_000, "")])
    try file.close()
    var kind: StorageFault.Kind?
    do throws(StorageFault) { _ = try JobLedger.openOrRescue(path: path, now: 1) } catch { kind = error.kind }
    #expect(kind == .newer)
  }
}
