import Clocks
import Contracts
import Nostr
import PublishQueue
import Testing

@Suite("The pace of a relay that says rate-limited")
struct PaceTests {
  private static let relay = "wss://slow.example"
  private static let buckets: [(perSecond: Double, capacity: Double)] = [
    (1, 10), (1.0 / 6, 10), (5, 50), (1.0 / 60, 2),
  ]

  /// A relay whose bucket fills at a rate, and that refuses what comes beyond.
  private struct Bucket {
    let perSecond: Double
    let capacity: Double
    private var level: Double
    private var last: Instant?

    init(perSecond: Double, capacity: Double) {
      (self.perSecond, self.capacity, level) = (perSecond, capacity, capacity)
    }

    mutating func takes(at now: Instant) -> Bool {
      if let last { level = min(capacity, level + Double(now.milliseconds(since: last)) / 1_000 * perSecond) }
      last = now
      guard level >= 1 else { return false }
      level -= 1
      return true
    }
  }

  /// Sends all that waits to the relay; how often it refused.
  private func send(_ bench: Bench, to bucket: inout Bucket, until seconds: UInt64 = .max) -> Int {
    var refusedCount = 0
    let start = bench.now
    while bench.now.milliseconds(since: start) / 1_000 < seconds {
      // Answers take 20 ms.
      let keys = bench.inFlight.keys.sorted { $0.id < $1.id }
      if keys.isEmpty {
        guard let due = bench.timer, bench.queue.ids.contains(where: { bench.told($0)?.state == .optimistic }) else {
          break
        }
        bench.advance(milliseconds: due.milliseconds(since: bench.now))
        continue
      }
      bench.advance(milliseconds: 20)
      for key in keys where bench.inFlight[key] != nil {
        let isTaken = bucket.takes(at: bench.now)
        refusedCount += isTaken ? 0 : 1
        bench.settle(key, isTaken ? .taken("") : .limited("rate-limited: slow down"))
      }
      bench.write()
    }
    return refusedCount
  }

  @Test(
    "It is learned: of many events few are refused, and most of what the relay takes is used",
    arguments: buckets, [UInt64(1), 2, 3])
  func learned(_ relay: (perSecond: Double, capacity: Double), seed: UInt64) {
    let bench = Bench(seed: seed)
    var bucket = Bucket(perSecond: relay.perSecond, capacity: relay.capacity)
    let start = bench.now
    let count = 400
    for _ in 0..<count { bench.publish([Self.relay], lifetime: 30 * 24 * 3_600) }
    let refused = send(bench, to: &bucket)
    let seconds = Double(bench.now.milliseconds(since: start)) / 1_000
    let least = (Double(count) - relay.capacity) / relay.perSecond
    #expect(refused * 10 <= count, "refused \(refused) of \(count)")
    #expect(seconds <= least * 2, "\(seconds) s, and the relay takes them in \(least) s")
    #expect(bench.queue.count == 0)
  }

  @Test("It outlives a cut and a time without events")
  func cut() {
    let bench = Bench()
    var bucket = Bucket(perSecond: 1, capacity: 1)
    for _ in 0..<100 { bench.publish(Self.relay) }
    _ = send(bench, to: &bucket)
    bench.advance(milliseconds: 60_000)
    for _ in 0..<40 { bench.publish(Self.relay) }
    #expect(bench.inFlight.count == 1, "one at a time")
    let cut = bench.inFlight.keys.first!
    bench.settle(cut, .unreachable("cut off", afterMilliseconds: nil))
    bench.apply { $0.relayOpened(Self.relay, at: $1) }
    #expect(bench.inFlight.count == 1)
    let refused = send(bench, to: &bucket)
    #expect(refused <= 6, "refused \(refused) of 40")
  }

  @Test("It outlives the process as long as something waits, and nothing is sent in a burst by the next one")
  func restart() {
    let bench = Bench()
    var bucket = Bucket(perSecond: 1.0 / 6, capacity: 10)
    for _ in 0..<200 { bench.publish([Self.relay], lifetime: 30 * 24 * 3_600) }
    _ = send(bench, to: &bucket, until: 300)
    // Whatever had been sent and not answered at the end is sent once more.
    bench.write()
    bench.restart()
    #expect(bench.inFlight.count <= 1, "\(bench.inFlight.count) at once")
    let refused = send(bench, to: &bucket, until: 120)
    #expect(refused <= 4, "refused \(refused)")
    #expect(bench.queue.ids.contains { bench.told($0)?.state == .confirmed } || bench.queue.count < 200)
  }

