import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("Whoever means harm") struct HostileTests {
  let bench = Bench()
  let maker = Maker()

  @Test("cannot have a text cut to nothing, or for hours, by a letter with marks without end")
  func marks() throws {
    var limits = TrackingLimits()
    limits.resultByteCountMaximum = 2_048
    let bench = Bench(limits: limits)
    let job = try bench.text([maker])
    let text = "a" + String(repeating: "\u{301}", count: 2_048)
    bench.receive(try maker.result(text, to: bench.request(job), at: bench.seconds))
    let taken = try #require(bench.picture(job).taken)
    #expect(taken.isCut && taken.content?.utf8.count == 2_047)
    #expect(taken.content.map { text.utf8.starts(with: $0.utf8) } == true)
  }

  /// Another invoice of the same payment hash.
  private func twin(of bill: TestInvoice, _ amount: Int64) throws -> JobAmount {
    var terms = InvoiceTerms(
      amountMillisatoshis: amount, paymentHash: bill.invoice.paymentHash, createdAt: bench.seconds, network: .bitcoin)
    terms.descriptionText = "the same"
    terms.expirySeconds = 86_400
    return JobAmount(millisatoshis: amount, invoice: try terms.signed(by: .generate()))
  }

  @Test("cannot put a dearer invoice of the same payment hash in the place of one that was approved")
  func sameHash() throws {
    let job = try bench.text([maker], payment: JobSubmit.Payment(mode: .auto, jobMaximum: 10_000))
    let request = try bench.request(job)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    #expect(try bench.pair(job, maker).payment == .approved)
    let dear = try twin(of: bill, 100_000_000)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds + 1, amount: dear))
    let told = try #require(bench.book.told(job, at: bench.now)?.providers.first)
    #expect(told.payment == .approved && told.amount == 5_000 && told.invoice == bill.invoice.text)
    bench.die()
    #expect(bench.book.told(job, at: bench.now)?.providers.first?.invoice == bill.invoice.text)
    // When that is denied it is shown as what was asked for last; `RenewalTests` has what becomes of it then.
    bench.perform(try bench.book.deny(job, provider: nil, at: bench.now))
    #expect(bench.book.approvedToday(at: bench.now) == 5_000)
    #expect(try bench.pair(job, maker).payment == .denied)
  }
}
