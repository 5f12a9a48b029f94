import Clocks
import Contracts
import Frames
import Testing

@testable import MessageHub

@Suite struct RequestTests {
  let bench = HubBench()
  let app: SeatIndex
  let worker: SeatIndex

  init() {
    app = bench.client()
    worker = bench.worker()
  }

  @Test("A worker hears once that its request is given up, though its caller cancels, leaves, or takes nothing")
  func oneCancel() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    let id = bench.request(from: app)
    let work = try #require(bench.take(worker))
    bench.cancel(id, from: app)
    bench.cancel(id, from: app)
    bench.leave(app)
    #expect(bench.takeAll(worker).map(\.type) == [.cancel])
    bench.answer(work, .error, "{}", from: worker)
    bench.expectNothingLeft()
  }

  @Test("A request reaches the worker with its sender's endpoint, and its answer the caller")
  func roundTrip() throws {
    let id = bench.request("note", from: app)
    let work = try #require(bench.take(worker))
    #expect(work.text == "note")
    #expect(work.header.source == bench.endpoint(of: app))
    #expect(work.header.attempt == 1 && work.header.trace != 0)
    bench.answer(work, .response, "stored", from: worker)
    let answer = try #require(bench.take(app))
    #expect(answer.text == "stored" && answer.header.re == id)
    #expect(answer.header.source == bench.endpoint(of: worker) && answer.header.trace == work.header.trace)
    bench.expectNothingLeft()
  }

  @Test("A worker that asks for it is told the sender's role, whatever the sender has put there; another is not")
  func callerRole() throws {
    let planner = bench.worker("planner", role: .outboxPlanner)
    bench.request(from: planner)
    let untold = try #require(bench.take(worker))
    #expect(untold.header.re == 0)
    bench.answer(untold, .response, "stored", from: worker)
    _ = bench.take(planner)
    _ = bench.leave(worker)
    bench.join(worker, knowsCallerRole: true)
    bench.request(from: planner)
    #expect(try #require(bench.take(worker)).header.callerRole == Role.outboxPlanner.number)
    for type in [FrameType.request, .event] {
      let forged = FrameHeader(type: type, id: bench.nextId(of: app), re: .max, method: .publish)
      bench.send(forged, from: app)
      let work = try #require(bench.take(worker))
      #expect(work.type == type && work.header.callerRole == Role.client.number)
      #expect(work.header.re == UInt64(Role.client.number) << 40)
    }
  }

  @Test("A worker that is back is known by its seat before the registry says so, and its seat's next tenant is not")
  func seatGivenAnew() throws {
    let bench = HubBench()
    let seat = bench.worker("shop", role: .dvmProvider)
    let told = bench.registry(AccessTable())
    let role = Role.dvmProvider.number
    bench.leave(seat)
    bench.join(seat)
    #expect(told.member(at: bench.endpoint(of: seat), role: role)?.name == "shop")
    #expect(told.member(at: bench.endpoint(of: seat), role: Role.client.number) == nil)
    let again = bench.registry(AccessTable())
    bench.leave(seat)
    bench.closeMailbox(seat)
    bench.hub.releaseSeat(seat)
    #expect(bench.worker("other", role: .dvmProvider) == seat, "the seat is given to another")
    #expect(again.member(at: bench.endpoint(of: seat), role: role) == nil)
    #expect(bench.registry(AccessTable()).member(at: bench.endpoint(of: seat), role: role)?.name == "other")
  }

  @Test("Only the first terminal answer reaches the caller")
  func oneAnswer() throws {
    bench.request(from: app)
    let work = try #require(bench.take(worker))
    bench.answer(work, .error, "{}", from: worker)
    bench.answer(work, .response, "too late", from: worker)
    #expect(bench.takeAll(app).map(\.type) == [.error])
    #expect(bench.hub.counters.stale == 1)
    bench.expectNothingLeft()
  }

  @Test("The time to live ends a request in the queue with outcome not-started")
  func expiryInQueue() {
    bench.leave(worker)
    bench.request(from: app, ttl: 300)
    bench.pass(milliseconds: 299)
    #expect(bench.take(app) == nil)
    bench.pass(milliseconds: 1)
    let answer = bench.take(app)
    #expect(answer?.refusal?.code == .expired && answer?.refusal?.outcome == .notStarted)
    bench.expectNothingLeft()
  }

  @Test("The time to live ends a request in a worker's hand with outcome unknown, and its late answer is discarded")
  func expiryInHand() throws {
    bench.request(from: app, ttl: 300)
    let work = try #require(bench.take(worker))
    bench.pass(milliseconds: 300)
    let answer = bench.take(app)
    #expect(answer?.refusal?.code == .expired && answer?.refusal?.outcome == .unknown)
    #expect(bench.take(worker)?.type == .cancel)
    #expect(!bench.isIdle(worker), "what is abandoned is still in hand")
    bench.answer(work, from: worker)
    #expect(bench.take(app) == nil)
    #expect(bench.isIdle(worker))
    bench.expectNothingLeft()
  }

  @Test("The time to live a worker sees is less by the time in the queue")
  func ttlDecreases() {
    bench.leave(worker)
    bench.request(from: app, ttl: 1_000)
    bench.event(from: app, ttl: 1_000)
    bench.event(from: app, ttl: 100)
    bench.pass(milliseconds: 400)
    bench.join(worker)
    #expect(bench.take(worker)?.header.ttlMilliseconds == 600)
    #expect(bench.take(worker)?.header.ttlMilliseconds == 600)
    #expect(bench.take(worker)?.header.ttlMilliseconds == 1, "an event is late rather than lost")
  }

  @Test("A request without a time to live gets the default")
  func defaultTTL() {
    var limits = HubLimits()
    limits.defaultTTLMilliseconds = 50
    let bench = HubBench(limits: limits)
    let (app, worker) = (bench.client(), bench.worker())
    bench.request(from: app)
    #expect(bench.take(worker)?.header.ttlMilliseconds == 50)
    bench.pass(milliseconds: 50)
    #expect(bench.take(app)?.refusal?.code == .expired)
  }

  @Test("A request cancelled in the queue is answered at once: not-started")
  func cancelQueued() {
    bench.leave(worker)
    let id = bench.request(from: app)
    bench.cancel(id, from: app)
    let answer = bench.take(app)
    #expect(answer?.refusal?.code == .cancelled && answer?.refusal?.outcome == .notStarted)
    bench.join(worker)
    #expect(bench.take(worker) == nil)
    bench.expectNothingLeft()
  }

  @Test("What a dead worker had in hand and is then cancelled or expires in the queue has outcome unknown")
  func giveUpAfterDeath() throws {
    let first = bench.request(from: app)
    bench.request(from: app, ttl: 100)
    #expect(bench.takeAll(worker).count == 2)
    bench.leave(worker)
    bench.cancel(first, from: app)
    bench.pass(milliseconds: 100)
    let answers = bench.takeAll(app).compactMap(\.refusal)
    #expect(answers.map(\.code) == [.cancelled, .expired])
    #expect(answers.allSatisfy { $0.outcome == .unknown })
    bench.expectNothingLeft()
  }

  @Test("A worker that hears CANCEL gives the terminal answer")
  func cancelInHand() throws {
    let id = bench.request(from: app)
    let work = try #require(bench.take(worker))
    bench.cancel(id, from: app)
    bench.cancel(id, from: app)
    let cancel = try #require(bench.take(worker))
    #expect(cancel.type == .cancel && cancel.header.re == id && cancel.header.source == work.header.source)
    #expect(bench.take(worker) == nil, "a second CANCEL says nothing new")
    bench.answer(work, .response, "half", from: worker)
    #expect(bench.take(app)?.text == "half")
    bench.expectNothingLeft()
  }

  @Test("A worker that ignores CANCEL is not waited for beyond the grace, nor beyond the time to live")
  func cancelGrace() throws {
    let patient = bench.request(from: app)
    let hasty = bench.request(from: app, ttl: 700)
    let works = bench.takeAll(worker)
    bench.cancel(patient, from: app)
    bench.cancel(hasty, from: app)
    bench.pass(milliseconds: 700)
    #expect(bench.take(app)?.header.re == hasty)
    bench.pass(milliseconds: 4_299)
    #expect(bench.take(app) == nil)
    bench.pass(milliseconds: 1)
    let answer = bench.take(app)
    #expect(answer?.header.re == patient)
    #expect(answer?.refusal?.code == .cancelled && answer?.refusal?.outcome == .unknown)
    for work in works { bench.answer(work, from: worker) }
    #expect(bench.take(app) == nil)
    bench.expectNothingLeft()
  }

  @Test("A caller that leaves cancels what it asked for, in the queue and in hand")
  func callerLeaves() throws {
    let slow = bench.worker("slow", role: .relayConnector, window: Window(frames: 1, bytes: 1_000))
    for _ in 0..<3 { bench.request("x", from: app, to: bench.endpoint(of: slow)) }
    let work = try #require(bench.take(slow))
    bench.leave(app)
    let frames = bench.takeAll(slow)
    #expect(frames.filter { $0.type == .cancel }.map(\.header.re) == [1, 2])
    let next = try #require(frames.first { $0.type == .request })
    #expect(bench.report(slow).inFlight == 2, "the second was sent when the first was taken")
    bench.answer(work, from: slow)
    bench.answer(next, from: slow)
    bench.expectNothingLeft()
  }

  @Test(
    "What may not be called, does not exist or is not there is refused with its own word",
    arguments: [
      (UInt16.publish, Endpoint(role: 3), RefusalCode.unknownMethod),
      (999, .hub, .unknownMethod),
      (.states, .hub, .unknownMethod),
      (.status, Endpoint(role: 0), .unknownMethod),
      (.publish, Endpoint(seat: 1, turn: 99), .gone),
      (.publish, Endpoint(seat: 2, turn: 99), .gone),
      (.publish, Endpoint(seat: 4_000, turn: 1), .gone),
      (.publish, Endpoint(rawValue: 1 << 12), .gone),
      (.publish, Endpoint(seat: 1, turn: 1), .unknownMethod),
    ])
  func refused(method: UInt16, destination: Endpoint, code: RefusalCode) {
    bench.request(from: app, method: method, to: destination)
    let answer = bench.take(app)
    #expect(answer?.type == .error && answer?.refusal?.code == code)
    #expect(answer?.refusal?.outcome == .notStarted)
    #expect(bench.cuts.isEmpty)
    bench.expectNothingLeft()
  }

  @Test("The access table is checked on the caller's role")
  func denied() {
    let store = bench.worker("store", role: .eventStore)
    bench.request(from: store)
    #expect(bench.take(store)?.refusal?.code == .denied)
    bench.event(from: store, flags: .needsAck)
    let nack = bench.take(store)
    #expect(nack?.type == .nack && nack?.refusal?.code == .denied)
    bench.event(from: store)
    bench.send(FrameHeader(type: .subscribe, id: bench.nextId(of: store), method: .states), from: store)
    bench.expectNothingLeft()
    #expect(bench.hub.counters.denied == 4 && bench.take(worker) == nil)
  }

  @Test("A role without a worker and a stopped worker are unavailable; the latter says when to ask again")
  func unavailable() {
    let bench = HubBench()
    let app = bench.client()
    bench.request(from: app)
    #expect(bench.take(app)?.refusal?.code == .unavailable)
    let worker = bench.worker()
    bench.leave(worker)
    bench.closeMailbox(worker)
    bench.request(from: app)
    let refusal = bench.take(app)?.refusal
    #expect(refusal?.code == .unavailable && refusal?.retryAfterMilliseconds == 900)
    bench.expectNothingLeft()
  }

  @Test("A role's member with the least to do gets the request")
  func leastLoaded() {
    let other = bench.worker("others")
    for _ in 0..<6 { bench.request(from: app, to: Endpoint(role: Role.relayConnector.number)) }
    #expect(bench.takeAll(worker).count == 3 && bench.takeAll(other).count == 3)
    bench.leave(other)
    for _ in 0..<5 { bench.request(from: app) }
    #expect(bench.takeAll(worker).count == 5, "one that is away is the last choice")
  }

  @Test("An old endpoint of a worker reaches its present instance, but not the seat's next owner")
  func oldEndpoints() {
    let old = bench.endpoint(of: worker)
    bench.leave(worker)
    bench.join(worker)
    bench.request(from: app, to: old)
    #expect(bench.take(worker) != nil)
    bench.leave(worker)
    bench.closeMailbox(worker)
    #expect(bench.take(app)?.refusal?.code == .workerDied)
    bench.hub.releaseSeat(worker)
    #expect(bench.worker("successor") == worker)
    bench.request(from: app, to: old)
    #expect(bench.take(app)?.refusal?.code == .gone)
    bench.expectNothingLeft()
  }

  @Test("The number of turns of a seat may wrap around")
  func turnWrap() throws {
    bench.leave(worker)
    bench.hub.seats[worker].turn = 0x7FFFF
    bench.hub.seats[worker].firstTurn = 0x7FFF0
    let old = bench.endpoint(of: worker)
    bench.join(worker)
    #expect(bench.endpoint(of: worker).rawValue == UInt32(worker.number))
    bench.request(from: app, to: old)
    bench.answer(try #require(bench.take(worker)), from: worker)
    #expect(bench.take(app)?.type == .response)
    bench.request(from: app, to: Endpoint(seat: worker.number, turn: 0x7FFEF))
    #expect(bench.take(app)?.refusal?.code == .gone)
  }

  @Test("Answers for others, from others and from earlier attempts are discarded")
  func strayAnswers() throws {
    let (other, stranger) = (bench.worker("others"), bench.client("stranger"))
    bench.request(from: app, to: bench.endpoint(of: worker))
    bench.request(from: stranger, to: bench.endpoint(of: other))
    let work = try #require(bench.take(worker))
    bench.answer(work, .response, "forged", from: other)
    var stale = work
    stale.header.attempt = 7
    bench.answer(stale, .response, "stale", from: worker)
    bench.answer(stale, .response, "part", flags: .more, from: worker)
    #expect(bench.hub.counters.stale == 3 && bench.take(app) == nil && bench.take(stranger) == nil)
    bench.answer(work, .response, "right", from: worker)
    #expect(bench.take(app)?.text == "right")
    bench.checkAccounts()
  }

  @Test("A client that answers is cut")
  func clientAnswers() {
    bench.send(FrameHeader(type: .response, re: 1), from: app)
    #expect(bench.cuts[app]?.code == .outOfTurn)
  }

  @Test(
    "Frames only the hub may write, and those out of turn, are violations",
    arguments: [
      (
        FrameHeader(type: .request, source: Endpoint(rawValue: 4097), id: 1, method: .publish), RefusalCode.forgedSource
      ),
      (FrameHeader(type: .hello), .outOfTurn), (FrameHeader(type: .welcome), .unknownType),
      (FrameHeader(type: .gap), .unknownType), (FrameHeader(type: .credit), .badPayload),
      (FrameHeader(type: .request, id: 0, method: .publish), .idNotIncreasing),
      (FrameHeader(type: .event, flags: .needsAck, method: .publish), .idNotIncreasing),
    ])
  func violations(header: FrameHeader, code: RefusalCode) {
    bench.send(header, from: app)
    #expect(bench.cuts[app]?.code == code)
  }

  @Test("An id of 0 is told as that, not as one that does not increase")
  func idOfZero() {
    bench.send(FrameHeader(type: .request, id: 0, method: .publish), from: app)
    #expect(bench.cuts[app]?.message == "what is to be answered needs an id of at least 1")
  }

  @Test("An id that does not increase is a violation, over requests, events and subscriptions together")
  func idsIncrease() {
    bench.request(from: app)
    bench.send(FrameHeader(type: .event, id: 1, method: .publish), from: app)
    #expect(bench.cuts[app]?.code == .idNotIncreasing)
    #expect(bench.hub.counters.violations == 1)
  }

  @Test("A second READY is a violation of a worker and means nothing from a client")
  func ready() {
    bench.send(FrameHeader(type: .ready), from: app)
    bench.send(FrameHeader(type: .ready), from: worker)
    #expect(bench.cuts.keys.sorted() == [worker] && bench.controls.count == 1)
  }

  @Test("What only the hub writes is not taken from a sender")
  func stamped() {
    bench.send(FrameHeader(type: .event, flags: .redelivered, attempt: 9, method: .publish), from: app)
    let event = bench.take(worker)
    #expect(event?.header.flags == [] && event?.header.attempt == 0)
  }

  @Test("PING is answered, and needs no credit")
  func ping() {
    for id in 1...200 as ClosedRange<UInt64> { bench.send(FrameHeader(type: .ping, id: id), from: app) }
    #expect(bench.takeAll(app).map(\.header.re) == Array(1...200))
  }
}
