import Contracts
import Cryptography
import JobTracking
import Nostr
import Testing

@Suite("Of several who want to be paid, by rule") struct TurnTests {
  let bench = Bench()
  let first = Maker()
  let second = Maker()
  let auto = JobSubmit.Payment(mode: .auto, jobMaximum: 20_000)

  private func bill(_ job: JobID, _ maker: Maker, _ amount: Int64, expires: Int64 = 86_400) throws -> TestInvoice {
    let bill = try TestInvoice(amount, at: bench.seconds, expires: expires)
    let number = bench.picture(job).requests.count - 1
    bench.receive(
      try maker.feedback(
        .paymentRequired, to: bench.request(job, number), at: bench.seconds, amount: bill.amount))
    return bill
  }

  @Test("the next one waits until the invoice that was approved has expired unpaid; that somebody may approve is told")
  func expired() throws {
    let job = try bench.text([first, second], payment: auto)
    _ = try bill(job, first, 5_000, expires: 60)
    _ = try bill(job, second, 6_000)
    #expect(bench.payments.map(\.2.provider) == [first.publicKey])
    #expect(
      bench.picture(job).reason
        == "approved, to be paid: 5 sat; another provider wants 6 sat: meanwhile a person has to approve that")
    bench.pass(seconds: 59)
    #expect(bench.payments.count == 1)
    bench.pass(seconds: 1)
    #expect(bench.payments.map(\.2.provider) == [first.publicKey, second.publicKey])
    let told = try #require(bench.book.told(job, at: bench.now)?.providers)
    #expect(told.first { $0.provider == first.publicKey.description }?.invoiceProblem == "the invoice has expired")
    #expect(bench.book.approvedToday(at: bench.now) == 11_000)
  }

  @Test("the next one waits while one is paid; then its text says so")
  func paid() throws {
    let job = try bench.text([first, second], payment: auto)
    let bought = try bill(job, first, 5_000)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bought.preimage, at: bench.now))
    _ = try bill(job, second, 6_000)
    #expect(bench.payments.count == 1)
    #expect(bench.picture(job).reason?.contains("another provider wants 6 sat: meanwhile") == true)
    bench.perform(try bench.book.approve(job, provider: second.publicKey, preimage: nil, at: bench.now))
    #expect(bench.payments.count == 2)
  }

  @Test("one that was approved or paid and brings nothing in time does not block the next", arguments: [true, false])
  func undelivered(isPaid: Bool) throws {
    let job = try bench.text([first, second], payment: auto, oneByOne: true)
    let bought = try bill(job, first, 5_000)
    if isPaid { bench.perform(try bench.book.approve(job, provider: nil, preimage: bought.preimage, at: bench.now)) }
    bench.pass(seconds: 601)
    #expect(bench.picture(job).requests.count == 2)
    _ = try bill(job, second, 6_000)
    #expect(bench.payments.map(\.2.provider) == [first.publicKey, second.publicKey])
  }

  @Test("one that was paid and has delivered does not block another whose agreement is wanted")
  func agreement() throws {
    var wanted = JobSubmit(kind: 5_050)
    wanted.providers = [first, second].map(\.publicKey.description)
    (wanted.payment, wanted.choice) = (auto, JobSubmit.Choice(agreement: 2))
    let job = try bench.submit(wanted)
    let bought = try bill(job, first, 5_000)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bought.preimage, at: bench.now))
    bench.receive(try first.result("noon", to: bench.request(job), at: bench.seconds + 1))
    _ = try bill(job, second, 6_000)
    #expect(bench.payments.map(\.2.provider) == [first.publicKey, second.publicKey])
  }

  @Test(
    "what was approved and not shown to be paid is not called paid when nothing comes of it", arguments: [true, false])
  func endings(isPaid: Bool) throws {
    let job = try bench.text([first], payment: auto)
    let bought = try bill(job, first, 5_000)
    if isPaid { bench.perform(try bench.book.approve(job, provider: nil, preimage: bought.preimage, at: bench.now)) }
    bench.pass(seconds: 601)
    #expect(bench.state(job) == .expired)
    #expect(
      bench.picture(job).reason
        == (isPaid
          ? "it was paid for, and not delivered in time"
          : "its payment was approved, no proof of it was shown, and nothing was delivered in time"))
  }
}
