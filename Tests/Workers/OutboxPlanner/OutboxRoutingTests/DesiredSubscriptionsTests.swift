import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import NostrContracts
import OutboxRouting
import TestSupport
import Testing

@Suite("What is wished of relays")
struct DesiredSubscriptionsTests {
  private static let hubs = ["wss://a.org", "wss://b.org"]

  private func bench(_ relays: [String] = hubs) -> InterestBench {
    InterestBench(.sample([], relays: relays.map { .configured($0) }))
  }

  /// The kinds of all filters of these REQs.
  private func kinds(of requests: [DesiredSubscription]) -> Set<JSONValue> {
    Set(
      requests.flatMap(\.filters).flatMap { filter -> [JSONValue] in
        if case .array(let kinds)? = filter["kinds"] { kinds } else { [] }
      })
  }

  private func kinds(_ numbers: some Sequence<Int>) -> Set<JSONValue> { Set(numbers.map { .integer(Int64($0)) }) }

  // MARK: Gathering and sharing

  @Test("What comes within 100 ms is one REQ at each relay, and not before the time is over")
  func gathering() throws {
    let bench = bench()
    for kind in 1...5 as ClosedRange<UInt16> { _ = try bench.interest(kind: kind) }
    bench.settle(milliseconds: 99)
    #expect(bench.standing.isEmpty && bench.set.deadline == bench.now.advanced(milliseconds: 1))
    bench.settle(milliseconds: 1)
    #expect(bench.standing.map(\.relay) == Self.hubs && bench.standing.map(\.filters.count) == [1, 1])
    #expect(bench.standing.allSatisfy { kinds(of: [$0]) == kinds(1...5) }, "filters that differ in one condition merge")
    #expect(bench.standing.allSatisfy { $0.isLive && $0.isForeign == nil } && bench.set.deadline == nil)
    #expect(Set(bench.standing.map(\.key)).count == 2, "keys are of all relays")
  }

  @Test("A REQ has ten filters at most, and a wish that has more goes alone")
  func packSize() throws {
    let bench = bench(["wss://a.org"])
    // The newest five of each kind: such filters do not merge.
    for kind in 1...15 as ClosedRange<UInt16> {
      _ = try bench.interest(InterestBench.observe([Filter(kinds: [kind], limit: 5)]))
    }
    _ = try bench.interest(InterestBench.observe((100..<112).map { Filter(kinds: [$0], limit: 5) }))
    bench.settle()
    #expect(bench.standing.map(\.filters.count) == [5, 10, 12])
  }

  @Test("Who wishes the same shares one REQ, and it is closed with the last of them")
  func sharing() throws {
    let bench = bench(["wss://a.org"])
    let first = try bench.interest(kind: 1)
    bench.settle()
    // The same question, named otherwise: other relays are asked besides.
    let second = try bench.interest(InterestBench.observe([Filter(kinds: [1])], relays: ["wss://c.org"]))
    bench.settle()
    #expect(bench.opened.map(\.relay) == ["wss://a.org", "wss://c.org"])
    bench.end(first)
    bench.settle()
    #expect(bench.standing.count == 2)
    bench.end(second)
    bench.settle()
    #expect(bench.standing.isEmpty && bench.opened.count == 2)
  }

  @Test("What comes and goes within the time of gathering is never asked, and what goes and comes again stays")
  func flicker() throws {
    let bench = bench(["wss://a.org"])
    bench.end(try bench.interest(kind: 1))
    bench.settle()
    #expect(bench.opened.isEmpty)
    let key = try bench.interest(kind: 2)
    bench.settle()
    bench.end(key)
    _ = try bench.interest(kind: 2)
    bench.settle()
    #expect(bench.opened.count == 1 && bench.standing.count == 1)
  }

  @Test("Whoever wants what relays have, whatever is here, gets a REQ that no other stands in for")
  func fresh() throws {
    let bench = bench(["wss://a.org"])
    _ = try bench.interest(kind: 1)
    bench.settle()
    bench.storeAll()
    let fresh = try bench.interest(InterestBench.observe([Filter(kinds: [1])], .networkOnly))
    bench.settle()
    #expect(bench.standing.count == 2)
    bench.end(fresh)
    _ = try bench.interest(InterestBench.observe([Filter(kinds: [1])], .networkOnly))
    bench.settle()
    #expect(bench.opened.count == 3 && bench.standing.count == 2)
  }

