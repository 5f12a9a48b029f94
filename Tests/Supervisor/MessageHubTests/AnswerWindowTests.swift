import Contracts
import Frames
import Testing

@testable import MessageHub

// One caller that takes nothing of its answer, and the same worker's other callers.

@Suite struct AnswerWindowTests {
  /// A client that grants nothing beyond its window, which is 1 frame.
  private func deafClient(_ bench: HubBench, _ name: String = "deaf") -> SeatIndex {
    let seat = bench.client(name, window: Window(frames: 1, bytes: 1_000))
    bench.peers[seat]!.grantsCredit = false
    return seat
  }

  @Test("A stream that nobody takes stops at its window, and holds nothing of its worker's credit")
  func stopsAtWindow() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let deaf = deafClient(bench)
    bench.request("stream", from: deaf, method: .query)
    let work = try #require(bench.take(worker))
    let window = bench.limits.answerWindow.frames
    #expect(bench.stream(work, from: worker) == Int(window))
    #expect(bench.peers[worker]!.answerCreditCount == 0, "one part was taken, which is not worth a frame")
    #expect(bench.heldCredit(of: worker).frames == 0)
    bench.checkAccounts()
    bench.leave(deaf)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("Beside twelve streams that nobody takes, a thirteenth runs at full speed")
  func othersGoOn() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    for number in 0..<12 {
      let deaf = deafClient(bench, "deaf \(number)")
      bench.request("stream", from: deaf, method: .query)
      bench.stream(try #require(bench.take(worker)), from: worker)
    }
    let app = bench.client()
    bench.request("stream", from: app, method: .query)
    let work = try #require(bench.take(worker))
    var taken = 0
    for round in 0..<100 {
      let sent = bench.stream(work, atMost: 100, from: worker)
      #expect(sent > 0, "round \(round)")
      taken += bench.takeAll(app).count
    }
    #expect(taken > 3_000)
    #expect(bench.peers[worker]!.answerCreditCount <= taken / 32 + 1, "one CREDIT for half a window")
    bench.checkAccounts()
  }

