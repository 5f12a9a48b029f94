import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A fresh invoice") struct RenewalTests {
  let bench = Bench()
  let maker = Maker()

  /// A job of two providers; the second keeps it going.
  private func job(payment: JobSubmit.Payment? = nil) throws -> JobID {
    try bench.text([maker, Maker()], payment: payment)
  }

  @discardableResult
  private func bill(_ job: JobID, _ amount: Int64 = 5_000, expires: Int64 = 86_400) throws -> TestInvoice {
    let bill = try TestInvoice(amount, at: bench.seconds, expires: expires)
    try show(job, bill.amount)
    return bill
  }

  private func show(_ job: JobID, _ amount: JobAmount) throws {
    bench.receive(try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: amount))
    bench.now += 1_000
  }

  private func approve(_ job: JobID, _ preimage: Octets32? = nil) throws {
    bench.perform(try bench.book.approve(job, provider: maker.publicKey, preimage: preimage, at: bench.now))
    bench.now += 1_000
  }

  private func deny(_ job: JobID) throws {
    bench.perform(try bench.book.deny(job, provider: maker.publicKey, at: bench.now))
    bench.now += 1_000
  }

  private func refusal(_ job: JobID, _ preimage: Octets32? = nil) -> String {
    let refusal = #expect(throws: Refusal.self) {
      try bench.book.approve(job, provider: maker.publicKey, preimage: preimage, at: bench.now)
    }
    return refusal?.message ?? ""
  }

  @Test("is shown behind one whose approval was taken back, and can be approved and paid")
  func denied() throws {
    let job = try job()
    try bill(job)
    try approve(job)
    try deny(job)
    let fresh = try bill(job, 6_000)
    #expect(try bench.pair(job, maker).bill?.invoice == fresh.invoice.text)
    try approve(job)
    bench.die()
    let pair = try bench.pair(job, maker)
    #expect(pair.payment == .approved && pair.intent?.key == fresh.invoice.paymentHash)
    try approve(job, fresh.preimage)
    #expect(try bench.pair(job, maker).payment == .paid)
    #expect(bench.book.approvedToday(at: bench.now) == 11_000)
  }

  @Test("is asked for behind an approved one that has expired unpaid, and no earlier")
  func expired() throws {
    let job = try bench.text([maker])
    let old = try bill(job, expires: 60)
    try approve(job)
    try bill(job, 7_000)
    #expect(try bench.pair(job, maker).bill?.invoice == old.invoice.text)
    bench.pass(seconds: 60)
    let fresh = try bill(job, 6_000)
    #expect(try bench.pair(job, maker).payment == .asked)
    #expect(bench.picture(job).reason == "its provider wants 6 sat")
    try approve(job)
    try approve(job, fresh.preimage)
    #expect(try bench.pair(job, maker).payment == .paid && bench.state(job) == .processing)
  }

  @Test("is approved by rule within the bounds, for which the expired one counts as well", arguments: [11_000, 10_000])
  func byRule(maximum: Int64) throws {
    let job = try bench.text([maker], payment: JobSubmit.Payment(mode: .auto, jobMaximum: maximum))
    try bill(job, expires: 60)
    bench.pass(seconds: 60)
    try bill(job, 6_000)
    #expect(bench.payments.count == (maximum == 11_000 ? 2 : 1))
    guard maximum == 10_000 else { return }
    #expect(refusal(job).contains("11 sat would be approved for this job"))
  }

  @Test("of the payment hash of one that was approved is refused, also behind a denial")
  func twin() throws {
    for amount in [Int64(100_000), 5_000] {
      let job = try job()
      let first = try bill(job)
      try approve(job)
      try deny(job)
      var terms = InvoiceTerms(
        amountMillisatoshis: amount, paymentHash: first.invoice.paymentHash, createdAt: bench.seconds,
        network: .bitcoin)
      terms.descriptionText = "the same"
      terms.expirySeconds = 86_400
      try show(job, JobAmount(millisatoshis: amount, invoice: try terms.signed(by: .generate())))
      #expect(refusal(job).contains("same payment hash"))
      #expect(bench.payments.count == 1)
      // That the first was paid can be shown all the same.
      try approve(job, first.preimage)
      let pair = try bench.pair(job, maker)
      #expect(pair.payment == .paid && pair.bill?.invoice == first.invoice.text && pair.intent?.amount == 5_000)
      bench.payments = []
    }
  }

  @Test("does not hide that an earlier one was approved, and then paid", arguments: [true, false])
  func earlier(isApproved: Bool) throws {
    let job = try job()
    let old = try bill(job)
    try approve(job)
    try deny(job)
    let fresh = try bill(job, 6_000)
    if isApproved { try approve(job) }
    #expect(refusal(job, SHA256.hash([1])).contains("not that of this invoice"))
    try approve(job, old.preimage)
    let pair = try bench.pair(job, maker)
    #expect(pair.payment == .paid && pair.intent?.key == old.invoice.paymentHash)
    #expect(bench.book.told(job, at: bench.now)?.providers.first { $0.payment == .paid }?.invoice == old.invoice.text)
    #expect(bench.payments.contains { $0.2.key == fresh.invoice.paymentHash } == isApproved)
  }

  @Test("does not hide that an earlier one was paid, when the job is over", arguments: [true, false])
  func late(isOld: Bool) throws {
    let job = try job()
    let old = try bill(job)
    try approve(job)
    try deny(job)
    let fresh = try bill(job, 6_000)
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds))
    #expect(bench.state(job) == .settled)
    let order = try #require(bench.orders.first { $0.id == job })
    let paid = isOld ? old : fresh
    let facts = try #require(bench.facts[job])
    bench.perform(try bench.book.proven(order, facts, provider: nil, preimage: paid.preimage, at: bench.now))
    let pair = try bench.pair(job, maker)
    #expect(pair.payment == .paid && pair.bill?.invoice == paid.invoice.text)
    #expect(bench.book.approvedToday(at: bench.now) == (isOld ? 5_000 : 11_000))
  }

  @Test("is not denied because a rail could not pay the earlier one")
  func rail() throws {
    let job = try bench.text([maker])
    bench.isPrompt = false
    try bill(job, expires: 60)
    bench.write(try #require(bench.batches.last))
    try approve(job)
    bench.write(try #require(bench.batches.last))
    let intent = try #require(bench.payments.first?.2)
    bench.isPrompt = true
    bench.pass(seconds: 60)
    try bill(job, 6_000)
    #expect(try bench.pair(job, maker).payment == .asked)
    bench.perform(bench.book.settled(job, intent, .failed("it has expired"), at: bench.now))
    #expect(try bench.pair(job, maker).payment == .asked)
  }
}
