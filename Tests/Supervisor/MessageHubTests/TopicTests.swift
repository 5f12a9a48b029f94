import Contracts
import Frames
import Testing

@testable import MessageHub

@Suite struct TopicTests {
  var limits = HubLimits()

  init() {
    limits.mailboxFrames = 8
    limits.clientMailboxFrames = 8
  }

  @Test("An event reaches all subscribers, and nobody after UNSUBSCRIBE")
  func fanOut() {
    let bench = HubBench()
    let (one, two, worker) = (bench.client("one"), bench.client("two"), bench.worker())
    let planner = bench.worker("planner", role: .outboxPlanner)
    for seat in [one, two, planner] { bench.subscribe(seat) }
    bench.event("up", from: worker, method: .states)
    for seat in [one, two, planner] { #expect(bench.takeAll(seat).map(\.text) == ["up"]) }
    bench.send(FrameHeader(type: .unsubscribe, id: bench.nextId(of: two), method: .states), from: two)
    bench.event("down", from: worker, method: .states)
    #expect(bench.takeAll(one).map(\.text) == ["down"])
    #expect(bench.takeAll(two).map(\.type) == [.response])
    bench.expectNothingLeft()
  }

  @Test("Only the topic's own role publishes it, and a topic that is not in the table cannot be subscribed to")
  func publisher() {
    let bench = HubBench()
    let app = bench.client()
    bench.subscribe(app)
    bench.event("forged", from: app, method: .states, flags: .needsAck)
    #expect(bench.take(app)?.refusal?.code == .denied)
    for method in [UInt16.publish, 999] {
      bench.peers[app]!.open.insert(bench.peers[app]!.lastId + 1)
      bench.send(FrameHeader(type: .subscribe, id: bench.nextId(of: app), method: method), from: app)
      #expect(bench.take(app)?.refusal?.code == .unknownMethod)
    }
    bench.expectNothingLeft()
  }

  @Test("A client that does not read loses events, and is told how many where they are missing")
  func gap() {
    let bench = HubBench(limits: limits)
    let app = bench.client("slow", window: Window(frames: 2, bytes: 1_000))
    let worker = bench.worker()
    bench.subscribe(app)
    bench.peers[app]!.grantsCredit = false
    for number in 0..<17 { bench.event("\(number)", from: worker, method: .states) }
    #expect(bench.heldCredit(of: worker).frames == 0, "a client does not stall its publisher")
    bench.peers[app]!.grantsCredit = true
    let first = (0..<8).compactMap { _ in bench.take(app) }
    bench.event("17", from: worker, method: .states)
    let rest = bench.takeAll(app)
    #expect(
      (first + rest).map { $0.type == .gap ? "gap of \($0.dropped!)" : $0.text }
        == (0..<10).map(String.init) + ["gap of 7", "17"])
    bench.expectNothingLeft()
  }

  @Test("A gap is told as soon as there is room, without waiting for another event or CREDIT")
  func gapAtOnce() {
    let bench = HubBench(limits: limits)
    let app = bench.client("slow", window: Window(frames: 1, bytes: 1_000))
    let worker = bench.worker()
    bench.subscribe(app)
    bench.peers[app]!.grantsCredit = false
    for number in 0..<12 { bench.event("\(number)", from: worker, method: .states) }
    bench.peers[app]!.granted = Credit(frames: 100, bytes: 10_000)
    bench.send(FrameHeader(type: .credit), Credit(frames: 100, bytes: 10_000).payload, from: app)
    #expect(bench.hub.seats[app].waitingCount == 0)
    bench.event("12", from: worker, method: .states)
    #expect(bench.takeAll(app).suffix(2).map(\.type) == [.gap, .event])
  }

  @Test("Gaps lie between the events they separate, and none is counted twice")
  func severalGaps() {
    let bench = HubBench(limits: limits)
    let app = bench.client("slow", window: Window(frames: 3, bytes: 1_000))
    let worker = bench.worker()
    bench.subscribe(app)
    bench.peers[app]!.grantsCredit = false
    var next = 0
    var expected = 0
    for round in 0..<50 {
      for _ in 0..<(round % 7) * 3 {
        bench.event("\(next)", from: worker, method: .states)
        next += 1
      }
      for _ in 0..<round % 5 {
        guard let mail = bench.take(app) else { break }
        if mail.type == .gap {
          expected += Int(mail.dropped!)
        } else {
          #expect(mail.text == "\(expected)")
          expected += 1
        }
      }
      bench.grant(app)
    }
    bench.peers[app]!.grantsCredit = true
    for mail in bench.takeAll(app) {
      if mail.type == .gap {
        expected += Int(mail.dropped!)
      } else {
        #expect(mail.text == "\(expected)")
        expected += 1
      }
    }
    #expect(expected == next)
    bench.expectNothingLeft()
  }

