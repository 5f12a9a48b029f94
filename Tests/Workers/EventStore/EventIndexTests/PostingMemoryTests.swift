import Clocks
import EventIndex
import TestSupport
import Testing

@Suite("Postings in memory") struct PostingMemoryTests {
  @Test("What was added is found under its term, newest first", arguments: seeds(20))
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var memory = PostingMemory()
    var model: Set<Posting> = []
    var seq: Int64 = 0
    for _ in 0..<60 {
      let batch = (0..<random.below(50)).map { _ in
        seq += 1
        return Posting(term: UInt64(random.below(4)), time: Int64(random.below(20)), seq: seq)
      }
      memory.add(batch)
      model.formUnion(batch)
      let (term, since) = (UInt64(random.below(5)), Int64(random.below(20)))
      let until = since + Int64(random.below(20))
      var found: [Posting] = []
      for var cursor in memory.cursors(term: term, since: since, until: until) {
        var last = Int64.max
        while let posting = cursor.next() {
          #expect(posting.time <= last)
          last = posting.time
          found.append(posting)
        }
      }
      #expect(found.sorted() == model.filter { $0.term == term && since <= $0.time && $0.time <= until }.sorted())
    }
    #expect(memory.sorted() == model.sorted())
  }
}

extension SeededGenerator {
  /// A number from 0 up to a bound.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
