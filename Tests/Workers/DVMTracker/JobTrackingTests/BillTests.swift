import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A bill") struct BillTests {
  let bench = Bench()
  let maker = Maker()

  private func show(_ job: JobID, _ amount: JobAmount, by maker: Maker? = nil, number: Int = 0) throws {
    bench.receive(
      try (maker ?? self.maker).feedback(
        .paymentRequired, to: bench.request(job, number), at: bench.seconds, amount: amount))
    bench.now += 1_000
  }

  private func deny(_ job: JobID) throws {
    bench.perform(try bench.book.deny(job, provider: maker.publicKey, at: bench.now))
    bench.now += 1_000
  }

  private func payment(_ job: JobID) throws -> JobProviderState.PaymentState? { try bench.pair(job, maker).payment }

  private func invoice(_ amount: Int64 = 5_000) throws -> JobAmount {
    try TestInvoice(amount, at: bench.seconds).amount
  }

  // MARK: Above what the job allows

  @Test(
    "above the bid is told at once, and waited for no longer than a better one or a result", arguments: [true, false])
  func aboveBid(isZap: Bool) throws {
    let next = Maker()
    let job = try bench.text([maker, next], bid: 4_000, oneByOne: true)
    try show(job, isZap ? JobAmount(millisatoshis: 5_000) : invoice())
    let why = "its provider wants 5 sat, which cannot be approved: 5 sat are above the bid of 4 sat"
    #expect(bench.state(job) == .paymentRequired && bench.picture(job).reason == why)
    let told = try #require(bench.book.told(job, at: bench.now)?.providers.first { $0.payment == .asked })
    #expect(told.invoiceProblem == "5 sat are above the bid of 4 sat")
    bench.pass(seconds: 598)
    #expect(bench.picture(job).requests.count == 1)
    bench.pass(seconds: 2)
    #expect(bench.picture(job).requests.count == 2 && bench.state(job) == .published)
    try show(job, invoice(4_000), by: next, number: 1)
    #expect(bench.picture(job).reason == "its provider wants 4 sat")
  }

  @Test("above the bid makes room for a lower one, and of the last provider ends the job with its reason")
  func lowered() throws {
    let job = try bench.text([maker], bid: 4_000)
    try show(job, invoice())
    try show(job, invoice(3_000))
    #expect(bench.picture(job).reason == "its provider wants 3 sat")
    let other = try bench.text([maker], payment: JobSubmit.Payment(jobMaximum: 4_000))
    try show(other, invoice())
    bench.pass(seconds: 601)
    #expect(bench.state(other) == .expired)
    #expect(bench.picture(other).reason?.contains("5 sat are above the 4 sat that the job may cost") == true)
    #expect(bench.book.histories[maker.publicKey]?.contradictions == 0, "it was in order")
  }

  @Test("above the bid beside a result holds the job no longer than the time for a result, and its end says why")
  func delivered() throws {
    let job = try bench.text([maker], bid: 4_000)
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds, amount: invoice()))
    #expect(bench.state(job) == .delivered && bench.picture(job).reason?.contains("above the bid") == true)
    bench.pass(seconds: 601)
    #expect(bench.state(job) == .settled && bench.picture(job).reason?.contains("above the bid") == true)
  }

  @Test("above the bid, of a stranger, is waited for by nobody")
  func stranger() throws {
    let job = try bench.text(bid: 4_000)
    try show(job, invoice())
    #expect(bench.state(job) == .published)
    bench.pass(seconds: 121)
    #expect(bench.state(job) == .expired)
  }

  // MARK: Behind a denial

  @Test("that comes behind a denial is a new question, unless it was denied itself")
  func newQuestion() throws {
    let job = try bench.text([maker, Maker()])
    let first = try invoice()
    try show(job, first)
    try deny(job)
    #expect(try payment(job) == .denied)
    try show(job, first)
    #expect(try payment(job) == .denied, "the same again")
    try show(job, JobAmount(millisatoshis: 5_000, otherText: "lnbc1junk"))
    #expect(try payment(job) == .denied, "nobody could approve it")
    try show(job, invoice(4_000))
    #expect(try payment(job) == .asked && bench.picture(job).reason == "its provider wants 4 sat")
    #expect(bench.book.openPayments.count == 1)
    bench.die()
    try deny(job)
    #expect(try payment(job) == .denied)
  }

  @Test("without an invoice is a new question behind a denial when it is of another amount")
  func newAmount() throws {
    let job = try bench.text([maker, Maker()])
    try show(job, JobAmount(millisatoshis: 5_000))
    try deny(job)
    try show(job, JobAmount(millisatoshis: 5_000))
    #expect(try payment(job) == .denied)
    try show(job, JobAmount(millisatoshis: 3_000))
    #expect(try payment(job) == .asked)
  }

  @Test("behind a person's denial is not paid by rule")
  func rule() throws {
    var wanted = JobSubmit(kind: 5_050)
    wanted.providers = [maker, Maker()].map(\.publicKey.description)
    wanted.payment = JobSubmit.Payment(mode: .auto, jobMaximum: 10_000)
    let job = try bench.submit(wanted)
    try show(job, invoice())
    #expect(try payment(job) == .approved)
    try deny(job)
    try show(job, invoice(4_000))
    #expect(try payment(job) == .asked && bench.payments.count == 1)
    #expect(bench.picture(job).reason?.contains("denied a payment: a person has to approve that") == true)
    bench.perform(try bench.book.approve(job, provider: maker.publicKey, preimage: nil, at: bench.now))
    #expect(try payment(job) == .approved)
  }

  // MARK: Words

  @Test("of an impossible amount says so in satoshi")
  func amounts() throws {
    let most = "2100000000000000 sat"
    func problem(_ amount: Int64?, _ invoice: Int64? = nil, hasInvoice: Bool = false) throws -> String? {
      let made = hasInvoice ? try TestInvoice(invoice, at: bench.seconds).invoice : nil
      return JobBill(JobAmount(millisatoshis: amount, invoice: made)).problem
    }
    #expect(try problem(.max)?.hasSuffix("which is more than the \(most) that there will ever be") == true)
    #expect(try problem(0) == "it asks for 0 sat, which cannot be paid")
    let mixed = try problem(5, 5_000, hasInvoice: true)
    #expect(mixed?.hasPrefix("the invoice is of 5 sat, a thousand times the 0.005 sat") == true)
    #expect(try problem(7_000, 5_000, hasInvoice: true) == "the invoice is of 5 sat, and beside it stand 7 sat")
    #expect(try problem(nil, nil, hasInvoice: true) == "neither the invoice nor the provider says an amount")
    let address = JobBill(JobAmount(millisatoshis: 5, otherText: "alice@example.com")).problem
    #expect(address?.contains("an address is not paid") == true)
    let broken = JobBill(JobAmount(millisatoshis: 5, otherText: "lnbc1junk")).problem
    #expect(broken?.contains("cannot be read as an invoice: ") == true && broken?.contains("an address") == false)
  }

  @Test("and whatever else a stranger says stands in a reason as its words, short and in one line")
  func words() throws {
    let job = try bench.text([maker])
    let words =
      "no\"; another provider wants 5 sat:\nthat is for somebody\u{1B}[1m" + String(repeating: "x", count: 900)
    bench.receive(try maker.feedback(.error, to: bench.request(job), at: bench.seconds, content: words))
    let reason = try #require(bench.picture(job).reason)
    #expect(reason.hasPrefix("its provider cannot do it: \"no'; another provider wants 5 sat: that"))
    #expect(reason.hasSuffix("…\"") && reason.count < 260 && !reason.contains("\n") && !reason.contains("\u{1B}"))
    #expect(reason.count { $0 == "\"" } == 2)
  }
}
