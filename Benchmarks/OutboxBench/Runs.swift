import RelaySelection

/// A row of the table: a way to choose, and whether it has what others do not have.
struct Entry: Sendable {
  let name: String
  var hasCensus = false
  /// The number of relays of the oracle that it is measured by.
  let oracleCount: Int
  let make: @Sendable (UInt64) -> any Contender

  static let all: [Entry] = [
    Entry(name: "learned, full", hasCensus: true, oracleCount: 40) {
      Own(.learned, SelectionBudget(live: 20, visits: 20, spares: 20), seed: $0)
    },
    Entry(name: "learned, no census", oracleCount: 40) {
      Own(.learned, SelectionBudget(live: 20, visits: 20, spares: 20), seed: $0)
    },
    Entry(name: "learned, 20 alone", oracleCount: 20) { Own(.learned, SelectionBudget(live: 20), seed: $0) },
    Entry(name: "learned, 20 and census", hasCensus: true, oracleCount: 20) {
      Own(.learned, SelectionBudget(live: 20, spares: 20), seed: $0)
    },
    Entry(name: "learned, planner's share", hasCensus: true, oracleCount: 32) {
      Own(.learned, SelectionBudget(live: 12, visits: 20, spares: 12), seed: $0)
    },
    Entry(name: "direct", oracleCount: 20) { Own(.direct, SelectionBudget(live: 20), seed: $0) },
    Entry(name: "greedy (seed, 8)", oracleCount: 20) { Own(.greedy, SelectionBudget(live: 20), seed: $0) },
    Entry(name: "greedy set cover", oracleCount: 20) { _ in GreedyCover(cap: 20) },
    Entry(name: "NDK priority", oracleCount: 20) { TopScored(.ndk, cap: 20, seed: $0) },
    Entry(name: "filter decomposition", oracleCount: 20) { TopScored(.listed, cap: 20, seed: $0) },
    Entry(name: "Welshman stochastic", oracleCount: 20) { TopScored(.stochastic, cap: 20, seed: $0) },
    Entry(name: "Welshman + Thompson", oracleCount: 20) { TopScored(.welshmanThompson, cap: 20, seed: $0) },
  ]
}

/// All sessions of all entries in one world and window.
struct Run: Sendable {
  let world: World
  let seed: UInt64
  let windowMinutes: Int32
  var isPaging = true

  static let oracleCounts = [20, 32, 40]

  /// The scores, by entry and session.
  func play(_ entries: [Entry]) -> [[Score]] {
    let conditions = Conditions(windowMinutes: windowMinutes, isPaging: isPaging)
    var client = Client(world, conditions)
    let oracles = (0..<World.sessions).map { Oracle(client, in: $0).recalls(Self.oracleCounts, in: $0) }
    return entries.map { entry in
      client.restart()
      var contender = entry.make(seed)
      if entry.hasCensus, var own = contender as? Own {
        client.playCensus(RelayCensus.plan(candidates(at: 0).all), days: 28)
        own.learn(from: client, until: 0, back: 28 * 1_440)
        contender = own
      }
      return (0..<World.sessions).map { session in
        let (listed, all) = candidates(at: Int32(session) * World.week)
        client.play(contender.choose(listed, all, in: session), in: session)
        contender.learn(from: client, in: session)
        var score = client.score(in: session)
        let oracle = oracles[session][Self.oracleCounts.firstIndex(of: entry.oracleCount) ?? 0]
        score.ofOracle = oracle > 0 ? score.recall / oracle : 1
        return score
      }
    }
  }

  /// The lists at a time: only relays that a monitor calls alive, and all.
  func candidates(at minute: Int32) -> (listed: [[Int32]], all: RelayCandidates) {
    var all = RelayCandidates(relayCount: world.relays.count)
    all.alive = world.relays.map(\.isListed)
    var listed: [[Int32]] = []
    for author in world.authors.indices {
      let list = world.list(of: author, at: minute)
      all.add(Int32(author), list)
      listed.append(list.filter { world.relays[Int($0)].isListed })
    }
    return (listed, all)
  }

  /// The published conditions, to see whether the published order comes out: 500 events a REQ, no paging, 50 authors a
  /// REQ, no outages, a year, five sessions over the same time, and feedback that knows what all relays have.
  func gate() -> [(name: String, recall: Double)] {
    var client = Client(
      world, Conditions(windowMinutes: World.year, isPaging: false, hasOutages: false, resultMaximum: 500))
    let (listed, all) = candidates(at: 0)
    let relays = popularity(listed).keys.sorted()
    let everything = relays.map { relay in
      RelayAssignment.Ask(
        relay: relay, authors: listed.indices.filter { listed[$0].contains(relay) }.map { Int32($0) })
    }
    client.play(Plan(live: everything), in: 0)
    let baseline = client.received.map { $0 != 0 }
    let counts = world.authors.map { author in [author.events.count { baseline[$0] }] }
    func recall() -> Double {
      var (found, held) = (0, 0)
      for place in baseline.indices where baseline[place] {
        held += 1
        if client.received[place] != 0 { found += 1 }
      }
      return Double(found) / Double(max(1, held))
    }
    let kinds: [(String, TopScored.Score)] = [
      ("Welshman + Thompson", .welshmanThompson), ("filter decomposition + Thompson", .listedThompson),
      ("NDK + Thompson", .ndkThompson), ("Welshman stochastic", .stochastic), ("filter decomposition", .listed),
      ("NDK priority", .ndk),
    ]
    var result: [(String, Double)] = kinds.map { name, kind in
      var contender = TopScored(kind, cap: 20, seed: seed)
      contender.oracle = counts
      for _ in 0..<5 {
        client.play(contender.choose(listed, all, in: 0), in: 0)
        contender.learn(from: client, in: 0)
      }
      return (name, recall())
    }
    var greedy = GreedyCover(cap: 20)
    client.play(greedy.choose(listed, all, in: 0), in: 0)
    result.append(("greedy set cover", recall()))
    client.play(Plan(live: everything.filter { $0.relay < 2 }), in: 0)
    result.append(("two largest relays", recall()))
    client.playAggregator(in: 0)
    result.append(("aggregator", recall()))
    return result
  }
}
