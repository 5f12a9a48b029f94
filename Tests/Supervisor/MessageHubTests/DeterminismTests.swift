import Clocks
import Contracts
import Frames
import Testing

@testable import MessageHub

// A machine is a function of its inputs: the same ones in the same order must give the same actions, or no recording of
// a hub could be trusted and no seed would lead back to a failure. What breaks that unseen is the iteration of a
// dictionary or a set: its order is that of its place in memory, so already a second run in one process has another.

@Suite struct DeterminismTests {
  @Test("The same inputs give the same actions, in the same order and to the last byte", arguments: 0..<25)
  func sameActions(seed: Int) {
    let first = journal(seed: UInt64(seed))
    // Holds the memory of the first run, so that the second cannot get the same places.
    let second = withExtendedLifetime(first.chaos) { journal(seed: UInt64(seed)).lines }
    #expect(first.lines.count > 500)
    let place = zip(first.lines, second).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(place == nil && first.lines.count == second.count, "seed \(seed): \(String(describing: place))")
  }

  @Test("What is given up together is given up in one order: by expiry, a caller that leaves, a worker that is stopped")
  func ordersThatMatter() {
    let runs = (0..<20).map { _ in closing() }
    #expect(runs.allSatisfy { $0 == runs[0] })
  }

  private func journal(seed: UInt64) -> (lines: [String], chaos: Chaos) {
    var chaos = Chaos(seed: seed)
    chaos.bench.journal = []
    for _ in 0..<1_500 { chaos.step() }
    chaos.drain()
    return (chaos.bench.journal ?? [], chaos)
  }

  /// Many requests and subscriptions, given up at once by a caller and a worker that leave.
  private func closing() -> [String] {
    let bench = HubBench()
    bench.journal = []
    let worker = bench.worker(window: Window(frames: 30, bytes: 1 << 20))
    let caller = bench.client()
    bench.subscribe(caller)
    for number in 0..<60 { bench.request("\(number)", from: caller, ttl: UInt32(1_000 + number % 7)) }
    bench.pass(milliseconds: 1_003)
    bench.leave(caller)
    bench.leave(worker)
    bench.closeMailbox(worker)
    return bench.journal ?? []
  }
}
