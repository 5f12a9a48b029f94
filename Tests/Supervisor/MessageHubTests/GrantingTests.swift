import Contracts
import Frames
import Testing

@testable import MessageHub

// Clients that grant each of their answers apart: what they leave of one is in no other answer's way, their own least
// of all.

@Suite struct GrantingTests {
  /// A client with a window of one frame that grants nothing, and a stream of which it takes nothing.
  private func untaken(_ bench: HubBench, _ worker: SeatIndex, grantsAnswers: Bool = true) throws -> (
    seat: SeatIndex, work: Mail
  ) {
    let seat = bench.client(grantsAnswers: grantsAnswers)
    bench.request("stream", from: seat, method: .query)
    let work = try #require(bench.take(worker))
    #expect(bench.stream(work, from: worker) > 0)
    return (seat, work)
  }

  @Test("A client that leaves a stream untaken has the parts of its next answers, as many as it asks for")
  func asksInside() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, work) = try untaken(bench, worker)
    #expect(bench.peers[seat]!.inbox.count == Int(bench.limits.answerWindow.frames))
    #expect(bench.hub.seats[seat].held.count == Int(bench.limits.answerWindow.frames))
    for number in 0..<2_000 {
      bench.request("inside", from: seat, method: .query)
      let inside = try #require(bench.take(worker))
      #expect(bench.stream(inside, "answer", atMost: 3, from: worker) == 3, "question \(number)")
      bench.answer(inside, from: worker)
      let came = bench.peers[seat]!.inbox.filter { $0.header.re == inside.header.id }
      #expect(came.map(\.text) == ["answer", "answer", "answer", ""], "question \(number)")
      for _ in came { bench.peers[seat]!.inbox.removeLast() }
    }
    bench.checkAccounts()
    bench.answer(work, .response, "end", from: worker)
    #expect(bench.takeAll(seat).last?.text == "end", "the end stays behind its parts")
    bench.expectNothingLeft()
  }

  @Test("The end of an answer waits behind its held parts, and comes with them when the client takes them")
  func endBehindParts() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, work) = try untaken(bench, worker)
    bench.answer(work, .response, "end", from: worker)
    #expect(!bench.peers[seat]!.inbox.contains { $0.text == "end" })
    bench.checkAccounts()
    let all = bench.takeAll(seat)
    #expect(all.count == 2 * Int(bench.limits.answerWindow.frames) + 1 && all.last?.text == "end")
    bench.expectNothingLeft()
  }

  @Test("An answer that its client gives up and grants without bound leaves nothing behind")
  func givenUp() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, work) = try untaken(bench, worker)
    bench.cancel(work.header.id, from: seat)
    let all = Credit(frames: .max, bytes: .max)
    bench.peers[seat]!.partsGranted[work.header.id] = all
    bench.peers[seat]!.grantsCredit = false
    bench.send(FrameHeader(type: .credit, re: work.header.id), all.payload, from: seat)
    #expect(bench.hub.seats[seat].held.count == 0)
    bench.answer(work, .error, "{}", from: worker)
    #expect(bench.takeAll(seat).last?.type == .error)
    bench.expectNothingLeft()
  }

  @Test("A client that leaves more untaken than it may is told so at its next request, and heard again when it takes")
  func tooMuchUntaken() throws {
    var limits = HubLimits()
    limits.untakenFrames = 100
    let bench = HubBench(limits: limits)
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, first) = try untaken(bench, worker)
    bench.request("stream", from: seat, method: .query)
    let second = try #require(bench.take(worker))
    bench.stream(second, from: worker)
    bench.request("one too many", from: seat, method: .query)
    let refusal = try #require(bench.peers[seat]!.inbox.last?.refusal)
    #expect(refusal.code == .full && refusal.outcome == .notStarted && refusal.retryAfterMilliseconds != nil)
    #expect(refusal.message.contains("128 parts"), "\(refusal.message)")
    _ = bench.takeAll(seat)
    bench.request("again", from: seat, method: .query)
    #expect(bench.takeAll(worker).contains { $0.type == .request })
    bench.checkAccounts()
    bench.leave(seat)
    for work in [first, second] { bench.answer(work, from: worker) }
  }

  @Test("A client that leaves so much that a worker's credit is held for it is idle until it takes some")
  func holdsCredit() throws {
    var limits = HubLimits()
    limits.answerWindow = Window(frames: 8, bytes: 1 << 20)
    limits.clientMailboxFrames = 16
    let bench = HubBench(limits: limits)
    let worker = bench.worker()
    let seat = bench.client(grantsAnswers: true)
    bench.request("stream", from: seat, method: .query)
    let work = try #require(bench.take(worker))
    bench.stream(work, atMost: 24, from: worker)
    #expect(bench.heldCredit(of: worker).frames == 0 && bench.busySince(seat) == nil, "slow is not wrong")
    bench.stream(work, atMost: 4, from: worker)
    #expect(bench.heldCredit(of: worker).frames == 4 && bench.busySince(seat) != nil)
    bench.checkAccounts()
    #expect(bench.takeAll(seat).count == 28 && bench.busySince(seat) == nil)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  /// Begins so many streams before a part of one comes, and has the worker send of each what it may, 16 KiB a part.
  private func begin(_ count: Int, from seat: SeatIndex, _ bench: HubBench, _ worker: SeatIndex) -> [Mail] {
    for _ in 0..<count { bench.request("stream", from: seat, method: .query) }
    let streams = bench.takeAll(worker).filter { $0.type == .request }
    for work in streams { bench.stream(work, String(repeating: "x", count: 16 << 10), from: worker) }
    return streams
  }

  /// A client that takes what it asks for has two hundred parts in time.
  private func expectService(_ bench: HubBench, _ worker: SeatIndex, _ comment: Comment) throws {
    let app = bench.client("reads", grantsAnswers: true)
    bench.request("", from: app, method: .query)
    let work = try #require(bench.takeAll(worker).last { $0.type == .request })
    for _ in 0..<50 {
      #expect(bench.stream(work, atMost: 4, from: worker) == 4, comment)
      #expect(bench.takeAll(app).count == 4, comment)
    }
    bench.answer(work, from: worker)
    bench.leave(app)
  }

  @Test("One client that begins sixty large streams and takes nothing does not fill the hub's memory")
  func share() throws {
    let bench = HubBench()
    let worker = bench.worker(window: Window(frames: 1_000, bytes: 1 << 20), knowsAnswerCredit: true)
    let seat = bench.client(grantsAnswers: true)
    let streams = begin(60, from: seat, bench, worker)
    #expect(streams.count == 60)
    #expect(bench.hub.seats[seat].held.byteCount >= bench.limits.clientShareBytes)
    #expect(bench.hub.keptByteCount < bench.limits.clientShareBytes + (1 << 20) && !bench.isFull(worker))
    let cancelled = bench.takeAll(worker).filter { $0.type == .cancel }
    #expect((1..<60).contains(cancelled.count), "\(cancelled.count) answers were given up, and the others kept")
    bench.checkAccounts()
    try expectService(bench, worker, "the others are served")
    let refusals = bench.takeAll(seat).compactMap(\.refusal)
    #expect(refusals.count == cancelled.count && refusals.allSatisfy { $0.code == .notReading })
    for work in streams { bench.answer(work, from: worker) }
    bench.leave(seat)
    bench.expectNothingLeft()
  }

  @Test("Of clients that fill the hub's memory and take nothing, the one with the most is to be cut")
  func fillTogether() throws {
    let bench = HubBench()
    let worker = bench.worker(window: Window(frames: 1_000, bytes: 1 << 20), knowsAnswerCredit: true)
    let seats = [14, 18, 16].map { count in
      let seat = bench.client(grantsAnswers: true)
      _ = begin(count, from: seat, bench, worker)
      return seat
    }
    #expect(bench.isFull(worker) && seats.allSatisfy { bench.busySince($0) == nil }, "nobody's credit is held")
    bench.pass(milliseconds: 299_000)
    #expect(bench.mostUntaken() == nil, "slow is not wrong")
    // One of them takes a part.
    #expect(bench.take(seats[1]) != nil)
    _ = begin(1, from: seats[0], bench, worker)
    bench.pass(milliseconds: 2_000)
    #expect(bench.isFull(worker) && bench.mostUntaken() == seats[2], "the one with more of those that took nothing")
    bench.leave(seats[2])
    #expect(!bench.isFull(worker) && bench.mostUntaken() == nil, "there is room again")
    try expectService(bench, worker, "the hub works on")
    for seat in [seats[0], seats[1]] { bench.leave(seat) }
    #expect(bench.hub.seats[seats[0]].held.untakenSince == nil && bench.mostUntaken() == nil)
  }

  @Test("A client that leaves takes what was held for it along")
  func leaves() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, work) = try untaken(bench, worker)
    bench.leave(seat)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("CREDIT for an answer counts for nothing at a client that did not say it grants its answers")
  func unaware() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, work) = try untaken(bench, worker, grantsAnswers: false)
    let before = bench.hub.seats[seat].mailbox.answers.count
    let total = Credit(frames: 64, bytes: 1 << 20)
    bench.send(FrameHeader(type: .credit, re: work.header.id), total.payload, from: seat)
    #expect(bench.hub.seats[seat].mailbox.answers.count == before)
    bench.leave(seat)
    bench.answer(work, from: worker)
    bench.expectNothingLeft()
  }

  @Test("The supervisor's own stream goes on when its caller has taken it, whatever waits of others")
  func service() throws {
    let bench = HubBench()
    let worker = bench.worker(knowsAnswerCredit: true)
    let (seat, _) = try untaken(bench, worker)
    bench.request("{}", from: seat, method: .status)
    let call = try #require(bench.calls.last)
    var count = 0
    func tell() -> Bool {
      var hasRoom = false
      bench.input { hasRoom = $0.answer(call, payload: [0x30], more: true, now: $1, actions: &$2) }
      count += 1
      return hasRoom
    }
    while tell() {}
    #expect(count == Int(bench.limits.answerWindow.frames) + 1)
    #expect(bench.roomNotices.isEmpty)
    bench.grant(seat, answer: call.id)
    #expect(bench.roomNotices.isEmpty, "nothing was taken")
    for mail in bench.peers[seat]!.inbox where mail.header.re == call.id {
      bench.peers[seat]!.partsTaken[call.id, default: Credit(frames: 0, bytes: 0)].frames += 1
      _ = mail
    }
    bench.grant(seat, answer: call.id)
    #expect(bench.roomNotices == [seat])
    bench.checkAccounts()
  }
}
