import Clocks
import PushDelivery
import TestSupport
import Testing

@Suite("The circuit breaker")
struct CircuitBreakerTests {
  @Test("opens after failures in a row, lets one probe through, and closes with it")
  func round() {
    var generator = SeededGenerator(seed: 1)
    var breaker = CircuitBreaker()
    for failure in 1...5 {
      #expect(breaker.mayBegin(at: moment(0).instant) && !breaker.begun(at: moment(0).instant))
      #expect(breaker.failed(isProbe: false, at: moment(0).instant, using: &generator) == (failure == 5))
    }
    #expect(!breaker.mayBegin(at: moment(499).instant) && breaker.mayBegin(at: moment(1_000).instant))
    #expect(breaker.begun(at: moment(1_000).instant) && !breaker.mayBegin(at: moment(9_000).instant))
    // What began before it opened says nothing now.
    #expect(!breaker.failed(isProbe: false, at: moment(1_000).instant, using: &generator))
    breaker.probeLost()
    #expect(breaker.mayBegin(at: moment(1_000).instant) && breaker.begun(at: moment(1_000).instant))
    #expect(breaker.failed(isProbe: true, at: moment(1_000).instant, using: &generator))
    #expect(!breaker.mayBegin(at: moment(1_999).instant) && breaker.mayBegin(at: moment(3_000).instant))
    _ = breaker.begun(at: moment(3_000).instant)
    breaker.succeeded()
    #expect(breaker.isAtRest)
  }

  @Test("in doubt it lets one through after the other, at the same distance, and is no slower to close")
  func doubt() {
    var generator = SeededGenerator(seed: 1)
    var breaker = CircuitBreaker()
    for round in 0..<50 as Range<UInt64> {
      let now = moment(round * 1_000).instant
      #expect(breaker.mayBegin(at: now))
      let isProbe = breaker.begun(at: now)
      #expect(isProbe == (round > 0) && breaker.doubted(isProbe: isProbe, at: now, using: &generator))
      #expect(!breaker.mayBegin(at: moment(round * 1_000 + 499).instant))
      #expect(!breaker.doubted(isProbe: false, at: now, using: &generator))
    }
    let isLast = breaker.begun(at: moment(50_000).instant)
    breaker.succeeded()
    #expect(isLast)
    #expect(breaker.isAtRest)
  }

  @Test("waits in bounds, whatever the provider wants", arguments: seeds(20))
  func bounds(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var breaker = CircuitBreaker()
    var now: UInt64 = 0
    for round in 0..<100 {
      if breaker.mayBegin(at: moment(now).instant) {
        let isProbe = breaker.begun(at: moment(now).instant)
        if round.isMultiple(of: 3) {
          _ = breaker.tripped(isProbe: isProbe, at: moment(now).instant, using: &generator)
        } else {
          _ = breaker.failed(isProbe: isProbe, at: moment(now).instant, atLeast: .max, using: &generator)
        }
      }
      if let until = breaker.reopening {
        #expect(until.milliseconds(since: moment(now).instant) <= 3_600_000)
        now += until.milliseconds(since: moment(now).instant)
      }
    }
  }
}