  @Test("What wants nothing of the network is no wish")
  func cacheOnly() {
    #expect(Interest(InterestBench.observe([Filter(kinds: [1])], .cacheOnly)) == nil)
    var known = InterestBench.observe([Filter(kinds: [1])])
    known.needsNetwork = false
    #expect(Interest(known) == nil)
  }

  // MARK: Leaving a pack

  @Test("When one wish leaves a REQ, the others move when they have what was stored, and do not ask for it again")
  func leaving() throws {
    let bench = bench(["wss://a.org"])
    let keys = try (1...3).map { try bench.interest(kind: UInt16($0)) }
    bench.settle()
    bench.end(keys[1])
    bench.settle()
    #expect(bench.opened.count == 1, "the relay has not sent what it has: a new REQ would begin at the beginning")
    bench.storeAll()
    bench.settle()
    #expect(bench.opened.count == 2 && bench.standing.count == 1)
    let since = JSONValue.integer(bench.wall - DesiredSubscriptions.overlapSeconds)
    #expect(bench.standing[0].filters.map { $0["since"] } == [since])
    #expect(kinds(of: bench.standing) == kinds([1, 3]))
    #expect(bench.progress(of: keys[0]).isComplete, "what it had it still has")
  }

  @Test("Gift wraps are dated back, so those who move ask for two days more; single events are asked for as before")
  func backdating() throws {
    let bench = bench(["wss://a.org"])
    let id = EventID(SHA256.hash([1]))
    _ = try bench.interest(InterestBench.observe([Filter(kinds: [GiftWrap.kind]), Filter(ids: [id])]))
    let other = try bench.interest(kind: 1)
    bench.settle()
    bench.storeAll()
    bench.end(other)
    bench.settle()
    let since = bench.wall - DesiredSubscriptions.overlapSeconds - GiftWrap.backdatingMaximumSeconds
    #expect(bench.standing[0].filters.contains { $0["since"] == .integer(max(0, since)) })
    #expect(bench.standing[0].filters.contains { $0["ids"] != nil && $0["since"] == nil })
  }

  @Test("A question whose time is over is not asked again when it would move")
  func pastQuestions() throws {
    let bench = bench(["wss://a.org"])
    let past = try bench.interest(InterestBench.observe([Filter(kinds: [1], until: 1_000)]))
    let other = try bench.interest(kind: 2)
    bench.settle()
    bench.storeAll()
    bench.end(other)
    bench.settle()
    #expect(bench.standing.isEmpty && bench.opened.count == 1)
    #expect(bench.progress(of: past).relays.map(\.state) == [.stored])
  }

  @Test("A REQ that a relay refuses is taken apart, so that one wish does not cost the others theirs")
  func refusal() throws {
    let bench = bench(["wss://a.org"])
    let keys = try (1...3).map { try bench.interest(kind: UInt16($0)) }
    bench.settle()
    bench.report(.refused, of: bench.standing[0], reason: "unsupported: kind 2")
    #expect(!bench.progress(of: keys[0]).isComplete, "it is asked again by itself")
    bench.settle()
    #expect(bench.standing.map(\.filters.count) == [1, 1, 1])
    for request in bench.standing {
      let isBad = request.filters[0]["kinds"] == .array([.integer(2)])
      bench.report(isBad ? .refused : .stored, of: request, reason: isBad ? "unsupported: kind 2" : nil)
    }
    bench.settle(milliseconds: 10_000)
    #expect(bench.opened.count == 4, "what is refused alone is not asked again")
    #expect(keys.allSatisfy { bench.progress(of: $0).isComplete })
    #expect(bench.progress(of: keys[1]).relays[0].reason == "unsupported: kind 2")
  }

