import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("What a cancelled job has asked") struct WithdrawalTests {
  let bench = Bench()

  /// A cancelled job, and the task that takes back its request, which is not performed yet.
  private func cancelled() throws -> (job: JobID, task: JobTask) {
    bench.isPrompt = true
    let job = try bench.text([Maker()])
    bench.isPrompt = false
    bench.tasks = []
    bench.perform(bench.book.cancelled(job, at: bench.now))
    bench.write(try #require(bench.batches.last))
    let task = try #require(bench.tasks.first)
    #expect(task == .withdraw(job, bench.picture(job).requests[0].id) && bench.tasks.count == 1)
    bench.tasks = []
    return (job, task)
  }

  private func fail(_ task: JobTask) { bench.perform(bench.book.failed(task, "locked", isLocked: true, at: bench.now)) }

  @Test("waits for its account to be unlocked, and is taken back then")
  func unlocked() throws {
    let (job, task) = try cancelled()
    fail(task)
    bench.pass(seconds: 600)
    #expect(bench.tasks.isEmpty)
    bench.perform(bench.book.unlocked([SecretKey.generate().publicKey], at: bench.now))
    #expect(bench.tasks.isEmpty, "another account was unlocked")
    bench.perform(bench.book.unlocked([bench.customer.publicKey], at: bench.now))
    #expect(bench.tasks == [task])
    bench.isPrompt = true
    bench.carryOut(task)
    #expect(bench.closed == [job])
  }

  @Test("is tried again now and then, should it not be heard that its account was unlocked")
  func unheard() throws {
    let (_, task) = try cancelled()
    fail(task)
    bench.pass(seconds: 3_600)
    #expect(bench.tasks == [task])
  }

  @Test("is tried again soon when its account is not locked")
  func notLocked() throws {
    let (_, task) = try cancelled()
    bench.perform(bench.book.failed(task, "the planner is away", at: bench.now))
    bench.pass(seconds: 1)
    #expect(bench.tasks == [task])
  }

  @Test("is left where it is after a week, also by another process")
  func bounded() throws {
    let (job, task) = try cancelled()
    fail(task)
    bench.die()
    #expect(bench.tasks == [task])
    fail(task)
    bench.isPrompt = true
    bench.tasks = []
    bench.pass(seconds: 7 * 86_400 + 1)
    #expect(bench.tasks.isEmpty && bench.closed == [job] && bench.book.count == 0)
    #expect(bench.state(job) == .cancelled && bench.picture(job).attempts.first?.isWithdrawn == false)
  }

  @Test("does not count as a job under way, up to a bound")
  func count() throws {
    bench.book.limits.openMaximum = 1
    bench.book.limits.withdrawingMaximum = 1
    let (_, task) = try cancelled()
    fail(task)
    let (_, other) = try cancelled()
    fail(other)
    let refusal = #expect(throws: Refusal.self) { try bench.text([Maker()]) }
    #expect(refusal?.code == .full)
    bench.isPrompt = true
    bench.carryOut(task)
    _ = try bench.text([Maker()])
  }
}