  @Test("Workers lose no event: a full mailbox holds the publisher's credit, once for all copies")
  func workersLoseNone() {
    let bench = HubBench(limits: limits)
    let worker = bench.worker()
    let planners = (1...3).map { bench.worker("planner \($0)", role: .outboxPlanner) }
    for planner in planners {
      bench.subscribe(planner)
      bench.leave(planner)
    }
    for number in 0..<20 { bench.event("\(number)", from: worker, method: .states) }
    #expect(bench.heldCredit(of: worker).frames == 12)
    for planner in planners {
      bench.join(planner)
      #expect(bench.takeAll(planner).map(\.text) == (0..<20).map(String.init))
    }
    #expect(bench.heldCredit(of: worker).frames == 0)
    bench.expectNothingLeft()
  }

  @Test("A publisher that wants an ACK gets one, after every worker's; clients are not waited for")
  func ackAfterAll() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    let planners = (1...3).map { bench.worker("planner \($0)", role: .outboxPlanner) }
    for seat in planners + [app] { bench.subscribe(seat) }
    let id = bench.event("x", from: worker, method: .states, flags: .needsAck)
    #expect(bench.take(app)?.header.flags == [])
    let copies = try planners.map { try #require(bench.take($0)) }
    bench.answer(copies[0], .ack, from: planners[0])
    bench.answer(copies[0], .ack, from: planners[0])
    bench.nack(copies[1], afterMilliseconds: 0, from: planners[1])
    #expect(bench.take(worker) == nil)
    bench.answer(copies[2], .ack, from: planners[2])
    let acks = bench.takeAll(worker)
    #expect(acks.map(\.type) == [.ack] && acks.first?.header.re == id)
    bench.expectNothingLeft()
  }

  @Test("Without a worker among the subscribers the publisher's ACK comes at once")
  func ackWithoutWorkers() {
    let bench = HubBench()
    let worker = bench.worker()
    bench.event(from: worker, method: .states, flags: .needsAck)
    #expect(bench.takeAll(worker).map(\.type) == [.ack])
    bench.expectNothingLeft()
  }

  @Test("A publisher's ACK does not wait for a subscriber that died for good, or ran out of time", arguments: 0..<3)
  func ackWithoutTheDead(ending: Int) throws {
    let bench = HubBench()
    let worker = bench.worker()
    let (good, bad) = (bench.worker("good", role: .outboxPlanner), bench.worker("bad", role: .outboxPlanner))
    bench.subscribe(good)
    bench.subscribe(bad)
    bench.event(from: worker, method: .states, ttl: 800, flags: .needsAck)
    let copy = try #require(bench.take(bad))
    bench.answer(try #require(bench.take(good)), .ack, from: good)
    switch ending {
    case 0:
      bench.leave(bad)
      bench.closeMailbox(bad)
    case 1:
      for _ in 0..<2 {
        bench.leave(bad)
        bench.join(bad)
      }
      bench.leave(bad)
      #expect(bench.deadLetters.count == 1)
    default:
      bench.pass(milliseconds: 800)
      bench.answer(copy, .ack, from: bad)
    }
    #expect(bench.takeAll(worker).map(\.type) == [.ack])
    bench.expectNothingLeft()
  }

  @Test("A directed event is acknowledged to its sender by its receiver", arguments: [FrameType.ack, .nack])
  func directedAck(type: FrameType) throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    let id = bench.event("x", from: app, flags: .needsAck)
    let mail = try #require(bench.take(worker))
    bench.answer(mail, type, from: worker)
    let answer = bench.take(app)
    #expect(answer?.type == type && answer?.header.re == id)
    bench.expectNothingLeft()
  }

