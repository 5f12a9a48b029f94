import Clocks
import Cryptography
import Feeds
import Nostr
import Testing

@Suite("People in parts that stay") struct AuthorBucketsTests {
  private let people = (1...2_000).map { PublicKey(SHA256.hash(Array("\($0)".utf8))) }

  private func members(_ buckets: AuthorBuckets) -> [PublicKey] { buckets.buckets.flatMap(\.people).sorted() }

  @Test("One person more is a part more, and no other changes; now and then they go into the others")
  func late() {
    var buckets = AuthorBuckets()
    buckets.adopt(Set(people.prefix(1_000)))
    #expect(buckets.buckets.count >= 10 && buckets.buckets.allSatisfy { $0.people.count <= AuthorBuckets.countMaximum })
    var gatheredCount = 0
    for count in 1_001...1_200 {
      let before = buckets.buckets
      buckets.adopt(Set(people.prefix(count)))
      let (ended, begun) = (before.subtracting(buckets.buckets), buckets.buckets.subtracting(before))
      if ended.isEmpty { #expect(begun.map(\.people) == [[people[count - 1]]]) } else { gatheredCount += 1 }
      #expect(members(buckets) == people.prefix(count).sorted())
    }
    #expect((10...12).contains(gatheredCount))
  }

  @Test("One who leaves changes one part, or ends one's own")
  func leaving() {
    var buckets = AuthorBuckets()
    buckets.adopt(Set(people.prefix(1_000)))
    buckets.adopt(Set(people.prefix(1_001)))
    let before = buckets.buckets
    buckets.adopt(Set(people[1..<1_001]))
    #expect(before.subtracting(buckets.buckets).count == 1 && members(buckets) == people[1..<1_001].sorted())
    let last = buckets.buckets
    buckets.adopt(Set(people[1..<1_000]))
    #expect(last.subtracting(buckets.buckets).map(\.people) == [[people[1_000]]])
  }

  @Test("Whatever comes and goes, everyone is in exactly one part, and none is too large")
  func always() {
    var random = SeededGenerator(seed: 7)
    var buckets = AuthorBuckets()
    for _ in 0..<300 {
      let count = Int.random(in: 0...people.count, using: &random)
      let wanted = Set(people.shuffled(using: &random).prefix(count))
      buckets.adopt(wanted)
      #expect(members(buckets) == wanted.sorted())
      #expect(buckets.buckets.allSatisfy { $0.people.count <= AuthorBuckets.countMaximum })
    }
    buckets.adopt([])
    buckets.adopt(Set(people.prefix(30)))
    #expect(buckets.buckets.count == 1)
    buckets.adopt([])
    #expect(buckets.buckets.isEmpty)
  }

  @Test("Keys with the same first bits do not split without end")
  func alike() {
    var buckets = AuthorBuckets()
    let alike = Set(
      (1...500).map { FeedWorld.key($0).publicKey }.map { key in
        var bytes = [UInt8](repeating: 0, count: 24) + key.octets.bytes.prefix(8)
        bytes[0] = 9
        return PublicKey(Octets32(bytes) ?? key.octets)
      })
    buckets.adopt(alike)
    #expect(members(buckets) == alike.sorted())
  }
}
