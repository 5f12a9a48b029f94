import Clocks
import RelaySelection
import TestSupport
import Testing

/// Candidates at random: 120 relays, of which few have most authors.
func randomCandidates(_ authors: Int, seed: UInt64, relays: Int = 120) -> RelayCandidates {
  var random = SeededGenerator(seed: seed)
  var candidates = RelayCandidates(relayCount: relays)
  for author in 0..<authors {
    let count = Int.random(in: 0...5, using: &random)
    candidates.add(
      Int32(author),
      (0..<count).map { _ in
        let unit = Double.random(in: 0..<1, using: &random)
        return Int32(unit * unit * unit * Double(relays))
      })
  }
  return candidates
}

/// Beliefs at random about the same.
func randomBeliefs(_ candidates: RelayCandidates, seed: UInt64) -> DeliveryBeliefs {
  var random = SeededGenerator(seed: seed)
  var beliefs = DeliveryBeliefs()
  for place in candidates.authors.indices {
    let author = candidates.authors[place]
    beliefs.learn(
      PostingReport(author: author, minute: 0, events: Int.random(in: 0...60, using: &random), observedMinutes: 10_080))
    for relay in candidates.relays(at: place) {
      let known = Int.random(in: 0...20, using: &random)
      beliefs.learn(
        DeliveryReport(
          relay: relay, author: author, minute: 0, had: Int.random(in: 0...known, using: &random), known: known))
      beliefs.learn(ReachReport(relay: relay, minute: 0, answered: Bool.random(using: &random)))
    }
  }
  return beliefs
}

@Suite("The choice of relays")
struct SelectionTests {
  private let budget = SelectionBudget(live: 12, visits: 8, spares: 6)

