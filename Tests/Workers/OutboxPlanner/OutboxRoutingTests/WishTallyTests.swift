import Contracts
import OutboxRouting
import Testing

@Suite("What came for a wish")
struct WishTallyTests {
  private func relay(_ name: String, _ state: RequestReport.State, _ events: UInt64) -> ObserveProgress.Relay {
    ObserveProgress.Relay(relay: "wss://\(name).org", state: state, reason: nil, events: events)
  }

  private func progress(_ relays: ObserveProgress.Relay...) -> ObserveProgress {
    ObserveProgress(isObserved: true, isComplete: false, relays: relays)
  }

  @Test("A relay that was visited stays, another visit adds to it, and two REQs at a relay are one row")
  func visits() {
    var tally = WishTally()
    tally.note(progress(relay("b", .asked, 3), relay("a", .stored, 5), relay("a", .asked, 1)))
    #expect(tally.relays == [relay("a", .asked, 6), relay("b", .asked, 3)])
    tally.note(progress(relay("b", .stored, 7), relay("a", .stored, 6)))
    tally.note(progress(relay("a", .stored, 6)))
    tally.note(progress(relay("a", .stored, 6)))
    #expect(tally.relays == [relay("a", .stored, 6), relay("b", .stored, 7)])
    tally.note(progress(relay("a", .stored, 6), relay("b", .asked, 2)))
    #expect(tally.relays.map(\.events) == [6, 9])
    tally.note(progress(relay("a", .stored, 6), relay("b", .asked, 1)))
    #expect(tally.relays.map(\.events) == [6, 10], "a REQ that was made again counts from 0")
  }
}