  @Test("A relay with many small REQs gets few large ones once it has answered them")
  func thinningOut() throws {
    let bench = bench(["wss://a.org"])
    let target = DesiredSubscriptions.assumedSlots - DesiredSubscriptions.sparedSlots
    for kind in 1...40 as ClosedRange<UInt16> {
      _ = try bench.interest(kind: kind)
      bench.settle()
      bench.storeAll()
      #expect(bench.standing.count <= target + 1)
    }
    bench.settle()
    #expect(kinds(of: bench.standing) == kinds(1...40))
    #expect(bench.standing.count <= target + 1, "the newest is by itself until then")
  }

  @Test("A relay that reports few subscriptions has no more REQs than it allows, without two for other work")
  func fewSlots() throws {
    let bench = bench(["wss://a.org"])
    var relay = RelayStates.Relay(relay: "wss://a.org", state: .open)
    relay.subscriptionMaximum = 5
    bench.set.reported("main", RelayReport(isWhole: false, relays: [relay]), at: bench.now)
    for kind in 1...30 as ClosedRange<UInt16> {
      _ = try bench.interest(InterestBench.observe([Filter(kinds: [kind], limit: 5)]))
      bench.settle()
      bench.storeAll()
    }
    bench.settle()
    #expect(bench.standing.count <= 4 && kinds(of: bench.standing) == kinds(1...30))
  }

  @Test("A refusal for the relay's own reasons takes no REQ apart")
  func aboutRelay() throws {
    let bench = bench(["wss://a.org"])
    for kind in 1...10 as ClosedRange<UInt16> { _ = try bench.interest(kind: kind) }
    bench.settle()
    let request = try #require(bench.standing.first)
    let report = RequestReport(
      key: request.key, relay: request.relay, state: .refused, reason: "rate-limited: too many", isAboutRelay: true)
    bench.set.reported("main", RelayReport(isWhole: false, requests: [report]), at: bench.now)
    bench.settle()
    #expect(bench.standing == [request])
  }

  // MARK: Routes that change

  @Test("A relay that is added later is asked as well, and one that is gone no more")
  func replanning() throws {
    let bench = bench()
    let key = try bench.interest(kind: 1)
    bench.settle()
    bench.storeAll()
    #expect(bench.fetches().count == 1)
    bench.directory.connectorReported(
      "main", [.configured("wss://b.org"), .configured("wss://c.org")], isWhole: true, dialsOthers: false)
    bench.set.replan(in: bench.directory, at: bench.now, wall: bench.wall)
    bench.settle()
    #expect(bench.standing.map(\.relay) == ["wss://b.org", "wss://c.org"] && bench.opened.count == 3)
    #expect(!bench.progress(of: key).isComplete && bench.fetches().isEmpty)
    bench.storeAll()
    #expect(bench.progress(of: key).isComplete && bench.fetches().count == 1)
  }

  @Test("A relay that moves to another worker is asked there, from where it was")
  func moving() throws {
    let bench = bench(["wss://a.org"])
    _ = try bench.interest(InterestBench.observe([Filter(kinds: [1])], relays: ["wss://c.org"], isExclusive: true))
    bench.settle()
    bench.storeAll()
    #expect(bench.connectors["others"]?.requests.count == 1)
    bench.directory.connectorReported(
      "main", [.configured("wss://c.org", reads: false)], isWhole: false, dialsOthers: false)
    bench.set.replan(in: bench.directory, at: bench.now, wall: bench.wall)
    bench.settle()
    #expect(bench.connectors["others"]?.requests.isEmpty == true && bench.connectors["main"]?.requests.count == 1)
    #expect(bench.standing[0].filters[0]["since"] != nil)
  }

  // MARK: Relays outside the groups

  @Test("A connector is asked for so many relays outside the groups at most; further demands wait, with the reason")
  func outside() throws {
    let bench = bench([])
    let count = RelayDesire.otherRelayMaximum
    let keys = try (0..<count + 2).map {
      try bench.interest(InterestBench.observe([Filter(kinds: [1])], relays: ["wss://\($0).org"], isExclusive: true))
    }
    bench.settle()
    #expect(bench.standing.count == count)
    let waiting = keys.map { bench.progress(of: $0).relays[0] }.filter { $0.reason != nil }
    #expect(waiting.count == 2 && waiting.allSatisfy { $0.state == .waiting })
    #expect(waiting.allSatisfy { $0.reason == "512 relays outside the groups of supervisor.conf are wanted already" })
    for key in keys.prefix(2) { bench.end(key) }
    bench.settle()
    #expect(bench.standing.count == count)
  }

