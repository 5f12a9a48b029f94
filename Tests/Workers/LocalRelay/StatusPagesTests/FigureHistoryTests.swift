import Contracts
import Testing

@testable import StatusPages

private let start: Int64 = 1_700_000_400  // a multiple of 600

@Suite("The ring of figures")
struct FigureHistoryTests {
  private func sample(at: Int64, _ figure: Figure, _ value: Int64?, covered: UInt32 = 0) -> FigureSample {
    var sample = FigureSample(at: at, coveredSeconds: covered)
    sample[figure] = value
    return sample
  }

  @Test("keeps a record byte by byte, and takes no record with a changed, missing or further byte")
  func records() throws {
    var sample = FigureSample(at: start, coveredSeconds: 300)
    for figure in Figure.allCases where figure != .medianLatency { sample[figure] = Int64(figure.rawValue) - 3 }
    let record = sample.record
    #expect(record.count == 24 + 8 * Figure.allCases.count)
    #expect(FigureSample(record: record) == sample)
    for index in record.indices {
      var changed = record
      changed[index] ^= 0x10
      #expect(FigureSample(record: changed) == nil, "byte \(index)")
      #expect(FigureSample(record: Array(record[..<index])) == nil)
    }
    #expect(FigureSample(record: record + [0]) == nil)
  }

  @Test("reads an earlier record without what it lacks, and none of another version")
  func readsOtherLengths() throws {
    var bytes: [UInt8] = [1, 1, 0, 0]
    LittleEndian.append(300, 4, to: &bytes)
    LittleEndian.append(UInt64(start), 8, to: &bytes)
    LittleEndian.append(77, 8, to: &bytes)
    let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    LittleEndian.append(sum, 8, to: &bytes)
    let early = try #require(FigureSample(record: bytes))
    #expect(early[.storedEvents] == 77 && early[.memory] == nil && early.coveredSeconds == 300)
    bytes[0] = 2
    #expect(FigureSample(record: bytes) == nil)
  }

  @Test("has one place for each five minutes, and is bounded however long samples come")
  func isBounded() {
    var history = FigureHistory()
    for index in 0..<Int64(2 * FigureHistory.placeCount) {
      history.sampled(sample(at: start + index * FigureHistory.periodSeconds, .clients, index))
    }
    let last = start + Int64(2 * FigureHistory.placeCount - 1) * FigureHistory.periodSeconds
    let window = FigureHistory.Window(until: last, stepSeconds: 300, count: 2 * FigureHistory.placeCount)
    let points = history.series(.clients, .mean, in: window)
    #expect(points.count { $0 != nil } == FigureHistory.placeCount)
    #expect(points.last == Double(2 * FigureHistory.placeCount - 1) && points.first == .some(nil))
    #expect(history.hasSample(at: last + 299 - last % 300) && !history.hasSample(at: start))
  }

  @Test("shows nothing where Roost was stopped, and nothing of the future after the clock was set back")
  func showsGaps() {
    var history = FigureHistory()
    for minute: Int64 in [0, 5, 10, 25, 30] { history.sampled(sample(at: start + minute * 60, .queued, minute)) }
    history.sampled(sample(at: start + 3_600, .queued, 99))
    let window = FigureHistory.Window(until: start + 1_800, stepSeconds: 300, count: 7)
    #expect(history.series(.queued, .mean, in: window) == [0, 5, 10, nil, nil, 25, 30])
    // A month later the places are taken by other samples, or are too old.
    let month = Int64(FigureHistory.placeCount) * 300
    let later = FigureHistory.Window(until: start + 1_800 + month, stepSeconds: 300, count: 7)
    #expect(history.series(.queued, .mean, in: later).allSatisfy { $0 == nil })
  }

  @Test("makes one point of several samples: their mean, latest, maximum, or what they count in an hour")
  func summarises() {
    var history = FigureHistory()
    history.sampled(sample(at: start, .newEvents, 10, covered: 300))
    history.sampled(sample(at: start + 300, .newEvents, 50, covered: 300))
    history.sampled(sample(at: start + 600, .newEvents, nil))
    let window = FigureHistory.Window(until: start + 600, stepSeconds: 600, count: 2)
    #expect(history.series(.newEvents, .mean, in: window) == [30, nil])
    #expect(history.series(.newEvents, .last, in: window) == [50, nil])
    #expect(history.series(.newEvents, .maximum, in: window) == [50, nil])
    #expect(history.series(.newEvents, .hourly, in: window) == [360, nil])
    history.sampled(sample(at: start + 600, .newEvents, 50, covered: 5))
    #expect(history.series(.newEvents, .hourly, in: window) == [360, nil], "five seconds say nothing of an hour")
    #expect(FigureHistory().series(.newEvents, .hourly, in: window) == [nil, nil])
  }

