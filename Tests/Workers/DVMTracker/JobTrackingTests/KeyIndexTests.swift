import Clocks
import TestSupport
import Testing

@testable import JobTracking

@Suite("The keys of kept jobs")
struct KeyIndexTests {
  @Test("Whatever is added and removed, a job is found by its id as by a walk through all keys", arguments: seeds(20))
  func walk(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = JobKeyIndex()
    var keys: [String: JobID] = [:]
    for _ in 0..<400 {
      // A job has one key; that of some is another one's, too.
      let id = JobID(.random(in: 0..<12, using: &random))
      let key = "\(id.number % 7)"
      if Bool.random(using: &random) {
        index.add(id, keyed: key)
        keys[key] = id
      } else {
        index.remove(id, keyed: key)
        if keys[key] == id { keys[key] = nil }
      }
      for number in 0..<12 as Range<UInt64> {
        #expect(index.contains(JobID(number)) == keys.values.contains(JobID(number)), "seed \(seed)")
      }
      for number in 0..<7 { #expect(index["\(number)"] == keys["\(number)"], "seed \(seed)") }
    }
  }
}
