import Clocks
import Nostr
import RelaySession
import TestSupport
import Testing

@Suite struct SessionLatencyTests {
  @Test("Connecting and answers are timed as moving averages, failures in a row end with a connection")
  func figures() {
    let bench = Bench()
    bench.apply { $0.openRequested(at: $1) }
    for _ in 0..<3 {
      bench.fail()
      _ = bench.untilAttempt()
    }
    #expect(bench.session.counters.connectFailuresInRow == 3 && bench.session.counters.connectLatency.value == nil)
    let first = bench.session.firstAttempt
    bench.advance(milliseconds: 800)
    let took = bench.now.milliseconds(since: bench.attempts.last!.at)
    bench.apply { [bench] in $0.connected(attempt: bench.attempts.last!.number, at: $1) }
    #expect(bench.session.counters.connectFailuresInRow == 0 && bench.session.counters.connectFailures == 3)
    #expect(bench.session.counters.connectLatency.value == took && took >= 800 && first == bench.attempts[0].at)
    for (key, wait) in [(UInt64(1), UInt64(80)), (2, 160), (3, 80)] {
      bench.request(key)
      bench.advance(milliseconds: wait)
      bench.receive(.endOfStoredEvents(subscription: bench.subscriptions.last!, completeness: .unstated))
    }
    #expect(bench.session.counters.storedLatency.value == 89, "80, 90, 88.75")
    let latencies = bench.session.counters.latencies
    #expect(latencies.connect.count == 1 && latencies.connect.sumMicroseconds / 1_000 == took)
    #expect(latencies.stored.count == 3 && latencies.stored.sumMicroseconds == 320_000)
    #expect(latencies.stored.counts[7] == 2 && latencies.stored.counts[8] == 1 && latencies.accepted.count == 0)
  }
}