  @Test("agrees with a look at every sample, for any samples", arguments: 0..<20)
  func agreesWithTheObvious(seed: UInt64) {
    var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func next(_ bound: UInt64) -> Int64 {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return Int64(random % bound)
    }
    var history = FigureHistory()
    var latest: [Int64: FigureSample] = [:]
    let end = start + 20_000
    for _ in 0..<200 {
      let made = sample(at: start + next(20_000), .memory, next(4) == 0 ? nil : next(1_000))
      history.sampled(made)
      latest[made.at / 300] = made
    }
    let step = 300 * (1 + next(6))
    let window = FigureHistory.Window(until: end, stepSeconds: step, count: 12)
    let points = history.series(.memory, .maximum, in: window)
    for index in 0..<12 {
      let low = window.start + Int64(index) * step
      let inside = latest.values.filter { $0.at >= low && $0.at < low + step }.compactMap { $0[.memory] }
      #expect(points[index] == inside.max().map(Double.init), "seed \(seed), point \(index)")
    }
  }
}

@Suite("A sample of figures")
struct FigureSamplerTests {
  private func snapshot(at: Int64, seq: Int64, refusals: UInt64, failures: UInt64 = 0) -> RoostSnapshot {
    var snapshot = makeSnapshot()
    snapshot.at = at
    if case .told(var store) = snapshot.store {
      store.seq = seq
      snapshot.store = .told(store)
    }
    var relay = RelayStates.Relay(relay: "wss://relay.example", state: "open")
    (relay.refusals, relay.failures, relay.storedMilliseconds) = (refusals, failures, 40)
    var slow = RelayStates.Relay(relay: "wss://slow.example", state: "open")
    slow.storedMilliseconds = 900
    let idle = RelayStates.Relay(relay: "wss://idle.example", state: "idle")
    snapshot.connectors = [.init(name: "c", relays: .told(RelayStates(relays: [relay, slow, idle])))]
    return snapshot
  }

  @Test("has what is so now at once, and what was added only after another one")
  func samples() {
    var sampler = FigureSampler()
    let first = sampler.sampled(snapshot(at: start, seq: 100, refusals: 7))
    #expect(first[.storedEvents] == 1_234_567 && first[.queued] == 3 && first[.unpublished] == 4)
    #expect(first[.openRelays] == 2 && first[.wantedRelays] == 2 && first[.clients] == 3)
    #expect(first[.medianLatency] == 40 && first[.slowLatency] == 900)
    #expect(first[.mirrored] == 500 && first[.lackingCopies] == 204 && first[.askedJobs] == 3)
    #expect(first[.servedJobs] == 5 && first[.memory] == 50 << 20)
    #expect(first[.newEvents] == nil && first[.refusals] == nil && first.coveredSeconds == 0)
    let second = sampler.sampled(snapshot(at: start + 300, seq: 160, refusals: 9, failures: 1))
    #expect(second[.newEvents] == 60 && second[.refusals] == 2 && second[.connectFailures] == 1)
    #expect(second.coveredSeconds == 300)
  }

  @Test("takes a counter that became smaller for one that began again, and counts nothing over a long pause")
  func countersBeginAgain() {
    var sampler = FigureSampler()
    _ = sampler.sampled(snapshot(at: start, seq: 100, refusals: 70))
    let restarted = sampler.sampled(snapshot(at: start + 300, seq: 100, refusals: 3))
    #expect(restarted[.refusals] == 3 && restarted[.newEvents] == 0)
    let restored = sampler.sampled(snapshot(at: start + 600, seq: 20, refusals: 3))
    #expect(restored[.newEvents] == nil && restored[.refusals] == 0)
    let slept = sampler.sampled(snapshot(at: start + 36_000, seq: 9_000, refusals: 3_000))
    #expect(slept[.newEvents] == nil && slept[.refusals] == nil && slept.coveredSeconds == 0)
    let back = sampler.sampled(snapshot(at: start, seq: 9_001, refusals: 3_000))
    #expect(back[.newEvents] == nil)
  }

  @Test("has no figures of parts that do not answer")
  func lacksSilentParts() {
    var sampler = FigureSampler()
    var empty = RoostSnapshot(version: "1")
    empty.at = start
    let sample = sampler.sampled(empty)
    #expect(Figure.allCases.filter { sample[$0] != nil } == [.clients])
  }
}
