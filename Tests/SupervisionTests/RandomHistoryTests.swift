import Clocks
import Supervision
import Testing

@Suite("Random histories")
struct RandomHistoryTests {
  /// Histories, and inputs in each.
  static let histories: UInt64 = 10_000
  static let inputsPerHistory = 200

  @Test(
    "In any history one process lives at most, the breaker holds, timers and mailbox are true, and a stop brings rest",
    arguments: 0..<4 as Range<UInt64>)
  func invariantsHold(part: UInt64) {
    var seen: Set<WorkerState.Kind> = []
    var spawns = 0
    let seeds = part * Self.histories / 4..<(part + 1) * Self.histories / 4
    for seed in seeds {
      var world = RandomWorld(seed: seed)
      for _ in 0..<Self.inputsPerHistory where world.violations.isEmpty { world.step() }
      if world.violations.isEmpty { world.bringToRest() }
      seen.formUnion(world.seen)
      spawns += world.spawnCount
      if let violation = world.violations.first {
        Issue.record("seed \(seed): \(violation)")
        return
      }
    }
    #expect(seen == Set(WorkerState.Kind.allCases), "the histories reach every state")
    print("seeds \(seeds): \(spawns) spawns")
  }
}
