import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

// Errors that programs for NIP-90 have made, by the numbers under which they were found. Those that are matters of the
// codec (1, 3, 4, 11) are tested there.

@Suite("Of the errors that others made") struct DefectTests {
  let bench = Bench()
  let maker = Maker()

  @Test("2: the first answer of anybody is not the answer: authors are checked, and a time that passes fails the job")
  func defect2() throws {
    let job = try bench.text([maker])
    let request = try bench.request(job)
    let impostor = Maker()
    bench.receive(try impostor.result("a lie", to: request, at: bench.seconds))
    #expect(bench.state(job) == .published && bench.picture(job).taken == nil)
    #expect(bench.picture(job).diagnostics[JobAnswerFact.Objection.stranger.word] == 1)
    bench.pass(seconds: 121)
    #expect(bench.state(job) == .expired && bench.picture(job).reason == "no provider has answered within 2 minutes")
  }

  @Test("2: a deadline that passes after the result changes nothing")
  func defect2Late() throws {
    let job = try bench.text([maker])
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds))
    bench.pass(seconds: 8 * 86_400)
    #expect(bench.state(job) == .settled)
  }

  @Test("5: what was asked is known after a death: nothing is asked twice, and nothing paid is lost")
  func defect5() throws {
    let job = try bench.text([maker])
    let request = try bench.request(job)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    bench.die()
    #expect(bench.picture(job).requests.map(\.id) == [request.id])
    #expect(bench.tasks.allSatisfy { if case .lookUp = $0 { true } else { false } }, "\(bench.tasks)")
    #expect(try bench.pair(job, maker).payment == .approved)
    bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now))
    bench.die()
    #expect(try bench.pair(job, maker).payment == .paid)
    bench.receive(try maker.result("noon", to: request, at: bench.seconds + 1))
    #expect(bench.state(job) == .settled)
  }

  @Test("6: a provider that says processing and dies does not leave the job open for ever")
  func defect6() throws {
    let job = try bench.text([maker])
    bench.receive(try maker.feedback(.processing, to: bench.request(job), at: bench.seconds))
    bench.pass(seconds: 599)
    #expect(bench.state(job) == .processing)
    bench.pass(seconds: 2)
    #expect(bench.state(job) == .expired && bench.picture(job).reason?.contains("10 minutes") == true)
  }

  @Test("6: every state that is not final has a deadline")
  func defect6Everywhere() throws {
    let job = try bench.text([maker])
    var seen: [Job.State: Int64] = [:]
    func look() { seen[bench.state(job)] = bench.picture(job).deadline?.at }
    look()
    let request = try bench.request(job)
    bench.receive(try maker.feedback(.processing, to: request, at: bench.seconds))
    look()
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds + 1, amount: bill.amount))
    look()
    bench.receive(try maker.result("noon", to: request, at: bench.seconds + 2, amount: bill.amount))
    look()
    #expect(Set(seen.keys) == [.published, .processing, .paymentRequired, .delivered])
  }

  @Test("7: nothing is paid above a bound, and a payment that nobody decides about ends")
  func defect7() throws {
    var payment = JobSubmit.Payment(mode: .auto, jobMaximum: 10_000)
    payment.dayMaximum = 4_000
    let job = try bench.text([maker], payment: payment)
    let request = try bench.request(job)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    #expect(bench.state(job) == .paymentRequired && bench.payments.isEmpty)
    let refusal = #expect(throws: Refusal.self) {
      try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now)
    }
    #expect(refusal?.code == .invoiceRefused && refusal?.message.contains("4 sat may be") == true)
    bench.pass(seconds: 3_601)
    #expect(bench.state(job) == .failed)
    #expect(bench.picture(job).reason?.contains("was neither approved nor denied") == true)
  }

  @Test("7: work that is delivered and not paid is told as that, and there is no payment without an intent on the disk")
  func defect7Unpaid() throws {
    let job = try bench.text([maker])
    let request = try bench.request(job)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.result("noon", to: request, at: bench.seconds, amount: bill.amount))
    #expect(bench.state(job) == .delivered && bench.picture(job).taken?.content == "noon")
    bench.isPrompt = false
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    #expect(!bench.tasks.contains { if case .pay = $0 { true } else { false } })
    bench.isPrompt = true
    bench.write(try #require(bench.batches.last))
    #expect(bench.tasks.count { if case .pay = $0 { true } else { false } } == 1)
    bench.perform(try bench.book.deny(job, provider: nil, at: bench.now))
    #expect(bench.state(job) == .settled && bench.picture(job).reason == "its payment was denied")
    #expect(bench.book.histories[maker.publicKey]?.unpaid == 1)
  }

  @Test("8: one provider's result and another's invoice stay apart")
  func defect8() throws {
    let (worker, biller) = (Maker(), Maker())
    let job = try bench.text([worker, biller])
    let request = try bench.request(job)
    let (own, foreign) = (try TestInvoice(3_000, at: bench.seconds), try TestInvoice(2_000, at: bench.seconds))
    bench.receive(try biller.feedback(.paymentRequired, to: request, at: bench.seconds, amount: foreign.amount))
    bench.receive(try worker.result("noon", to: request, at: bench.seconds, amount: own.amount))
    #expect(bench.state(job) == .delivered)
    #expect(try bench.pair(job, worker).bill?.paymentHash == own.invoice.paymentHash)
    #expect(try bench.pair(job, biller).bill?.paymentHash == foreign.invoice.paymentHash)
    let unclear = #expect(throws: Refusal.self) {
      try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now)
    }
    #expect(unclear?.code == .providerNeeded)
    let wrong = #expect(throws: Refusal.self) {
      try bench.book.approve(job, provider: biller.publicKey, preimage: nil, at: bench.now)
    }
    #expect(wrong?.code == .invoiceRefused && wrong?.message.contains("another provider") == true)
    // Later answers of the loser are the loser's still.
    bench.receive(try biller.feedback(.error, to: request, at: bench.seconds + 1, remark: "too late"))
    #expect(bench.state(job) == .delivered)
    bench.perform(try bench.book.approve(job, provider: worker.publicKey, preimage: own.preimage, at: bench.now))
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.provider == worker.publicKey)
    #expect(bench.payments.count == 1 && bench.payments[0].2.provider == worker.publicKey)
  }

  @Test("9: that a payment is required is told, with what is wanted and until when")
  func defect9() throws {
    let job = try bench.text([maker])
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(
      try maker.feedback(
        .paymentRequired, to: bench.request(job), at: bench.seconds, remark: "pay first", amount: bill.amount))
    let told = try #require(bench.book.told(job, at: bench.now))
    let provider = try #require(told.providers.first)
    #expect(told.state == .paymentRequired && told.reason?.contains("5 sat") == true)
    #expect(provider.payment == .asked && provider.amount == 5_000 && provider.invoice == bill.invoice.text)
    let left = try #require(told.nextDeadlineAt) - bench.seconds
    #expect(provider.message == "pay first" && (3_600...3_601).contains(left))
  }

  @Test("10: the same question again is a new request, whatever became of the first; only the same key is the same job")
  func defect10() throws {
    let first = try bench.text([maker])
    bench.pass(seconds: 121)
    #expect(bench.state(first) == .expired)
    let second = try bench.text([maker])
    #expect(second != first && bench.state(second) == .published)
    #expect(try bench.request(second).id != bench.request(first).id)
  }

  @Test("12: an amount that is not the invoice's is not paid, and both are told")
  func defect12() throws {
    let job = try bench.text([maker], payment: JobSubmit.Payment(mode: .auto, jobMaximum: 1_000_000))
    let request = try bench.request(job)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    let tags = [
      ["status", "payment-required"], ["amount", "5", bill.invoice.text], ["e", request.id.description],
      ["p", bench.customer.publicKey.description],
    ]
    let event = UnsignedEvent(
      pubkey: maker.publicKey, createdAt: bench.seconds, kind: EventKind.jobFeedback, tags: tags, content: "")
    bench.receive(event.signed(by: maker.key))
    #expect(bench.payments.isEmpty)
    let told = try #require(bench.book.told(job, at: bench.now)?.providers.first)
    #expect(told.invoice == nil && told.invoiceProblem?.contains("a thousand times") == true && told.amount == 5)
  }
}