  @Test("Who knows no answer windows keeps its credit within them, and beyond holds it while the mailbox is full")
  func unaware() throws {
    var limits = HubLimits()
    limits.answerWindow = Window(frames: 8, bytes: 1_000)
    limits.clientMailboxFrames = 4
    let bench = HubBench(limits: limits)
    let worker = bench.worker()
    let deaf = deafClient(bench)
    bench.request("stream", from: deaf, method: .query)
    let work = try #require(bench.take(worker))
    bench.stream(work, atMost: 9, from: worker)
    #expect(bench.heldCredit(of: worker).frames == 0, "one was taken and eight wait")
    bench.stream(work, atMost: 5, from: worker)
    #expect(bench.heldCredit(of: worker) == Credit(frames: 5, bytes: 20))
    #expect(bench.report(deaf).holding == ["relays": 5])
    bench.checkAccounts()
    bench.peers[deaf]!.grantsCredit = true
    #expect(bench.takeAll(deaf).count == 14)
    #expect(bench.peers[worker]!.answerCreditCount == 0, "it is told nothing that it would not understand")
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("A worker that waits is told as soon as half its window was taken, also with its bytes overdrawn")
  func toldAtHalf() throws {
    var limits = HubLimits()
    limits.answerWindow = Window(frames: 8, bytes: 1_000)
    let bench = HubBench(limits: limits)
    let worker = bench.worker(knowsAnswerCredit: true)
    let deaf = deafClient(bench)
    bench.request("stream", from: deaf, method: .query)
    let work = try #require(bench.take(worker))
    #expect(bench.stream(work, from: worker) == 8)
    #expect(bench.takeAll(deaf).count == 1)
    for taken in 2...3 {
      bench.grant(deaf)
      #expect(bench.takeAll(deaf).count == 1 && !bench.maySendPart(of: work, from: worker), "\(taken) taken")
    }
    bench.grant(deaf)
    #expect(bench.peers[worker]!.answerCreditCount == 1)
    bench.answer(work, .response, String(repeating: "x", count: 5_000), flags: .more, from: worker)
    #expect(!bench.maySendPart(of: work, from: worker))
    bench.peers[deaf]!.grantsCredit = true
    bench.grant(deaf)
    bench.takeAll(deaf).forEach { _ in bench.checkAccounts() }
    #expect(bench.maySendPart(of: work, from: worker), "what was overdrawn is taken")
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("The second attempt at a request has a window of its own, and is told under its own number")
  func attempts() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let app = bench.client()
    bench.request("stream", from: app, method: .query)
    #expect(bench.take(worker) != nil)
    bench.leave(worker)
    bench.join(worker, knowsAnswerCredit: true)
    let work = try #require(bench.take(worker))
    #expect(work.header.attempt == 2)
    for _ in 0..<10 {
      #expect(bench.stream(work, atMost: 32, from: worker) == 32)
      #expect(bench.takeAll(app).count == 32)
    }
    #expect(bench.peers[worker]!.answerCreditCount == 10)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("The supervisor's own request, of which it wants only the end, never makes a worker wait")
  func injected() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    var actions: [HubAction] = []
    _ = try bench.hub.redeliver(
      method: .query, payload: [], isRaw: false, deaths: 3, now: bench.now, actions: &actions)
    bench.input { $2 = actions }
    let work = try #require(bench.take(worker))
    for _ in 0..<20 { #expect(bench.stream(work, atMost: 50, from: worker) == 50) }
    bench.answer(work, from: worker)
    #expect(bench.injectedAnswers.count == 1)
    bench.expectNothingLeft()
  }

  // MARK: Clients that ask and do not take

  @Test("While parts fill its mailbox a client gets no credit back, and all of it once it reads")
  func clientKeptBack() throws {
    var limits = HubLimits()
    limits.clientMailboxFrames = 100
    let bench = HubBench(limits: limits)
    let worker = bench.worker(window: Window(frames: 1_000, bytes: 1 << 20), knowsAnswerCredit: true)
    let deaf = deafClient(bench)
    var streams: [Mail] = []
    while bench.peers[deaf]!.maySend {
      bench.request("stream", from: deaf, method: .query)
      for work in bench.takeAll(worker) {
        bench.stream(work, from: worker)
        streams.append(work)
      }
    }
    #expect(streams.count == Int(limits.window.frames) + 2, "its window, and what it had before it was full")
    #expect(bench.heldCredit(of: worker).frames == 0)
    bench.checkAccounts()
    let short = bench.client("short")
    bench.request("other", from: short, method: .query)
    bench.stream(try #require(bench.take(worker)), atMost: 10, from: worker)
    #expect(bench.takeAll(short).count == 10)
    bench.peers[deaf]!.grantsCredit = true
    bench.grant(deaf)
    _ = bench.takeAll(deaf)
    #expect(bench.hub.credits[deaf].owed.frames == 0 && bench.peers[deaf]!.maySend)
    bench.checkAccounts()
  }

  @Test("A reload that gives clients more room gives one that was kept back its credit")
  func moreRoom() throws {
    var limits = HubLimits()
    limits.clientMailboxFrames = 4
    let bench = HubBench(limits: limits)
    let worker = bench.worker(knowsAnswerCredit: true)
    let deaf = deafClient(bench)
    bench.request("stream", from: deaf, method: .query)
    bench.stream(try #require(bench.take(worker)), atMost: 6, from: worker)
    bench.request("other", from: deaf, method: .query)
    #expect(bench.hub.credits[deaf].owed.frames == 1)
    limits.clientMailboxFrames = 100
    bench.hub.adopt(limits: limits)
    #expect(bench.hub.credits[deaf].owed.frames == 0)
    bench.checkAccounts()
  }

  @Test("With the pool full an answer to a client that takes nothing is given up, and the worker's other streams go on")
  func givenUp() throws {
    var limits = HubLimits()
    limits.poolBytes = 20_000
    limits.clientMailboxBytes = 5_000
    limits.answerWindow = Window(frames: 64, bytes: 4_000)
    let bench = HubBench(limits: limits)
    let worker = bench.worker(window: Window(frames: 1_000, bytes: 1 << 20), knowsAnswerCredit: true)
    let deaf = deafClient(bench)
    let text = String(repeating: "x", count: 500)
    for _ in 0..<100 { bench.request("", from: deaf, method: .query) }
    let streams = bench.takeAll(worker).filter { $0.type == .request }
    for work in streams { bench.stream(work, text, from: worker) }
    #expect(bench.heldCredit(of: worker).frames == 0)
    #expect(bench.hub.keptByteCount < limits.poolBytes + streams.count * 200, "refusals are short")
    let cancelled = bench.takeAll(worker).filter { $0.type == .cancel }
    #expect(cancelled.count > 90, "\(cancelled.count) of \(streams.count) answers are given up")
    bench.checkAccounts()
    let app = bench.client()
    bench.request("", from: app, method: .query)
    let work = try #require(bench.take(worker))
    for _ in 0..<20 {
      #expect(bench.stream(work, text, atMost: 8, from: worker) == 8)
      #expect(bench.takeAll(app).count == 8)
    }
    bench.peers[deaf]!.grantsCredit = true
    bench.grant(deaf)
    let refusals = bench.takeAll(deaf).compactMap(\.refusal)
    #expect(refusals.count == cancelled.count && refusals.allSatisfy { $0.code == .notReading })
    for stream in streams + [work] { bench.answer(stream, from: worker) }
    bench.leave(deaf)
    bench.expectNothingLeft()
  }

  @Test("With the pool full an answer that is given up may also be one that went beyond its window")
  func givenUpBeyondWindow() throws {
    var limits = HubLimits()
    limits.poolBytes = 10_000
    limits.clientMailboxBytes = 5_000
    limits.answerWindow = Window(frames: 4, bytes: 4_000)
    let bench = HubBench(limits: limits)
    let worker = bench.worker(window: Window(frames: 1_000, bytes: 1 << 20))
    let deaf = deafClient(bench)
    let text = String(repeating: "x", count: 500)
    for _ in 0..<2 { bench.request("", from: deaf, method: .query) }
    for work in bench.takeAll(worker) { bench.stream(work, text, atMost: 30, from: worker) }
    #expect(bench.takeAll(worker).map(\.type) == [.cancel, .cancel])
    #expect(bench.hub.keptByteCount < limits.poolBytes + 1_000)
    let app = bench.client()
    bench.request("", from: app, method: .query)
    let work = try #require(bench.take(worker))
    #expect(bench.stream(work, text, atMost: 8, from: worker) == 8 && bench.takeAll(app).count == 8)
    bench.checkAccounts()
  }

  @Test("With the pool full a part for a client that leaves little waits on its worker's credit")
  func poolFull() throws {
    var limits = HubLimits()
    limits.poolBytes = 1_000
    let bench = HubBench(limits: limits)
    let worker = bench.worker(knowsAnswerCredit: true)
    let deaf = deafClient(bench)
    bench.request("stream", from: deaf, method: .query)
    let work = try #require(bench.take(worker))
    bench.stream(work, String(repeating: "x", count: 100), atMost: 15, from: worker)
    #expect(bench.heldCredit(of: worker).frames == 4, "one was taken, ten fill the pool")
    bench.checkAccounts()
    bench.peers[deaf]!.grantsCredit = true
    #expect(bench.takeAll(deaf).count == 15)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }
}
