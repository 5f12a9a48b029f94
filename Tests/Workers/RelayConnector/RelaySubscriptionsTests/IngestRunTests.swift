import Contracts
import RelaySubscriptions
import Testing

@Suite("Runs for the store") struct IngestRunTests {
  private static let filter = Array(#"{"kinds":[1]}"#.utf8)

  private func limits(_ change: (inout IngestRuns.Limits) -> Void = { _ in }) -> IngestRuns.Limits {
    var limits = IngestRuns.Limits(frameByteCountMaximum: 1 << 20)
    change(&limits)
    return limits
  }

  @Test("A quiet relay's event goes at once; while all places are taken what comes gathers in one run")
  func gathering() throws {
    let runs = Lane(limits: limits())
    for number in 0..<4 {
      runs.add(number)
      let run = try runs.sent()
      #expect(run.eventCount == 1 && run.number == UInt64(number + 1))
    }
    for number in 4..<100 { runs.add(number) }
    #expect(runs.next() == nil)
    #expect(runs.answered(2).isEmpty)
    let run = try runs.sent()
    #expect(run.eventCount == 96 && runs.next() == nil)
    #expect(try SaidRecord.read(run).compactMap(\.event) == Array(4..<100), "in their order")
  }

  @Test("Each run says the names of its relays before their records, and the filters of an end before the end")
  func names() throws {
    let runs = Lane(limits: limits { $0.inFlightMaximum = 1 })
    runs.add(0, relay: "ws://a/")
    _ = runs.next()
    runs.add(1, relay: "ws://b/", subscription: 2)
    runs.add(2, relay: "ws://a/", subscription: 1)
    runs.add(3, relay: "ws://b/", subscription: 2)
    runs.end(
      relay: "ws://b/", subscription: 2, filters: [Self.filter, Self.filter], name: 9, receivedNanoseconds: 7)
    _ = runs.answered(1)
    let run = try runs.sent()
    let said = try SaidRecord.read(run)
    #expect(
      said.map(\.kind) == [
        .relayName, .event, .event, .relayName, .event, .subscriptionFilter, .subscriptionFilter, .storedEnd,
      ])
    #expect(
      said.map(\.relay) == ["ws://b/", "ws://b/", "ws://b/", "ws://a/", "ws://a/", "ws://b/", "ws://b/", "ws://b/"])
    #expect(said.map(\.subscription) == [0, 2, 2, 0, 1, 2, 2, 2])
    #expect(run.eventCount == 3 && runs.answered(run.number) == [9] && runs.isEmpty)
  }

  @Test("An end without an event goes at once; one whose events are on the way waits for all their answers")
  func ends() throws {
    let runs = Lane(limits: limits())
    runs.add(0)
    _ = runs.next()
    runs.add(1)
    _ = runs.next()
    runs.end(relay: "ws://a/", subscription: 2, filters: [Self.filter], name: 2, receivedNanoseconds: 0)
    let other = try runs.sent()
    #expect(runs.answered(other.number) == [2])
    runs.end(relay: "ws://a/", subscription: 1, filters: [Self.filter], name: 1, receivedNanoseconds: 0)
    #expect(runs.next() == nil && !runs.isEmpty)
    #expect(runs.answered(2).isEmpty && runs.next() == nil, "the first run goes again, and is not committed yet")
    #expect(runs.answered(1).isEmpty)
    let run = try runs.sent()
    #expect(run.eventCount == 0 && runs.answered(run.number) == [1] && runs.isEmpty)
  }

  @Test("An end stands behind its events in their run only if no earlier run has others")
  func endBesideEarlierRun() throws {
    let runs = Lane(limits: limits { $0.inFlightMaximum = 1 })
    runs.add(0)
    _ = runs.next()
    runs.add(1)
    runs.end(relay: "ws://a/", subscription: 1, filters: [Self.filter], name: 1, receivedNanoseconds: 0)
    _ = runs.answered(1)
    let run = try runs.sent()
    #expect(try SaidRecord.read(run).last?.kind == .storedEnd && run.eventCount == 1)
    #expect(runs.answered(run.number) == [1])
  }

  @Test("After a dropped run no end of its subscriptions is sent; those of others are")
  func droppedRuns() throws {
    let runs = Lane(limits: limits { $0.inFlightMaximum = 2 })
    runs.add(0, subscription: 1)
    _ = runs.next()
    runs.end(relay: "ws://a/", subscription: 1, filters: [Self.filter], name: 1, receivedNanoseconds: 0)
    #expect(runs.dropped(1) == [1])
    runs.end(relay: "ws://a/", subscription: 1, filters: [Self.filter], name: 2, receivedNanoseconds: 0)
    runs.end(relay: "ws://a/", subscription: 2, filters: [Self.filter], name: 3, receivedNanoseconds: 0)
    let run = try runs.sent()
    #expect(try SaidRecord.read(run).last?.subscription == 2)
    #expect(runs.answered(run.number) == [3] && runs.isEmpty)

    runs.add(1, subscription: 3)
    runs.end(relay: "ws://a/", subscription: 3, filters: [Self.filter], name: 4, receivedNanoseconds: 0)
    #expect(runs.dropped(try runs.sent().number) == [4], "the end was in the run")
  }

  @Test("An event that no frame can carry is left out, and nothing else is; one above a run's bound goes alone")
  func tooLarge() throws {
    let runs = Lane(
      limits: limits {
        $0.runByteCountMaximum = 500
        $0.frameByteCountMaximum = 2_000
      })
    runs.add(1)
    let room = 2_000 - "ws://a/".utf8.count - 2 * IngestRecord.headerByteCount
    #expect(runs.add(2, byteCount: room))
    #expect(!runs.add(3, byteCount: room + 1))
    runs.add(4)
    let sent = [runs.next(), runs.next(), runs.next()].compactMap { $0 }
    #expect(sent.map(\.eventCount) == [1, 1, 1] && sent.map(\.bytes.count).max() == 2_000)
    #expect(try sent.flatMap { try SaidRecord.read($0).compactMap(\.event) } == [1, 2, 4])
  }

  @Test(
    "An end with more filters than are repeated, or than fit a frame, is committed in its turn and not said",
    arguments: [100_000, 60_000])
  func tooManyFilters(byteCount: Int) throws {
    // The smallest frame that can be configured, without its header.
    let runs = Lane(limits: IngestRuns.Limits(frameByteCountMaximum: 60_000))
    let filter = [UInt8](repeating: 32, count: byteCount)
    runs.end(relay: "ws://a/", subscription: 1, filters: [filter], name: 1, receivedNanoseconds: 0)
    let run = try runs.sent()
    #expect(run.bytes.isEmpty && runs.answered(run.number) == [1] && runs.isEmpty)
  }

  @Test("What waits has a bound that is told, and it is free again when a run is answered")
  func waiting() throws {
    let runs = Lane(limits: limits { $0.waitingByteCountMaximum = 300 << 10 })
    for _ in 0..<4 {
      runs.add(0)
      _ = runs.next()
    }
    var count = 0
    while !runs.mustWait("ws://a/") {
      runs.add(0, byteCount: 10_000)
      count += 1
    }
    #expect(count == 31, "the bound, and the event that went beyond")
    _ = runs.answered(1)
    _ = runs.next()
    #expect(!runs.mustWait("ws://a/"))
  }

  @Test("Beside a relay that floods a quiet one need not wait, and its event is in the very next run")
  func flood() throws {
    let runs = Lane(limits: limits())
    var number = 0
    for _ in 0..<4 {
      runs.add(number, relay: "ws://flood/")
      number += 1
      _ = runs.next()
    }
    for run in 1...200 as ClosedRange<UInt64> {
      while !runs.mustWait("ws://flood/") {
        runs.add(number, relay: "ws://flood/", byteCount: 400)
        number += 1
      }
      runs.add(1_000_000 + Int(run), relay: "ws://quiet/", subscription: 2)
      #expect(!runs.mustWait("ws://quiet/"))
      _ = runs.answered(run)
      let next = try runs.sent()
      #expect(try SaidRecord.read(next).contains { $0.event == 1_000_000 + Int(run) })
      #expect(next.eventCount > 200, "the rest is the flood's")
    }
  }

  @Test("Relays that all flood have equal parts of what the store takes, and of what may wait")
  func equalParts() throws {
    let runs = Lane(limits: limits())
    let relays = (0..<5).map { "ws://\($0)/" }
    var taken: [String: Int] = [:]
    for _ in 0..<400 {
      for (index, relay) in relays.enumerated() {
        // Those that bring large events have no more for it.
        while !runs.mustWait(relay) { runs.add(0, relay: relay, subscription: UInt32(index), byteCount: 300 << index) }
      }
      while let run = runs.next() {
        for record in try SaidRecord.read(run) where record.kind == .event {
          taken[record.relay, default: 0] += record.bytes.count + 512
        }
        _ = runs.answered(run.number)
        if run.number % 3 == 0 { break }
      }
    }
    let parts = relays.map { taken[$0] ?? 0 }
    let (least, most) = (parts.min() ?? 0, parts.max() ?? 0)
    #expect(least > 0 && Double(least) > 0.9 * Double(most), "\(parts)")
  }
}

