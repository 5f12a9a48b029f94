internal import Clocks
internal import Glibc

// By expected events. A set S of relays is worth
//
//     Σ_a v_a · [1 − Π_{r ∈ S declared by a} (1 − u_r·θ_ra)]
//
// with v_a the events that author a posts, u_r the chance that relay r answers, and θ_ra the share of a's events that
// r has. The worth of one more relay only falls when S grows, so a lazy greedy choice finds a set that is worth at
// least 63 % of the best one. First the relays that stay open, by the means of the beliefs. Then the visits, most of
// them by values drawn from the beliefs (Thompson), so that relays about which little is known are tried as often as
// they may be the best; the rest for the authors of whom nothing is expected yet, by their chance of posting at all.
// Then the spares.

extension RelaySelector {
  /// The share of the open relays that is drawn when there are no visits.
  static let rotatingShare = 0.2
  /// The share of the visits that serves authors of whom nothing is expected yet.
  static let uncoveredShare = 0.25
  /// How much more a relay counts that was open before: no dial, and nothing to send twice.
  static let openBonus = 1.03
  /// The weight of latency for one author; it fades with their number, because with many authors the relays that have
  /// most events are worth a wait.
  static let latencyWeight = 0.2
  static let latencyAuthorMaximum = 500.0
  /// NIP-66 is not believed when it calls more than this share of the relays dead.
  static let deadShareMaximum = 0.8
  /// Authors without a relay that answers are asked for at this many of the largest relays.
  static let largestCount = 5

  func learned(
    _ candidates: RelayCandidates, _ index: RelayIndex, _ budget: SelectionBudget, at minute: Int64
  ) -> RelayAssignment {
    var worth = ExpectedEvents(self, candidates, index, at: minute)
    let latency = latencyDiscounts(candidates)
    let rotating = budget.visits > 0 ? 0 : Int(Double(budget.live) * Self.rotatingShare)
    var live = worth.take(budget.live - rotating, favouring: isOpen, latency: latency)
    worth.draw(seed: seed &+ round &* 0x9E37_79B9_7F4A_7C15)
    live += worth.take(rotating, latency: latency)
    let forUncovered = Int((Double(budget.visits) * Self.uncoveredShare).rounded())
    var visits = worth.take(budget.visits - forUncovered)
    worth.countAuthorsAlike()
    visits += worth.take(budget.visits - visits.count)
    worth.expectMeans()
    let spares = worth.take(budget.spares)
    func asks(_ relays: [Int32]) -> [RelayAssignment.Ask] {
      relays.map { RelayAssignment.Ask(relay: $0, authors: index.authors(of: $0, in: candidates)) }
    }
    var result = RelayAssignment()
    (result.live, result.visits, result.spares) = (asks(live), asks(visits), asks(spares))
    addAuthorsWithoutRelay(candidates, worth, &result)
    return result
  }

  /// Who declares no relay that is likely to answer is asked for at the largest relays, where most people's events are.
  private func addAuthorsWithoutRelay(
    _ candidates: RelayCandidates, _ worth: ExpectedEvents, _ result: inout RelayAssignment
  ) {
    let lost = candidates.authors.indices.filter { worth.bestReach(of: $0, in: candidates) < 0.2 }
      .map { candidates.authors[$0] }
    guard !lost.isEmpty else { return }
    let largest = result.live.indices.sorted { one, other in
      let (a, b) = (result.live[one].authors.count, result.live[other].authors.count)
      return a == b ? one < other : a > b
    }
    for position in largest.prefix(Self.largestCount) {
      let known = Set(result.live[position].authors)
      result.live[position].authors += lost.filter { !known.contains($0) }
    }
  }

  private func latencyDiscounts(_ candidates: RelayCandidates) -> [Double] {
    let fade = max(0, 1 - Double(candidates.authors.count) / Self.latencyAuthorMaximum)
    let weight = Self.latencyWeight * fade
    guard weight > 0 else { return [] }
    return beliefs.latencies.map { 1 / (1 + weight * $0 / 1_000) }
  }
}

/// The worth of relays, given those already taken.
struct ExpectedEvents {
  private let index: RelayIndex
  private let relayCount: Int
  private let authorIds: [Int32]
  /// By relay: the chance that it answers.
  private var reaches: [Double]
  /// By place in the index: both shapes of the belief, and the share of the author's events that is expected now.
  private var shapes: [(Double, Double)] = []
  private var shares: [Double] = []
  /// By author: events a week, and the chance that none of the relays taken brings one of them.
  private let postings: [(events: Double, weeks: Double)]
  private var rates: [Double]
  private var missing: [Double]
  private var isTaken: [Bool]

  init(_ selector: RelaySelector, _ candidates: RelayCandidates, _ index: RelayIndex, at minute: Int64) {
    let beliefs = selector.beliefs
    self.index = index
    relayCount = candidates.relayCount
    authorIds = candidates.authors
    let rate = beliefs.overallEventsPerWeek(at: minute)
    postings = candidates.authors.map { beliefs.posting(of: $0, overall: rate, at: minute) }
    rates = []
    missing = Array(repeating: 1, count: postings.count)
    isTaken = Array(repeating: false, count: relayCount)
    let alive = Self.believed(candidates.alive, index)
    let overall = beliefs.overallMean(at: minute)
    reaches = Array(repeating: 0, count: relayCount)
    shapes.reserveCapacity(index.places.count)
    for relay in 0..<relayCount where !index.range(relay).isEmpty {
      let isListed = alive.flatMap { relay < $0.count ? $0[relay] : nil }
      reaches[relay] = beliefs.reach(of: Int32(relay), isListed: isListed, at: minute)
      let mean = beliefs.mean(of: Int32(relay), overall: overall, at: minute)
      for entry in index.range(relay) {
        shapes.append(
          beliefs.shape(Int32(relay), candidates.authors[Int(index.places[entry])], mean: mean, at: minute))
      }
    }
    expectMeans()
  }

