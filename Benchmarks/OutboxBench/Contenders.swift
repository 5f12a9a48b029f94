import Clocks
import Glibc
import RelaySelection

// The choices of other clients, each as nostrability/outbox (branch bench/1yr-rebenchmark) describes it: its own
// assignment, relays that a monitor calls alive, and where a scheme has no limit of its own the 20 relays with most
// assignments. None has spares, visits or a census.

/// A way to choose relays.
protocol Contender {
  mutating func choose(_ lists: [[Int32]], _ candidates: RelayCandidates, in session: Int) -> Plan
  mutating func learn(from client: Client, in session: Int)
}

extension Contender {
  mutating func learn(from client: Client, in session: Int) {}
}

/// Authors by relay, cut to the relays with most of them.
func capped(_ assigned: [Int32: [Int32]], _ cap: Int) -> Plan {
  let order = assigned.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
  return Plan(live: order.prefix(cap).map { .init(relay: $0.key, authors: $0.value) })
}

/// How many authors declare each relay.
func popularity(_ lists: [[Int32]]) -> [Int32: Int] {
  lists.reduce(into: [:]) { counts, list in for relay in list { counts[relay, default: 0] += 1 } }
}

/// What each relay delivered, as the published Thompson variants keep it: by relay, not by pair.
struct RelayScores {
  private var shapes: [Int32: (Double, Double)] = [:]
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func draw(_ relay: Int32) -> Double {
    let (one, other) = shapes[relay] ?? (1, 1)
    let (a, b) = (gamma(one), gamma(other))
    return a / (a + b)
  }

  /// The share of each asked author's events that came from the relay, of all that came, or of all there are (oracle).
  mutating func learn(from client: Client, in session: Int, oracle: [[Int]]? = nil) {
    let world = client.world
    let end = Client.end(of: session)
    for (ask, _, _) in client.asked {
      var (one, other) = shapes[ask.relay] ?? (1, 1)
      (one, other) = (1 + (one - 1) * 0.95, 1 + (other - 1) * 0.95)
      for author in ask.authors {
        guard let slot = world.authors[Int(author)].relays.firstIndex(of: ask.relay) else { continue }
        var (had, all) = (0, 0)
        for place in world.events(of: Int(author), from: end - client.conditions.windowMinutes, to: end) {
          if client.received[place] != 0 { all += 1 }
          if client.received[place] & (1 << UInt32(slot)) != 0 { had += 1 }
        }
        if let oracle { all = oracle[Int(author)][0] }
        guard all > 0 else { continue }
        let share = min(Double(had) / Double(all), 1)
        one += share
        other += 1 - share
      }
      shapes[ask.relay] = (one, other)
    }
  }

  private mutating func gamma(_ shape: Double) -> Double {
    let d = shape - 1.0 / 3
    let c = 1 / sqrt(9 * d)
    while true {
      let normal = random.normal()
      let root = 1 + c * normal
      guard root > 0 else { continue }
      let cube = root * root * root
      if log(max(random.unit(), 0x1p-53)) < 0.5 * normal * normal + d - d * cube + d * log(cube) { return d * cube }
    }
  }
}

/// Relays of each author with the highest scores, three as Welshman and rust-nostr do, or two.
struct TopScored: Contender {
  enum Score { case stochastic, welshmanThompson, listed, listedThompson, ndk, ndkThompson }

  let score: Score
  let cap: Int
  var oracle: [[Int]]?
  private var random: SeededGenerator
  private var scores: RelayScores

  init(_ score: Score, cap: Int, seed: UInt64) {
    (self.score, self.cap) = (score, cap)
    random = SeededGenerator(seed: seed &+ 11)
    scores = RelayScores(seed: seed &+ 13)
  }

  private var perAuthor: Int { score == .ndk || score == .ndkThompson ? 2 : 3 }

  mutating func choose(_ lists: [[Int32]], _ candidates: RelayCandidates, in session: Int) -> Plan {
    let counts = popularity(lists)
    var assigned: [Int32: [Int32]] = [:]
    for (author, list) in lists.enumerated() {
      let scored = list.enumerated().map { place, relay in
        (value: value(relay, place, Double(counts[relay] ?? 1), isChosen: assigned[relay] != nil), relay: relay)
      }.sorted { ($1.value, $0.relay) < ($0.value, $1.relay) }
      for (_, relay) in scored.prefix(perAuthor) { assigned[relay, default: []].append(Int32(author)) }
    }
    return capped(assigned, cap)
  }

