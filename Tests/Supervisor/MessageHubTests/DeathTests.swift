import Contracts
import Frames
import Testing

@testable import MessageHub

@Suite struct DeathTests {
  let bench = HubBench()
  let app: SeatIndex
  let worker: SeatIndex

  init() {
    app = bench.client()
    worker = bench.worker()
  }

  /// The worker dies, and the next instance is READY.
  @discardableResult
  private func restart() -> MessageHub.DepartureReport {
    let report = bench.leave(worker)
    bench.join(worker)
    return report
  }

  @Test("What a worker had in hand goes to the next instance, marked and counted, and its answer reaches the caller")
  func redelivered() throws {
    bench.request("note", from: app)
    bench.event("event", from: app, flags: .needsAck)
    #expect(bench.takeAll(worker).count == 2)
    #expect(restart().requeued == 2)
    for type in [FrameType.response, .ack] {
      let again = try #require(bench.take(worker))
      #expect(again.header.attempt == 2 && again.header.flags.contains(.redelivered))
      #expect(again.text == (type == .ack ? "event" : "note"))
      bench.answer(again, type, from: worker)
    }
    #expect(bench.takeAll(app).map(\.type) == [.response, .ack])
    #expect(bench.hub.counters.redelivered == 2)
    bench.expectNothingLeft()
  }

  @Test("Work that may be done only once, or whose answer is half out, is answered unknown at a death")
  func notRepeated() throws {
    bench.request("pay", from: app, flags: .atMostOnce)
    bench.request("list", from: app, method: .query)
    bench.event("push", from: app, flags: [.atMostOnce, .needsAck])
    let works = bench.takeAll(worker)
    bench.answer(works[1], .response, "part", flags: .more, from: worker)
    #expect(restart().answeredUnknown == 3)
    #expect(bench.take(worker) == nil)
    let answers = bench.takeAll(app)
    #expect(answers.compactMap(\.refusal?.code) == [.workerDied, .workerDied, .workerDied])
    #expect(answers.compactMap(\.refusal?.outcome) == [.unknown, .unknown, .unknown])
    bench.expectNothingLeft()
  }