  /// What monitors say, unless it would leave out nearly everything.
  private static func believed(_ alive: [Bool]?, _ index: RelayIndex) -> [Bool]? {
    guard let alive else { return nil }
    var (declared, dead) = (0, 0)
    for relay in 0..<index.relayCount where !index.range(relay).isEmpty {
      declared += 1
      if relay >= alive.count || !alive[relay] { dead += 1 }
    }
    return Double(dead) > RelaySelector.deadShareMaximum * Double(declared) ? nil : alive
  }

  /// From here relays count by the means of the beliefs.
  mutating func expectMeans() {
    shares = shapes.map { $0.0 / ($0.0 + $0.1) }
    rates = postings.map { $0.events / $0.weeks }
  }

  /// From here relays count by a draw from the beliefs, of what relays have and of what authors post; each draw depends
  /// on the seed and its ids alone.
  mutating func draw(seed: UInt64) {
    for place in authorIds.indices {
      var generator = SeededGenerator(seed: seed ^ PairTable.key(-1, authorIds[place]) &* 0xD6E8_FEB8_6659_FD93)
      rates[place] = generator.nextGamma(postings[place].events) / postings[place].weeks
    }
    for relay in 0..<relayCount {
      for entry in index.range(relay) {
        let author = authorIds[Int(index.places[entry])]
        var generator = SeededGenerator(seed: seed ^ PairTable.key(Int32(relay), author) &* 0xD6E8_FEB8_6659_FD93)
        shares[entry] = generator.nextBeta(shapes[entry].0, shapes[entry].1)
      }
    }
  }

  /// From here authors count by the chance that they post at all in a week, not by how much.
  mutating func countAuthorsAlike() {
    for author in rates.indices { rates[author] = (1 - exp(-rates[author])) * missing[author] }
  }

  /// Takes the best relays, at most `count`.
  mutating func take(_ count: Int, favouring open: [Bool] = [], latency: [Double] = []) -> [Int32] {
    func factor(_ relay: Int32) -> Double {
      let known = Int(relay) < open.count && open[Int(relay)] ? RelaySelector.openBonus : 1
      return Int(relay) < latency.count ? known * latency[Int(relay)] : known
    }
    guard count > 0 else { return [] }
    var heap = BestFirst(
      (0..<Int32(relayCount)).compactMap { relay in
        let gain = isTaken[Int(relay)] ? 0 : gain(of: relay) * factor(relay)
        return gain > 0 ? (gain, relay) : nil
      })
    var missing = missing
    let taken = heap.take(count, above: 0) {
      gain(of: $0, missing) * factor($0)
    } taken: { relay in
      for entry in index.range(Int(relay)) {
        missing[Int(index.places[entry])] *= 1 - reaches[Int(relay)] * shares[entry]
      }
    }
    self.missing = missing
    for relay in taken { isTaken[Int(relay)] = true }
    return taken
  }

  private func gain(of relay: Int32) -> Double { gain(of: relay, missing) }

  private func gain(of relay: Int32, _ missing: [Double]) -> Double {
    var sum = 0.0
    for entry in index.range(Int(relay)) {
      let author = Int(index.places[entry])
      sum += rates[author] * missing[author] * shares[entry]
    }
    return sum * reaches[Int(relay)]
  }

  /// The best chance that a relay of an author answers.
  func bestReach(of place: Int, in candidates: RelayCandidates) -> Double {
    candidates.relays(at: place).reduce(0) { max($0, reaches[Int($1)]) }
  }
}

extension SeededGenerator {
  /// A number between 0 and 1.
  fileprivate mutating func nextUnit() -> Double { (Double(next() >> 11) + 0.5) * 0x1p-53 }

  fileprivate mutating func nextNormal() -> Double {
    sqrt(-2 * log(nextUnit())) * cos(2 * Double.pi * nextUnit())
  }

  /// Marsaglia and Tsang, 2000.
  fileprivate mutating func nextGamma(_ shape: Double) -> Double {
    guard shape >= 1 else { return nextGamma(shape + 1) * pow(nextUnit(), 1 / shape) }
    let d = shape - 1 / 3
    let c = 1 / sqrt(9 * d)
    // A draw is rejected one time in twenty; a hundred in a row do not happen, and then the mean serves.
    for _ in 0..<100 {
      let normal = nextNormal()
      let root = 1 + c * normal
      guard root > 0 else { continue }
      let cube = root * root * root
      if log(nextUnit()) < 0.5 * normal * normal + d - d * cube + d * log(cube) { return d * cube }
    }
    return shape
  }

  mutating func nextBeta(_ successes: Double, _ failures: Double) -> Double {
    let one = nextGamma(successes)
    let other = nextGamma(failures)
    return one + other > 0 ? one / (one + other) : 0.5
  }
}