  @Test("is the same for the same seed, and draws others for another", arguments: seeds(5))
  func repeats(seed: UInt64) {
    let candidates = randomCandidates(300, seed: seed)
    let beliefs = randomBeliefs(candidates, seed: seed)
    for mode in SelectionMode.allCases {
      var (one, other) = (
        RelaySelector(mode: mode, seed: seed, beliefs: beliefs), RelaySelector(mode: mode, seed: seed, beliefs: beliefs)
      )
      for _ in 0..<3 { #expect(one.select(candidates, budget: budget) == other.select(candidates, budget: budget)) }
    }
    let visits = (0..<20 as Range<UInt64>).map { number in
      var selector = RelaySelector(mode: .learned, seed: seed &+ number)
      return selector.select(candidates, budget: budget).visits.map(\.relay)
    }
    #expect(Set(visits).count > 1, "what is not known is drawn")
  }

  @Test("obeys its budget, names no relay twice, and asks for no unknown author", arguments: seeds(5))
  func obeysBudget(seed: UInt64) {
    let candidates = randomCandidates(300, seed: seed)
    var lists: [Int32: Set<Int32>] = [:]
    for place in candidates.authors.indices { lists[candidates.authors[place]] = Set(candidates.relays(at: place)) }
    for mode in SelectionMode.allCases {
      var selector = RelaySelector(mode: mode, seed: seed)
      for live in [0, 1, 5, 40] {
        let result = selector.select(candidates, budget: SelectionBudget(live: live, visits: 3, spares: 4))
        #expect(result.live.count == min(live, mode == .greedy ? 8 : 40))
        #expect(result.visits.count == (mode == .learned ? 3 : 0) && result.spares.count <= 4)
        let all = result.live + result.visits + result.spares
        #expect(Set(all.map(\.relay)).count == all.count)
        for ask in all {
          #expect(Set(ask.authors).count == ask.authors.count)
          let declared = ask.authors.filter { lists[$0]?.contains(ask.relay) == true }
          #expect(ask.authors.allSatisfy { lists[$0] != nil } && !declared.isEmpty)
        }
      }
    }
  }

  @Test("asks an open relay for every author that declares it, except in the mode greedy", arguments: seeds(5))
  func assignsFully(seed: UInt64) {
    let candidates = randomCandidates(200, seed: seed)
    for mode in SelectionMode.allCases {
      var selector = RelaySelector(mode: mode, seed: seed)
      let live = selector.select(candidates, budget: budget).live
      for place in candidates.authors.indices {
        let open = live.filter { candidates.relays(at: place).contains($0.relay) }
        let asked = open.filter { $0.authors.contains(candidates.authors[place]) }.count
        #expect(mode == .greedy ? asked <= 2 && asked >= min(open.count, 1) : asked == open.count)
      }
    }
  }

  @Test("leaves out what is blocked", arguments: SelectionMode.allCases)
  func leavesOutBlocked(mode: SelectionMode) {
    var candidates = randomCandidates(300, seed: 1)
    candidates.blocked = [0, 1, 2, 5, -3, 9_999]
    var selector = RelaySelector(mode: mode, seed: 1)
    let result = selector.select(candidates, budget: budget)
    let census = RelayCensus.plan(candidates)
    #expect(!result.live.isEmpty && !census.isEmpty)
    #expect(!(result.live + result.visits + result.spares + census).contains { candidates.blocked.contains($0.relay) })
  }

  @Test("believes a monitor that calls some relays dead, and not one that calls nearly all dead")
  func believesMonitors() {
    var candidates = RelayCandidates(relayCount: 10)
    for author in 0..<100 { candidates.add(Int32(author), [Int32(author % 10)]) }
    candidates.add(100, [9])
    func first(_ alive: [Bool]?) -> Int32? {
      candidates.alive = alive
      var selector = RelaySelector(mode: .learned, seed: 1)
      return selector.select(candidates, budget: SelectionBudget(live: 1)).live.first?.relay
    }
    #expect(first(nil) == 9)
    #expect(first((0..<10).map { $0 < 2 }) == 0, "eight of ten are dead")
    #expect(first((0..<10).map { $0 < 1 }) == 9, "nine of ten would be")
    #expect(first([]) == 9)
  }

  @Test("keeps the open relays when one list changes, and is due in full when much has changed")
  func replans() {
    let candidates = randomCandidates(2_000, seed: 3)
    for mode in SelectionMode.allCases {
      var selector = RelaySelector(mode: mode, seed: 3)
      #expect(selector.isDue)
      let open = selector.select(candidates, budget: budget).live.map(\.relay)
      #expect(!selector.isDue)
      let limit = mode == .greedy ? 2 : 24
      let asked = selector.replan(7, [119, open[3], -1, open[0], open[3], 5_000])
      #expect(asked == Array([open[3], open[0]].prefix(limit)))
      #expect(!selector.isDue)
      #expect(selector.replan(8, [119]).isEmpty && selector.isDue, "an author without an open relay")
      _ = selector.select(candidates, budget: budget)
      for author in 0..<30 { _ = selector.replan(Int32(author), open) }
      #expect(!selector.isDue)
      for author in 30..<60 { _ = selector.replan(Int32(author), open) }
      #expect(selector.isDue, "two of a hundred have changed")
    }
  }

  @Test("after changed lists is what a full choice makes of the same relays", arguments: seeds(5))
  func replansAsInFull(seed: UInt64) {
    var lists = (0..<400).map { _ in [Int32]() }
    let before = randomCandidates(400, seed: seed)
    let after = randomCandidates(400, seed: seed &+ 1)
    for place in 0..<400 { lists[place] = Array(before.relays(at: place)) }
    var selector = RelaySelector(mode: .direct, seed: seed)
    let two = SelectionBudget(live: 2)
    let open = Set(selector.select(before, budget: two).live.map(\.relay))
    var asked: [[Int32]] = lists.map { $0.filter(open.contains) }
    for place in 0..<5 {
      lists[place] = Array(after.relays(at: place))
      asked[place] = selector.replan(Int32(place), lists[place])
    }
    var changed = RelayCandidates(relayCount: 120)
    for (place, list) in lists.enumerated() { changed.add(Int32(place), list) }
    let full = selector.select(changed, budget: two).live
    guard Set(full.map(\.relay)) == open else { return }
    for place in lists.indices {
      let expected = full.filter { $0.authors.contains(Int32(place)) }.map(\.relay)
      #expect(Set(asked[place]) == Set(expected))
    }
  }

  @Test(
    "survives lists of any length, relays that all authors declare, and no author at all",
    arguments: SelectionMode.allCases)
  func survives(mode: SelectionMode) {
    var selector = RelaySelector(mode: mode, seed: 1)
    #expect(selector.select(RelayCandidates(relayCount: 0), budget: budget) == RelayAssignment())
    #expect(selector.select(RelayCandidates(relayCount: 50), budget: budget) == RelayAssignment())
    #expect(selector.select(RelayCandidates(relayCount: -1), budget: SelectionBudget(live: -5)).live.isEmpty)
    var candidates = RelayCandidates(relayCount: 100_000)
    candidates.add(0, (0..<100_000).map { Int32($0) })
    candidates.add(1, [-1, .max, .min, 7, 7, 7])
    candidates.add(-4, [3])
    for author in 2..<5_000 { candidates.add(Int32(author), [7]) }
    #expect(candidates.relays(at: 0).count == RelayCandidates.listMaximum && Array(candidates.relays(at: 1)) == [7])
    let result = selector.select(candidates, budget: budget)
    #expect(result.live.first?.relay == 7 && result.live.first?.authors.count == 5_000)
  }

  @Test("learned takes the relay that has the events, not the one that has the authors")
  func prefersEvents() {
    var candidates = RelayCandidates(relayCount: 3)
    for author in 0..<20 { candidates.add(Int32(author), [0, 1]) }
    candidates.add(20, [2])
    var beliefs = DeliveryBeliefs()
    for author in 0..<20 as Range<Int32> {
      beliefs.learn(PostingReport(author: author, minute: 0, events: 5, observedMinutes: 10_080))
      beliefs.learn(DeliveryReport(relay: 0, author: author, minute: 0, had: 0, known: 20))
      beliefs.learn(DeliveryReport(relay: 1, author: author, minute: 0, had: 19, known: 20))
    }
    beliefs.learn(PostingReport(author: 20, minute: 0, events: 40, observedMinutes: 10_080))
    var selector = RelaySelector(mode: .learned, seed: 0, beliefs: beliefs)
    #expect(selector.select(candidates, budget: SelectionBudget(live: 2)).live.map(\.relay) == [1, 2])
  }

  @Test("learned asks the largest relays for those whose relays do not answer")
  func asksForTheLost() {
    var candidates = RelayCandidates(relayCount: 4)
    for author in 0..<10 { candidates.add(Int32(author), [0]) }
    candidates.add(10, [])
    candidates.add(11, [3])
    var beliefs = DeliveryBeliefs()
    for _ in 0..<5 { beliefs.learn(ReachReport(relay: 3, minute: 0, answered: false)) }
    var selector = RelaySelector(mode: .learned, seed: 0, beliefs: beliefs)
    let live = selector.select(candidates, budget: SelectionBudget(live: 1)).live
    #expect(live == [.init(relay: 0, authors: Array(0...11))])
  }
}
