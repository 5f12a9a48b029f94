import Contracts
import Frames
import Testing

@testable import MessageHub

// Workers that call each other in a circle, all at once and as fast as their credit goes: nothing may wait for ever.

@Suite struct CycleTests {
  private static let names = ["alpha", "beta", "gamma"]

  private func makeBench() throws -> (bench: HubBench, workers: [Int], methods: [UInt16]) {
    let roles = Self.names.map {
      AccessTable.CustomRole(name: $0, serves: ["\($0).*"], mayCall: ["*"], callableBy: [])
    }
    let table = AccessTable(customRoles: roles)
    let bench = HubBench(table: table)
    var methods: [UInt16] = []
    for name in Self.names {
      methods += try bench.hub.register(methods: ["\(name).work", "\(name).leaf"], of: table.role(named: name)!).numbers
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
          bench.request("work", from: worker, method: methods[(position + 1) % 3 * 2])
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
    "The same when every answer needs one more request in the circle, and a quarter of the window is kept for those")
  func nested() throws {
    let (bench, workers, methods) = try makeBench()
    var unsent = [1_500, 1_500, 1_500]
    var answered = 0
    var nestedWaiting: [[Mail]] = [[], [], []]
    var nestedOf: [[UInt64: Mail]] = [[:], [:], [:]]
    while answered < 4_500 {
      var moved = false
      for (position, worker) in workers.enumerated() {
        while bench.peers[worker]!.maySend {
          let peer = bench.peers[worker]!
          let mayBegin = peer.allowed.frames - peer.sent.frames > HubLimits().window.frames / 4
          if let work = nestedWaiting[position].popLast() {
            let id = bench.request("leaf", from: worker, method: methods[(position + 1) % 3 * 2 + 1])
            nestedOf[position][id] = work
          } else if unsent[position] > 0 && mayBegin {
            bench.request("work", from: worker, method: methods[(position + 1) % 3 * 2])
            unsent[position] -= 1
          } else {
            break
          }
          moved = true
        }
      }
      for (position, worker) in workers.enumerated() {
        guard let mail = bench.take(worker) else { continue }
        moved = true
        if mail.type == .request {
          if mail.text == "leaf" { bench.answer(mail, from: worker) } else { nestedWaiting[position].append(mail) }
        } else if let work = nestedOf[position].removeValue(forKey: mail.header.re) {
          bench.answer(work, from: worker)
        } else {
          answered += 1
        }
      }
      try #require(moved, "nobody can move: \(workers.map { bench.report($0) })")
    }
    bench.expectNothingLeft()
  }
}
