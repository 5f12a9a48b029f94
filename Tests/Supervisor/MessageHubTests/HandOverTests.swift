import Contracts
import Frames
import Testing

@testable import MessageHub

@Suite("A worker hands a request over")
struct HandOverTests {
  let bench = HubBench()
  let app: SeatIndex
  let first: SeatIndex
  let second: SeatIndex
  private let refusal = Refusal(.noSuchRelay, "it is not here", outcome: .notStarted)

  init() {
    app = bench.client()
    first = bench.worker("first")
    second = bench.worker("second")
  }

  private func handOver(_ mail: Mail, to name: String, from seat: SeatIndex) {
    let header = FrameHeader(
      type: .nack, destination: mail.header.source, re: mail.header.id, attempt: mail.header.attempt)
    bench.send(header, JSONPayload.encode(HandOver(to: name, otherwise: refusal)), from: seat)
  }

  @Test("The other worker gets it as if it had come for it, and its answer reaches the caller")
  func passedOn() throws {
    let id = bench.request("note", from: app)
    let work = try #require(bench.take(first))
    handOver(work, to: "second", from: first)
    #expect(bench.isIdle(first))
    let again = try #require(bench.take(second))
    #expect(again.text == "note" && again.header.attempt == 1 && !again.header.flags.contains(.redelivered))
    #expect(again.header.source == work.header.source && again.header.trace == work.header.trace)
    bench.answer(work, .response, "too late", from: first)
    bench.answer(again, .response, "stored", from: second)
    let answer = try #require(bench.take(app))
    #expect(answer.text == "stored" && answer.header.re == id)
    #expect(bench.hub.counters.stale == 1)
    bench.expectNothingLeft()
  }

  @Test("It waits for the other worker's restart, until its time to live is over")
  func waits() throws {
    bench.leave(second)
    bench.request("note", from: app, ttl: 1_000)
    bench.request("late", from: app, ttl: 100)
    for work in bench.takeAll(first) { handOver(work, to: "second", from: first) }
    bench.pass(milliseconds: 100)
    #expect(bench.take(app)?.refusal?.code == .expired)
    bench.join(second)
    let work = try #require(bench.take(second))
    #expect(work.text == "note" && bench.take(second) == nil)
    bench.answer(work, from: second)
    bench.expectNothingLeft()
  }

  @Test("It is handed over once: two workers that each take the other for the right one do not keep it going")
  func once() throws {
    bench.request("note", from: app)
    handOver(try #require(bench.take(first)), to: "second", from: first)
    handOver(try #require(bench.take(second)), to: "first", from: second)
    #expect(bench.take(app)?.refusal == refusal)
    bench.expectNothingLeft()
  }

  @Test("A request for this very worker, or for a worker that is unknown, is answered with the worker's refusal")
  func notPassedOn() throws {
    bench.request("note", from: app, to: bench.endpoint(of: first))
    handOver(try #require(bench.take(first)), to: "second", from: first)
    bench.request("note", from: app)
    handOver(try #require(bench.take(first)), to: "third", from: first)
    #expect(bench.takeAll(app).map(\.refusal) == [refusal, refusal])
    bench.expectNothingLeft()
  }

  @Test("A worker that is stopped takes none, and the caller gets a refusal")
  func stopped() throws {
    bench.leave(second)
    bench.closeMailbox(second)
    bench.request("note", from: app)
    handOver(try #require(bench.take(first)), to: "second", from: first)
    let answer = bench.take(app)?.refusal
    #expect(answer?.code == .unavailable && answer?.message == "second is stopped" && answer?.outcome == .notStarted)
  }

  @Test("A request that may be done only once can be handed over: nothing was done yet")
  func atMostOnce() throws {
    bench.request("pay", from: app, flags: .atMostOnce)
    handOver(try #require(bench.take(first)), to: "second", from: first)
    let work = try #require(bench.take(second))
    #expect(work.text == "pay")
    bench.leave(second)
    #expect(bench.take(app)?.refusal?.code == .workerDied)
    bench.expectNothingLeft()
  }

  @Test("One that was cancelled meanwhile is answered, and one whose caller has left is forgotten")
  func givenUp() throws {
    let id = bench.request("a", from: app)
    let work = try #require(bench.take(first))
    bench.cancel(id, from: app)
    handOver(work, to: "second", from: first)
    #expect(bench.take(app)?.refusal == Refusal(.cancelled, "cancelled by the caller", outcome: .notStarted))
    let other = bench.client("other")
    bench.request("b", from: other)
    let left = try #require(bench.takeAll(first).last)
    bench.leave(other)
    handOver(left, to: "second", from: first)
    #expect(bench.take(second) == nil)
    bench.expectNothingLeft()
  }

  @Test("What is no hand-over, or comes after a part of the answer, changes nothing: the worker still owes its answer")
  func notUnderstood() throws {
    bench.request(from: app, method: .query)
    let work = try #require(bench.take(first))
    bench.nack(work, afterMilliseconds: 0, from: first)
    bench.answer(work, .response, "part", flags: .more, from: first)
    handOver(work, to: "second", from: first)
    #expect(bench.hub.counters.stale == 2 && !bench.isIdle(first))
    bench.answer(work, from: first)
    #expect(bench.takeAll(app).count == 2)
    bench.expectNothingLeft()
  }
}
