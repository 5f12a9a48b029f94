import Cryptography
import EventArchive
import EventGate
import Nostr
import TestSupport
import Testing

@Suite("The trust in relays")
struct TrustTests {
  private func sampling(_ seed: UInt64 = 1, rate: Double = 1, floor: Double = 0.1) -> RelayTrust {
    var trust = RelayTrust(seed: seed)
    trust.sample([1], SamplingSettings(rate: rate, floor: floor))
    return trust
  }

  @Test("Of a sampled relay fewer and fewer are checked, never fewer than the floor; of others all")
  func decay() {
    var bench = Bench(recentCapacity: 10_000, trust: sampling())
    // Every event is another's duplicate of no one: the trust alone is looked at, so events are made cheaply.
    func checked(_ range: Range<Int>, relay: Int64?) -> Int {
      let before = bench.gate.counters.verified
      for start in stride(from: range.lowerBound, to: range.upperBound, by: 50) {
        bench.submit((start..<start + 50).map { Made.json($0) }, .live, relay: relay)
        bench.run()
      }
      return Int(bench.gate.counters.verified - before)
    }
    let first = checked(0..<100, relay: 1)
    let later = checked(100..<1_000, relay: 1)
    #expect(first > 50 && first <= 100 && later < 500 && later > 90, "\(first) and \(later)")
    #expect(checked(1_000..<1_100, relay: 2) == 100 && checked(1_100..<1_150, relay: nil) == 50)
    #expect(bench.gate.counters.unchecked == UInt64(1_000 - first - later))
    #expect(bench.unchecked.count == 1_000 - first - later && bench.reports.isEmpty)
    #expect(bench.gate.trust.conduct(of: 1)?.valid == UInt64(first + later))
  }

  @Test("One forgery, and all of the relay is checked from then on, also after a new beginning")
  func distrust() {
    var bench = Bench(trust: sampling(rate: 0.0001, floor: 0.0001))
    bench.submit((0..<40).map { Made.json($0) }, .live, relay: 1)
    bench.run()
    #expect(bench.gate.counters.unchecked == 40)
    // Its id alone gives it away: that is always looked at.
    bench.submit([Made.forged(Made.event(500))], .live, relay: 1)
    bench.run()
    #expect(bench.reports == [.distrusted(1)])
    let missigned = Made.missigned(600)
    bench.submit([missigned.json, Made.json(601)], .live, relay: 1)
    bench.run()
    #expect(bench.seqs[missigned.id] == nil && bench.gate.counters.unchecked == 40 && bench.reports.count == 1)
    #expect(bench.gate.trust.worst(8).map(\.forged) == [2] && bench.gate.trust.worst(8)[0].isDistrusted)
    var again = RelayTrust(seed: 1, distrusted: [1])
    again.sample([1], SamplingSettings(rate: 0.0001, floor: 0.0001))
    bench = Bench(trust: again)
    bench.submit([Made.missigned(700).json], .live, relay: 1)
    bench.run()
    #expect(bench.committed.isEmpty && bench.gate.trust.worst(1)[0].isDistrusted && bench.reports.isEmpty)
  }

  @Test("What could put other events away is checked whoever brings it, and so is what is one's own")
  func alwaysChecked() {
    var bench = Bench(trust: sampling(rate: 0.0001, floor: 0.0001))
    let kinds: [UInt16] = [0, 3, 5, 62, 10_002, 20_001, 30_023]
    for (index, kind) in kinds.enumerated() {
      bench.submit([Made.json(index * 4, kind: kind)], .live, relay: 1)
      bench.run()
    }
    bench.submit([Made.json(100)], .local, relay: 1)
    bench.run()
    #expect(bench.gate.counters.unchecked == 0 && bench.gate.counters.verified == UInt64(kinds.count + 1))
    bench.submit([Made.json(101)], .bulk, relay: 1)
    bench.run()
    #expect(bench.gate.counters.unchecked == 1)
  }

  @Test("A relay is reported at 10 forgeries, at 100 and so on; lines that are no events do not count")
  func reports() {
    var bench = Bench()
    for number in 0..<105 { bench.submit([Made.missigned(number).json], .live, relay: 9) }
    bench.submit(Array(repeating: Array("{}".utf8), count: 20), .live, relay: 8)
    bench.run()
    #expect(bench.reports == [.forgeries(9, 10), .forgeries(9, 100)])
    #expect(bench.gate.trust.worst(8).map(\.relay) == [9] && bench.gate.trust.worst(8)[0].forged == 105)
  }

  @Test("An unchecked copy is remembered as its relay's, whoever else brought the event meanwhile")
  func followers() {
    var bench = Bench(trust: sampling(rate: 0.0001, floor: 0.0001))
    let event = Made.event(1)
    bench.submit([event.json], .bulk, relay: 1)
    let job = bench.gate.nextJob()
    bench.submit([event.json], .live, relay: 2)
    if let job { bench.finish(job) }
    bench.run()
    #expect(bench.committed == [event.id] && bench.unchecked == [event.id])
  }
}
