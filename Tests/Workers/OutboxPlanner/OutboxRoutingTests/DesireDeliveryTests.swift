import Addresses
import Clocks
import Contracts
import Frames
import Nostr
import OutboxRouting
import Testing

@Suite("How connectors hear of wishes, and observers of progress")
struct DesireDeliveryTests {
  private func bench(_ relays: [String] = ["wss://a.org", "wss://b.org"]) -> InterestBench {
    InterestBench(.sample([], relays: relays.map { .configured($0) }))
  }

  // MARK: Versions

  @Test("A connector is sent all at first, then what has changed, and the next only when it has answered")
  func differences() throws {
    let bench = bench(["wss://a.org"])
    _ = try bench.interest(kind: 1)
    bench.pack()
    let first = try #require(bench.nextDesire(for: "main"))
    #expect(first.base == nil && first.generation == 7 && first.changed.count == 1)
    var next = bench.nextDesire(for: "main")
    #expect(next == nil)
    bench.set.desireTaken(by: "main", version: first.version)
    next = bench.nextDesire(for: "main")
    #expect(next == nil, "it has all")
    next = bench.nextDesire(for: "others")
    #expect(next == nil, "it has nothing to do, and nothing to forget")
    let second = try bench.interest(kind: 2)
    bench.end(second)
    _ = try bench.interest(kind: 3)
    bench.pack()
    let difference = try #require(bench.nextDesire(for: "main"))
    #expect(difference.base == first.version && difference.version > first.version && difference.changed.count == 1)
    bench.set.desireTaken(by: "main", version: first.version)
    bench.set.desireFailed(at: "main", version: difference.version)
    let whole = try #require(bench.nextDesire(for: "main"))
    #expect(whole.base == nil && whole.changed.count == 2 && whole.version > difference.version)
  }

  @Test("A connector with the wishes of another life is told all, also that there is nothing")
  func otherLife() throws {
    let bench = bench(["wss://a.org"])
    bench.connectors["main"] = InterestBench.Connector(generation: 6, version: 40)
    bench.follow("main")
    let desire = try #require(bench.nextDesire(for: "main"))
    #expect(desire.base == nil && desire.changed.isEmpty)
  }

  @Test("A connector that has kept the wishes is sent the difference after a new beginning; a new one is sent all")
  func following() throws {
    let bench = bench(["wss://a.org"])
    _ = try bench.interest(kind: 1)
    bench.settle()
    bench.set.followEnded(of: "main")
    _ = try bench.interest(kind: 2)
    bench.settle()
    #expect(bench.opened.count == 1, "nobody listens")
    bench.follow("main")
    let difference = bench.nextDesire(for: "main")
    #expect(difference?.base != nil && difference?.changed.count == 1)
    bench.connectors["main"] = InterestBench.Connector()
    bench.follow("main")
    bench.deliver()
    #expect(bench.standing.count == 2)
  }

  @Test("A message whose answer was lost counts as taken when the connector has its version")
  func lostAnswer() throws {
    let bench = bench(["wss://a.org"])
    _ = try bench.interest(kind: 1)
    bench.pack()
    let desire = try #require(bench.nextDesire(for: "main"))
    let isTaken = bench.take(desire, "main")
    #expect(isTaken)
    bench.set.followEnded(of: "main")
    bench.follow("main")
    let next = bench.nextDesire(for: "main")
    #expect(next == nil)
  }

  @Test("What does not fit into a frame comes as several messages")
  func chunks() throws {
    let bench = bench(["wss://a.org"])
    bench.set = DesiredSubscriptions(generation: 7, frameLimit: 64 << 10)
    bench.follow("main")
    bench.set.replan(in: bench.directory, at: bench.now, wall: bench.wall)
    for number in 0..<8 as Range<UInt16> {
      let authors = (0..<300).map { Someone("\(number)-\($0)").key }
      _ = try bench.interest(InterestBench.observe([Filter(authors: authors)]))
    }
    bench.pack()
    var messages = 0
    while let desire = bench.nextDesire(for: "main") {
      #expect(JSONPayload.encode(desire).count < 64 << 10)
      let isTaken = bench.take(desire, "main")
      #expect(isTaken)
      bench.set.desireTaken(by: "main", version: desire.version)
      messages += 1
    }
    let authors = bench.standing.flatMap(\.filters).reduce(0) { count, filter in
      if case .array(let authors)? = filter["authors"] { count + authors.count } else { count }
    }
    #expect(messages > 2 && authors == 8 * 300)
    let huge = try bench.interest(InterestBench.observe([Filter(authors: (0..<1_000).map { Someone("h\($0)").key })]))
    bench.settle()
    #expect(bench.progress(of: huge).relays[0].reason?.contains("more than a frame") == true)
  }

