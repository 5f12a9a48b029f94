import Clocks
import TestSupport
import Testing

@Suite struct DeadlinesTests {
  @Test("Deadlines come up in the order of their time, equal ones in the order they were added")
  func order() {
    var deadlines = Deadlines<Int, String>()
    for (cause, at) in [("c", 3), ("a", 1), ("b", 2), ("a2", 1)] { deadlines.add(cause, at: at) }
    #expect(deadlines.first == 1)
    #expect(deadlines.popDue(at: 0) == nil)
    var seen: [String] = []
    while let (_, cause) = deadlines.popDue(at: 2) { seen.append(cause) }
    #expect(seen == ["a", "a2", "b"])
    #expect(deadlines.first == 3 && deadlines.count == 1)
  }

  @Test("Void deadlines go once there are too many, and those that hold stay", arguments: seeds(1))
  func void(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var deadlines = Deadlines<UInt64, Int>(voidMinimum: 16)
    var holding: [Int: UInt64] = [:]
    for cause in 0..<2_000 {
      let at = UInt64.random(in: 0..<1_000, using: &generator)
      if cause % 100 == 0 { holding[cause] = at }
      deadlines.add(cause, at: at)
      deadlines.removeVoid { at, cause in holding[cause] == at }
      #expect(deadlines.count <= max(17, 2 * holding.count + 1))
    }
    var seen: [Int] = []
    var last: UInt64 = 0
    while let (at, cause) = deadlines.popDue(at: .max) {
      #expect(at >= last)
      last = at
      if holding[cause] == at { seen.append(cause) }
    }
    #expect(seen.sorted() == holding.keys.sorted(), "seed \(seed)")
  }
}
