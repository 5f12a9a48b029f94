import Contracts
import Frames
import Testing

@testable import MessageHub

/// Dead letters that are tried again.
@Suite struct RetryTests {
  let bench = HubBench()

  private func retry(_ text: String, deaths: UInt16 = 3) throws -> UInt64 {
    var id: UInt64 = 0
    var refusal: Refusal?
    bench.input { hub, now, actions in
      do throws(Refusal) {
        id = try hub.redeliver(
          method: .publish, payload: Array(text.utf8), isRaw: true, deaths: deaths, now: now, actions: &actions)
      } catch { refusal = error }
    }
    if let refusal { throw refusal }
    return id
  }

  @Test("A letter is delivered once more, marked as delivered before, and its answer is told once")
  func answered() throws {
    #expect(throws: Refusal.self) { try retry("nobody") }
    let worker = bench.worker()
    let first = try retry("at once")
    let work = try #require(bench.take(worker))
    #expect(work.text == "at once" && work.header.source == .hub && work.header.flags == [.raw, .redelivered])
    #expect(work.header.attempt == 4)
    bench.answer(work, .ack, from: worker)
    bench.answer(work, .progress, "{}", from: worker)
    for _ in 0..<2 { bench.answer(work, .response, "done", from: worker) }
    bench.leave(worker)
    let second = try retry("later")
    bench.join(worker)
    bench.answer(try #require(bench.take(worker)), .response, "done", from: worker)
    #expect(bench.injectedAnswers.map(\.id) == [first, second])
    #expect(bench.injectedAnswers.allSatisfy { $0.mail.text == "done" })
    bench.expectNothingLeft()
  }

  @Test("One death more, and it is the same dead letter again; the death is charged to it")
  func killsAgain() throws {
    let worker = bench.worker()
    let id = try retry("poison")
    #expect(bench.take(worker)?.text == "poison")
    let report = bench.leave(worker)
    #expect(report.isPoison && report.quarantined == 1 && report.requeued == 0)
    #expect(bench.killingRetries.map(\.id) == [id] && bench.killingRetries.map(\.deliveries) == [4])
    #expect(bench.deadLetters.isEmpty, "it is no other letter")
    #expect(bench.injectedAnswers.map(\.id) == [id])
    #expect(bench.injectedAnswers.first?.mail.refusal?.code == .quarantined)
    bench.join(worker)
    #expect(bench.take(worker) == nil)
    bench.expectNothingLeft()
  }

  @Test("Nothing else is given to the worker while it has the letter, and what it had is not to blame for the death")
  func alone() throws {
    let app = bench.client()
    let worker = bench.worker()
    bench.request("before", from: app)
    let before = try #require(bench.take(worker))
    _ = try retry("poison")
    bench.request("after", from: app)
    #expect(bench.takeAll(worker).map(\.text) == ["poison"])
    let report = bench.leave(worker)
    #expect(report.isPoison && report.requeued == 1)
    bench.join(worker)
    let again = try #require(bench.take(worker))
    #expect(again.text == before.text && again.header.attempt == 2)
    bench.answer(again, from: worker)
    #expect(bench.take(worker)?.text == "after")
    bench.checkAccounts()
  }

  @Test("A letter that answers in part and kills then is quarantined like any other")
  func partly() throws {
    let worker = bench.worker()
    let id = try retry("poison")
    bench.answer(try #require(bench.take(worker)), .response, "part", flags: .more, from: worker)
    #expect(bench.leave(worker).quarantined == 1)
    #expect(bench.killingRetries.map(\.id) == [id])
    bench.expectNothingLeft()
  }

  @Test("A letter that waits for its worker can be withdrawn, and a worker that has it is told")
  func withdrawn() throws {
    let worker = bench.worker()
    bench.leave(worker)
    let waiting = try retry("waits")
    bench.input { $0.withdraw(waiting, now: $1, actions: &$2) }
    #expect(bench.injectedAnswers.map(\.id) == [waiting])
    bench.join(worker)
    let given = try retry("given")
    let work = try #require(bench.take(worker))
    bench.input { $0.withdraw(given, now: $1, actions: &$2) }
    #expect(bench.take(worker)?.type == .cancel)
    bench.answer(work, .error, "{}", from: worker)
    #expect(bench.injectedAnswers.map(\.id) == [waiting, given])
    bench.expectNothingLeft()
  }
}