  @Test("An observer waits for a relay that its connector will dial, and not for one that cannot be reached")
  func overBudget() throws {
    let bench = bench([])
    let key = try bench.interest(
      InterestBench.observe([Filter(kinds: [1])], relays: ["wss://a.org"], isExclusive: true))
    bench.settle()
    var relay = RelayStates.Relay(relay: "wss://a.org", state: .waiting)
    relay.reason = "12 new relays were dialled within the last minute, which is the budget"
    relay.waitsForBudget = true
    bench.set.reported("others", RelayReport(isWhole: false, relays: [relay]), at: bench.now)
    #expect(!bench.progress(of: key).isComplete)
    relay.waitsForBudget = nil
    bench.set.reported("others", RelayReport(isWhole: false, relays: [relay]), at: bench.now)
    #expect(bench.progress(of: key).isComplete)
  }

  // MARK: Random

  @Test(
    "Whatever happens, each wish is asked at each of its relays, by keys that ask the same for ever", arguments: 1...20)
  func random(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bench = bench()
    var live: [String: UInt16] = [:]
    for step in 0..<200 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        let kind = UInt16.random(in: 1...40, using: &generator)
        live[try bench.interest(kind: kind)] = kind
      case 4..<6:
        guard let key = live.keys.sorted().randomElement(using: &generator) else { continue }
        live[key] = nil
        bench.end(key)
      case 6:
        if let request = bench.standing.randomElement(using: &generator) {
          bench.report(.refused, of: request, reason: "no")
        }
      case 7:
        // The connector dies and comes back with nothing.
        bench.connectors["main"] = InterestBench.Connector()
        bench.set.followEnded(of: "main")
        bench.follow("main")
      case 8:
        bench.pack()
        if let desire = bench.nextDesire(for: "main") {
          bench.set.desireFailed(at: "main", version: desire.version)
        }
      default: bench.storeAll()
      }
      bench.settle(milliseconds: UInt64.random(in: 0...200, using: &generator))
      #expect(bench.standing.count <= 60, "seed \(seed), step \(step)")
    }
    // Twice: those that move wait until they were answered.
    for _ in 0..<3 {
      bench.settle()
      bench.storeAll()
    }
    for relay in Self.hubs {
      let asked = kinds(of: bench.standing.filter { $0.relay == relay })
      #expect(asked == kinds(live.values.map(Int.init)), "seed \(seed)")
    }
    for key in live.keys { #expect(bench.progress(of: key).isComplete, "seed \(seed)") }
  }

  @Test("Nobody waits for what a relay has stored while it is left alone", arguments: ["waiting", "quarantined"])
  func leftAlone(state: RelayStateWord) throws {
    let bench = bench(["wss://a.org"])
    let key = try bench.interest(kind: 1)
    bench.settle()
    #expect(!bench.progress(of: key).isComplete)
    var relay = RelayStates.Relay(relay: "wss://a.org", state: state)
    (relay.isConfigured, relay.reads, relay.writes, relay.reason) = (true, true, true, "it is not dialled")
    bench.set.reported("main", RelayReport(isWhole: false, relays: [relay]), at: bench.now)
    let progress = bench.progress(of: key)
    #expect(progress.isComplete && progress.relays.map(\.reason) == ["it is not dialled"])
  }

  @Test("Nobody waits for what a relay has stored once its EOSE is overdue, but it is here when it comes")
  func overdue() throws {
    let bench = bench(["wss://a.org"])
    let key = try bench.interest(kind: 1)
    bench.settle()
    bench.report(.asked, of: bench.standing[0])
    #expect(!bench.progress(of: key).isComplete)
    bench.report(.asked, of: bench.standing[0], reason: "it has sent nothing")
    let progress = bench.progress(of: key)
    #expect(progress.isComplete && progress.relays.map(\.reason) == ["it has sent nothing"])
    #expect(bench.fetches().isEmpty)
    bench.report(.stored, of: bench.standing[0])
    #expect(bench.progress(of: key).isComplete && bench.fetches().count == 1)
  }
}
