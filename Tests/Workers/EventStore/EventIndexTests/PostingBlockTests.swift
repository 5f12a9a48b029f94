import Clocks
import EventIndex
import TestSupport
import Testing

@Suite("Blocks of postings") struct PostingBlockTests {
  @Test("A block comes back from its bytes, and from no part of them", arguments: seeds(20))
  func roundTrip(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let extremes: [Int64] = [0, 1, -1, .max, .min, 1_700_000_000]
    let entries = (0..<random.below(129)).map { _ in
      random.below(4) == 0
        ? PostingBlock.Entry(time: extremes[random.below(6)], seq: extremes[random.below(6)])
        : PostingBlock.Entry(time: Int64(1_700_000_000 + random.below(1_000)), seq: Int64(random.below(1_000_000)))
    }
    let block = PostingBlock(entries)
    let bytes = block.bytes
    #expect(bytes.withUnsafeBytes { PostingBlock($0) } == block)
    for count in 0..<bytes.count { #expect(bytes[..<count].withUnsafeBytes { PostingBlock($0) } == nil) }
    #expect((bytes + [0]).withUnsafeBytes { PostingBlock($0) } == nil)
  }
}
