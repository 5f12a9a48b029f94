import Clocks
import Contracts
import RelaySubscriptions
import TestSupport
import Testing

/// Random relays, and a store that answers in any order: what was sent, what is committed, and what must be by then.
private struct Traffic {
  var runs: IngestRuns
  var generator: SeededGenerator
  let limits: IngestRuns.Limits
  /// Runs on the way.
  var sent: [IngestRuns.Run] = []
  var lastNumber: UInt64 = 0
  /// Events of each subscription that are not committed yet.
  var uncommitted: [UInt32: Set<Int>] = [:]
  /// Of each end that was added: the events before it.
  var before: [UInt64: (subscription: UInt32, events: Set<Int>)] = [:]
  var committedEvents: [Int] = []
  var committedEnds: [UInt64] = []
  var nextEvent = 0
  var nextEnd: UInt64 = 1

  init(_ limits: IngestRuns.Limits, seed: UInt64) {
    self.limits = limits
    runs = IngestRuns(limits: limits)
    generator = SeededGenerator(seed: seed)
  }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  /// Each subscription is one relay's.
  func relay(of subscription: UInt32) -> String { "ws://relay\(subscription % 3)/" }

  mutating func addEvent() {
    let subscription = UInt32(1 + number(below: 6))
    guard !runs.mustWait(relay(of: subscription)) else { return }
    let byteCount =
      number(below: 40) == 0 ? limits.frameByteCountMaximum + number(below: 200) - 150 : number(below: 300)
    nextEvent += 1
    if runs.add(nextEvent, relay: relay(of: subscription), subscription: subscription, byteCount: byteCount) {
      uncommitted[subscription, default: []].insert(nextEvent)
    } else {
      #expect(byteCount + 100 > limits.frameByteCountMaximum, "\(byteCount) bytes would fit")
    }
  }

  mutating func addEnd() {
    let subscription = UInt32(1 + number(below: 6))
    let filters = (0..<1 + number(below: 3)).map { _ in
      [UInt8](repeating: 32, count: number(below: 8) == 0 ? limits.frameByteCountMaximum / 2 : 20)
    }
    before[nextEnd] = (subscription, uncommitted[subscription] ?? [])
    runs.end(
      relay: relay(of: subscription), subscription: subscription, filters: filters,
      saying: [.stored, .page(1...2), .part(nil)][number(below: 3)], name: nextEnd,
      receivedNanoseconds: nextEnd)
    nextEnd += 1
  }

  mutating func send() throws {
    while let run = runs.next() {
      #expect(run.number > lastNumber)
      lastNumber = run.number
      #expect(run.bytes.count <= limits.frameByteCountMaximum)
      _ = try SaidRecord.read(run)
      sent.append(run)
    }
    #expect(sent.count <= limits.inFlightMaximum)
  }

  /// The store commits a run: its records in their order.
  mutating func commit() throws {
    guard !sent.isEmpty else { return }
    let run = sent.remove(at: number(below: sent.count))
    var filters: [UInt32: Int] = [:]
    for record in try SaidRecord.read(run) {
      switch record.kind {
      case .event:
        let event = try #require(record.event)
        #expect(record.relay == relay(of: record.subscription))
        let removed = uncommitted[record.subscription]?.remove(event)
        #expect(removed != nil, "event \(event) twice")
        committedEvents.append(event)
      case .subscriptionFilter: filters[record.subscription, default: 0] += 1
      case .storedEnd, .pageEnd, .partEnd:
        #expect(filters[record.subscription] ?? 0 > 0, "an end without its filters says nothing")
        // An end that is said now must have nothing open that came before it.
        let open = uncommitted[record.subscription] ?? []
        let pending = before.filter { $0.value.subscription == record.subscription }
        #expect(pending.values.contains { $0.events.isDisjoint(with: open) }, "an end before its events")
      case .relayName: break
      }
    }
    for name in runs.answered(run.number) {
      let known = before.removeValue(forKey: name)
      let end = try #require(known)
      #expect(end.events.isDisjoint(with: uncommitted[end.subscription] ?? []), "end \(name) before its events")
      committedEnds.append(name)
    }
  }
}

@Suite("Runs for the store, at random") struct IngestRunPropertyTests {
  @Test(
    "In whatever order the store answers, no end is before its events, and nothing is lost or said twice",
    arguments: seeds(100))
  func random(seed: UInt64) throws {
    var limits = IngestRuns.Limits(frameByteCountMaximum: 4_000)
    limits.runByteCountMaximum = 1_000
    limits.recordMaximum = 20
    limits.filterByteCountMaximum = 3_000
    limits.waitingByteCountMaximum = 5_000
    limits.shareByteCountMinimum = 1_000
    limits.pieceByteCountMaximum = seed % 2 == 0 ? 500 : 8_000
    var traffic = Traffic(limits, seed: seed)
    for _ in 0..<600 {
      switch traffic.number(below: 10) {
      case 0..<6: traffic.addEvent()
      case 6: traffic.addEnd()
      default: try traffic.commit()
      }
      if traffic.number(below: 3) > 0 { try traffic.send() }
    }
    // Each answer sets at least one run free, or there is none.
    for _ in 0..<5_000 where !traffic.runs.isEmpty {
      try traffic.send()
      try traffic.commit()
    }
    #expect(traffic.runs.isEmpty && traffic.before.isEmpty)
    #expect(traffic.uncommitted.values.allSatisfy { $0.isEmpty })
    #expect(Set(traffic.committedEnds).count == traffic.committedEnds.count)
  }
}
