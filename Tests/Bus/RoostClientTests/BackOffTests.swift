import Clocks
import Frames
import TestSupport
import Testing

@testable import RoostClient

@Suite struct BackoffTests {
  @Test("Waits double up to the longest, each between half and whole", arguments: seeds(1))
  func doubling(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var backoff = ReconnectDelay(firstMilliseconds: 100, longestMilliseconds: 1_000)
    for ceiling: UInt64 in [100, 200, 400, 800, 1_000, 1_000] {
      let wait = backoff.nextWait(using: &generator)
      #expect((ceiling / 2...ceiling).contains(wait), "seed \(seed): \(wait) for \(ceiling)")
    }
  }

  @Test("A connection that lasted begins the waits anew; one that did not, does not")
  func proven() {
    var generator = SeededGenerator(seed: 1)
    var backoff = ReconnectDelay(firstMilliseconds: 100, longestMilliseconds: 10_000, provenMilliseconds: 1_000)
    for _ in 0..<5 { _ = backoff.nextWait(using: &generator) }
    backoff.connectionEnded(afterMilliseconds: 999)
    #expect(backoff.nextWait(using: &generator) >= 1_600)
    backoff.connectionEnded(afterMilliseconds: 1_000)
    #expect(backoff.nextWait(using: &generator) <= 100)
  }
}

@Suite struct RequestFateTests {
  private let loss = Refusal("disconnected", "the bus ended")
  private let start = Instant(nanoseconds: 5_000_000_000)

  private func fate(
    isIdempotent: Bool = true, hasParts: Bool = false, repeatsLeft: Int = 3, deadline: Instant? = nil
  ) -> RequestFate {
    RequestFate.afterLoss(
      loss, isIdempotent: isIdempotent, hasParts: hasParts, repeatsLeft: repeatsLeft, deadline: deadline, now: start)
  }

  private func outcome(_ fate: RequestFate) -> Outcome? {
    if case .fail(let refusal) = fate { refusal.outcome } else { nil }
  }

  @Test("Only what is idempotent and has given nothing yet is asked again, with what is left of its time")
  func askAgain() {
    #expect(fate() == .askAgain(ttlMilliseconds: 0))
    #expect(fate(deadline: start.advanced(milliseconds: 70)) == .askAgain(ttlMilliseconds: 70))
    #expect(outcome(fate(isIdempotent: false)) == .unknown)
    #expect(outcome(fate(hasParts: true)) == .unknown)
    #expect(outcome(fate(repeatsLeft: 0)) == .unknown)
  }

  @Test("Of what is idempotent nobody is told that it may have been carried out, only that its answer breaks off")
  func brokenAnswer() {
    let broken = Refusal("disconnected", "the bus ended; the answer breaks off here", outcome: .unknown)
    #expect(fate(hasParts: true) == .fail(broken))
  }

  @Test("When the time is up it has expired, outcome unknown")
  func expired() {
    guard case .fail(let refusal) = fate(deadline: start) else {
      Issue.record("asked again after its time")
      return
    }
    #expect(refusal.code == .expired && refusal.outcome == .unknown)
  }
}
