import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A new request to the same provider") struct RetryTests {
  let bench = Bench()
  let first = Maker()
  let second = Maker()

  private func job(_ providers: [Maker], retries: Int, oneByOne: Bool = false, agreement: Int? = nil) throws -> JobID {
    var wanted = JobSubmit(kind: 5_050)
    wanted.providers = providers.map(\.publicKey.description)
    wanted.retries = retries
    if oneByOne { wanted.turns = .oneByOne }
    if let agreement { wanted.choice = JobSubmit.Choice(agreement: agreement) }
    return try bench.submit(wanted)
  }

  private func asked(_ job: JobID) -> [[PublicKey]] { bench.picture(job).attempts.map(\.providers) }

  @Test("follows silence, as often as the job says, and then the next one is asked, or it ends")
  func silence() throws {
    let (one, two) = (first.publicKey, second.publicKey)
    let job = try job([first, second], retries: 1, oneByOne: true)
    bench.pass(seconds: 121)
    #expect(asked(job) == [[one], [one]] && bench.state(job) == .published)
    #expect(Set(bench.picture(job).requests.map(\.id)).count == 2, "each is an event of its own")
    bench.die()
    bench.pass(seconds: 121)
    bench.pass(seconds: 121)
    #expect(asked(job) == [[one], [one], [two], [two]])
    bench.pass(seconds: 121)
    #expect(bench.state(job) == .expired && bench.picture(job).reason?.contains("in 4 attempts") == true)
  }

  @Test("also follows the silence of one that had begun, which then has the time for an answer again")
  func begun() throws {
    let job = try job([first], retries: 1)
    bench.receive(try first.feedback(.processing, to: bench.request(job), at: bench.seconds))
    bench.pass(seconds: 601)
    #expect(asked(job).count == 2 && bench.state(job) == .published)
    #expect(try bench.pair(job, first).state == .asked)
    bench.pass(seconds: 100)
    #expect(bench.state(job) == .published)
    bench.pass(seconds: 21)
    #expect(bench.state(job) == .expired)
  }

  @Test("changes nothing of what an answer to the first one counts")
  func olderAnswer() throws {
    let job = try job([first], retries: 1)
    bench.pass(seconds: 121)
    bench.receive(try first.feedback(.processing, to: bench.request(job, 0), at: bench.seconds))
    bench.pass(seconds: 300)
    #expect(bench.state(job) == .processing)
    bench.receive(try first.result("noon", to: bench.request(job, 0), at: bench.seconds))
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.request == bench.picture(job).requests[0].id)
  }

  @Test("goes to none that cannot, that wants money, or that has it")
  func others() throws {
    let failed = try job([first], retries: 3)
    bench.receive(try first.feedback(.error, to: bench.request(failed), at: bench.seconds))
    #expect(bench.state(failed) == .failed && asked(failed).count == 1)
    let denied = try job([first], retries: 3)
    bench.receive(
      try first.feedback(
        .paymentRequired, to: bench.request(denied), at: bench.seconds, amount: JobAmount(millisatoshis: 5)))
    bench.perform(try bench.book.deny(denied, provider: nil, at: bench.now))
    #expect(bench.state(denied) == .failed && asked(denied).count == 1)
    let paid = try job([first], retries: 3)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(
      try first.feedback(.paymentRequired, to: bench.request(paid), at: bench.seconds, amount: bill.amount))
    bench.perform(try bench.book.approve(paid, provider: nil, preimage: bill.preimage, at: bench.now))
    bench.pass(seconds: 601)
    #expect(bench.state(paid) == .expired && asked(paid).count == 1)
    #expect(bench.picture(paid).reason?.contains("paid for, and not delivered") == true)
  }

  @Test("goes to those alone that are silent, of several that were asked at once; of an open one to whoever likes")
  func several() throws {
    let job = try job([first, second], retries: 1)
    bench.receive(try first.feedback(.error, to: bench.request(job), at: bench.seconds))
    bench.pass(seconds: 121)
    #expect(asked(job) == [[first.publicKey, second.publicKey], [second.publicKey]])
    let open = try self.job([], retries: 2)
    bench.pass(seconds: 121)
    #expect(asked(open) == [[], []])
    bench.receive(try first.feedback(.processing, to: bench.request(open, 0), at: bench.seconds))
    bench.pass(seconds: 121)
    #expect(asked(open) == [[], []] && bench.state(open) == .processing)
    bench.receive(try first.result("noon", to: bench.request(open, 1), at: bench.seconds))
    #expect(bench.state(open) == .settled)
  }

  @Test("is made as often as can be meant, and not at all unless somebody says so")
  func bounds() throws {
    var wanted = JobSubmit(kind: 5_050)
    #expect(wanted.problem == nil)
    for (retries, isGood) in [(0, true), (10, true), (11, false), (-1, false)] {
      wanted.retries = retries
      #expect((wanted.problem == nil) == isGood)
    }
    let job = try job([first], retries: 0)
    bench.pass(seconds: 121)
    #expect(bench.state(job) == .expired && asked(job).count == 1)
    #expect(bench.picture(job).reason == "no provider has answered within 2 minutes")
  }
}
