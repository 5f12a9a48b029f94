import Clocks
import Cryptography
import Nostr
import Reconciliation
import TestSupport
import Testing

@Suite("Reconciliation (NIP-77)")
struct ReconcilerTests {
  @Test("finds exactly what each side has alone, whatever fits into a message", arguments: seeds(60))
  func findsDifference(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sets = TwoSets(&random)
    let limits = (0..<2).map { _ in
      [Reconciler.messageByteMinimum, 60_000, .max / 2, .max / 2].randomElement(using: &random) ?? 60_000
    }
    let here = Reconciler(sets.here, messageByteMaximum: limits[0])
    let there = Reconciler(sets.there, messageByteMaximum: limits[1])
    let found = try reconcile(here) { message in
      #expect(message.count <= limits[0])
      let answer = try there.answer(to: message)
      #expect(answer.count <= limits[1])
      return answer
    }
    #expect(Set(found.haves) == Set(sets.left.map(\.id)))
    #expect(Set(found.needs) == Set(sets.right.map(\.id)))
    // Where no limit cuts a message off, each is told once.
    guard limits.allSatisfy({ $0 > 1 << 30 }) else { return }
    #expect(found.haves.count == sets.left.count && found.needs.count == sets.right.count)
  }

  @Test("of equal sets is over after one answer, which says nothing")
  func equalSets() throws {
    var random = SeededGenerator(seed: 1)
    let records = ReconcileRecords((0..<10_000).map { _ in .random(seconds: 500, &random) })
    let side = Reconciler(records)
    let first = side.initiate()
    #expect(first.count < 1_000)
    #expect(try side.answer(to: first) == [0x61])
    let step = try side.received([0x61])
    #expect(step.next == nil && step.haves.isEmpty && step.needs.isEmpty)
  }

  @Test("of sets that differ in little sends little")
  func smallDifference() throws {
    var random = SeededGenerator(seed: 2)
    let common = (0..<100_000).map { _ in ReconcileRecord.random(seconds: 50_000, &random) }
    let more = (0..<10).map { _ in ReconcileRecord.random(seconds: 50_000, &random) }
    let there = Reconciler(ReconcileRecords(common + more))
    var byteCount = 0
    let found = try reconcile(Reconciler(ReconcileRecords(common))) { message in
      let answer = try there.answer(to: message)
      byteCount += message.count + answer.count
      return answer
    }
    #expect(found.needs.count == 10 && found.haves.isEmpty)
    #expect(found.rounds <= 3 && byteCount < 60_000)
  }

  @Test("takes each record once, and none of the time that stands for the end")
  func records() {
    var random = SeededGenerator(seed: 3)
    let record = ReconcileRecord.random(seconds: 5, &random)
    let last = ReconcileRecord(timestamp: ReconcileRecord.infinity, id: record.id)
    #expect(ReconcileRecords([record, last, record]).records == [record])
  }

  @Test("has the fingerprint that the specification says, sums beyond 2^256 among them")
  func fingerprint() throws {
    // Two ids of ones only, as little-endian numbers: their sum is 2^256 - 2 without the carry.
    let ones = try #require(Octets32([UInt8](repeating: 0xFF, count: 32)))
    let records = [1, 2].map { ReconcileRecord(timestamp: $0, id: EventID(ones)) }
    let sum: [UInt8] = [0xFE] + [UInt8](repeating: 0xFF, count: 31)
    let expected = SHA256.hash(sum + [2]).bytes.prefix(16)
    // One fingerprint to the end: agreed if it is ours, else the range is listed.
    let message: [UInt8] = [0x61, 0, 0, 1]
    let side = Reconciler(ReconcileRecords(records))
    #expect(try side.answer(to: message + expected) == [0x61])
    let listed = try side.answer(to: message + [UInt8](repeating: 0, count: 16))
    #expect(listed == [0x61, 0, 0, 2, 2] + ones.bytes + ones.bytes)
  }

  @Test("answers another version with its own, and tells the asking side of another")
  func versions() throws {
    let side = Reconciler(ReconcileRecords([]))
    #expect(side.initiate() == [0x61, 0, 0, 2, 0])
    #expect(try side.answer(to: [0x62, 1, 2, 3]) == [0x61])
    #expect(throws: ReconcileFault.otherVersion(0x60)) { try side.received([0x60]) }
    #expect(throws: ReconcileFault.empty) { try side.answer(to: []) }
  }

  @Test(
    "refuses what cannot be read, and says why",
    arguments: [
      ([0], .cutOff), ([0, 0], .cutOff), ([0, 0, 3], .badMode(3)), ([0, 0, 1, 7], .cutOff), ([0x80, 1], .badNumber),
      ([0, 33, 0], .badPrefix(byteCount: 33)), ([0, 2, 7], .cutOff), ([5, 0, 0, 0, 0, 0, 1, 0, 0], .badOrder),
      // 2^60 ids, and numbers at and beyond 64 bits.
      ([0, 0, 2, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0], .cutOff),
      ([0, 0, 2, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], .cutOff),
      ([0, 0, 2, 0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0], .badNumber),
      // A time that sums up beyond all times, and the very one that is kept for the end.
      ([9, 0, 0, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0], .badTime),
      ([2, 0, 0, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0], .badTime),
      // A bound of the same second with a lower id.
      ([5, 1, 9, 0, 1, 1, 8, 0], .badOrder),
    ] as [([UInt8], ReconcileFault)])
  func hostile(bytes: [UInt8], fault: ReconcileFault) {
    var random = SeededGenerator(seed: 4)
    let side = Reconciler(ReconcileRecords((0..<100).map { _ in .random(seconds: 9, &random) }))
    #expect(throws: fault) { try side.answer(to: [0x61] + bytes) }
    #expect(throws: fault) { try side.received([0x61] + bytes) }
  }

  @Test("takes any message with bytes changed: an answer within the limit, or a fault", arguments: seeds(20))
  func anyBytes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sets = TwoSets(&random)
    let (here, there) = (Reconciler(sets.here, messageByteMaximum: 4_096), Reconciler(sets.there))
    let messages = [here.initiate(), try there.answer(to: here.initiate())]
    for _ in 0..<300 {
      var message = messages.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        message[.random(in: message.indices, using: &random)] = .random(in: .min ... .max, using: &random)
      }
      message.removeLast(.random(in: 0..<message.count, using: &random) / 2)
      do throws(ReconcileFault) {
        #expect(try here.answer(to: message).count <= 4_096)
        #expect(try here.received(message).next?.count ?? 0 <= 4_096)
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }
}
