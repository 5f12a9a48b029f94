import Clocks
import Frames
import Testing

@testable import RoostClient

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
