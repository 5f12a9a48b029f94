import Contracts
import Nostr
import PublishQueue
import Testing

@Suite("What another Roost of the same owner has published")
struct LearnedPublicationTests {
  private func told(_ relay: String, _ state: PublicationTarget.State = .confirmed) -> PublicationTarget {
    PublicationTarget(relay: relay, state: state, why: "alice's list", confirmedAt: 1_700_000_000)
  }

  @Test("Relays that have it from there are not sent it from here; others stay as they are")
  func learned() {
    var limits = PublishLimits()
    limits.inFlightMaximum = 1
    let bench = Bench(limits: limits)
    let first = bench.publish(QueueTests.alpha)
    let second = bench.publish(QueueTests.alpha, QueueTests.beta)
    bench.apply {
      $0.learned(second, [told(QueueTests.alpha), told(QueueTests.beta, .failed), told("wss://gamma.example")], at: $1)
    }
    #expect(bench.target(second, QueueTests.alpha)?.confirmedAt == 1_700_000_000)
    #expect(bench.target(second, QueueTests.beta)?.state == .pending)
    #expect(bench.target(second, "wss://gamma.example")?.state == .confirmed)
    #expect(bench.told(second)?.state == .partial && !bench.queue.isRecorded(second))
    bench.settle(SendingKey(id: first, relay: QueueTests.alpha), .taken(""))
    #expect(bench.sendings.map(\.key.relay) == [QueueTests.alpha, QueueTests.beta], "alpha is sent the first only")
    // Told again: nothing has changed.
    bench.write()
    bench.apply { $0.learned(second, [told(QueueTests.alpha)], at: $1) }
    #expect(bench.queue.isRecorded(second))
  }

  @Test("An attempt under way has its own outcome")
  func inFlight() {
    let bench = Bench()
    let id = bench.publish(QueueTests.alpha)
    bench.apply { $0.learned(id, [told(QueueTests.alpha)], at: $1) }
    #expect(bench.target(id, QueueTests.alpha)?.state == .sent)
    bench.settle(SendingKey(id: id, relay: QueueTests.alpha), .taken("duplicate: have it"))
    #expect(bench.told(id)?.state == .confirmed)
  }
}
