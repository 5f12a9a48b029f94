import Contracts
import Nostr
import PublishQueue
import Testing

@Suite("What waits in the publish queue for long")
struct UnsentTests {
  private let alpha = QueueTests.alpha
  private let beta = QueueTests.beta

  @Test("is listed by its age, the oldest first, and is sent at once when that is wanted; ended relays only if meant")
  func retried() {
    let bench = Bench()
    let first = bench.publish(alpha, beta)
    bench.settle(SendingKey(id: first, relay: alpha), .refused("blocked: no"))
    bench.settle(SendingKey(id: first, relay: beta), .failing("error: busy"))
    bench.advance(milliseconds: 1_000)
    let second = bench.publish(beta)
    let third = bench.publish(alpha)
    bench.settle(SendingKey(id: third, relay: alpha), .taken(""))
    let now = bench.moment.time
    #expect(bench.queue.open(acceptedUntil: now).map(\.id) == [first, second])
    #expect(bench.queue.open(acceptedUntil: now - 1).map(\.id) == [first])
    #expect(bench.queue.open(acceptedUntil: now - 2).isEmpty)
    let expiry = bench.queue[first]?.expiresAt
    #expect(bench.inFlight[SendingKey(id: first, relay: beta)] == nil, "it waits after the failure")
    bench.apply { $0.retriedOpen(first, withEnded: false, at: $1) }
    #expect(bench.inFlight[SendingKey(id: first, relay: beta)] != nil)
    #expect(bench.target(first, alpha)?.state == .failed)
    bench.apply { $0.retriedOpen(first, withEnded: true, at: $1) }
    #expect(bench.inFlight[SendingKey(id: first, relay: alpha)] != nil)
    #expect(bench.queue[first]?.expiresAt == expiry, "the time at which it is given up stays")
    bench.apply { $0.retriedOpen(third, withEnded: true, at: $1) }
    #expect(bench.inFlight[SendingKey(id: third, relay: alpha)] == nil, "never again after an OK")
  }
}
