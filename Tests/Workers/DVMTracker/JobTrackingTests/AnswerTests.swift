import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("What ends a job, and what does not") struct AnswerTests {
  let bench = Bench()
  let maker = Maker()

  /// A job that names no provider, and that the provider of this machine does.
  private func hosted(_ change: (inout JobSubmit) -> Void = { _ in }) throws -> JobID {
    var wanted = JobSubmit(kind: 5_050)
    change(&wanted)
    return try bench.submit(wanted, isServedHere: true, host: maker)
  }

  @Test("is an error of the provider here, whom such a job is for: nobody else could answer")
  func error() throws {
    let job = try hosted()
    let request = try bench.request(job)
    #expect(bench.book.order(job)?.isLocal == true && request.terms.providers == [maker.publicKey])
    bench.receive(try maker.feedback(.error, to: request, at: bench.seconds, remark: "no words"))
    #expect(bench.state(job) == .failed && bench.picture(job).reason == "its provider cannot do it: \"no words\"")
    let several = try hosted { $0.choice = JobSubmit.Choice(agreement: 2) }
    #expect(try bench.request(several).terms.providers.isEmpty)
    let local = try hosted { $0.reach = .local }
    #expect(try bench.request(local).terms.providers == [maker.publicKey])
    let elsewhere = try hosted { $0.reach = .relays }
    #expect(try bench.request(elsewhere).terms.providers.isEmpty)
  }

  @Test("is that its only provider is denied what it wants, or that nothing is ever paid")
  func denied() throws {
    let bill = try TestInvoice(5_000, at: bench.seconds)
    let job = try hosted()
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    bench.perform(try bench.book.deny(job, provider: nil, at: bench.now))
    #expect(bench.state(job) == .failed && bench.picture(job).reason == "its payment was denied")
    let never = try hosted { $0.payment = JobSubmit.Payment(mode: .never) }
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(never), at: bench.seconds, amount: bill.amount))
    #expect(bench.state(never) == .failed)
  }

  @Test("is not put off by a stranger's bill that nobody could approve")
  func barren() throws {
    var wanted = JobSubmit(kind: 5_050)
    wanted.retries = 1
    let job = try bench.submit(wanted)
    let began = bench.now
    bench.receive(Maker().bill("5000", "lnbc1junk", to: try bench.request(job), at: bench.seconds))
    #expect(bench.state(job) == .published && bench.picture(job).deadline?.at ?? .max <= began + 120_100)
    bench.pass(seconds: 121)
    #expect(bench.picture(job).attempts.count == 2, "asked once more, as if nobody had said anything")
    bench.pass(seconds: 121)
    #expect(bench.state(job) == .expired && bench.picture(job).reason?.contains("cannot be approved") == true)
    // One that could be is waited with for a decision.
    let other = try bench.text()
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(
      try Maker().feedback(.paymentRequired, to: bench.request(other), at: bench.seconds, amount: bill.amount))
    bench.pass(seconds: 3_000)
    #expect(bench.state(other) == .paymentRequired)
  }

  @Test("is, of a provider that was asked, that it shows no better bill in the time for a result")
  func unpayable() throws {
    let job = try bench.text([maker])
    let request = try bench.request(job)
    bench.receive(maker.bill("5000", "lnbc1junk", to: request, at: bench.seconds))
    #expect(bench.state(job) == .paymentRequired)
    #expect(bench.picture(job).reason?.contains("which cannot be approved: what is in") == true)
    bench.pass(seconds: 599)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    #expect(bench.picture(job).reason == "its provider wants 5 sat")
    let other = try bench.text([maker])
    bench.receive(maker.bill("much", to: try bench.request(other), at: bench.seconds))
    bench.pass(seconds: 601)
    #expect(bench.state(other) == .expired && bench.picture(other).reason?.contains("no number") == true)
  }

  @Test("is, of an encrypted request, neither a result in clear nor one that only looks encrypted")
  func clear() throws {
    var wanted = JobSubmit(kind: 5_050)
    wanted.providers = [maker.publicKey.npub]
    wanted.encryption = .nip04
    wanted.inputs = [JobInputArgument(data: "what is the time?", type: "text")]
    let job = try bench.submit(wanted)
    let request = try bench.request(job)
    for text in ["noon", "AAAA?iv=BBBB"] {
      let tags = [["e", request.id.description], ["p", request.customer.description]]
      let draft = UnsignedEvent(
        pubkey: maker.publicKey, createdAt: bench.seconds, kind: 6_050, tags: tags, content: text)
      bench.receive(draft.signed(by: maker.key))
    }
    #expect(!bench.state(job).isFinal && bench.picture(job).taken == nil)
    bench.isPrompt = false
    bench.receive(try maker.result(Bench.ciphertext, to: request, at: bench.seconds + 2))
    bench.write(try #require(bench.batches.last))
    let sealed = bench.tasks.last.flatMap { if case .open(_, let event) = $0 { event } else { nil } }
    let event = try #require(sealed)
    bench.isPrompt = true
    bench.perform(bench.book.opened(job, event, plaintext: nil, at: bench.now))
    #expect(!bench.state(job).isFinal)
    let counted = bench.picture(job).diagnostics
    #expect(counted["in-clear"] == 2 && counted["cannot-be-decrypted"] == 1, "\(counted)")
    bench.receive(try maker.result(Bench.ciphertext, to: request, at: bench.seconds + 3))
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.content == "in clear")
  }
}