  @Test("A relay without a pace is sent as much at once after a restart as before")
  func restartWithout() {
    let bench = Bench()
    for _ in 0..<40 { bench.publish(Self.relay) }
    bench.restart()
    #expect(bench.inFlight.count == bench.limits.relayInFlightMaximum)
  }

  @Test("It is told, and forgotten when it was not needed for an hour")
  func told() {
    let bench = Bench()
    let ids = (0..<4).map { _ in bench.publish(Self.relay) }
    for key in bench.inFlight.keys { bench.settle(key, .limited("rate-limited: slow down")) }
    bench.advance(milliseconds: 2_001)
    bench.settle(bench.inFlight.keys.first!, .taken(""))
    let words = ids.compactMap { bench.target($0, Self.relay) }.filter { $0.state == .pending }
    #expect(words.count == 3 && words.allSatisfy { $0.nextAttemptAt != nil && $0.message != nil })
    var quick = Bucket(perSecond: 1_000, capacity: 1_000)
    #expect(send(bench, to: &quick) == 0)
    bench.advance(milliseconds: 3_600_001)
    for _ in 0..<8 { bench.publish(Self.relay) }
    while let key = bench.inFlight.keys.first, bench.inFlight.count == 1 { bench.settle(key, .taken("")) }
    #expect(bench.inFlight.count > 1 || bench.queue.ids.allSatisfy { bench.told($0)?.state == .confirmed })
  }

  @Test(
    "A relay that others have named and nobody reaches ends within minutes; one's own is tried on",
    arguments: [true, false])
  func unreachable(isForeign: Bool) {
    let bench = Bench(seed: 1)
    let id = bench.publish(Self.relay, isForeign: isForeign)
    let start = bench.now
    for _ in 0..<20 {
      guard let key = bench.inFlight.keys.first else { break }
      bench.settle(key, .unreachable("no route to host", afterMilliseconds: nil))
      guard let due = bench.timer else { break }
      bench.advance(milliseconds: due.milliseconds(since: bench.now))
    }
    let target = bench.target(id, Self.relay)
    guard isForeign else { return #expect(target?.state != .failed) }
    #expect(target?.state == .failed && target?.attempts == bench.limits.foreignMaximum)
    #expect(target?.message?.contains("could not be reached in 8 attempts; at last: no route to host") == true)
    #expect(bench.now.milliseconds(since: start) < 600_000)
  }

  @Test("What does not leave this machine for the same reason is written down once")
  func absent() {
    let bench = Bench(seed: 1)
    let id = bench.publish(Self.relay)
    var versions: Set<UInt64?> = []
    for _ in 0..<10 {
      guard let key = bench.inFlight.keys.first else { break }
      bench.settle(key, .absent("no connector is there"))
      versions.insert(bench.queue.version(of: id))
      guard let due = bench.timer else { break }
      bench.advance(milliseconds: due.milliseconds(since: bench.now))
    }
    #expect(versions.count == 1 && bench.target(id, Self.relay)?.message == "no connector is there")
  }

  @Test("What a relay never answers ends within hours, and says why", arguments: [UInt64(1), 2, 3, 4])
  func unanswered(seed: UInt64) {
    let bench = Bench(seed: seed)
    let id = bench.publish(Self.relay)
    let start = bench.now
    while let key = bench.inFlight.keys.first {
      // A minute is what a connector has for one event.
      bench.advance(milliseconds: 60_000)
      bench.settle(key, .unsettled("no OK within 60 s"))
      guard bench.told(id)?.state == .optimistic, let due = bench.timer else { break }
      bench.advance(milliseconds: due.milliseconds(since: bench.now))
    }
    let target = bench.target(id, Self.relay)
    #expect(target?.state == .failed && target?.attempts == bench.limits.unansweredMaximum)
    #expect(target?.message?.contains("has never answered; at last: no OK within 60 s") == true)
    let hours = Double(bench.now.milliseconds(since: start)) / 3_600_000
    #expect(hours > 0.5 && hours < 8, "\(hours) hours")
  }
}
