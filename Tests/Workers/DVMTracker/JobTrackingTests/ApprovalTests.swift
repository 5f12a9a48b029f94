import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("An approval") struct ApprovalTests {
  let bench = Bench()
  let maker = Maker()

  private func bill(_ job: JobID, _ amount: Int64 = 5_000, by maker: Maker? = nil) throws -> TestInvoice {
    let maker = maker ?? self.maker
    let bill = try TestInvoice(amount, at: bench.seconds)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    return bill
  }

  private func refusal(_ job: JobID) -> String {
    let refusal = #expect(throws: Refusal.self) {
      try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now)
    }
    return refusal?.message ?? ""
  }

  @Test("is told in place of what was asked for, and then that it is paid, so that nobody pays twice")
  func told() throws {
    let job = try bench.text([maker])
    let shown = try bill(job)
    #expect(bench.picture(job).reason == "its provider wants 5 sat")
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(bench.state(job) == .paymentRequired)
    #expect(bench.picture(job).reason == "approved, to be paid: 5 sat")
    bench.perform(try bench.book.approve(job, provider: nil, preimage: shown.preimage, at: bench.now))
    #expect(bench.state(job) == .processing && bench.picture(job).reason == "it is paid, and waits for the result")
    let other = try bench.text([maker])
    let owed = try TestInvoice(7_000, at: bench.seconds)
    bench.receive(try maker.result("noon", to: bench.request(other), at: bench.seconds, amount: owed.amount))
    bench.perform(try bench.book.approve(other, provider: nil, preimage: nil, at: bench.now))
    #expect(bench.state(other) == .delivered)
    #expect(bench.picture(other).reason == "approved, to be paid: 7 sat")
  }

  @Test("keeps to what is configured, whatever a job says; a job can only lower it", arguments: [true, false])
  func ceilings(isAutomatic: Bool) throws {
    bench.book.limits.dayMaximum = 10_000
    bench.book.limits.providerDayMaximum = 8_000
    var payment = JobSubmit.Payment(mode: isAutomatic ? .auto : .ask, jobMaximum: .max)
    (payment.dayMaximum, payment.providerMaximum) = (.max, .max)
    let huge = try bench.text([maker], payment: payment)
    _ = try bill(huge, 2_100_000_000_000_000_000)
    #expect(bench.payments.isEmpty && refusal(huge).contains("10 sat may be"))
    let dear = try bench.text([maker], payment: payment)
    _ = try bill(dear, 9_000)
    #expect(bench.payments.isEmpty && refusal(dear).contains("for this provider in 24 hours, and 8 sat may be"))
    (payment.dayMaximum, payment.providerMaximum) = (4_000, nil)
    let low = try bench.text([maker], payment: payment)
    _ = try bill(low, 5_000)
    #expect(bench.payments.isEmpty && refusal(low).contains("in 24 hours, and 4 sat may be"))
  }

  @Test("counts for a day also when its job is called off, for it may have been paid")
  func cancelled() throws {
    let job = try bench.text([maker])
    _ = try bill(job)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    bench.perform(bench.book.cancelled(job, at: bench.now))
    #expect(bench.book.approvedToday(at: bench.now) == 5_000)
  }

  @Test("beside approvals beyond all that there is, as there were once, is refused, and the sum is a number")
  func sums() throws {
    for byte in UInt8(0)..<5 {
      let way = PaymentIntent.Way.invoice("lnbc", paymentHash: SHA256.hash([byte]))
      let intent = PaymentIntent(provider: maker.publicKey, way: way, amount: .max / 3, isAutomatic: true)
      bench.book.restored(intent, of: JobID(900 + UInt64(byte)), at: bench.now)
    }
    #expect(bench.book.approvedToday(at: bench.now) == .max)
    let job = try bench.text([maker])
    _ = try bill(job)
    let words = refusal(job)
    #expect(words.contains("\(Amount.satoshis(.max)) would be approved") && !words.contains("-"))
  }

  @Test(
    "is of no bill whose amount is no number, by hand or by rule", arguments: ["-5000", "99999999999999999999", "5,0"])
  func numbers(text: String) throws {
    let auto = JobSubmit.Payment(mode: .auto, jobMaximum: 1_000_000)
    for payment in [nil, auto] {
      let job = try bench.text([maker], payment: payment)
      let shown = try TestInvoice(5_000, at: bench.seconds)
      bench.receive(maker.bill(text, shown.invoice.text, to: try bench.request(job), at: bench.seconds))
      #expect(bench.payments.isEmpty && refusal(job).contains("no number of millisatoshi"))
      let told = try #require(bench.book.told(job, at: bench.now)?.providers.first)
      #expect(told.invoice == nil && told.invoiceProblem?.contains("no number") == true)
    }
  }

  @Test("by rule is of strangers for a result alone, or where offers are collected")
  func strangers() throws {
    let auto = JobSubmit.Payment(mode: .auto, jobMaximum: 10_000)
    let job = try bench.text(payment: auto)
    _ = try bill(job)
    #expect(bench.payments.isEmpty && bench.state(job) == .paymentRequired)
    #expect(bench.picture(job).reason?.contains("a person has to approve") == true)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(bench.payments.count == 1)
    let delivered = try bench.text(payment: auto)
    let owed = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.result("noon", to: bench.request(delivered), at: bench.seconds, amount: owed.amount))
    #expect(bench.payments.count == 2 && bench.payments.last?.2.isAutomatic == true)
    var wanted = JobSubmit(kind: 5_050)
    (wanted.payment, wanted.choice) = (auto, JobSubmit.Choice(window: 30))
    let offered = try bench.submit(wanted)
    _ = try bill(offered, 3_000, by: Maker())
    bench.pass(seconds: 31)
    #expect(bench.payments.count == 3)
  }

  @Test("waits for offers, and for agreement, within bounds alone")
  func choices() {
    var wanted = JobSubmit(kind: 5_050)
    for (choice, isGood) in [
      (JobSubmit.Choice(window: JobDeadlines.maximum, agreement: JobSubmit.providerMaximum), true),
      (JobSubmit.Choice(window: .max), false), (JobSubmit.Choice(window: -1), false),
      (JobSubmit.Choice(agreement: 1 << 40), false), (JobSubmit.Choice(agreement: 0), false),
    ] {
      wanted.choice = choice
      #expect((wanted.problem == nil) == isGood, "\(choice)")
    }
  }
}