/// An `IngestRuns` behind a reference, so that expectations may change it.
private final class Lane {
  private var runs: IngestRuns
  init(limits: IngestRuns.Limits) { runs = IngestRuns(limits: limits) }

  func mustWait(_ relay: String) -> Bool { runs.mustWait(relay) }
  var isEmpty: Bool { runs.isEmpty }

  @discardableResult
  func add(_ number: Int, relay: String = "ws://a/", subscription: UInt32 = 1, byteCount: Int = 0) -> Bool {
    runs.add(number, relay: relay, subscription: subscription, byteCount: byteCount)
  }

  func end(relay: String, subscription: UInt32, filters: [[UInt8]], name: UInt64, receivedNanoseconds: UInt64) {
    runs.end(
      relay: relay, subscription: subscription, filters: filters, name: name, receivedNanoseconds: receivedNanoseconds)
  }

  func next() -> IngestRuns.Run? { runs.next() }

  /// The next run, which there must be.
  func sent() throws -> IngestRuns.Run {
    let run = runs.next()
    return try #require(run)
  }

  func answered(_ number: UInt64) -> [UInt64] { runs.answered(number) }
  func dropped(_ number: UInt64) -> [UInt64] { runs.dropped(number) }
}

extension IngestRuns {
  /// An event that is its number, filled up with white space.
  mutating func add(_ number: Int, relay: String, subscription: UInt32, byteCount: Int) -> Bool {
    var bytes = Array("\(number)".utf8)
    if bytes.count < byteCount { bytes += [UInt8](repeating: 32, count: byteCount - bytes.count) }
    return bytes.withUnsafeBytes {
      append($0, relay: relay, subscription: subscription, receivedNanoseconds: UInt64(number))
    }
  }
}

/// A record as the store reads it: with the relay's name for its number.
struct SaidRecord {
  let kind: IngestRecord.Kind
  let relay: String
  let subscription: UInt32
  let bytes: [UInt8]

  /// The number of an event of these tests.
  var event: Int? { kind == .event ? Int(String(decoding: bytes.prefix { $0 != 32 }, as: UTF8.self)) : nil }

  static func read(_ run: IngestRuns.Run) throws -> [SaidRecord] {
    var names: [UInt32: String] = [:]
    return try IngestRecord.read(run.bytes).map { record in
      let bytes = Array(run.bytes[record.bytes])
      if record.kind == .relayName {
        #expect(names[record.relay] == nil, "a relay is named once in a run")
        names[record.relay] = String(decoding: bytes, as: UTF8.self)
      }
      return SaidRecord(
        kind: record.kind, relay: try #require(names[record.relay]), subscription: record.subscription, bytes: bytes)
    }
  }
}
