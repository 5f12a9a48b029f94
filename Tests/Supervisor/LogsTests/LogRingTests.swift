import Clocks
import Contracts
import Logs
import TestSupport
import Testing

@Suite("The ring of a log") struct LogRingTests {
  @Test("keeps the newest 500 records, and numbers them without holes")
  func count() {
    var ring = LogRing()
    for index in 1...1_234 { _ = ring.append(record("\(index)"), arrival: UInt64(index * 2)) }
    #expect(ring.entries.map(\.number) == Array(735...1_234))
    #expect(ring.entries.last?.arrival == 2_468)
    #expect(ring.lastNumber == 1_234)
  }

  @Test("keeps to its bytes under records of any size, and the newest one always")
  func bytes() {
    let seed = seeds(1)[0]
    var random = SeededGenerator(seed: seed)
    var ring = LogRing()
    for index in 1...3_000 {
      let size = Int.random(in: 0...3, using: &random) == 0 ? 16_000 : 40
      _ = ring.append(
        record(String(repeating: "x", count: Int.random(in: 0...size, using: &random))), arrival: UInt64(index))
      #expect(ring.byteCount <= LogRing.byteCountMaximum, "seed \(seed)")
      #expect(ring.byteCount == ring.entries.reduce(0) { $0 + LogRing.byteCount(of: $1.record) }, "seed \(seed)")
    }
    let giant = record(String(repeating: "y", count: 1 << 20))
    _ = ring.append(giant, arrival: 9_999)
    #expect(ring.entries.map(\.record) == [giant])
  }

  @Test("tells a reader who comes back what is new and how many it has missed")
  func resume() {
    var ring = LogRing()
    #expect(ring.entries(after: 0).entries.isEmpty)
    for index in 1...510 { _ = ring.append(record("\(index)"), arrival: UInt64(index)) }
    let late = ring.entries(after: 3)
    #expect(late.missedCount == 7 && late.entries.map(\.number) == Array(11...510))
    let prompt = ring.entries(after: 508)
    #expect(prompt.missedCount == 0 && prompt.entries.map(\.number) == [509, 510])
    let current = ring.entries(after: 510)
    #expect(current.missedCount == 0 && current.entries.isEmpty)
    let ahead = ring.entries(after: 9_999)
    #expect(ahead.missedCount == 0 && ahead.entries.isEmpty)
  }
}

@Suite("Wall time") struct WallTimeTests {
  @Test(
    "is written as RFC 3339 in UTC with milliseconds",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (951_868_799_999, "2000-02-29T23:59:59.999Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
      (1_767_225_599_001, "2025-12-31T23:59:59.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (Int64.min, "0000-01-01T00:00:00.000Z"),
      (Int64.max, "9999-12-31T23:59:59.999Z"), (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func text(milliseconds: Int64, expected: String) {
    #expect(WallTime(milliseconds: milliseconds).text == expected)
  }
}

func record(_ message: String, worker: String = "w") -> LogRecord {
  LogRecord(
    time: "2026-03-01T12:00:00.000Z", worker: worker, level: "info", category: "stdout", message: message)
}