  // MARK: Progress

  @Test("An observe is complete when each relay has sent what it had, has refused, or could not be reached")
  func completeness() throws {
    let bench = bench(["wss://a.org", "wss://b.org", "wss://c.org"])
    let key = try bench.interest(kind: 1)
    #expect(bench.changes() == [key])
    bench.settle()
    #expect(bench.progress(of: key).relays.map(\.state) == [.waiting, .waiting, .waiting])
    bench.report(.asked, of: bench.standing[0])
    bench.report(.stored, of: bench.standing[0], events: 5)
    bench.report(.refused, of: bench.standing[1], reason: "restricted: no")
    #expect(bench.changes() == [key] && !bench.progress(of: key).isComplete)
    var relay = RelayStates.Relay(relay: "wss://c.org", state: "connecting")
    bench.set.reported("main", RelayReport(isWhole: false, relays: [relay]), at: bench.now)
    #expect(!bench.progress(of: key).isComplete, "the first attempt is under way")
    (relay.state, relay.reason) = ("waiting", "no such host")
    bench.set.reported("main", RelayReport(isWhole: false, relays: [relay]), at: bench.now)
    let progress = bench.progress(of: key)
    #expect(progress.isComplete && progress.isObserved && bench.changes() == [key])
    #expect(progress.relays.map(\.state) == [.stored, .refused, .waiting] && progress.relays[0].events == 5)
    #expect(progress.relays.map(\.reason) == [nil, "restricted: no", "no such host"])
    #expect(bench.fetches().isEmpty, "not all have sent what they had")
    #expect(bench.set.progress(of: "nothing") == nil)
  }

  @Test("The store is told once when all relays have sent what they had, with the time when it was planned")
  func fetched() throws {
    let bench = bench()
    let observe = InterestBench.observe([Filter(kinds: [1])], relays: ["wss://b.org"])
    _ = try bench.interest(observe)
    let planned = bench.wall
    bench.settle(milliseconds: 5_000)
    bench.report(.stored, of: bench.standing[0])
    #expect(bench.fetches().isEmpty)
    bench.report(.stored, of: bench.standing[1])
    bench.report(.stored, of: bench.standing[1])
    let told = bench.fetches()
    #expect(told.count == 1 && told[0].at == planned && told[0].filters == observe.filters)
    #expect(told[0].relays == ["wss://b.org"])
    bench.wall += 60
    bench.end(observe.key)
    #expect(bench.fetches().map(\.at) == [bench.wall], "up to its end all has come")
  }

  @Test("Nothing is complete before it is known where everything goes")
  func settling() throws {
    let bench = bench(["wss://a.org"])
    bench.set = DesiredSubscriptions(generation: 7, frameLimit: 1 << 20)
    bench.follow("main")
    let key = try bench.interest(kind: 1)
    bench.settle()
    bench.storeAll()
    #expect(!bench.progress(of: key).isComplete && bench.fetches().isEmpty)
    _ = bench.changes()
    bench.set.settled()
    #expect(bench.progress(of: key).isComplete && bench.fetches().count == 1 && bench.changes() == [key])
  }

  @Test("Of exclusive relays, and of the planner's own wishes, the store is told nothing")
  func notFetched() throws {
    let bench = bench()
    _ = try bench.interest(InterestBench.observe([Filter(kinds: [1])], relays: ["wss://b.org"], isExclusive: true))
    bench.set.wished(Interest(own: "lists", [Filter(kinds: [0])]), in: bench.directory, at: bench.now, wall: bench.wall)
    bench.settle()
    bench.storeAll()
    #expect(bench.fetches().isEmpty && bench.set.observeCount == 1 && bench.set.requestCount == 2)
  }

  @Test("Whoever joins what is asked already is complete at once, unless the connection is down")
  func joining() throws {
    let bench = bench(["wss://a.org"])
    _ = try bench.interest(kind: 1)
    bench.settle()
    bench.storeAll()
    _ = bench.fetches()
    let second = try bench.interest(InterestBench.observe([Filter(kinds: [1])], relays: ["wss://a.org"]))
    #expect(bench.progress(of: second).isComplete && bench.fetches().count == 1)
    bench.report(.waiting, of: bench.standing[0])
    bench.directory.connectorReported(
      "main", [.configured("wss://b.org", reads: false)], isWhole: false, dialsOthers: false)
    let third = try bench.interest(InterestBench.observe([Filter(kinds: [1])], relays: ["wss://b.org", "wss://a.org"]))
    #expect(!bench.progress(of: third).isComplete)
  }
}
