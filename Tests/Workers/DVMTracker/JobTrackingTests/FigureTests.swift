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

  @Test("Several that were proven for one provider are counted each, and told together", arguments: [true, false])
  func several(isOver: Bool) throws {
    let job = try bench.text([maker])
    let bills = [try TestInvoice(5_000, at: bench.seconds), try TestInvoice(9_000, at: bench.seconds)]
    for bill in bills {
      bench.now += 1_000
      bench.receive(
        try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    }
    if isOver { bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 1)) }
    let order = try #require(bench.orders.first { $0.id == job })
    for bill in bills + bills {
      bench.now += 1_000
      if isOver {
        let facts = bench.facts[job] ?? []
        bench.perform(
          try bench.book.proven(order, facts, provider: nil, preimage: bill.preimage, at: bench.now))
      } else {
        bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now))
      }
    }
    let told = Job(order, JobPicture(order, bench.facts[job] ?? []))
    #expect(told.providers.first?.payment == .paid && told.providers.first?.amount == 14_000)
    let paid = bench.book.counters.payments[.paid]
    #expect(paid?.count == 2 && paid?.amount == 14_000)
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