  private mutating func value(_ relay: Int32, _ place: Int, _ authors: Double, isChosen: Bool) -> Double {
    switch score {
    case .stochastic: (1 + log(authors)) * random.unit()
    case .welshmanThompson: (1 + log(authors)) * scores.draw(relay)
    case .listed: -Double(place)
    case .listedThompson: scores.draw(relay)
    case .ndk: (isChosen ? 1e6 : 0) + authors
    case .ndkThompson: (1 + log(authors)) * scores.draw(relay) * (isChosen ? 1.5 : 1)
    }
  }

  mutating func learn(from client: Client, in session: Int) {
    switch score {
    case .welshmanThompson, .listedThompson, .ndkThompson: scores.learn(from: client, in: session, oracle: oracle)
    default: break
    }
  }
}

/// Always the relay that most authors need who have fewer than two (gossip, applesauce, the Damus plan).
struct GreedyCover: Contender {
  let cap: Int

  mutating func choose(_ lists: [[Int32]], _ candidates: RelayCandidates, in session: Int) -> Plan {
    var needed = lists.map { min(2, $0.count) }
    var authors: [Int32: [Int32]] = [:]
    for (author, list) in lists.enumerated() { for relay in list { authors[relay, default: []].append(Int32(author)) } }
    var plan = Plan()
    while plan.live.count < cap {
      let open = authors.mapValues { $0.filter { needed[Int($0)] > 0 } }.filter { !$0.value.isEmpty }
      guard let best = open.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) }) else { break }
      for author in best.value { needed[Int(author)] -= 1 }
      authors[best.key] = nil
      plan.live.append(.init(relay: best.key, authors: best.value))
    }
    return plan
  }
}

/// Roost's own choice.
struct Own: Contender {
  var selector: RelaySelector
  let budget: SelectionBudget
  /// Whether relays that a monitor calls dead are left out without learning.
  var knowsMonitors = true

  init(_ mode: SelectionMode, _ budget: SelectionBudget, seed: UInt64) {
    selector = RelaySelector(mode: mode, seed: seed)
    self.budget = budget
  }

  mutating func choose(_ lists: [[Int32]], _ candidates: RelayCandidates, in session: Int) -> Plan {
    var candidates = candidates
    // Asked for relays that monitors call alive only, as the others are, when it is to be compared without extras
    if selector.mode != .learned, knowsMonitors {
      var listed = RelayCandidates(relayCount: candidates.relayCount)
      for (author, list) in lists.enumerated() { listed.add(Int32(author), list) }
      candidates = listed
    }
    let chosen = selector.select(candidates, budget: budget, at: Int64(session) * Int64(World.week))
    return Plan(live: chosen.live, spares: chosen.spares, visits: chosen.visits)
  }

  mutating func learn(from client: Client, in session: Int) {
    guard selector.mode == .learned else { return }
    learn(from: client, until: Client.end(of: session), back: client.conditions.windowMinutes)
  }

  /// From what a client received in a time, and nothing else.
  mutating func learn(from client: Client, until end: Int32, back: Int32) {
    let minute = Int64(end)
    for (relay, answered) in client.answered.sorted(by: { $0.key < $1.key }) {
      let truth = client.world.relays[Int(relay)]
      let latency = Int(truth.connectMilliseconds + truth.queryMilliseconds)
      selector.beliefs.learn(
        ReachReport(relay: relay, minute: minute, answered: answered, latencyMilliseconds: answered ? latency : nil))
    }
    var asked = client.world.authors.map { _ in [Int32]() }
    for (ask, _, _) in client.asked { for author in ask.authors { asked[Int(author)].append(ask.relay) } }
    for (author, relays) in asked.enumerated() where !relays.isEmpty {
      let range = client.world.events(of: author, from: end - back, to: end)
      for relay in relays { learn(relay, author, client, range, minute) }
    }
    for (author, relays) in asked.enumerated() where !relays.isEmpty {
      let range = client.world.events(of: author, from: end - back, to: end)
      var missing = 1.0
      for relay in relays {
        missing *= 1 - selector.beliefs.delivery(of: relay, for: Int32(author), at: minute)
      }
      selector.beliefs.learn(
        PostingReport(
          author: Int32(author), minute: minute, events: range.count { client.received[$0] != 0 },
          observedMinutes: Double(back) * (1 - missing)))
    }
  }

  private mutating func learn(_ relay: Int32, _ author: Int, _ client: Client, _ range: Range<Int>, _ minute: Int64) {
    guard let slot = client.world.authors[author].relays.firstIndex(of: relay) else { return }
    let bit = UInt32(1) << UInt32(slot)
    var (had, known) = (0, 0)
    for place in range where client.received[place] & ~bit != 0 {
      known += 1
      if client.received[place] & bit != 0 { had += 1 }
    }
    selector.beliefs.learn(
      DeliveryReport(relay: relay, author: Int32(author), minute: minute, had: had, known: known))
  }
}
