import Contracts
import JobTracking
import Nostr
import Testing

@Suite("Figures of payments") struct FigureTests {
  let bench = Bench()
  let maker = Maker()

  @Test("One that is approved is unpaid until it is proven")
  func unpaid() throws {
    let job = try bench.text([maker])
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    #expect(bench.book.unpaidPayments.count == 0)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(bench.book.unpaidPayments.count == 1 && bench.book.unpaidPayments.amount == 5_000)
    #expect(bench.book.openPayments.count == 0)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now))
    #expect(bench.book.unpaidPayments.count == 0)
  }

  @Test("One of a job that was called off is not awaited")
  func cancelled() throws {
    let job = try bench.text([maker])
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    bench.perform(bench.book.cancelled(job, at: bench.now))
    #expect(bench.book.unpaidPayments.count == 0)
  }
}