  @Test("Work that may be done only once survives a death in the queue")
  func atMostOnceInQueue() throws {
    bench.leave(worker)
    bench.request("pay", from: app, flags: .atMostOnce)
    restart()
    let work = try #require(bench.take(worker))
    #expect(work.text == "pay" && work.header.attempt == 1)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("A request that was cancelled when its worker died is answered, not repeated")
  func cancelledAtDeath() {
    let id = bench.request(from: app)
    bench.cancel(id, from: app)
    restart()
    #expect(bench.take(worker) == nil)
    #expect(bench.take(app)?.refusal == Refusal(.cancelled, "cancelled; relays died meanwhile", outcome: .unknown))
    bench.expectNothingLeft()
  }

  @Test("The third death with a message in hand makes it a dead letter")
  func deadLetter() {
    let id = bench.request("poison", from: app)
    #expect(!restart().isPoison)
    #expect(restart().isPoison)
    let report = restart()
    #expect(report.quarantined == 1 && report.isPoison)
    let letter = bench.deadLetters.first
    #expect(letter?.payload == Array("poison".utf8) && letter?.deliveries == 3)
    #expect(letter?.worker == "relays" && letter?.sender == "app")
    let answer = bench.take(app)
    #expect(answer?.header.re == id && answer?.refusal?.code == .quarantined && answer?.refusal?.outcome == .unknown)
    #expect(answer?.refusal?.message.hasSuffix("it is set aside, see 'roost dead-letters'") == true)
    bench.expectNothingLeft()
  }

  @Test("Suspects go first and alone, in their order, and new work after them")
  func suspectsAlone() throws {
    for number in 0..<3 { bench.request("\(number)", from: app) }
    restart()
    bench.request("new", from: app)
    bench.event("event", from: app)
    for number in 0..<3 {
      #expect(bench.peers[worker]!.inbox.count == 1)
      let suspect = try #require(bench.take(worker))
      #expect(suspect.text == "\(number)")
      #expect(bench.report(worker).suspects == 3 - number)
      bench.answer(suspect, from: worker)
    }
    #expect(bench.takeAll(worker).map(\.text) == ["new", "event"])
    bench.checkAccounts()
  }

  @Test(
    "A suspect is cleared by ACK, progress and a part of its answer", arguments: [FrameType.ack, .progress, .response])
  func cleared(by type: FrameType) throws {
    bench.request("one", from: app)
    bench.request("two", from: app)
    restart()
    let suspect = try #require(bench.take(worker))
    bench.answer(suspect, type, flags: type == .response ? .more : [], from: worker)
    #expect(bench.take(worker)?.text == "two")
    #expect(bench.report(worker).suspects == 1)
    bench.checkAccounts()
  }

  @Test("A suspect that is put off, cancelled or expires in the queue leaves the row of suspects")
  func suspectsLeave() throws {
    let first = bench.request("a", from: app)
    bench.event("b", from: app, flags: .needsAck)
    bench.request("c", from: app, ttl: 100)
    bench.request("d", from: app)
    bench.leave(worker)
    bench.cancel(first, from: app)
    bench.pass(milliseconds: 100)
    #expect(bench.report(worker).suspects == 2)
    bench.join(worker)
    bench.nack(try #require(bench.take(worker)), afterMilliseconds: 10, from: worker)
    let last = try #require(bench.take(worker))
    #expect(last.text == "d" && bench.report(worker).suspects == 1)
    bench.pass(milliseconds: 10)
    #expect(bench.take(worker) == nil, "what was put off does not join a suspect")
    bench.answer(last, from: worker)
    #expect(bench.take(worker)?.text == "b")
    bench.checkAccounts()
  }

  @Test("Suspects of a caller that leaves do not block the others")
  func suspectsOfTheGone() throws {
    let other = bench.client("other")
    bench.request("gone", from: app)
    bench.request("gone", from: app)
    bench.request("stays", from: other)
    restart()
    let active = try #require(bench.take(worker))
    bench.leave(app)
    #expect(bench.take(worker)?.type == .cancel)
    bench.answer(active, .error, "{}", from: worker)
    let next = try #require(bench.take(worker))
    #expect(next.text == "stays")
    bench.answer(next, from: worker)
    #expect(bench.take(other)?.type == .response)
    bench.expectNothingLeft()
  }

  @Test(
    "A poison among forty is found in three deaths, and the other thirty-nine are answered", arguments: [0, 17, 39])
  func poison(position: Int) throws {
    let ids = (0..<40).map { bench.request($0 == position ? "poison" : "good", from: app) }
    var deaths = 0
    while bench.hub.openDeliveryCount > 0 {
      let works = bench.takeAll(worker).filter { $0.type == .request }
      if works.contains(where: { $0.text == "poison" }) {
        let report = restart()
        deaths += 1
        #expect(report.isPoison == (deaths > 1))
      } else {
        works.forEach { bench.answer($0, from: worker) }
      }
    }
    #expect(deaths == 3)
    let answers = bench.takeAll(app)
    #expect(answers.count { $0.type == .response } == 39)
    #expect(answers.filter { $0.type == .error }.map(\.header.re) == [ids[position]])
    bench.expectNothingLeft()
  }

  @Test("The answer of an earlier attempt is discarded")
  func staleAttempt() throws {
    bench.request(from: app)
    let first = try #require(bench.take(worker))
    restart()
    let second = try #require(bench.take(worker))
    bench.answer(first, .response, "stale", from: worker)
    #expect(bench.take(app) == nil && bench.hub.counters.stale == 1)
    bench.answer(second, .response, "fresh", from: worker)
    #expect(bench.take(app)?.text == "fresh")
  }

  @Test("A mailbox keeps order through restarts: what was in hand, then what waited, then what came meanwhile")
  func mailboxSurvives() {
    let slow = bench.worker("slow", window: Window(frames: 2, bytes: 1_000))
    bench.peers[slow]!.grantsCredit = false
    let destination = bench.endpoint(of: slow)
    for number in 0..<4 { bench.event("\(number)", from: app, to: destination, flags: .needsAck) }
    bench.leave(slow)
    bench.event("4", from: app, to: destination, flags: .needsAck)
    bench.join(slow)
    var seen: [String] = []
    while let mail = bench.take(slow) {
      seen.append(mail.text)
      #expect(mail.header.destination == bench.endpoint(of: slow))
      bench.answer(mail, .ack, from: slow)
    }
    #expect(seen == ["0", "1", "2", "3", "4"])
    #expect(bench.takeAll(app).count == 5)
    bench.expectNothingLeft()
  }

  @Test("Closing a mailbox answers everything: not-started what never left it, unknown what died once")
  func closing() {
    bench.request("in hand", from: app)
    bench.leave(worker)
    bench.request("waiting", from: app)
    bench.event("plain", from: app)
    bench.event("acked", from: app, flags: .needsAck)
    bench.closeMailbox(worker)
    let answers = bench.takeAll(app)
    #expect(answers.map(\.type) == [.error, .error, .nack])
    #expect(answers.compactMap(\.refusal?.outcome) == [.unknown, .notStarted, .notStarted])
    bench.expectNothingLeft()
  }

  @Test("A caller that leaves with events in mailboxes loses none of them")
  func eventsOutliveTheirSender() throws {
    bench.leave(worker)
    bench.event("plain", from: app)
    bench.event("acked", from: app, flags: .needsAck)
    bench.leave(app)
    let next = bench.client("next")
    #expect(next == app, "the seat is given away again")
    bench.join(worker)
    let mails = bench.takeAll(worker)
    #expect(mails.map(\.text) == ["plain", "acked"])
    bench.answer(mails[1], .ack, from: worker)
    #expect(bench.take(next) == nil)
    bench.expectNothingLeft()
  }

  @Test("A draining worker gets no new work, and its answers still pass")
  func draining() throws {
    bench.request("before", from: app)
    bench.hub.beginDrain(worker)
    bench.request("after", from: app)
    let work = try #require(bench.take(worker))
    #expect(bench.take(worker) == nil)
    #expect(!bench.isIdle(worker))
    bench.answer(work, from: worker)
    #expect(bench.isIdle(worker) && bench.take(app)?.type == .response)
    #expect(restart().requeued == 0)
    #expect(bench.take(worker)?.text == "after")
  }

  @Test("A worker that takes and never answers is remembered for a bounded number of messages")
  func abandonedForEver() throws {
    let bound = MessageHub.abandonedMaximum
    let listener = bench.client("listener")
    bench.request("long-lived", from: listener)
    let stream = try #require(bench.take(worker))
    for _ in 0..<bound + 100 {
      bench.request(from: app, ttl: 1)
      bench.pass(milliseconds: 1)
      _ = bench.takeAll(worker)
      _ = bench.takeAll(app)
    }
    #expect(bench.report(worker).inFlight == bound + 1)
    bench.answer(stream, from: worker)
    #expect(bench.take(listener)?.type == .response)
    bench.checkAccounts()
  }
}
