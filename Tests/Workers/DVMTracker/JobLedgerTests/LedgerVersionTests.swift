import Cryptography
import JobTracking
import Nostr
import Storage
import TestSupport
import Testing

@testable import JobLedger

@Suite("A ledger of jobs from before zaps") struct LedgerVersionTests {
  @Test("is taken over with all that is in it, and then refused by the program that made it")
  func takenOver() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    let settings = StorageSettings(durability: .full)
    let earlier = Array(JobLedgerSchema.migrations.prefix(1))
    let order = try LedgerTests.order(1)
    #expect(order.retries == 0, "what was submitted then says nothing of new requests")
    let old = try StorageFile(path: path, settings, migrations: earlier)
    try await old.write { session in
      try JobRows(session).write(LedgerTests.batch([order]) { LedgerTests.facts($0.id.number) })
    }
    try old.close()
    let (ledger, contents, rescue) = try JobLedger.openOrRescue(path: path, now: 2_000)
    #expect(rescue == nil && contents.open.map(\.order) == [order])
    #expect(contents.open.first?.facts == LedgerTests.facts(1))
    try ledger.close()
    var kind: StorageFault.Kind?
    do throws(StorageFault) { _ = try StorageFile(path: path, settings, migrations: earlier) } catch {
      kind = error.kind
    }
    #expect(kind == .newer, "it would take what it does not know for damage")
  }

  @Test("brings the payments that were proven by preimages")
  func proofs() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/jobs.db"
    let (order, provider) = (try LedgerTests.order(1), PublicKey(SHA256.hash([1])))
    let (preimage, hash) = (SHA256.hash([4]), SHA256.hash(SHA256.hash([4]).bytes))
    let settings = StorageSettings(durability: .full)
    let old = try StorageFile(path: path, settings, migrations: Array(JobLedgerSchema.migrations.prefix(2)))
    try await old.write { session in
      var batch = LedgerTests.batch([order]) { LedgerTests.facts($0.id.number) }
      let paid = JobFact.What.paid(provider, paymentHash: hash, preimage: preimage)
      batch.entries.append(JobBatch.Entry(job: order.id, fact: JobFact(at: 1_500, paid)))
      try JobRows(session).write(batch)
    }
    try old.close()
    let ledger = try JobLedger(path: path)
    defer { try? ledger.close() }  // The test is over.
    let proofs = try ledger.contentsNow(now: 2_000).proofs
    #expect(proofs.map(\.job) == [order.id])
    #expect(proofs.map(\.proof) == [PaymentProof(hash: hash, provider: provider, at: 1_500)])
  }
}
