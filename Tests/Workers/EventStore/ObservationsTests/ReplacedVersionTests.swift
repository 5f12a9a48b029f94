import Contracts
import Frames
import Nostr
import NostrContracts
import Observations
import Testing

/// Versions that a newer one has replaced, which the archive does not have.
@Suite("Replaced versions")
struct ReplacedVersionTests {
  /// One that sleeps, and has been sent everything up to seq 10.
  private static func asleep() -> ObservationMachine {
    let plan = ObservePlan(
      [Filter(kinds: [3])], policy: .cacheOnly, relays: [], isExclusive: false, recipients: nil)
    var machine = ObservationMachine(
      plan, after: 10, announcedSeq: 10, sightingEnd: 0, isPaged: false, takesSuperseded: true,
      partByteMaximum: 1 << 21)
    _ = machine.stepEnded(announcedSeq: 10, sightingEnd: 0)
    #expect(machine.stepEnded(announcedSeq: 10, sightingEnd: 0) == .sleep)
    return machine
  }

  private static func version(_ seq: Int64? = nil, isVersion: Bool = true) -> ObservationMachine.Event {
    ObservationMachine.Event(seq: seq, relay: nil, byteCount: 100, isVersion: isVersion)
  }

  private static func announce(
    _ event: ObservationMachine.Event, _ machine: inout ObservationMachine, waitingOfAll: Int = 0
  ) -> ObservationMachine.Intake {
    let intake = machine.announced(event, relays: nil, waitingByteCountOfAll: waitingOfAll)
    return intake == .sendNow ? machine.foundNoRoom(for: event, waitingByteCountOfAll: waitingOfAll) : intake
  }

  /// What is sent until the end of the answer, or until it sleeps.
  private static func sent(_ machine: inout ObservationMachine, upTo seq: Int64) -> (parts: Int, last: String) {
    var parts = 0
    while true {
      switch machine.stepEnded(announcedSeq: seq, sightingEnd: 0) {
      case .sendPart:
        machine.tookPart(byteCount: 100)
        parts += 1
      case .end(let refusal): return (parts, "\(refusal.code)")
      case .read(_, let end):
        machine.read(upTo: end)
        parts += 1
      case .sleep: return (parts, "sleep")
      default: return (parts, "another step")
      }
    }
  }

  @Test("Thousands wait; one that has no room ends the answer as missed, behind them", arguments: [nil, Int64(11)])
  func bound(seq: Int64?) {
    var machine = Self.asleep()
    for _ in 0..<ObservationMachine.supersededMaximum {
      #expect(Self.announce(Self.version(), &machine) == .queue)
      _ = machine.queued(Self.version(), byteCount: 100)
    }
    #expect(Self.announce(Self.version(isVersion: false), &machine) == .ignore, "an ephemeral event is left out")
    #expect(Self.announce(Self.version(seq), &machine) == .ignore)
    let sent = Self.sent(&machine, upTo: seq ?? 10)
    #expect(sent.parts == ObservationMachine.supersededMaximum && sent.last == "missed", "\(sent)")
  }

  @Test("One that may not wait wakes the task, which says that it was missed; other events are read instead")
  func wakes() {
    let most = ObservationMachine.waitingByteMaximumOfAll
    var machine = Self.asleep()
    #expect(Self.announce(Self.version(), &machine, waitingOfAll: most) == .wake)
    #expect(Self.sent(&machine, upTo: 10) == (0, "missed"))
    var other = Self.asleep()
    #expect(Self.announce(Self.version(11, isVersion: false), &other, waitingOfAll: most) == .wake)
    #expect(Self.sent(&other, upTo: 11) == (1, "sleep"))
  }
}
