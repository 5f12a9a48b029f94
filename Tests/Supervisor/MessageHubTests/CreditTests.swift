import Contracts
import Frames
import Testing

@testable import MessageHub

@Suite struct CreditTests {
  @Test("A peer may send its window of frames and not one more")
  func frames() {
    let bench = HubBench()
    let app = bench.client()
    let worker = bench.worker(window: Window(frames: 1, bytes: 10))
    fill(bench, worker, from: app)
    while bench.peers[app]!.maySend { bench.event(from: app) }
    #expect(bench.heldCredit(of: app).frames > 48, "all but what lags behind a CREDIT is held")
    #expect(bench.cuts.isEmpty)
    bench.event(from: app)
    #expect(bench.cuts[app]?.code == .noCredit)
  }

  @Test("Bytes may be overdrawn by one payload")
  func bytes() {
    var limits = HubLimits()
    limits.window = Window(frames: 64, bytes: 100)
    limits.mailboxFrames = 0
    let bench = HubBench(limits: limits)
    let app = bench.client()
    let worker = bench.worker(window: Window(frames: 64, bytes: 1))
    bench.event(String(repeating: "x", count: 99), from: app)
    #expect(bench.peers[worker]!.inbox.count == 1, "the first went through, overdrawing the worker's byte")
    bench.event(String(repeating: "y", count: 99), from: app)
    #expect(bench.peers[app]!.maySend)
    bench.event(String(repeating: "z", count: 5_000), from: app)
    #expect(bench.cuts.isEmpty && !bench.peers[app]!.maySend)
    bench.checkAccounts()
    bench.event(from: app)
    #expect(bench.cuts[app]?.code == .noCredit)
  }

  /// Sends events to an away or slow worker until its mailbox holds credit.
  private func fill(_ bench: HubBench, _ worker: SeatIndex, from app: SeatIndex) {
    bench.peers[worker]?.grantsCredit = false
    while bench.report(worker).holding.isEmpty { bench.event(from: app) }
  }

  @Test("Credit is back at once below the mailbox's bound, held above it, and returned when frames leave")
  func heldAboveBound() {
    var limits = HubLimits()
    limits.mailboxFrames = 10
    let bench = HubBench(limits: limits)
    let app = bench.client()
    let worker = bench.worker()
    bench.leave(worker)
    for _ in 0..<10 { bench.event("four", from: app) }
    #expect(bench.heldCredit(of: app) == Credit(frames: 0, bytes: 0))
    for _ in 0..<5 { bench.event("four", from: app) }
    for _ in 0..<3 { bench.request("four", from: app) }
    #expect(bench.heldCredit(of: app) == Credit(frames: 8, bytes: 32))
    #expect(bench.report(worker).holding == ["app": 8])
    bench.checkAccounts()
    bench.join(worker, window: Window(frames: 16, bytes: 1_000))
    #expect(bench.heldCredit(of: app) == Credit(frames: 2, bytes: 8))
    bench.takeAll(worker).filter { $0.type == .request }.forEach { bench.answer($0, from: worker) }
    #expect(bench.heldCredit(of: app).frames == 0)
    bench.expectNothingLeft()
  }

  @Test("Credit comes back once whichever way a held request ends", arguments: 0..<5)
  func returnedOnce(ending: Int) {
    var limits = HubLimits()
    limits.mailboxFrames = 0
    let bench = HubBench(limits: limits)
    let app = bench.client()
    let worker = bench.worker()
    bench.leave(worker)
    let ids = (0..<20).map { _ in bench.request("data", from: app, ttl: 500) }
    #expect(bench.heldCredit(of: app).frames == 20)
    switch ending {
    case 0: ids.forEach { bench.cancel($0, from: app) }
    case 1: bench.pass(milliseconds: 500)
    case 2: bench.closeMailbox(worker)
    case 3:
      for _ in 0..<HubLimits().deliveriesMaximum { die(bench, worker) }
      for _ in 0..<60 where bench.hub.openDeliveryCount > 0 { die(bench, worker) }
    default:
      bench.join(worker)
      bench.takeAll(worker).forEach { bench.answer($0, from: worker) }
    }
    #expect(bench.takeAll(app).count == 20)
    bench.leave(worker)
    bench.expectNothingLeft()
  }

  private func die(_ bench: HubBench, _ worker: SeatIndex) {
    bench.join(worker)
    bench.leave(worker)
  }

