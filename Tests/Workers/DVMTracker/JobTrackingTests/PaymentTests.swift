import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A payment") struct PaymentTests {
  let bench = Bench()
  let maker = Maker()

  private func billed(
    _ amount: Int64 = 5_000, payment: JobSubmit.Payment? = nil, bid: Int64? = nil, maker: Maker? = nil
  ) throws -> (JobID, TestInvoice) {
    let maker = maker ?? self.maker
    let job = try bench.text([maker], payment: payment, bid: bid)
    let bill = try TestInvoice(amount, at: bench.seconds)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    return (job, bill)
  }

  private func refusal(_ job: JobID, preimage: Octets32? = nil) -> Refusal? {
    #expect(throws: Refusal.self) { try bench.book.approve(job, provider: nil, preimage: preimage, at: bench.now) }
  }

  @Test("is approved, proven by its preimage, and the result settles the job")
  func approved() throws {
    let (job, bill) = try billed()
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(try bench.pair(job, maker).payment == .approved)
    #expect(refusal(job, preimage: SHA256.hash([1]))?.message.contains("not that of this invoice") == true)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now))
    #expect(try bench.pair(job, maker).payment == .paid)
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 5))
    #expect(bench.state(job) == .settled && bench.picture(job).reason == nil)
  }

  @Test("is counted once in each state that it comes to, and is open until somebody has decided")
  func counted() throws {
    let (job, bill) = try billed()
    #expect(bench.book.openPayments.count == 1 && bench.book.openPayments.amount == 5_000)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(bench.book.openPayments.count == 0)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now))
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 5))
    let counters = bench.book.counters
    for state in [JobProviderState.PaymentState.asked, .approved, .paid] {
      #expect(counters.payments[state]?.count == 1 && counters.payments[state]?.amount == 5_000, "\(state)")
    }
    #expect(counters.payments[.denied] == nil && counters.results == 1 && counters.diagnostics.isEmpty)
    bench.die()
    #expect(bench.book.counters == JobCounters(), "what was there at the start has not happened since")
  }

  @Test("of any number that strangers say is counted, and their sum stops at the largest there is")
  func countedHuge() throws {
    for maker in [Maker(), Maker(), Maker()] {
      let job = try bench.text([maker])
      bench.receive(maker.bill("\(Int64.max)", to: try bench.request(job), at: bench.seconds))
    }
    #expect(bench.book.openPayments.amount >= 0 && bench.book.counters.payments[.asked]?.amount ?? 0 >= 0)
  }

  @Test("is one intent, however often it is approved, and one call of the rail")
  func once() throws {
    let (job, _) = try billed()
    bench.isPrompt = false
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    bench.isPrompt = true
    bench.write(try #require(bench.batches.last))
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(bench.payments.count == 1)
    #expect(bench.tasks.count { if case .pay = $0 { true } else { false } } == 1)
    bench.die()
    #expect(bench.tasks.count { if case .lookUp = $0 { true } else { false } } == 1)
    #expect(!bench.tasks.contains { if case .pay = $0 { true } else { false } })
  }

  @Test("is refused for an invoice that has expired, or is of another network")
  func badInvoices() throws {
    let (job, _) = try billed()
    bench.now += 86_400_000 / 48
    let short = try TestInvoice(7_000, at: bench.seconds - 4_000, expires: 60)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: short.amount))
    #expect(refusal(job)?.message.contains("expired") == true)
    let foreign = try TestInvoice(7_000, at: bench.seconds, network: .testnet)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds + 1, amount: foreign.amount))
    #expect(refusal(job)?.code == .invoiceRefused)
    #expect(bench.payments.isEmpty)
  }

  @Test("keeps to the bid, and to the bounds of the job, the provider and the day, all jobs together")
  func budgets() throws {
    let (tooDear, _) = try billed(5_000, bid: 4_000)
    #expect(refusal(tooDear)?.message.contains("above the bid") == true)
    bench.book.limits.providerDayMaximum = 11_000
    for _ in 0..<2 {
      let (job, _) = try billed()
      bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    }
    let (third, _) = try billed()
    #expect(refusal(third)?.message.contains("for this provider in 24 hours") == true)
    let (fourth, _) = try billed(maker: Maker())
    bench.book.limits.dayMaximum = 14_000
    #expect(refusal(fourth)?.message.contains("15 sat would be approved in 24 hours") == true)
    #expect(bench.book.approvedToday(at: bench.now) == 10_000)
    bench.die()
    bench.book.limits.dayMaximum = 14_000
    #expect(refusal(fourth)?.code == .invoiceRefused, "what was approved is known after a death")
    bench.now += 86_401_000
    #expect(bench.book.approvedToday(at: bench.now) == 0)
  }

  /// A job of several providers, each of whom wants so much.
  private func asked(
    _ makers: [Maker], _ amount: Int64 = 5_000, jobMaximum: Int64? = nil, days: Int64 = 0
  ) throws -> JobID {
    var wanted = JobSubmit(kind: 5_050)
    wanted.providers = makers.map(\.publicKey.description)
    wanted.payment = JobSubmit.Payment(jobMaximum: jobMaximum)
    if days > 0 {
      var deadlines = JobDeadlines()
      (deadlines.decision, deadlines.delivery) = (days * 86_400, days * 86_400)
      wanted.deadlines = deadlines
    }
    let job = try bench.submit(wanted)
    for maker in makers {
      let bill = try TestInvoice(amount, at: bench.seconds, expires: 7 * 86_400)
      bench.receive(
        try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    }
    return job
  }

  private func approve(_ job: JobID, _ maker: Maker) throws {
    bench.perform(try bench.book.approve(job, provider: maker.publicKey, preimage: nil, at: bench.now))
  }

  @Test("that was denied and is approved again is counted once, and not made again by another process")
  func again() throws {
    let other = Maker()
    let job = try asked([maker, other], jobMaximum: 6_000)
    try approve(job, maker)
    #expect(bench.tasks.contains { if case .pay = $0 { true } else { false } })
    bench.perform(try bench.book.deny(job, provider: maker.publicKey, at: bench.now))
    bench.die()
    try approve(job, maker)
    #expect(try bench.pair(job, maker).payment == .approved)
    #expect(!bench.tasks.contains { if case .pay = $0 { true } else { false } }, "it may have been made")
    #expect(bench.tasks.contains { if case .lookUp = $0 { true } else { false } })
    #expect(bench.book.approvedToday(at: bench.now) == 5_000 && bench.payments.count == 1)
  }

  @Test("counts against its job for as long as that goes on, whatever else is approved meanwhile")
  func longJob() throws {
    let other = Maker()
    let job = try asked([maker, other], jobMaximum: 8_000, days: 5)
    try approve(job, maker)
    bench.pass(seconds: 2 * 86_400)
    let (second, _) = try billed(maker: Maker())
    bench.perform(try bench.book.approve(second, provider: nil, preimage: nil, at: bench.now))
    let refusal = #expect(throws: Refusal.self) { try approve(job, other) }
    #expect(refusal?.message.contains("for this job") == true)
  }

  @Test("to one provider, about to be written down, is not taken for that to another")
  func two() throws {
    let other = Maker()
    let job = try asked([maker, other])
    bench.isPrompt = false
    try approve(job, maker)
    try approve(job, other)
    bench.isPrompt = true
    bench.write(try #require(bench.batches.last))
    #expect(Set(bench.payments.map(\.2.provider)) == [maker.publicKey, other.publicKey])
  }

  @Test("of one invoice is not made for two jobs")
  func sameInvoice() throws {
    let (job, bill) = try billed()
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    let other = try bench.text([maker])
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(other), at: bench.seconds, amount: bill.amount))
    #expect(refusal(other)?.message.contains("same invoice") == true)
    // One payment settles one job: its proof does not count for the other.
    #expect(refusal(other, preimage: bill.preimage)?.message.contains("for another job") == true)
  }

  @Test("by rule is approved at once within the bounds; never means never")
  func rules() throws {
    let (job, _) = try billed(payment: JobSubmit.Payment(mode: .auto, jobMaximum: 5_000))
    #expect(try bench.pair(job, maker).payment == .approved && bench.payments.count == 1)
    #expect(bench.payments[0].2.isAutomatic)
    let (never, _) = try billed(payment: JobSubmit.Payment(mode: .never))
    #expect(bench.state(never) == .failed && bench.picture(never).reason?.contains("nothing is to be") == true)
  }

  @Test("by rule waits while offers are collected, and takes the cheapest")
  func window() throws {
    let (cheap, dear) = (Maker(), Maker())
    var wanted = JobSubmit(kind: 5_050)
    wanted.providers = [cheap, dear].map(\.publicKey.description)
    wanted.payment = JobSubmit.Payment(mode: .auto, jobMaximum: 10_000)
    wanted.choice = JobSubmit.Choice(window: 30)
    let job = try bench.submit(wanted)
    for (maker, amount) in [(dear, Int64(9_000)), (cheap, 2_000)] {
      let bill = try TestInvoice(amount, at: bench.seconds)
      bench.receive(
        try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    }
    #expect(bench.payments.isEmpty)
    bench.pass(seconds: 31)
    #expect(bench.payments.map(\.2.provider) == [cheap.publicKey])
  }

  @Test("that was made and brings nothing ends as paid and undelivered, and is remembered of the provider")
  func undelivered() throws {
    let (job, bill) = try billed()
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now))
    bench.pass(seconds: 601)
    #expect(bench.state(job) == .expired && bench.picture(job).reason?.contains("not delivered") == true)
    #expect(bench.book.histories[maker.publicKey]?.undelivered == 1)
  }

  /// A job with the facts that are on the disk, and the proof of its payment.
  private func prove(_ job: JobID, _ preimage: Octets32) throws {
    let order = try #require(bench.orders.first { $0.id == job })
    let facts = bench.facts[job] ?? []
    bench.perform(try bench.book.proven(order, facts, provider: nil, preimage: preimage, at: bench.now))
  }

  @Test("is noted with its proof when its provider was faster with the result", arguments: [true, false])
  func lateProof(isApproved: Bool) throws {
    let (job, bill) = try billed()
    if isApproved { bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now)) }
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 5))
    #expect(bench.book.isOver(job) && bench.closed == [job] && refusal(job)?.code == .nothingToPay)
    #expect(bench.picture(job).reason?.contains("no proof") == (isApproved ? true : nil))
    #expect(throws: Refusal.self) { try prove(job, SHA256.hash([1])) }
    try prove(job, bill.preimage)
    let count = bench.facts[job]?.count
    #expect(try bench.pair(job, maker).payment == .paid && bench.picture(job).reason == nil)
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.content == "noon")
    #expect(bench.book.approvedToday(at: bench.now) == 5_000 && bench.payments.count == 1)
    try prove(job, bill.preimage)
    bench.die()
    try prove(job, bill.preimage)
    #expect(bench.facts[job]?.count == count && bench.book.approvedToday(at: bench.now) == 5_000)
  }

  @Test("of a job that nobody wanted money for cannot be proven, and a proof does not change whose result is taken")
  func strayProof() throws {
    let (quick, dear) = (Maker(), Maker())
    let free = try bench.text([quick])
    bench.receive(try quick.result("noon", to: bench.request(free), at: bench.seconds))
    let none = #expect(throws: Refusal.self) { try prove(free, SHA256.hash([1])) }
    #expect(none?.code == .nothingToPay)
    let job = try bench.text([quick, dear])
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try dear.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    bench.receive(try quick.result("noon", to: bench.request(job), at: bench.seconds))
    try prove(job, bill.preimage)
    #expect(try bench.pair(job, dear).payment == .paid && bench.pair(job, quick).payment == nil)
    #expect(bench.picture(job).taken?.provider == quick.publicKey && bench.state(job) == .settled)
  }

  @Test("that a rail has in its hands keeps a job that has ended, until it says what came of it")
  func railIsSlow() throws {
    let (job, bill) = try billed()
    bench.isPrompt = false
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    bench.write(try #require(bench.batches.last))
    bench.isPrompt = true
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 5))
    #expect(bench.state(job) == .settled && bench.closed.isEmpty)
    let intent = try #require(bench.payments.first?.2)
    bench.perform(bench.book.settled(job, intent, .paid(preimage: bill.preimage), at: bench.now))
    #expect(try bench.pair(job, maker).payment == .paid && bench.picture(job).reason == nil)
    #expect(bench.closed == [job])
  }

  @Test("stops with a job that is called off")
  func cancelled() throws {
    let (job, bill) = try billed()
    bench.perform(bench.book.cancelled(job, at: bench.now))
    #expect(refusal(job, preimage: bill.preimage)?.code == .nothingToPay && bench.payments.isEmpty)
  }

  @Test("is not asked for: then there is nothing to approve or deny")
  func nothing() throws {
    let job = try bench.text([maker])
    #expect(refusal(job)?.code == .nothingToPay)
    let denied = #expect(throws: Refusal.self) { try bench.book.deny(job, provider: maker.publicKey, at: bench.now) }
    #expect(denied?.code == .nothingToPay)
  }
}
