import Contracts
import Frames
import Testing

@testable import MessageHub

// Workers that call each other in a circle, all at once and as fast as their credit goes: nothing may wait for ever.

@Suite struct CycleTests {
  private static let names = ["alpha", "beta", "gamma"]

  private func makeBench(limits: HubLimits = HubLimits()) throws -> (
    bench: HubBench, workers: [SeatIndex], methods: [UInt16]
  ) {
    let roles = Self.names.map {
      AccessTable.CustomRole(name: $0, serves: ["\($0).*"], mayCall: ["*"], callableBy: [])
    }
    let table = AccessTable(customRoles: roles)
    let bench = HubBench(limits: limits, table: table)
    var methods: [UInt16] = []
    for name in Self.names {
      methods += try bench.hub.register(methods: ["\(name).work"], of: table.role(named: name)!).numbers
    }
    return (bench, Self.names.map { bench.worker($0, role: table.role(named: $0)!) }, methods)
  }

  @Test("Three workers, each flooding the next with requests, all get their answers")
  func flood() throws {
    let (bench, workers, methods) = try makeBench()
    var unsent = [2_000, 2_000, 2_000]
    var answered = [0, 0, 0]
    while answered.reduce(0, +) < 6_000 {
      var moved = false
      for (position, worker) in workers.enumerated() {
        while unsent[position] > 0, bench.peers[worker]!.maySend {
          bench.request("work", from: worker, method: methods[(position + 1) % 3])
          unsent[position] -= 1
          moved = true
        }
      }
      for (position, worker) in workers.enumerated() {
        guard let mail = bench.take(worker) else { continue }
        moved = true
        if mail.type == .request { bench.answer(mail, from: worker) } else { answered[position] += 1 }
      }
      try #require(moved, "nobody can move")
    }
    bench.expectNothingLeft()
  }

  @Test(
    "The same when every answer needs more requests round the circle, with all outstanding and a quarter kept for those",
    arguments: [1, 2, 5, 9], [1 << 20, 60_000])
  func nested(depth: Int, poolBytes: Int) throws {
    var limits = HubLimits()
    limits.outstandingRequests = 400
    limits.poolBytes = poolBytes
    var circle = Circle(bench: try makeBench(limits: limits), depth: depth)
    for step in 0..<1_000_000 where circle.doneCount < 3 * Circle.requestCount {
      let moved = circle.step()
      try #require(moved, "nobody can move: \(circle.report)")
      if step % 500 == 0 { circle.bench.checkAccounts() }
    }
    #expect(circle.bench.cuts.isEmpty)
    // With memory for all of it no request is refused; without it some are, and none waits for ever.
    if poolBytes == 1 << 20 && depth == 1 { #expect(circle.refusedCount == 0) }
    #expect(circle.refusedCount < circle.doneCount)
    circle.bench.expectNothingLeft()
  }
}

/// Three workers of which each answers only when the next one has answered it, down to some depth. Requests of their
/// own they begin as long as more than a quarter of their window is left; for the others they use all of it.
private struct Circle {
  static let requestCount = 1_500

  let bench: HubBench
  let workers: [SeatIndex]
  let methods: [UInt16]
  let depth: Int
  var unsent = [Int](repeating: Circle.requestCount, count: 3)
  /// Requests in flight whose own question is not asked yet, and those that wait for its answer, by its id.
  var unasked: [[Mail]] = [[], [], []]
  var asked: [[UInt64: Mail]] = [[:], [:], [:]]
  var doneCount = 0
  var refusedCount = 0

  init(bench made: (bench: HubBench, workers: [SeatIndex], methods: [UInt16]), depth: Int) {
    (bench, workers, methods) = made
    self.depth = depth
  }

  var report: [MessageHub.SeatReport] { workers.map { bench.report($0) } }

  /// Every worker sends what may be sent, and takes one frame.
  mutating func step() -> Bool {
    var moved = false
    for position in workers.indices {
      while send(position) { moved = true }
    }
    for position in workers.indices {
      guard let mail = bench.take(workers[position]) else { continue }
      moved = true
      receive(mail, position)
    }
    return moved
  }

  private mutating func send(_ position: Int) -> Bool {
    let peer = bench.peers[workers[position]]!
    guard peer.maySend else { return false }
    if let work = unasked[position].popLast() {
      let left = (Int(work.text.prefix { $0 != " " }) ?? 0) - 1
      asked[position][ask(position, left)] = work
      return true
    }
    let window = bench.limits.window
    guard unsent[position] > 0, peer.allowed.frames - peer.sent.frames > window.frames / 4,
      peer.allowed.bytes > peer.sent.bytes + window.bytes / 4
    else { return false }
    unsent[position] -= 1
    ask(position, depth)
    return true
  }

  @discardableResult
  private func ask(_ position: Int, _ left: Int) -> UInt64 {
    let text = "\(left) " + String(repeating: ".", count: 100)
    return bench.request(text, from: workers[position], method: methods[(position + 1) % 3])
  }

  private mutating func receive(_ mail: Mail, _ position: Int) {
    if mail.type == .request {
      if mail.text.hasPrefix("0") {
        bench.answer(mail, from: workers[position])
      } else {
        unasked[position].append(mail)
      }
    } else if let work = asked[position].removeValue(forKey: mail.header.re) {
      bench.answer(work, mail.type, mail.text, from: workers[position])
    } else {
      doneCount += 1
      if mail.type == .error {
        refusedCount += 1
        #expect(mail.refusal?.code == .full)
      }
    }
  }
}