  @Test("A large request gives its credit back with its answer: a backfill fills no mailbox")
  func largeRequests() throws {
    let bench = HubBench()
    let backfill = bench.client()
    let app = bench.client()
    let worker = bench.worker(window: Window(frames: 64, bytes: 4 << 20))
    let run = String(repeating: "x", count: 600_000)
    while bench.peers[backfill]!.maySend { bench.request(run, from: backfill) }
    #expect(bench.heldCredit(of: backfill) == Credit(frames: 2, bytes: 1_200_000))
    bench.request("small", from: app)
    #expect(bench.heldCredit(of: app) == Credit(frames: 0, bytes: 0))
    let taken = bench.takeAll(worker)
    #expect(taken.count == 3, "nothing stands in the way of the small one")
    bench.answer(try #require(taken.first), from: worker)
    #expect(bench.heldCredit(of: backfill) == Credit(frames: 1, bytes: 600_000))
    #expect(bench.peers[backfill]!.maySend)
    for request in taken.dropFirst() { bench.answer(request, from: worker) }
    bench.expectNothingLeft()
  }

  @Test("A large request whose answer has begun gives its credit back, for however long the answer goes on")
  func largeStanding() throws {
    let bench = HubBench()
    let app = bench.client()
    let worker = bench.worker(window: Window(frames: 64, bytes: 4 << 20))
    bench.request(String(repeating: "x", count: 600_000), from: app)
    #expect(bench.heldCredit(of: app) == Credit(frames: 1, bytes: 600_000))
    let request = try #require(bench.takeAll(worker).first)
    bench.answer(request, .response, "a part", flags: .more, from: worker)
    #expect(bench.heldCredit(of: app) == Credit(frames: 0, bytes: 0))
    bench.answer(request, from: worker)
    bench.expectNothingLeft()
  }

  @Test("Beyond its outstanding requests, and with the pool full, a caller's credit comes back with the answers")
  func outstanding() throws {
    var limits = HubLimits()
    limits.outstandingRequests = 5
    limits.poolBytes = 100
    let bench = HubBench(limits: limits)
    let (app, other) = (bench.client(), bench.client("other"))
    let worker = bench.worker()
    for _ in 0..<8 { bench.request("12345678", from: app) }
    #expect(bench.heldCredit(of: app).frames == 3)
    for _ in 0..<5 { bench.request(String(repeating: "b", count: 40), from: other) }
    #expect(bench.heldCredit(of: other).frames == 4)
    bench.event(String(repeating: "b", count: 40), from: other, flags: .needsAck)
    #expect(bench.heldCredit(of: other).frames == 5)
    bench.checkAccounts()
    for work in bench.takeAll(worker) { bench.answer(work, work.type == .event ? .ack : .response, from: worker) }
    #expect(bench.takeAll(app).count == 8 && bench.takeAll(other).count == 6)
    bench.expectNothingLeft()
  }

  @Test("A repeated or lower CREDIT changes nothing")
  func monotone() {
    let bench = HubBench()
    let app = bench.client()
    let worker = bench.worker(window: Window(frames: 2, bytes: 100))
    for _ in 0..<5 { bench.event(from: app) }
    bench.send(FrameHeader(type: .credit), Credit(frames: 1, bytes: 1).payload, from: worker)
    #expect(bench.peers[worker]!.inbox.count == 2)
    #expect(bench.report(worker).isOutOfCredit)
  }

  @Test("A single question costs no CREDIT of its own, a full window is told in one")
  func lag() {
    let bench = HubBench()
    let app = bench.client()
    let worker = bench.worker()
    let before = bench.peers[app]!.allowed
    let quarter = before.frames / 4
    for _ in 1..<quarter { bench.event("x", from: app) }
    #expect(bench.peers[app]!.allowed == before)
    bench.event("x", from: app)
    #expect(bench.peers[app]!.allowed == Credit(frames: before.frames + quarter, bytes: before.bytes + quarter))
    _ = bench.takeAll(worker)
    bench.checkAccounts()
  }

  @Test("A terminal answer passes a mailbox without credit, but not parts of itself")
  func terminalAnswers() throws {
    let bench = HubBench()
    let app = bench.client("slow", window: Window(frames: 2, bytes: 1_000))
    let worker = bench.worker()
    bench.peers[app]!.grantsCredit = false
    let streamed = bench.request("stream", from: app, method: .query)
    let short = bench.request("short", from: app)
    let (stream, quick) = (try #require(bench.take(worker)), try #require(bench.take(worker)))
    for part in 1...4 { bench.answer(stream, .response, "\(part)", flags: .more, from: worker) }
    bench.answer(stream, .response, "end", from: worker)
    bench.answer(quick, .response, "quick", from: worker)
    #expect(bench.takeAll(app).map(\.text) == ["1", "2", "quick"])
    bench.grant(app)
    #expect(bench.takeAll(app).map(\.text) == ["3", "4", "end"])
    #expect(short > streamed)
    bench.expectNothingLeft()
  }

  @Test(
    "Parts beyond the answer's window hold the worker's credit, and return it when the caller reads or leaves",
    arguments: [true, false])
  func partsHoldCredit(reads: Bool) throws {
    var limits = HubLimits()
    limits.clientMailboxFrames = 4
    limits.answerWindow.frames = 4
    let bench = HubBench(limits: limits)
    let app = bench.client("slow", window: Window(frames: 1, bytes: 1_000))
    let worker = bench.worker()
    bench.peers[app]!.grantsCredit = false
    bench.request("stream", from: app, method: .query)
    let work = try #require(bench.take(worker))
    for part in 0..<10 { bench.answer(work, .response, "\(part)", flags: .more, from: worker) }
    #expect(bench.heldCredit(of: worker).frames == 5)
    #expect(bench.report(app).holding == ["relays": 5])
    bench.checkAccounts()
    if reads {
      bench.peers[app]!.grantsCredit = true
      #expect(bench.takeAll(app).map(\.text) == (0..<10).map(String.init))
    } else {
      bench.leave(app)
    }
    #expect(bench.heldCredit(of: worker).frames == 0)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("Progress is left out rather than kept for a caller without credit")
  func progress() throws {
    let bench = HubBench()
    let app = bench.client("slow", window: Window(frames: 1, bytes: 1_000))
    let worker = bench.worker()
    bench.peers[app]!.grantsCredit = false
    bench.request(from: app)
    let work = try #require(bench.take(worker))
    for _ in 0..<3 { bench.answer(work, .progress, "{}", from: worker) }
    #expect(bench.takeAll(app).map(\.type) == [.progress])
    #expect(bench.heldCredit(of: worker).frames == 0)
    #expect(bench.busySince(worker) == nil, "it has shown progress, and owes none")
  }

  @Test("A worker that is not READY, is draining, or has a suspect in hand still gets the parts it waits for")
  func partsPassWork() throws {
    let table = AccessTable(customRoles: [
      .init(name: "bot", serves: ["bot.*"], mayCall: ["relay.*"], callableBy: ["client"])
    ])
    let bench = HubBench(table: table)
    _ = try bench.hub.register(methods: ["bot.run"], of: table.role(named: "bot")!)
    let app = bench.client()
    let relays = bench.worker()
    let bot = bench.worker("bot", role: table.role(named: "bot")!)
    let run = AccessTable.firstCustomNumber
    bench.request("one", from: app, method: run)
    bench.request("two", from: app, method: run)
    bench.leave(bot)
    bench.join(bot, isReady: false)

    func asksAndIsAnswered() throws {
      let id = bench.request("ask", from: bot, method: .query)
      let work = try #require(bench.take(relays))
      bench.answer(work, .response, "part", flags: .more, from: relays)
      bench.answer(work, .response, "end", from: relays)
      let answers = bench.takeAll(bot)
      #expect(answers.map(\.text) == ["part", "end"] && answers.allSatisfy { $0.header.re == id })
    }
    try asksAndIsAnswered()
    bench.send(FrameHeader(type: .ready), from: bot)
    let suspect = try #require(bench.take(bot))
    #expect(suspect.text == "one" && bench.take(bot) == nil)
    try asksAndIsAnswered()
    bench.hub.beginDrain(bot)
    bench.answer(suspect, from: bot)
    try asksAndIsAnswered()
    #expect(bench.isIdle(bot) && bench.report(bot).mailboxFrames == 1)
  }

  @Test("A worker owes progress only while it has work, or frames wait that it does not take")
  func busy() throws {
    let bench = HubBench()
    let app = bench.client()
    let worker = bench.worker(window: Window(frames: 1, bytes: 100))
    #expect(bench.busySince(worker) == nil)
    bench.event(from: app)
    #expect(bench.busySince(worker) == nil)
    let id = bench.request(from: app)
    #expect(bench.busySince(worker) == bench.now, "the request waits for credit")
    bench.cancel(id, from: app)
    #expect(bench.busySince(worker) == nil)
    bench.request(from: app)
    bench.leave(app)
    #expect(bench.busySince(worker) == nil)
    bench.checkAccounts()
  }
}
