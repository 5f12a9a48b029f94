import Clocks
import Frames
import Testing

@testable import MessageHub

// Streams to callers of every speed, from workers that know of answer windows, against an exact model: every part comes
// once and in order, a worker's credit is away for no caller's sake, and a caller that reads never waits for one that
// does not.

@Suite struct StreamPropertyTests {
  @Test("Parts come whole and in order, no credit is held for them, and readers are served", arguments: 0..<60)
  func streams(seed: Int) throws {
    var world = Streams(seed: UInt64(seed))
    for number in 0..<600 { world.step(checks: number % 10 == 0) }
    world.finish()
  }
}

private struct Streams {
  struct Caller {
    let seat: SeatIndex
    /// Takes a frame in so many of a hundred steps; 0 = never.
    let pace: Int
  }
  /// What the model knows of an answer.
  struct Stream {
    let work: Mail
    let worker: SeatIndex
    let caller: Int
    var sent = 0
    var taken = 0
  }

  let seed: UInt64
  let bench: HubBench
  private var random: SeededGenerator
  private var callers: [Caller] = []
  private var workers: [SeatIndex] = []
  private var streams: [Stream] = []

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    var limits = HubLimits()
    limits.window = Window(frames: 32, bytes: 4_000)
    limits.answerWindow = Window(
      frames: .random(in: 1...12, using: &random), bytes: .random(in: 1...1_500, using: &random))
    limits.clientMailboxFrames = 20
    limits.clientMailboxBytes = 2_000
    bench = HubBench(limits: limits)
    for number in 0..<2 { workers.append(bench.worker("relays \(number)", knowsAnswerCredit: true)) }
    for (number, pace) in [0, 0, 5, 30, 100, 100, 0, 20, 100].enumerated() {
      let window = Window(frames: .random(in: 1...8, using: &random), bytes: .random(in: 1...600, using: &random))
      let seat = bench.client("app \(number)", window: window, grantsAnswers: number > 5)
      callers.append(Caller(seat: seat, pace: pace))
    }
    for caller in callers where caller.pace == 0 { bench.peers[caller.seat]!.grantsCredit = false }
  }

  mutating func step(checks: Bool) {
    for caller in callers.indices where Int.random(in: 0..<100, using: &random) < callers[caller].pace {
      take(caller)
    }
    if Int.random(in: 0..<8, using: &random) == 0 { begin(Int.random(in: callers.indices, using: &random)) }
    for stream in streams.indices.shuffled(using: &random).prefix(6) { send(stream) }
    guard checks else { return }
    bench.checkAccounts("seed \(seed)")
    for worker in workers {
      #expect(bench.heldCredit(of: worker).frames == 0, "seed \(seed): parts within windows hold nothing")
    }
  }

  private mutating func begin(_ caller: Int) {
    let seat = callers[caller].seat
    guard bench.peers[seat]!.maySend else { return }
    let worker = workers.randomElement(using: &random)!
    bench.request("\(streams.count)", from: seat, method: .query, to: bench.endpoint(of: worker))
    for work in bench.takeAll(worker) where work.type == .request {
      streams.append(Stream(work: work, worker: worker, caller: caller))
    }
  }

  private mutating func send(_ number: Int) {
    let stream = streams[number]
    let padding = String(repeating: ".", count: Int.random(in: 0...200, using: &random))
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      guard bench.maySendPart(of: stream.work, from: stream.worker) else {
        expectToWait(number)
        return
      }
      bench.answer(
        stream.work, .response, "\(number) \(streams[number].sent) \(padding)", flags: .more, from: stream.worker)
      streams[number].sent += 1
    }
  }

  /// A worker that may not send has at least half a window on the way, to a caller that has not taken it.
  private func expectToWait(_ number: Int) {
    let waiting = bench.hub.seats[callers[streams[number].caller].seat].waitingCount
    #expect(waiting > 0, "seed \(seed): stream \(number) waits for a caller that has nothing to take")
  }

  private mutating func take(_ caller: Int) {
    guard let mail = bench.take(callers[caller].seat) else { return }
    let words = mail.text.split(separator: " ")
    guard let number = Int(words[0]), streams.indices.contains(number) else { return }
    #expect(streams[number].caller == caller, "seed \(seed)")
    #expect(Int(words[1]) == streams[number].taken, "seed \(seed): the parts of \(number) are in order")
    streams[number].taken += 1
  }

  /// Every caller reads, the streams end.
  mutating func finish() {
    for caller in callers {
      bench.peers[caller.seat]!.grantsCredit = true
      bench.grant(caller.seat)
    }
    for caller in callers.indices {
      while !bench.peers[callers[caller].seat]!.inbox.isEmpty { take(caller) }
    }
    for stream in streams {
      #expect(stream.taken == stream.sent, "seed \(seed)")
      bench.answer(stream.work, from: stream.worker)
    }
    #expect(streams.count > 20 && streams.contains { $0.taken > 30 }, "seed \(seed): something was tried")
    #expect(bench.cuts.isEmpty, "seed \(seed): \(bench.cuts)")
    bench.expectNothingLeft("seed \(seed)")
  }
}