  @Test(
    "NACK with a delay brings the event again after it, as often as asked, and that is no death", arguments: ["", "x"])
  func nackWithDelay(payload: String) throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    bench.event(payload, from: app, flags: .needsAck)
    for attempt in 1...5 {
      let mail = try #require(bench.take(worker))
      #expect(mail.text == payload && mail.header.attempt == attempt)
      #expect(!mail.header.flags.contains(.redelivered))
      bench.nack(mail, afterMilliseconds: 100, from: worker)
      bench.pass(milliseconds: 99)
      #expect(bench.take(worker) == nil)
      bench.pass(milliseconds: 1)
    }
    #expect(bench.leave(worker).quarantined == 0)
    bench.join(worker)
    let mail = try #require(bench.take(worker))
    #expect(mail.header.flags.contains(.redelivered))
    bench.answer(mail, .ack, from: worker)
    #expect(bench.takeAll(app).map(\.type) == [.ack])
    bench.expectNothingLeft()
  }

  @Test("A NACK does not lengthen an event's time to live")
  func nackAndExpiry() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    bench.event(from: app, ttl: 1_000, flags: .needsAck)
    bench.nack(try #require(bench.take(worker)), afterMilliseconds: 400, from: worker)
    bench.pass(milliseconds: 400)
    let again = try #require(bench.take(worker))
    #expect(again.header.ttlMilliseconds == 600)
    bench.nack(again, afterMilliseconds: 5_000, from: worker)
    bench.pass(milliseconds: 600)
    #expect(bench.take(app)?.refusal?.code == .expired)
    bench.expectNothingLeft()
  }

  @Test("NACK may come more often than there are attempt numbers")
  func nackForEver() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    bench.event(from: app, flags: .needsAck)
    let index = try #require(bench.hub.deliveries.indices(where: { _ in true }).first)
    bench.hub.deliveries[index].attempt = .max - 1
    let stale = try #require(bench.take(worker))
    bench.nack(stale, afterMilliseconds: 1, from: worker)
    #expect(bench.hub.counters.stale == 1)
    bench.hub.deliveries[index].attempt = 1
    bench.nack(stale, afterMilliseconds: 1, from: worker)
    bench.hub.deliveries[index].attempt = .max
    bench.pass(milliseconds: 1)
    #expect(bench.take(worker)?.header.attempt == 2)
  }

  @Test("An event that was put off when its worker stopped for good is refused, and forgotten")
  func deferredAtClose() throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    bench.event("x", from: app, flags: .needsAck)
    bench.nack(try #require(bench.take(worker)), afterMilliseconds: 100, from: worker)
    bench.leave(worker)
    bench.closeMailbox(worker)
    #expect(bench.take(app)?.refusal?.code == .workerDied)
    bench.hub.releaseSeat(worker)
    bench.pass(milliseconds: 100)
    bench.expectNothingLeft()
  }

  @Test(
    "An event whose time ran out in the worker's hand is refused once; a late ACK adds nothing",
    arguments: [true, false])
  func lateAck(acks: Bool) throws {
    let bench = HubBench()
    let (app, worker) = (bench.client(), bench.worker())
    bench.event("x", from: app, ttl: 100, flags: .needsAck)
    let mail = try #require(bench.take(worker))
    bench.pass(milliseconds: 100)
    if acks { bench.answer(mail, .ack, from: worker) } else { bench.nack(mail, afterMilliseconds: 50, from: worker) }
    #expect(bench.takeAll(app).map(\.type) == [.nack])
    #expect(bench.take(worker) == nil)
    bench.expectNothingLeft()
  }

  @Test("The supervisor's own topic reaches its subscribers in order, with a gap for the slow one")
  func supervisorTopic() {
    let bench = HubBench(limits: limits)
    let quick = bench.client("quick")
    let slow = bench.client("slow", window: Window(frames: 1, bytes: 1_000))
    for seat in [quick, slow] {
      bench.send(FrameHeader(type: .subscribe, id: bench.nextId(of: seat), method: 32), from: seat)
      #expect(bench.take(seat)?.type == .response)
    }
    for number in 0..<20 {
      bench.input { $0.publish(topic: 32, payload: Array("\(number)".utf8), now: $1, actions: &$2) }
    }
    #expect(bench.takeAll(quick).map(\.text) == (0..<20).map(String.init))
    #expect(
      bench.takeAll(slow).map { $0.dropped.map { "gap of \($0)" } ?? $0.text } == (0..<9).map(String.init) + [
        "gap of 11"
      ])
    bench.expectNothingLeft()
  }

  @Test(
    "A worker of one's own that does not read the supervisor's topic counts as busy, and loses events above its bound")
  func supervisorTopicUnread() throws {
    let own = AccessTable.CustomRole(name: "bot", serves: ["bot.*"], mayCall: ["supervisor.*"], callableBy: [])
    let bench = HubBench(limits: limits, table: AccessTable(customRoles: [own]))
    let role = try #require(AccessTable(customRoles: [own]).role(named: "bot"))
    let bot = bench.worker("bot", role: role, window: Window(frames: 2, bytes: 1_000))
    let topic: UInt16 = 32
    bench.subscribe(bot, to: topic)
    bench.peers[bot]!.grantsCredit = false
    for number in 0..<3 { publish("\(number)", to: topic, on: bench) }
    #expect(bench.busySince(bot) != nil, "it has credit to give")
    bench.checkAccounts()
    for number in 3..<30 { publish("\(number)", to: topic, on: bench) }
    #expect(bench.report(bot).mailboxFrames == 8, "nobody's credit holds these events back")
    bench.peers[bot]!.grantsCredit = true
    let all = bench.takeAll(bot)
    #expect(all.compactMap(\.dropped) == [20])
    #expect(all.filter { $0.type == .event }.map(\.text) == (0..<10).map(String.init))
    bench.expectNothingLeft()
  }

  private func publish(_ text: String, to topic: UInt16, on bench: HubBench) {
    bench.input { $0.publish(topic: topic, payload: Array(text.utf8), now: $1, actions: &$2) }
  }
}
