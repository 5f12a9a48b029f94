import Clocks
import Glibc
import Supervision
import Testing

@Suite("Random histories")
struct RandomHistoryTests {
  /// Histories of each part; `ROOST_SOAK=<factor>` in the environment multiplies them for a long look.
  static let historiesPerPart: UInt64 = 500 * soakFactor
  static let inputsPerHistory = 200

  private static var soakFactor: UInt64 {
    guard let value = getenv("ROOST_SOAK"), let factor = UInt64(String(cString: value)) else { return 1 }
    return max(factor, 1)
  }

  @Test(
    "In any history one process lives at most, the breaker holds, timers and mailbox are true, and a stop brings rest",
    arguments: 0..<2 as Range<UInt64>)
  func invariantsHold(part: UInt64) {
    var seen: Set<WorkerState.Kind> = []
    var spawns = 0
    let seeds = part * Self.historiesPerPart..<(part + 1) * Self.historiesPerPart
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
